//! `ace`: gap between probability and frequency of every class over bins of equal mass, averaged over classes.

use crate::card::{Card, Direction, Facts, Setting};
use crate::classwise::{Binning, ClassGaps, LabelGaps};
use crate::examples::Examples;
use crate::score::{Options, Preparation, Score};

/// `sum_c sum_m n_cm/(n C) |freq_cm - conf_cm|`, bins of equal mass.
pub struct Ace;

const CARD: Card = Card {
    name: "ace",
    summary: "Gap between probability and frequency of every class over bins of equal mass, averaged over classes.",
    formula: "sum_c sum_m n_cm/(n C) |freq_cm - conf_cm| over runs of n/bins sorted p_ic, the remainder in the last; equal probabilities carry their mean label",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Nixon et al. 2019, adaptive calibration error; weights as in Ashukha et al. 2020",
    facts: Facts { settings: &[Setting::Bins], ..Facts::CLASSES },
};

impl Score<Examples> for Ace {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn before_sharing(&self, examples: &Examples, options: &Options) {
        LabelGaps::of(examples, options);
    }
    fn prepare<'a>(&self, examples: &'a Examples, options: &Options) -> Preparation<'a> {
        Ok(Box::new(ClassGaps::new(examples, Binning::Mass, options)))
    }
}
