//! The percentile bootstrap over examples: how much a score could have come out otherwise.

use rayon::prelude::*;

use crate::calibrate::cross_validation::below;
use crate::score::{Count, LANES, Prepared, in_order};
use crate::stream::Stream;

/// How to resample.
#[derive(Clone, Debug, PartialEq)]
pub struct Bootstrap {
    /// Number of resamples.
    pub resamples: usize,
    /// Where the draws come from. The same stream and number of examples give the same resamples,
    /// so two files scored with one stream are resampled in pairs.
    pub stream: Stream,
}

/// Counts of [`LANES`] resamples of examples: `weights[i][l]`.
pub type Block = Vec<[Count; LANES]>;

impl Bootstrap {
    /// The resamples' values of several statistics, `[statistic][resample]`.
    ///
    /// `strata` are sizes of sets that are resampled each on its own; the statistics see them one
    /// after the other.
    pub fn replicates<'a>(
        &self,
        strata: &[usize],
        statistics: &[&(dyn Prepared + 'a)],
        progress: &(dyn Fn(usize) + Sync),
    ) -> Vec<Vec<f64>> {
        self.map_blocks(strata, |blocks| {
            let blocks: Vec<&[[Count; LANES]]> = blocks.iter().map(|block| &block[..]).collect();
            replicates(statistics, &blocks, progress)
        })
    }

    /// The same, where `values` works out the statistics' values for some blocks of counts,
    /// `[block][statistic]`: as many as fit 64 MiB, and enough for every thread.
    pub(crate) fn map_blocks(
        &self,
        strata: &[usize],
        values: impl Fn(&[Block]) -> Vec<Vec<[f64; LANES]>>,
    ) -> Vec<Vec<f64>> {
        let count = self.resamples.div_ceil(LANES);
        let size = LANES * strata.iter().sum::<usize>();
        let batch = ((1 << 26) / size.max(1)).max(rayon::current_num_threads());
        let mut blocks: Vec<Vec<[f64; LANES]>> = Vec::with_capacity(count);
        while blocks.len() < count {
            let batch = blocks.len()..count.min(blocks.len() + batch);
            let weights: Vec<Block> =
                batch.into_par_iter().map(|block| self.block(block, strata)).collect();
            blocks.extend(values(&weights));
        }
        let statistics = blocks.first().map_or(0, Vec::len);
        (0..statistics)
            .map(|s| {
                let all = blocks.iter().flat_map(|block| block[s]);
                all.take(self.resamples).collect()
            })
            .collect()
    }

    /// The counts of one block of resamples. Each resample is drawn into bytes that lie together,
    /// which the cache holds for a million examples, and then put beside the others.
    fn block(&self, block: usize, strata: &[usize]) -> Block {
        let mut weights: Block = vec![[0; LANES]; strata.iter().sum()];
        let mut counts: Vec<Count> = vec![0; weights.len()];
        for lane in 0..LANES {
            counts.fill(0);
            let mut generator = self.stream.nth(block * LANES + lane).generator();
            let mut rest = &mut counts[..];
            for &size in strata {
                let (own, others) = rest.split_at_mut(size);
                for _ in 0..size {
                    let count = &mut own[below(&mut generator, size as u64) as usize];
                    *count = count.saturating_add(1);
                }
                rest = others;
            }
            for (weight, count) in weights.iter_mut().zip(&counts) {
                weight[lane] = *count;
            }
        }
        weights
    }
}

/// The values of several statistics for blocks of counts, `[block][statistic]`. A block is put into
/// each order that any of them asks for once.
pub(crate) fn replicates<'a>(
    statistics: &[&(dyn Prepared + 'a)],
    blocks: &[&[[Count; LANES]]],
    progress: &(dyn Fn(usize) + Sync),
) -> Vec<Vec<[f64; LANES]>> {
    let swept: Vec<Option<Vec<[f64; LANES]>>> =
        statistics.iter().map(|statistic| statistic.of_blocks(blocks)).collect();
    let of_block = |(block, weights): (usize, &&[[Count; LANES]])| {
        let mut ordered: Vec<(&[u32], Block)> = Vec::new();
        let each = statistics.iter().zip(&swept).map(|(statistic, swept)| {
            if let Some(swept) = swept {
                return swept[block];
            }
            let Some(order) = statistic.order() else {
                return statistic.ordered_replicates(weights);
            };
            let known = ordered.iter().position(|(known, _)| std::ptr::eq(*known, order));
            let known = known.unwrap_or_else(|| {
                ordered.push((order, in_order(order, weights)));
                ordered.len() - 1
            });
            statistic.ordered_replicates(&ordered[known].1)
        });
        let values = each.collect();
        progress(1);
        values
    };
    blocks.par_iter().enumerate().map(of_block).collect()
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

/// Interval of the difference of two scores from replicates that share their resamples.
pub fn paired_interval(a: &[f64], b: &[f64]) -> Option<(f64, f64)> {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    interval(&differences)
}

/// Quantile of ascending values, linear between neighbours.
pub fn percentile(sorted: &[f64], q: f64) -> f64 {
    let place = q * (sorted.len() - 1) as f64;
    let (below, share) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(sorted.len() - 1);
    // Where both are infinite, or the lower one is, a difference would make NaN.
    let endless = sorted[below] == f64::NEG_INFINITY;
    if share == 0.0 || sorted[below] == sorted[above] || endless {
        return sorted[below];
    }
    sorted[below] + share * (sorted[above] - sorted[below])
}
