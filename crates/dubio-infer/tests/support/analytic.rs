//! Targets that are formulas, and methods on them.

use std::sync::Arc;

use dubio_infer::Error;
use dubio_infer::curvature::{Curvature, LayerGradients, Sought};
use dubio_infer::fit::{self, Options, Outcome};
use dubio_infer::methods::Method;
use dubio_infer::posterior::Posterior;
use dubio_infer::prior::{Gaussian, Prior};
use dubio_infer::target::{BatchName, Target};
use dubio_nn::cpu::Flat;
use dubio_nn::engine::{Point, Vector, Visited};
use dubio_nn::layer::Layer;
use dubio_nn::matrix::Matrix;
use dubio_nn::network::Network;
use dubio_nn::parameter::Slice;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;

/// A target that is a formula.
pub trait Analytic {
    fn examples(&self) -> usize;
    fn prior_precision(&self) -> f64;
    fn prior(&self) -> Arc<dyn Prior<Flat<f64>>> {
        Arc::new(Gaussian { precision: self.prior_precision() })
    }
    /// Whether its gradients are clipped.
    fn is_steep(&self) -> bool {
        false
    }
    fn batches(&self) -> usize;
    fn start(&self) -> Flat<f64>;
    /// Where the point of an index starts, where there are several.
    fn start_of(&self, index: usize) -> Flat<f64> {
        let mut theta = self.start();
        if index > 0 {
            theta.add_noise(1.0, &Stream::root(31).nth(index));
        }
        theta
    }
    fn slices(&self) -> Vec<Slice>;
    /// The weights of a layer in it.
    fn matrices(&self) -> Vec<Matrix> {
        Vec::new()
    }
    /// Mean loss of a mini-batch; its gradient replaces `out`.
    fn batch(&mut self, theta: &Flat<f64>, epoch: usize, batch: usize, out: &mut Flat<f64>) -> f64;
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64;
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64;
    /// What a unit with these parameters reads of each example, and for each the gradient at its output or the root of
    /// the Fisher information there.
    fn reads(&self, _theta: &Flat<f64>, _curvature: Curvature) -> Option<(Vec<f64>, Vec<f64>)> {
        None
    }
    /// Called when the running statistics at some parameters are asked for.
    fn refresh(&mut self, _theta: &Flat<f64>) {}
    /// Called when losses are asked for.
    fn asked(&self) {}
}

/// A formula as inference sees it, and the losses that it keeps.
pub struct Seen<'a, T>(pub &'a mut T, pub Vec<f64>);

impl<T: Analytic> Target for Seen<'_, T> {
    type Vector = Flat<f64>;

    fn examples(&self) -> usize {
        self.0.examples()
    }
    fn prior(&self) -> Arc<dyn Prior<Flat<f64>>> {
        self.0.prior()
    }
    fn is_steep(&self) -> bool {
        self.0.is_steep()
    }
    fn batches(&self) -> usize {
        self.0.batches()
    }
    fn start(&self, index: usize) -> Point<Flat<f64>> {
        Point { theta: self.0.start_of(index), statistics: Flat(Vec::new()) }
    }
    fn slices(&self) -> Vec<Slice> {
        self.0.slices()
    }
    fn matrices(&self) -> Vec<Matrix> {
        self.0.matrices()
    }
    fn gradient(&mut self, point: &mut Point<Flat<f64>>, name: BatchName, out: &mut Flat<f64>) {
        let loss = self.0.batch(&point.theta, name.epoch, name.batch, out);
        self.1.push(loss);
    }
    fn losses(&mut self) -> Vec<f64> {
        self.0.asked();
        std::mem::take(&mut self.1)
    }
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
        self.0.whole(theta, out)
    }
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
        self.0.whole_loss(theta)
    }
    fn statistics(&mut self, theta: &Flat<f64>) -> Flat<f64> {
        self.0.refresh(theta);
        Flat(Vec::new())
    }
    fn curvature(
        &mut self,
        point: &Point<Flat<f64>>,
        sought: &Sought,
        _: &Stream,
        each: &mut dyn FnMut(usize, Vec<LayerGradients>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some((inputs, gradients)) = self.0.reads(&point.theta, sought.curvature) else {
            return Ok(());
        };
        // A linear unit without a bias is a convolution of a single place.
        let mut network = Network::new(Shape::image(inputs.len() / gradients.len(), 1, 1));
        network.then("unit", Layer::conv2d(1, 1, 1));
        let (inputs, output_gradients) = (&Flat(inputs), &Flat(gradients));
        let visited = Visited { node: &network.nodes()[0], inputs, output_gradients };
        each(0, LayerGradients::of(&visited).into_iter().collect())
    }
}

/// Runs a method on a formula.
pub fn fit<T: Analytic>(
    method: &Method,
    target: &mut T,
    stream: &Stream,
    member: usize,
    options: &Options<'_>,
) -> Outcome<Posterior<Flat<f64>>, Posterior<Flat<f64>>> {
    let rule = method.rule(&target.start());
    fit::fit(rule, &mut Seen(target, Vec::new()), stream, member, options)
}

/// Runs a method on a target.
pub fn run<T: Analytic>(method: &Method, target: &mut T, seed: u64) -> Posterior<Flat<f64>> {
    let options = Options::default();
    fit(method, target, &Stream::root(seed), 0, &options).unwrap_or_else(|e| panic!("{}", e.error))
}

/// What a target that stands around another, in the field that is named, has from it.
macro_rules! around {
    ($inner:tt) => {
        fn examples(&self) -> usize {
            self.$inner.examples()
        }
        fn prior_precision(&self) -> f64 {
            self.$inner.prior_precision()
        }
        fn batches(&self) -> usize {
            self.$inner.batches()
        }
        fn start(&self) -> Flat<f64> {
            self.$inner.start()
        }
        fn slices(&self) -> Vec<dubio_nn::parameter::Slice> {
            self.$inner.slices()
        }
        fn matrices(&self) -> Vec<dubio_nn::matrix::Matrix> {
            self.$inner.matrices()
        }
        fn reads(
            &self,
            theta: &Flat<f64>,
            curvature: dubio_infer::curvature::Curvature,
        ) -> Option<(Vec<f64>, Vec<f64>)> {
            self.$inner.reads(theta, curvature)
        }
    };
}

pub(crate) use around;
