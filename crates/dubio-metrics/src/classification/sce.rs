//! `sce`: gap between probability and frequency of every class over bins of equal width, averaged over classes.

use crate::card::{Card, Direction, Facts, Setting};
use crate::classwise::{Binning, ClassGaps, LabelGaps};
use crate::examples::Examples;
use crate::score::{Options, Preparation, Score};

/// `1/C sum_c sum_m n_cm/n |freq_cm - conf_cm|`, bins of equal width.
pub struct Sce;

const CARD: Card = Card {
    name: "sce",
    summary: "Gap between probability and frequency of every class over bins of equal width, averaged over classes.",
    formula: "1/C sum_c sum_m n_cm/n |freq_cm - conf_cm| over bins (l, u] of equal width on p_ic; 0 goes into the first",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Nixon et al. 2019, static calibration error",
    facts: Facts { settings: &[Setting::Bins], ..Facts::CLASSES },
};

impl Score<Examples> for Sce {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn before_sharing(&self, examples: &Examples, options: &Options) {
        LabelGaps::of(examples, options);
    }
    fn prepare<'a>(&self, examples: &'a Examples, options: &Options) -> Preparation<'a> {
        Ok(Box::new(ClassGaps::new(examples, Binning::Width, options)))
    }
}
