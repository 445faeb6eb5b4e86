//! A subnetwork as a target of its own: what moves when `layers` names some.

use std::mem::swap;
use std::ops::Range;
use std::sync::Arc;

use dubio_nn::engine::{Point, Seed, Vector, Visited};
use dubio_nn::matrix::Matrix;
use dubio_nn::network::Perturbation;
use dubio_nn::parameter::Slice;
use dubio_random::stream::Stream;

use crate::curvature::{LayerGradients, Sought};
use crate::error::Error;
use crate::likelihood::Likelihood;
use crate::prior::Prior;
use crate::target::{BatchName, Perturbed, Target};

/// A target as a function of some layers' parameters, the others at their start.
pub struct Subnetwork<'a, T: Target> {
    whole: &'a mut T,
    range: Range<usize>,
    prior: Arc<dyn Prior<T::Vector>>,
    /// All parameters; the stretch that moves is overwritten.
    point: Point<T::Vector>,
    gradient: T::Vector,
    /// Spreads of all weights, and their gradient, where layers are perturbed; those of layers that stay are 0.
    spreads: Option<[T::Vector; 2]>,
}

impl<'a, T: Target> Subnetwork<'a, T> {
    /// The subnetwork of the parameters in a stretch.
    pub fn new(whole: &'a mut T, range: Range<usize>) -> Self {
        let point = whole.start(0);
        let gradient = point.theta.clone();
        let prior = whole.prior().part(range.clone()).into();
        Self { whole, range, prior, point, gradient, spreads: None }
    }

    /// Completes a point of the subnetwork to one of the whole network.
    pub fn complete(&self, point: Point<T::Vector>) -> Point<T::Vector> {
        let mut theta = self.point.theta.clone();
        theta.put(self.range.start, &point.theta);
        Point { theta, statistics: point.statistics }
    }

    /// Calls `f` with the whole target, the point of the whole network, and room for a gradient.
    fn at<R>(
        &mut self,
        part: &mut Point<T::Vector>,
        f: impl FnOnce(&mut T, &mut Point<T::Vector>, &mut T::Vector) -> R,
    ) -> R {
        self.point.theta.put(self.range.start, &part.theta);
        swap(&mut self.point.statistics, &mut part.statistics);
        let result = f(self.whole, &mut self.point, &mut self.gradient);
        swap(&mut self.point.statistics, &mut part.statistics);
        result
    }

    /// Those of the whole network's matrices that move, with places counted from the start of this stretch.
    fn inside(&self, whole: Vec<Matrix>) -> Vec<Matrix> {
        let Range { start, end } = self.range;
        let inside = |matrix: &Matrix| start <= matrix.range.start && matrix.range.end <= end;
        whole.into_iter().filter(inside).map(|matrix| matrix.after(start)).collect()
    }

    fn own(&self, gradient: &mut T::Vector) {
        gradient.copy_from(&self.gradient.part(self.range.clone()));
    }
}

impl<T: Target> Target for Subnetwork<'_, T> {
    type Vector = T::Vector;

    fn examples(&self) -> usize {
        self.whole.examples()
    }
    fn prior(&self) -> Arc<dyn Prior<T::Vector>> {
        Arc::clone(&self.prior)
    }
    fn is_steep(&self) -> bool {
        self.whole.is_steep()
    }
    fn batches(&self) -> usize {
        self.whole.batches()
    }
    fn start(&self, index: usize) -> Point<T::Vector> {
        let Point { theta, statistics } = self.whole.start(index);
        Point { theta: theta.part(self.range.clone()), statistics }
    }
    fn slices(&self) -> Vec<Slice> {
        let start = self.range.start;
        let inside = self.whole.slices().into_iter().filter(|slice| {
            self.range.start <= slice.range.start && slice.range.end <= self.range.end
        });
        let moved = inside.map(|slice| Slice {
            range: slice.range.start - start..slice.range.end - start,
            ..slice
        });
        moved.collect()
    }
    fn matrices(&self) -> Vec<Matrix> {
        self.inside(self.whole.matrices())
    }
    fn likelihood(&self) -> Option<Arc<dyn Likelihood>> {
        self.whole.likelihood()
    }
    fn hidden_layers(&self) -> Vec<Matrix> {
        self.inside(self.whole.hidden_layers())
    }
    fn gradient(
        &mut self,
        point: &mut Point<T::Vector>,
        batch: BatchName,
        gradient: &mut T::Vector,
    ) {
        self.at(point, |whole, point, gradient| whole.gradient(point, batch, gradient));
        self.own(gradient);
    }
    fn perturb(&mut self, by: Perturbation) -> Option<Vec<Range<usize>>> {
        let theta = &self.point.theta;
        self.spreads = Some([(); 2].map(|()| theta.zeros(theta.len())));
        let Range { start, end } = self.range;
        let inside = |all: Range<usize>| all.start.max(start) - start..all.end.min(end) - start;
        Some(self.whole.perturb(by)?.into_iter().map(inside).collect())
    }
    fn perturbed_gradient(
        &mut self,
        at: Perturbed<'_, T::Vector>,
        batch: BatchName,
        [of_spreads, of_means]: [&mut T::Vector; 2],
    ) {
        let Self { whole, range, point, gradient, spreads, .. } = self;
        let [spreads, gradient_of_spreads] = spreads.as_mut().expect("made ready before");
        spreads.put(range.start, at.spreads);
        point.theta.put(range.start, at.means);
        let inside = Perturbed { spreads, means: &point.theta, ..at };
        whole.perturbed_gradient(inside, batch, [gradient_of_spreads, gradient]);
        of_spreads.copy_from(&gradient_of_spreads.part(range.clone()));
        of_means.copy_from(&gradient.part(range.clone()));
    }
    fn losses(&mut self) -> Vec<f64> {
        self.whole.losses()
    }
    fn whole(&mut self, theta: &T::Vector, gradient: &mut T::Vector) -> f64 {
        self.point.theta.put(self.range.start, theta);
        let loss = self.whole.whole(&self.point.theta, &mut self.gradient);
        self.own(gradient);
        loss
    }
    fn whole_loss(&mut self, theta: &T::Vector) -> f64 {
        self.point.theta.put(self.range.start, theta);
        self.whole.whole_loss(&self.point.theta)
    }
    fn has_statistics(&self) -> bool {
        self.whole.has_statistics()
    }
    fn statistics(&mut self, theta: &T::Vector) -> T::Vector {
        self.point.theta.put(self.range.start, theta);
        self.whole.statistics(&self.point.theta)
    }
    fn outputs(&mut self, point: &Point<T::Vector>, batch: BatchName) -> Vec<f64> {
        self.at(&mut point.clone(), |whole, point, _| whole.outputs(point, batch))
    }
    fn seeded_gradient(
        &mut self,
        point: &mut Point<T::Vector>,
        batch: BatchName,
        seed: Seed<'_>,
        gradient: &mut T::Vector,
    ) {
        self.at(point, |whole, point, gradient| {
            whole.seeded_gradient(point, batch, seed, gradient);
        });
        self.own(gradient);
    }
    fn visit(
        &mut self,
        point: &Point<T::Vector>,
        batch: BatchName,
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, T::Vector>),
    ) {
        self.at(&mut point.clone(), |whole, point, _| whole.visit(point, batch, seed, visitor));
    }
    fn curvature(
        &mut self,
        point: &Point<T::Vector>,
        sought: &Sought,
        stream: &Stream,
        each: &mut dyn FnMut(usize, Vec<LayerGradients>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let range = self.range.clone();
        let stretch = range.start + sought.stretch.start..range.start + sought.stretch.end;
        let there = Sought { stretch, ..sought.clone() };
        let mut own = |root: usize, layers: Vec<LayerGradients>| {
            each(root, layers.into_iter().filter_map(|layer| layer.within(&range)).collect())
        };
        self.at(&mut point.clone(), |whole, point, _| {
            whole.curvature(point, &there, stream, &mut own)
        })
    }
}
