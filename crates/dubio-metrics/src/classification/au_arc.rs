//! `au_arc`: area under the accuracy-rejection curve.

use super::aurc::Area;
use crate::card::{Card, Direction, Facts};
use crate::curves::risk_coverage::RiskCoverage;
use crate::examples::Examples;
use crate::score::{Mapped, Needs, Options, Preparation, Score};

/// `1 - aurc`.
pub struct AuArc;

const CARD: Card = Card {
    name: "au_arc",
    summary: "Area under accuracy against the fraction of least confident examples rejected.",
    formula: "1 - aurc",
    range: (0.0, 1.0),
    direction: Direction::Higher,
    citation: "Nadeem et al. 2009; Ashukha et al. 2020, sec. 3.3",
    facts: Facts::CLASSES,
};

impl Score<Examples> for AuArc {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn before_sharing(&self, examples: &Examples, _: &Options) {
        RiskCoverage::of(examples);
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        Ok(Box::new(Mapped(Area(RiskCoverage::of(examples)), |area: f64| 1.0 - area)))
    }
}
