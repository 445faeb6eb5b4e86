//! `temperature`: temperature that suits the predictions best; above 1 they are overconfident.

use crate::calibrate::temperature;
use crate::card::{Card, Direction, Facts, UNBOUNDED};
use crate::examples::Examples;
use crate::score::{Options, Preparation, Score};

/// The `T` that maximises the mean log-likelihood of `softmax(log p / T)`.
pub struct Temperature;

const CARD: Card = Card {
    name: "temperature",
    summary: "Temperature that maximises the likelihood of the labels; above 1 means overconfident.",
    formula: "argmax_T mean log softmax(log p_i / T)[y_i]",
    range: (0.0, UNBOUNDED),
    direction: Direction::Neither,
    citation: "Guo et al. 2017; Ashukha et al. 2020",
    facts: Facts { calibrated: false, ..Facts::CLASSES },
};

impl Score<Examples> for Temperature {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn before_sharing(&self, examples: &Examples, _: &Options) {
        // Kept by the examples, whether there is one or not.
        let _ = temperature::fit(examples);
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        Ok(Box::new(temperature::fit(examples)?))
    }
}
