//! `tace`: the adaptive calibration error over probabilities above a threshold.

use crate::card::{Card, Direction, Facts, Setting};
use crate::classwise::{Binning, ClassGaps, LabelGaps};
use crate::examples::Examples;
use crate::score::{Options, Preparation, Score};

/// `ace` over the probabilities above `options.threshold`.
pub struct Tace;

const CARD: Card = Card {
    name: "tace",
    summary: "The adaptive calibration error over probabilities above a threshold.",
    formula: "ace over the p_ic above the threshold (1e-3 unless set), weights n_cm/(n C) with n all examples",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Nixon et al. 2019; Ashukha et al. 2020, eq. 2, without its extra 1/M",
    facts: Facts { settings: &[Setting::Bins, Setting::Threshold], ..Facts::CLASSES },
};

impl Score<Examples> for Tace {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn before_sharing(&self, examples: &Examples, options: &Options) {
        LabelGaps::of(examples, options);
    }
    fn prepare<'a>(&self, examples: &'a Examples, options: &Options) -> Preparation<'a> {
        Ok(Box::new(ClassGaps::new(examples, Binning::MassAbove, options)))
    }
}
