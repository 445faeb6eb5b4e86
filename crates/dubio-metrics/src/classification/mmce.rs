//! `mmce`: a kernel distance between confidence and correctness.

use multiversion::multiversion;

use crate::card::{Card, Direction};
use crate::examples::Examples;
use crate::score::{Count, Needs, Options, Preparation, Score, Statistic, total, wide};

/// `sqrt(sum_ij d_i d_j k(c_i, c_j)) / n`, `d_i = correct_i - c_i`, `k(a, b) = exp(-|a - b|/0.4)`.
pub struct Mmce;

const CARD: Card = Card {
    name: "mmce",
    summary: "Kernel distance between confidence and correctness; needs no bins.",
    formula: "sqrt(1/n^2 sum_ij (correct_i - c_i)(correct_j - c_j) exp(-|c_i - c_j|/0.4))",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Kumar, Sarawagi and Jain 2018, eq. 4",
};

impl Score<Examples> for Mmce {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        Ok(Box::new(Unweighted(KernelSweep::new(examples))))
    }
}

/// The examples from most to least confident, with the kernel between neighbours.
///
/// Along sorted values the Laplacian kernel is a product of its steps, `k(a, c) = k(a, b) k(b, c)`,
/// so all pairs are summed in one sweep that carries `s = sum_{j before i} d_j k(c_j, c_i)`.
pub(crate) struct KernelSweep<'a> {
    pub order: &'a [u32],
    /// `correct - confidence`, in that order.
    gap: Vec<f64>,
    /// `k` between an example and the one before it.
    step: Vec<f64>,
    /// 0 for a correct prediction, 1 for a wrong one.
    kind: Vec<u8>,
}

impl<'a> KernelSweep<'a> {
    pub(crate) fn new(examples: &'a Examples) -> Self {
        const WIDTH: f64 = 0.4;
        let order = &examples.by_confidence().order[..];
        let confidence = |&i: &u32| examples.confidence[i as usize];
        let gap = order.iter().map(|i| examples.correct(*i as usize) - confidence(i)).collect();
        let mut before = order.first().map_or(0.0, confidence);
        let step = order
            .iter()
            .map(|i| {
                let distance = std::mem::replace(&mut before, confidence(i)) - confidence(i);
                (-distance / WIDTH).exp()
            })
            .collect();
        let kind = order.iter().map(|&i| u8::from(examples.correct(i as usize) == 0.0)).collect();
        Self { order, gap, step, kind }
    }

    /// `sum_ij v_i v_j k_ij` for `v_i = w_i * gap_i * scale[correct or wrong]`, in each lane.
    pub(crate) fn quadratic_form<const L: usize>(
        &self,
        weights: &[[Count; L]],
        scale: [[f64; L]; 2],
    ) -> [f64; L] {
        quadratic_form(self, weights, scale)
    }

    /// Weights of the correct and of the wrong predictions.
    pub(crate) fn masses<const L: usize>(&self, weights: &[[Count; L]]) -> [[f64; L]; 2] {
        let mut masses = [[0.0; L]; 2];
        for (&kind, weight) in self.kind.iter().zip(weights) {
            let weight = wide(weight);
            for l in 0..L {
                masses[usize::from(kind)][l] += weight[l];
            }
        }
        masses
    }
}

#[multiversion(targets = "simd")]
fn quadratic_form<const L: usize>(
    sweep: &KernelSweep<'_>,
    weights: &[[Count; L]],
    scale: [[f64; L]; 2],
) -> [f64; L] {
    let mut form = [0.0; L];
    let mut carried = [0.0; L];
    for (place, weight) in weights.iter().enumerate() {
        let (gap, step) = (sweep.gap[place], sweep.step[place]);
        let weight = wide(weight);
        let scale = &scale[usize::from(sweep.kind[place])];
        for l in 0..L {
            let v = weight[l] * gap * scale[l];
            carried[l] *= step;
            form[l] += v * (2.0 * carried[l] + v);
            carried[l] += v;
        }
    }
    form
}

struct Unweighted<'a>(KernelSweep<'a>);

impl Statistic for Unweighted<'_> {
    fn weighted<const L: usize>(&self, weights: &[[Count; L]]) -> [f64; L] {
        let whole = total(weights);
        let form = self.0.quadratic_form(weights, [[1.0; L]; 2]);
        std::array::from_fn(|l| form[l].max(0.0).sqrt() / whole[l])
    }
    fn order(&self) -> Option<&[u32]> {
        Some(self.0.order)
    }
}
