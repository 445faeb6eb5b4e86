//! `macro_f1`: harmonic mean of precision and recall, averaged over classes.

use std::borrow::Cow;

use multiversion::multiversion;

use crate::binning::dense::dense;
use crate::card::{Card, Direction, Facts};
use crate::examples::Examples;
use crate::score::{Options, Preparation, Score, Statistic};
use crate::weights::{Count, Weights};

/// `mean_c 2 TP_c / (labels_c + predictions_c)` over the classes that occur in either.
pub struct MacroF1;

const CARD: Card = Card {
    name: "macro_f1",
    summary: "Harmonic mean of precision and recall, averaged over classes.",
    formula: "mean_c 2 TP_c / (labels_c + predictions_c), over classes present in labels or predictions",
    range: (0.0, 1.0),
    direction: Direction::Higher,
    citation: "common usage; as scikit-learn's f1_score(average='macro')",
    facts: Facts::CLASSES,
};

impl Score<Examples> for MacroF1 {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        let Examples { labels, predicted, classes, .. } = examples;
        if *classes <= labels.len() {
            let [labels, predicted] = [labels, predicted].map(|own| Cow::Borrowed(&own[..]));
            return Ok(Box::new(Counts { classes: *classes, labels, predicted }));
        }
        // Only classes that occur count, and there are fewer of them.
        let both: Vec<u32> = labels.iter().chain(predicted).copied().collect();
        let (present, mut class) = dense(&both);
        let predicted = class.split_off(labels.len()).into();
        Ok(Box::new(Counts { classes: present.len(), labels: class.into(), predicted }))
    }
}

struct Counts<'a> {
    classes: usize,
    labels: Cow<'a, [u32]>,
    predicted: Cow<'a, [u32]>,
}

impl Statistic for Counts<'_> {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let mut hits = vec![[0; L]; self.classes];
        let mut misses = vec![[0; L]; self.classes];
        count(&self.labels, &self.predicted, weights.counts(), &mut hits, &mut misses);
        std::array::from_fn(|l| {
            let f1 = |class: usize| {
                let (twice, misses) = (f64::from(2 * hits[class][l]), f64::from(misses[class][l]));
                (twice + misses > 0.0).then(|| twice / (twice + misses))
            };
            let (sum, count) = (0..self.classes)
                .filter_map(f1)
                .fold((0.0, 0.0), |(sum, n), f1| (sum + f1, n + 1.0));
            sum / count
        })
    }
}

/// For each class, the weight of its examples that are predicted as it (hits), and of those that
/// have it only as their label or only as their prediction (misses).
#[multiversion(targets = "simd")]
fn count<const L: usize>(
    labels: &[u32],
    predicted: &[u32],
    counts: &[[Count; L]],
    hits: &mut [[u32; L]],
    misses: &mut [[u32; L]],
) {
    for ((&label, &guess), count) in labels.iter().zip(predicted).zip(counts) {
        let count = count.map(u32::from);
        if label == guess {
            add(&mut hits[label as usize], &count);
        } else {
            add(&mut misses[label as usize], &count);
            add(&mut misses[guess as usize], &count);
        }
    }
}

#[inline(always)]
fn add<const L: usize>(sums: &mut [u32; L], counts: &[u32; L]) {
    for l in 0..L {
        sums[l] += counts[l];
    }
}
