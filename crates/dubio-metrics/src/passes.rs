//! Sums along a ranking, of many statistics in one go.
//!
//! Counts in the order of a ranking are a random read per example, and a copy of them takes as much
//! memory as the resamples themselves. So a ranking is gone through in tiles that stay in the nearest
//! cache: the counts of a tile are collected once, and every statistic of that ranking uses them.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use crate::weights::{Count, LANES, Weights};

/// Examples of a tile: 16 KiB of counts.
const TILE: usize = 1024;

/// What is summed along an order of the examples.
pub(crate) trait Pass: Send + Sync + 'static {
    /// The sums so far, in each lane.
    type Sums<const L: usize>: Send + Sync + 'static;
    /// The order.
    fn order(&self) -> &Arc<Vec<u32>>;
    /// The sums before the first example.
    fn start<const L: usize>(&self, weights: &Weights<'_, L>) -> Self::Sums<L>;
    /// Adds the examples at these places of the order, whose counts are given.
    fn add<const L: usize>(
        &self,
        places: Range<usize>,
        counts: &[[Count; L]],
        sums: &mut Self::Sums<L>,
    );
}

/// A [`Pass`] over resamples, behind a pointer.
pub trait AnyPass: Send + Sync {
    /// See [`Pass::order`].
    fn order(&self) -> &Arc<Vec<u32>>;
    /// See [`Pass::start`].
    fn start(&self, weights: &Weights<'_, LANES>) -> Box<dyn Any + Send + Sync>;
    /// See [`Pass::add`].
    fn add(&self, places: Range<usize>, counts: &[[Count; LANES]], sums: &mut dyn Any);
    /// Hands the sums to the weights, where [`Weights::along`] finds them.
    fn keep(self: Arc<Self>, sums: Box<dyn Any + Send + Sync>, weights: &Weights<'_, LANES>);
    /// Whether the weights have its sums.
    fn known(self: Arc<Self>, weights: &Weights<'_, LANES>) -> bool;
}

impl<P: Pass> AnyPass for P {
    fn order(&self) -> &Arc<Vec<u32>> {
        Pass::order(self)
    }
    fn start(&self, weights: &Weights<'_, LANES>) -> Box<dyn Any + Send + Sync> {
        Box::new(Pass::start(self, weights))
    }
    fn add(&self, places: Range<usize>, counts: &[[Count; LANES]], sums: &mut dyn Any) {
        if let Some(sums) = sums.downcast_mut::<P::Sums<LANES>>() {
            Pass::add(self, places, counts, sums);
        }
    }
    fn keep(self: Arc<Self>, sums: Box<dyn Any + Send + Sync>, weights: &Weights<'_, LANES>) {
        if let Ok(sums) = sums.downcast::<P::Sums<LANES>>() {
            weights.keep(&self, *sums);
        }
    }
    fn known(self: Arc<Self>, weights: &Weights<'_, LANES>) -> bool {
        weights.find::<P, P::Sums<LANES>>(&self).is_some()
    }
}

/// Calls `visit(places, counts)` for the tiles of an order, from the first on.
fn tiles<const L: usize>(
    order: &[u32],
    counts: &[[Count; L]],
    mut visit: impl FnMut(Range<usize>, &[[Count; L]]),
) {
    let mut tile = vec![[0; L]; TILE.min(order.len())];
    for (index, order) in order.chunks(TILE).enumerate() {
        for (count, &example) in tile.iter_mut().zip(order) {
            *count = counts[example as usize];
        }
        let start = index * TILE;
        visit(start..start + order.len(), &tile[..order.len()]);
    }
}

impl<const L: usize> Weights<'_, L> {
    /// A pass's sums over all examples, worked out once.
    pub(crate) fn along<P: Pass>(&self, pass: &Arc<P>) -> Arc<P::Sums<L>> {
        self.find(pass).unwrap_or_else(|| {
            let mut sums = Pass::start(&**pass, self);
            tiles(Pass::order(&**pass), self.counts(), |places, counts| {
                Pass::add(&**pass, places, counts, &mut sums);
            });
            self.keep(pass, sums)
        })
    }
}

impl Weights<'_, LANES> {
    /// The same weights, with the sums of some passes already known: those of one order together.
    pub(crate) fn with_passes(self, passes: &[Arc<dyn AnyPass>]) -> Self {
        let mut left: Vec<Arc<dyn AnyPass>> = Vec::new();
        for pass in passes {
            let twice = left.iter().any(|known| Arc::ptr_eq(known, pass));
            if !twice && !pass.clone().known(&self) {
                left.push(pass.clone());
            }
        }
        while let Some(first) = left.first() {
            let order = first.order().clone();
            let (own, others): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|pass| Arc::ptr_eq(pass.order(), &order));
            let mut sums: Vec<_> = own.iter().map(|pass| pass.start(&self)).collect();
            tiles(&order, self.counts(), |places, counts| {
                for (pass, sums) in own.iter().zip(&mut sums) {
                    pass.add(places.clone(), counts, &mut **sums);
                }
            });
            for (pass, sums) in own.into_iter().zip(sums) {
                pass.keep(sums, &self);
            }
            left = others;
        }
        self
    }
}
