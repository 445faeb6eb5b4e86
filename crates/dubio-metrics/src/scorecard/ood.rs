//! `ood.NAME.*`: scores of a file against another.

use rayon::prelude::*;

use super::{Entry, Scoring, resample};
use crate::detection::ood::{self, Uncertainties};
use crate::detection::{Measure, Signal};
use crate::score::{Preparation, Prepared};
use crate::weights::Weights;

/// `ood.NAME.*`: how well uncertainty tells another set from this one. Both are resampled.
pub fn ood(
    set: &str,
    inside: &Uncertainties,
    outside: &Uncertainties,
    scoring: &Scoring<'_>,
) -> Vec<Entry> {
    let kind = format!("ood.{set}");
    let all = Signal::ALL.into_iter().flat_map(|s| Measure::ALL.map(|m| (m, s)));
    let wanted: Vec<(Measure, Signal)> =
        all.filter(|(measure, signal)| (scoring.wanted)(&measure.name(&kind, *signal))).collect();
    let count = inside.len() + outside.len();
    let ones = vec![[1]; count];
    let ones = Weights::new(&ones);
    let detections: Vec<_> =
        Signal::ALL.into_par_iter().map(|signal| ood::detect(signal, inside, outside)).collect();
    let prepared: Vec<Preparation<'_>> = wanted
        .iter()
        .map(|(measure, signal)| measure.prepare(detections[*signal as usize].clone()?))
        .collect();
    let defined: Vec<&(dyn Prepared + '_)> =
        prepared.iter().flatten().map(|p| &**p as &(dyn Prepared + '_)).collect();
    let mut replicates = resample(scoring, &[inside.len(), outside.len()], &defined).into_iter();
    let entries = wanted.iter().zip(&prepared).map(|((measure, signal), prepared)| {
        let replicates =
            if prepared.is_ok() { replicates.next().unwrap_or_default() } else { Vec::new() };
        let value = prepared.as_ref().map(|p| p.value(&ones)).map_err(Clone::clone);
        Entry::new(measure.name(&kind, *signal), measure.card(), count, value, replicates)
    });
    entries.collect()
}
