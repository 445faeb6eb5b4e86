//! `macro_f1`: harmonic mean of precision and recall, averaged over classes.

use crate::card::{Card, Direction};
use crate::examples::Examples;
use crate::score::{Count, Options, Preparation, Score, Statistic, wide};

/// `mean_c 2 TP_c / (labels_c + predictions_c)` over the classes that occur in either.
pub struct MacroF1;

const CARD: Card = Card {
    name: "macro_f1",
    summary: "Harmonic mean of precision and recall, averaged over classes.",
    formula: "mean_c 2 TP_c / (labels_c + predictions_c), over classes present in labels or predictions",
    range: (0.0, 1.0),
    direction: Direction::Higher,
    citation: "common usage; as scikit-learn's f1_score(average='macro')",
};

impl Score<Examples> for MacroF1 {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        Ok(Box::new(Counts(examples)))
    }
}

struct Counts<'a>(&'a Examples);

impl Statistic for Counts<'_> {
    fn weighted<const L: usize>(&self, weights: &[[Count; L]]) -> [f64; L] {
        let Examples { classes, labels, predicted, .. } = self.0;
        let mut hits = vec![[0.0; L]; *classes];
        let mut places = vec![[0.0; L]; *classes];
        for ((&label, &guess), weight) in labels.iter().zip(predicted).zip(weights) {
            let weight = wide(weight);
            for l in 0..L {
                places[label as usize][l] += weight[l];
                places[guess as usize][l] += weight[l];
                hits[label as usize][l] += if label == guess { weight[l] } else { 0.0 };
            }
        }
        std::array::from_fn(|l| {
            let present = (0..*classes).filter(|&c| places[c][l] > 0.0);
            let (sum, count) = present
                .fold((0.0, 0.0), |(s, n), c| (s + 2.0 * hits[c][l] / places[c][l], n + 1.0));
            sum / count
        })
    }
}
