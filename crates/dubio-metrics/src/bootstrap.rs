//! The percentile bootstrap over examples: how much a score could have come out otherwise.

use dubio_random::stream::Stream;
use rayon::prelude::*;

use crate::resample::draw;
use crate::score::Prepared;
use crate::weights::{Count, LANES, Weights};

/// How to resample.
#[derive(Clone, Debug, PartialEq)]
pub struct Bootstrap {
    /// Number of resamples.
    pub resamples: usize,
    /// Where the draws come from. The same stream and number of examples give the same resamples,
    /// so two files scored with one stream are resampled in pairs.
    pub stream: Stream,
}

impl Bootstrap {
    /// The resamples' values of several statistics, `[statistic][resample]`; as many blocks of
    /// resamples at a time as fit into 64 MiB, and at least one for every thread.
    ///
    /// `strata` are the sizes of sets that are each resampled on their own; the statistics see them
    /// one after the other.
    pub fn replicates<'a>(
        &self,
        strata: &[usize],
        statistics: &[&(dyn Prepared + 'a)],
        progress: &(dyn Fn(usize) + Sync),
    ) -> Vec<Vec<f64>> {
        let count = self.resamples.div_ceil(LANES);
        let size = strata.iter().sum::<usize>();
        let batch = ((1 << 26) / (LANES * size).max(1)).max(rayon::current_num_threads());
        let mut memory: Vec<Vec<[Count; LANES]>> = vec![vec![[0; LANES]; size]; batch.min(count)];
        let mut blocks: Vec<Vec<[f64; LANES]>> = Vec::with_capacity(count);
        while blocks.len() < count {
            let first = blocks.len();
            memory.truncate(count - first);
            let numbered = memory.par_iter_mut().enumerate();
            numbered.for_each(|(place, block)| self.fill(block, first + place, strata));
            let weights = memory.iter().map(|counts| Weights::new(counts)).collect();
            blocks.extend(replicates(statistics, weights, progress));
        }
        (0..statistics.len())
            .map(|s| blocks.iter().flat_map(|block| block[s]).take(self.resamples).collect())
            .collect()
    }

    /// Draws the counts of a block of resamples.
    fn fill(&self, block: &mut [[Count; LANES]], number: usize, strata: &[usize]) {
        let mut generator = self.stream.nth(number).generator();
        let mut rest = block;
        for &size in strata {
            let (own, others) = rest.split_at_mut(size);
            draw(own, &mut generator);
            rest = others;
        }
    }
}

/// The values of several statistics for blocks of resamples, `[block][statistic]`.
pub(crate) fn replicates<'a>(
    statistics: &[&(dyn Prepared + 'a)],
    blocks: Vec<Weights<'_, LANES>>,
    progress: &(dyn Fn(usize) + Sync),
) -> Vec<Vec<[f64; LANES]>> {
    statistics.iter().for_each(|statistic| statistic.before_replicates(&blocks));
    let mut terms: Vec<&[f64]> = Vec::new();
    for term in statistics.iter().flat_map(|statistic| statistic.terms()) {
        if !terms.iter().any(|known| std::ptr::eq(*known, term)) {
            terms.push(term);
        }
    }
    let passes: Vec<_> = statistics.iter().flat_map(|statistic| statistic.passes()).collect();
    let of_block = |weights: Weights<'_, LANES>| {
        let weights = weights.with_sums(&terms).with_passes(&passes);
        let values = statistics.iter().map(|statistic| statistic.replicates(&weights)).collect();
        progress(1);
        values
    };
    blocks.into_par_iter().map(of_block).collect()
}

/// The central 95 % of the replicates, by linear interpolation. `None` when more than one in
/// twenty is undefined: what is left would no longer be a sample of what could have been.
pub fn interval(replicates: &[f64]) -> Option<(f64, f64)> {
    let mut defined: Vec<f64> = replicates.iter().copied().filter(|v| !v.is_nan()).collect();
    if defined.is_empty() || defined.len() * 20 < replicates.len() * 19 {
        return None;
    }
    defined.sort_unstable_by(f64::total_cmp);
    Some((percentile(&defined, 0.025), percentile(&defined, 0.975)))
}

/// Quantile of ascending values, linear between neighbours.
pub fn percentile(sorted: &[f64], q: f64) -> f64 {
    let place = q * (sorted.len() - 1) as f64;
    let (below, fraction) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(sorted.len() - 1);
    // Where both are infinite, or the lower one is, a difference would make NaN.
    let endless = sorted[below] == f64::NEG_INFINITY;
    if fraction == 0.0 || sorted[below] == sorted[above] || endless {
        return sorted[below];
    }
    sorted[below] + fraction * (sorted[above] - sorted[below])
}
