//! `mmce`: a kernel distance between confidence and correctness.

use std::sync::Arc;

use multiversion::multiversion;

use crate::card::{Card, Direction};
use crate::detection::{Detection, Signal, misclassification::wrong_by};
use crate::examples::Examples;
use crate::score::{Needs, Options, Preparation, Score, Statistic};
use crate::weights::{Count, Weights, wide};

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
        Ok(Box::new(Unweighted(KernelSweep::of(examples).clone())))
    }
}

struct Unweighted(Arc<KernelSweep>);

impl Statistic for Unweighted {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let (form, whole) = (self.0.forms(weights).plain, weights.total());
        std::array::from_fn(|l| form[l].max(0.0).sqrt() / whole[l])
    }
}

/// The examples from least to most confident, with the kernel between neighbours.
///
/// Along sorted values the Laplacian kernel is a product of its steps, `k(a, c) = k(a, b) k(b, c)`,
/// so all pairs are summed in one sweep that carries `s = sum_{j before i} d_j k(c_j, c_i)`.
#[derive(Debug)]
pub(crate) struct KernelSweep {
    wrong: Arc<Detection>,
    /// `correct - confidence`, in that order.
    gap: Vec<f64>,
    /// `k` between an example and the one before it.
    step: Vec<f64>,
}

/// `sum_ij v_i v_j k_ij` in each lane.
pub(crate) struct Forms<const L: usize> {
    /// For `v_i = w_i gap_i`.
    pub plain: [f64; L],
    /// For that divided by the weight of the correct or of the wrong predictions.
    pub balanced: [f64; L],
}

impl KernelSweep {
    /// That of these examples, which remember it.
    pub(crate) fn of(examples: &Examples) -> &Arc<Self> {
        examples.of_labels.kernel.get_or_init(|| Arc::new(Self::new(examples)))
    }

    fn new(examples: &Examples) -> Self {
        const WIDTH: f64 = 0.4;
        let wrong = wrong_by(Signal::Confidence, examples.by_doubt(), examples).clone();
        let order = &wrong.ranking.order;
        let confidence = |&i: &u32| examples.confidence[i as usize];
        let gap = order.iter().map(|i| examples.correct(*i as usize) - confidence(i)).collect();
        let mut before = order.first().map_or(0.0, confidence);
        let step = order
            .iter()
            .map(|i| {
                let distance = confidence(i) - std::mem::replace(&mut before, confidence(i));
                (-distance / WIDTH).exp()
            })
            .collect();
        Self { wrong, gap, step }
    }

    pub(crate) fn forms<const L: usize>(
        self: &Arc<Self>,
        weights: &Weights<'_, L>,
    ) -> Arc<Forms<L>> {
        weights.shared(self, || {
            let masses = self.wrong.masses(weights);
            // With no example of a kind, nothing is divided by its number.
            let scale =
                [masses.negatives, masses.positives].map(|mass| mass.map(|m| 1.0 / m.max(1.0)));
            forms(self, &weights.in_order(&self.wrong.ranking), &scale)
        })
    }
}

#[multiversion(targets = "simd")]
fn forms<const L: usize>(
    sweep: &KernelSweep,
    counts: &[[Count; L]],
    scale: &[[f64; L]; 2],
) -> Forms<L> {
    let mut forms = [[0.0; L]; 2];
    let mut carried = [[0.0; L]; 2];
    for (place, count) in counts.iter().enumerate() {
        let (gap, step) = (sweep.gap[place], sweep.step[place]);
        let weight = wide(count);
        let scale = &scale[usize::from(sweep.wrong.positive[place])];
        for l in 0..L {
            let plain = weight[l] * gap;
            let v = [plain, plain * scale[l]];
            for f in 0..2 {
                let before = carried[f][l] * step;
                carried[f][l] = before + v[f];
                forms[f][l] += v[f] * (before + carried[f][l]);
            }
        }
    }
    let [plain, balanced] = forms;
    Forms { plain, balanced }
}
