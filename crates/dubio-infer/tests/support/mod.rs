//! Targets whose posterior is known in closed form, and what it takes to compare with it.

#![allow(dead_code, unreachable_pub, unused_imports, unused_macros)] // each test uses a part

mod analytic;
pub mod answers;
pub mod last_layer;
mod linear_regression;
mod methods;
mod numbers;
mod process;
mod stops;

use std::sync::Arc;

use dubio_data::dataset::Dataset;
use dubio_data::sets::{self, Part};
use dubio_infer::posterior::Posterior;
use dubio_infer::prior::Gaussian;
use dubio_infer::problem::Task;
use dubio_infer::training::Training;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::{Engine, Vector};
use tempfile::TempDir;

pub(crate) use analytic::around;
pub use analytic::{Analytic, Seen, fit, run};
pub use linear_regression::LinearRegression;
pub use methods::{method, quick_methods, quick_recipes, quick_regressions, recipe};
pub use numbers::{
    assert_gaussian, inverse, mean_and_error, of_eigenvalues, solved, stationary_variance, times,
};
pub use process::Process;
pub use stops::{StopAfter, options};

/// What there is to learn of training data under a Gaussian prior.
pub fn task<E: Engine>(training: &Training<E>, precision: f64) -> Task<E> {
    training.task(Arc::new(Gaussian { precision }))
}

/// The first digits of the training part; all ten classes are among 40.
pub fn digits(count: u32) -> Dataset {
    let all = sets::digits::SET.load("".as_ref(), Part::Train).expect("embedded");
    all.subset(&(0..count).collect::<Vec<_>>())
}

/// A folder of its own, in memory where there is such a place: checkpoints wait for the disk.
pub fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}

/// The samples' coordinates.
pub fn places(posterior: &Posterior<Flat<f64>>) -> Vec<[f64; 2]> {
    posterior.points.iter().map(|p| [p.theta.0[0], p.theta.0[1]]).collect()
}

/// Everything that a posterior holds but the time it took, so that any difference shows.
pub fn contents<V: Vector>(posterior: &Posterior<V>) -> Vec<Vec<u64>> {
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let points = posterior
        .points
        .iter()
        .flat_map(|point| [&point.theta, &point.statistics].map(|v| bits(&v.read(0..v.len()))));
    let records = posterior.records.iter().flat_map(|record| {
        let report: Vec<f64> = record.report.iter().map(|(_, value)| *value).collect();
        [bits(&record.losses), bits(&report)]
    });
    points.chain(records).collect()
}
