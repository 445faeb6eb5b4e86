//! A chain that one engine began goes on on another, as one does that begins on a processor and goes on on a GPU.

mod plain_engine;
mod support;

use std::time::Duration;

use dubio_infer::Error;
use dubio_infer::fit::Options;
use dubio_infer::predict::TestTime;
use dubio_infer::recipe::Recipe;
use dubio_nn::engine::Engine;
use dubio_nn::{Double, Single};
use dubio_progress::Silent;
use dubio_random::stream::Stream;
use plain_engine::Plain;
use serde_json::json;
use support::*;

/// What the chain's samples predict, or why it was not finished.
fn predictions<E: Engine>(
    engine: &E,
    recipe: &Recipe,
    options: &Options<'_>,
) -> Result<Vec<f64>, Error> {
    let fit = recipe.fit(engine, "mlp-4-3", &digits(80), &Stream::root(5), options);
    let fitted = fit.map_err(|unfinished| unfinished.error)?;
    let data = digits(100).subset(&(80..100).collect::<Vec<_>>());
    let predicted = fitted.predict(&data, &TestTime::default(), &Stream::root(6))?;
    Ok(predicted.values.into_iter().map(f64::from).collect())
}

/// A chain that is stopped on one engine after so many steps and ends on another predicts what it does where nothing stops it.
/// Whether there were so many steps.
fn goes_on<A: Engine, B: Engine>(
    (first, second): (&A, &B),
    recipe: &Recipe,
    steps: usize,
    tolerance: f64,
) -> bool {
    let name = recipe.method.card().name;
    let (folder, stop) = (scratch(), StopAfter::new(steps));
    match predictions(first, recipe, &options(folder.path(), Duration::MAX, &stop)) {
        Ok(_) => return false,
        Err(Error::Stopped) => {}
        Err(other) => panic!("{name}: {other}"),
    }
    let moved = predictions(second, recipe, &options(folder.path(), Duration::MAX, &Silent));
    let moved = moved.unwrap_or_else(|e| panic!("{name} after {steps} steps: {e}"));
    let alone = predictions(first, recipe, &Options::default()).expect("as before");
    assert_eq!(alone.len(), moved.len(), "{name}");
    let apart = alone.iter().zip(&moved).map(|(a, b)| (a - b).abs() / (1.0 + a.abs()));
    let apart = apart.fold(0.0, f64::max);
    assert!(apart < tolerance, "{name} after {steps} steps: {apart:e}");
    true
}

/// As close as two engines are that go all the way.
#[test]
fn every_chain_goes_on_on_another_engine_as_on_its_own() {
    for recipe in quick_recipes(&json!({"members": 1})) {
        let moves = [1, 5].map(|steps| {
            goes_on((&Double::default(), &Plain), &recipe, steps, 1e-5)
                && goes_on((&Plain, &Double::default()), &recipe, steps, 1e-5)
        });
        assert!(moves[0], "{} was never stopped", recipe.method.card().name);
    }
}

/// Numbers of 32 bits are read as numbers of 64, and the other way round. Only of methods that draw no normal numbers, which are
/// others in single precision.
#[test]
fn a_chain_goes_on_in_another_precision() {
    let single = Single::default();
    let draws_none = ["sgd", "deep-ensemble", "snapshot", "fge", "swa", "masksembles", "svgd"];
    let quick = quick_recipes(&json!({"members": 1})).into_iter();
    for recipe in quick.filter(|recipe| draws_none.contains(&recipe.method.card().name)) {
        assert!(goes_on((&single, &Plain), &recipe, 4, 1e-3));
        assert!(goes_on((&Plain, &single), &recipe, 4, 1e-3));
    }
}
