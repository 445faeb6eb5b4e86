//! Whether the order of methods holds when a setting changes that has nothing to do with them.

use dubio_metrics::card::Direction;
use dubio_metrics::compare::Stability;

use crate::chapter::{Chapter, Method};
use crate::study::{Setting, Sweep};
use crate::summary::mean;

/// A score of every method with predictions over a setting, averaged over runs.
pub(crate) fn over(chapter: &Chapter<'_>, setting: Setting) -> Vec<Stability> {
    let mut scores: Vec<&str> = Vec::new();
    for sweep in chapter.finished().flat_map(|(_, finished)| &finished.sweeps) {
        if sweep.setting == setting && !scores.contains(&&sweep.score[..]) {
            scores.push(&sweep.score);
        }
    }
    let stability = |score: &&str| {
        let direction = chapter.card(score).map_or(Direction::Lower, |card| card.direction);
        let values = chapter.present().map(|method| averaged(method, setting, score)).collect();
        Stability::new((*score).to_string(), direction, setting.values(), values)
    };
    scores.iter().map(stability).collect()
}

fn averaged(method: &Method<'_>, setting: Setting, score: &str) -> Vec<Option<f64>> {
    let own = |sweep: &&Sweep| sweep.setting == setting && sweep.score == score;
    let sweeps: Vec<&Sweep> =
        method.finished().flat_map(|(_, finished)| &finished.sweeps).filter(own).collect();
    let at = |i: usize| -> Option<f64> {
        let values: Option<Vec<f64>> = sweeps.iter().map(|sweep| sweep.values[i]).collect();
        values.filter(|values| !values.is_empty()).map(|values| mean(&values))
    };
    (0..setting.values().len()).map(at).collect()
}
