//! `mmce_weighted`: `mmce` with correct and wrong predictions averaged over their own number.

use std::sync::Arc;

use super::mmce::KernelSweep;
use crate::card::{Card, Direction, Facts};
use crate::examples::Examples;
use crate::passes::AnyPass;
use crate::score::{Needs, Options, Preparation, Score, Statistic};
use crate::weights::Weights;

/// `mmce` with each `d_i` divided by the number of correct or of wrong predictions instead of `n`.
pub struct MmceWeighted;

const CARD: Card = Card {
    name: "mmce_weighted",
    summary: "Kernel distance between confidence and correctness, correct and wrong predictions averaged separately.",
    formula: "sqrt(sum_ij v_i v_j exp(-|c_i - c_j|/0.4)), v_i = (1 - c_i)/m if correct, -c_i/(n - m) if wrong, m the number of correct",
    range: (0.0, 2.0),
    direction: Direction::Lower,
    citation: "Kumar, Sarawagi and Jain 2018, weighted form",
    facts: Facts::CLASSES,
};

impl Score<Examples> for MmceWeighted {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn before_sharing(&self, examples: &Examples, _: &Options) {
        KernelSweep::of(examples);
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        Ok(Box::new(Balanced(KernelSweep::of(examples))))
    }
}

struct Balanced(Arc<KernelSweep>);

impl Statistic for Balanced {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        weights.along(&self.0).balanced.map(|form| form.max(0.0).sqrt())
    }
    fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        vec![self.0.clone()]
    }
}
