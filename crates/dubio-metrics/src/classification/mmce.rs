//! `mmce`: a kernel distance between confidence and correctness.

use std::ops::Range;
use std::sync::Arc;

use multiversion::multiversion;
use rayon::prelude::*;

use crate::card::{Card, Direction, Facts};
use crate::confidence::Gaps;
use crate::examples::Examples;
use crate::known::Of;
use crate::numeric::transcendental::exp;
use crate::passes::{AnyPass, Pass};
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
    facts: Facts::CLASSES,
};

impl Score<Examples> for Mmce {
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
        Ok(Box::new(Unweighted(KernelSweep::of(examples))))
    }
}

struct Unweighted(Arc<KernelSweep>);

impl Statistic for Unweighted {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let (forms, whole) = (weights.along(&self.0), weights.total());
        std::array::from_fn(|l| forms.plain[l].max(0.0).sqrt() / whole[l])
    }
    fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        vec![self.0.clone()]
    }
}

/// The examples from least to most confident, with the kernel between neighbours.
///
/// Along sorted values the Laplacian kernel is a product of its steps, `k(a, c) = k(a, b) k(b, c)`,
/// so all pairs are summed in one sweep that carries `s = sum_{j before i} d_j k(c_j, c_i)`.
#[derive(Debug)]
pub(crate) struct KernelSweep {
    gaps: Arc<Gaps>,
    /// `k` between an example and the one before it.
    step: Vec<f64>,
}

/// `sum_ij v_i v_j k_ij` in each lane.
pub(crate) struct Forms<const L: usize> {
    /// For `v_i = w_i gap_i`.
    pub plain: [f64; L],
    /// For that divided by the weight of the correct or of the wrong predictions.
    pub balanced: [f64; L],
    /// `sum_{j before i} v_j k_ji` of both.
    carried: [[f64; L]; 2],
    /// What the balanced form multiplies correct and wrong predictions by.
    scale: [[f64; L]; 2],
}

impl KernelSweep {
    /// The sweep of these examples, which remember it.
    pub(crate) fn of(examples: &Examples) -> Arc<Self> {
        examples.known.get(Of::Labels, || Self::new(examples))
    }

    fn new(examples: &Examples) -> Self {
        const WIDTH: f64 = 0.4;
        let gaps = Gaps::of(examples);
        let order = &gaps.wrong.ranking.order;
        let confidence = |place: usize| examples.confidence[order[place] as usize];
        let step = |place: usize| {
            let distance = confidence(place) - confidence(place.saturating_sub(1));
            exp(-distance / WIDTH)
        };
        let step = (0..order.len()).into_par_iter().map(step).collect();
        Self { gaps, step }
    }
}

impl Pass for KernelSweep {
    type Sums<const L: usize> = Forms<L>;
    fn order(&self) -> &Arc<Vec<u32>> {
        &self.gaps.wrong.ranking.order
    }
    fn start<const L: usize>(&self, weights: &Weights<'_, L>) -> Forms<L> {
        let masses = self.gaps.wrong.masses(weights);
        // With no example of a kind, nothing is divided by its number.
        let scale = [masses.negatives, masses.positives].map(|mass| mass.map(|m| 1.0 / m.max(1.0)));
        Forms { plain: [0.0; L], balanced: [0.0; L], carried: [[0.0; L]; 2], scale }
    }
    fn add<const L: usize>(
        &self,
        places: Range<usize>,
        counts: &[[Count; L]],
        forms: &mut Forms<L>,
    ) {
        add(self, places, counts, forms);
    }
}

#[multiversion(targets = "simd")]
fn add<const L: usize>(
    sweep: &KernelSweep,
    places: Range<usize>,
    counts: &[[Count; L]],
    sums: &mut Forms<L>,
) {
    let Forms { plain, balanced, mut carried, scale } = *sums;
    let mut forms = [plain, balanced];
    let rows = sweep.gaps.gap[places.clone()].iter().zip(&sweep.step[places.clone()]);
    let rows = rows.zip(&sweep.gaps.wrong.positive[places]);
    for (((gap, step), wrong), count) in rows.zip(counts) {
        let weight = wide(count);
        let scale = &scale[usize::from(*wrong)];
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
    *sums = Forms { plain, balanced, carried, scale };
}
