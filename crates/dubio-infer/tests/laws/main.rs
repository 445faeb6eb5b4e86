//! Laws that hold for every method, over the table of all of them.

#[path = "../support/mod.rs"]
mod support;

mod bytes;
mod epochs;
mod layers;
mod samples;
mod settings;
mod starts;

use dubio_infer::fit::Options;
use dubio_infer::fitted::Fitted;
use dubio_infer::recipe::Recipe;
use dubio_infer::training::Training;
use dubio_random::stream::Stream;
use support::*;

/// The processor itself: these tests look into its vectors.
pub(crate) type Single = dubio_nn::cpu::Cpu<f32>;

/// Three batches, the last one smaller.
pub(crate) fn small() -> LinearRegression {
    let mut target = LinearRegression::new(12, 1.0);
    target.batch = 5;
    target
}

pub(crate) fn fitted(recipe: &Recipe, network: &str, examples: u32, seed: u64) -> Fitted<Single> {
    let fit = recipe.fit(
        &Single::default(),
        network,
        &digits(examples),
        &Stream::root(seed),
        &Options::default(),
    );
    fit.unwrap_or_else(|e| panic!("{}: {}", recipe.method.card().name, e.error))
}

/// Whether a method moves a network of the widths that it is given.
pub(crate) fn keeps_widths(recipe: &Recipe) -> bool {
    let training = Training::new(&Single::default(), &digits(80), &[]).expect("digits");
    let [plain, own] = [&Recipe::named("sgd").expect("defaults"), recipe]
        .map(|recipe| recipe.network("mlp-4-3", &training).expect("a network").parameters());
    plain == own
}
