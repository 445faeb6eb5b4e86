//! The same bytes from the same seed, on any number of threads.

use dubio_infer::augment::Augmentation;
use dubio_infer::fit::Options;
use dubio_infer::fitted::Fitted;
use dubio_infer::predict::TestTime;
use dubio_random::stream::Stream;
use serde_json::json;

use crate::support::last_layer::table;
use crate::support::*;
use crate::{Single, fitted, small};

#[test]
fn the_same_stream_gives_the_same_bytes_and_another_gives_others_where_anything_is_drawn() {
    // Full batches and a fixed start: these draw nothing on such a target.
    let drawless = [
        "sgd",
        "deep-ensemble",
        "snapshot",
        "fge",
        "swa",
        "mc-dropout",
        "gaussian-dropout",
        "masksembles",
        "packed-ensemble",
        "svgd",
        "bayesian-ridge",
        "conditional-gaussian",
        "conditional-flow",
        "sqr",
    ];
    for (method, _) in quick_methods() {
        let name = method.card().name;
        let of = |seed| contents(&run(&method, &mut small(), seed));
        assert_eq!(of(1), of(1), "{name}");
        assert_eq!(of(1) == of(2), drawless.contains(&name), "{name}");
    }
}

#[test]
fn on_a_network_every_method_gives_the_same_bytes_for_a_seed_and_others_for_another() {
    for recipe in quick_recipes(&json!({"members": 1})) {
        let name = recipe.method.card().name;
        let of = |seed| contents(&fitted(&recipe, "mlp-4", 80, seed).posterior);
        let first = of(1);
        assert_eq!(first, of(1), "{name}");
        assert_ne!(first, of(2), "{name}");
    }
}

#[test]
fn one_thread_and_two_give_the_same_bytes() {
    // 64 x 60 x 80 products in a layer: enough for the engine to share them out.
    let data = digits(160);
    for recipe in quick_recipes(&json!({"members": 1})) {
        let mut recipe = recipe;
        recipe.setup.batch = 80;
        let of = |threads| {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let fitted = fitted(&recipe, "mlp-60", 160, 3);
                let test_time = TestTime { augment: vec![Augmentation::Crop], looks: 2 };
                let predicted = fitted.predict(&data, &test_time, &Stream::root(4));
                let predicted = predicted.unwrap_or_else(|e| panic!("{e}"));
                (contents(&fitted.posterior), predicted.values)
            })
        };
        assert!(of(1) == of(2), "{}", recipe.method.card().name);
    }
}

#[test]
fn a_posterior_that_is_made_again_from_its_numbers_predicts_the_same_bytes() {
    let common = json!({"members": 2});
    // Those for regression alone have one member.
    let regressions = quick_regressions(&json!({})).into_iter().map(|recipe| (recipe, table()));
    let all = quick_recipes(&common).into_iter().map(|recipe| (recipe, digits(80)));
    for (recipe, data) in all.chain(regressions) {
        let name = recipe.method.card().name;
        let (engine, network) = (Single::default(), "mlp-4-3");
        let fit = recipe.fit(&engine, network, &data, &Stream::root(1), &Options::default());
        let fitted = fit.unwrap_or_else(|e| panic!("{name}: {}", e.error));
        let again = recipe.restore(&engine, network, &data, &fitted.numbers());
        let again = again.unwrap_or_else(|e| panic!("{name}: {e}"));
        let of = |fitted: &Fitted<Single>| {
            let predicted = fitted.predict(&data, &TestTime::default(), &Stream::root(2));
            predicted.unwrap_or_else(|e| panic!("{name}: {e}")).values
        };
        assert!(of(&fitted) == of(&again), "{name}");
    }
}
