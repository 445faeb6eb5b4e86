//! Laws that hold for every method, over the table of all of them.

mod support;

use std::collections::BTreeSet;

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_infer::Error;
use dubio_infer::augment::Augmentation;
use dubio_infer::fit::{self, Options};
use dubio_infer::fitted::Fitted;
use dubio_infer::likelihood::Categorical;
use dubio_infer::methods::sgd::Descent;
use dubio_infer::methods::{CARDS, Method, Scene};
use dubio_infer::predict::TestTime;
use dubio_infer::problem::{Problem, Start};
use dubio_infer::recipe::Recipe;
use dubio_infer::subnetwork::Subnetwork;
use dubio_infer::target::{BatchName, Target as _};
use dubio_infer::training::Training;
use dubio_infer::wrong::{Kind, Wrong};
use dubio_nn::Double;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::{Engine, Model};
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;
use serde_json::{Map, Value, json};
use support::*;

/// The processor itself: these tests look into its vectors.
type Single = dubio_nn::cpu::Cpu<f32>;

/// Three batches, the last one smaller.
fn small() -> LinearRegression {
    let mut target = LinearRegression::new(12, 1.0);
    target.batch = 5;
    target
}

fn fitted(recipe: &Recipe, network: &str, examples: u32, seed: u64) -> Fitted<Single> {
    let fit = recipe.fit(
        &Single::default(),
        network,
        &digits(examples),
        &Stream::root(seed),
        &Options::default(),
    );
    fit.unwrap_or_else(|e| panic!("{}: {}", recipe.method.card().name, e.error))
}

fn table(settings: &impl serde::Serialize) -> Map<String, Value> {
    let Ok(Value::Object(table)) = serde_json::to_value(settings) else { panic!("a table") };
    table
}

fn refused(name: &str, settings: Value) -> String {
    let Value::Object(settings) = settings else { panic!("a table") };
    match Recipe::parse(name, settings.clone()) {
        Err(error @ (Error::Setting { .. } | Error::UnknownMethod { .. })) => error.to_string(),
        other => panic!("{name} {settings:?}: {other:?}"),
    }
}

fn wrong(name: &str, settings: Value) -> Wrong {
    let Value::Object(settings) = settings else { panic!("a table") };
    match Recipe::parse(name, settings.clone()) {
        Err(Error::Setting { method, wrong }) if method == name => wrong,
        other => panic!("{name} {settings:?}: {other:?}"),
    }
}

#[test]
fn the_promised_number_of_samples_comes_out() {
    for (method, samples) in quick_methods() {
        let posterior = run(&method, &mut small(), 1);
        assert_eq!(method.samples(), samples, "{method:?}");
        assert_eq!(posterior.points.len(), method.points(), "{method:?}");
        let network = Network::new(Shape::vector(2));
        let scene = Scene { network, moving: 0..2, likelihood: &Categorical { classes: 2 } };
        let predictive = method.predictive::<Double>(&posterior, &scene);
        assert_eq!(predictive.parts() * predictive.samples_of_part(), samples, "{method:?}");
    }
}

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

/// The losses of an epoch's batches at one place.
fn losses(problem: &mut Problem<Double>, epoch: usize) -> Vec<f64> {
    let mut point = problem.start(0);
    let mut gradient = point.theta.clone();
    for batch in 0..problem.batches() {
        problem.gradient(&mut point, BatchName { epoch, batch }, &mut gradient);
    }
    problem.losses()
}

fn problem(name: &str, network: &str, data: &Dataset) -> Problem<Double> {
    let engine = Double::default();
    let training = Training::new(&engine, data, &[]).expect("data");
    let network = recipe(name, json!({"batch": 1})).network(network, &training).expect("a network");
    let (task, stream) = (task(&training, 1.0), Stream::root(1));
    let problem = Problem::new(&engine, &network, &task, 1, None, Start::Fresh, &stream);
    problem.unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn an_epoch_shows_every_example_once_in_an_order_of_its_own() {
    let mut problem = problem("sgd", "mlp-12", &digits(60));
    let [first, again, second] = [0, 0, 1].map(|epoch| losses(&mut problem, epoch));
    assert_eq!(first, again, "an epoch is the same whenever it is asked for");
    assert_ne!(first, second);
    let sorted = |mut losses: Vec<f64>| {
        losses.sort_by(f64::total_cmp);
        losses
    };
    assert_eq!(sorted(first.clone()), sorted(second));
    let mut distinct = sorted(first);
    distinct.dedup();
    assert_eq!(distinct.len(), 60, "no two digits have the same loss");
}

#[test]
fn the_noise_of_layers_is_another_in_every_step() {
    // The same row over and over: all that can differ is the noise.
    let data = Dataset {
        inputs: Inputs::Features { width: 3, values: vec![1.0; 60] },
        answers: Answers::Targets(vec![1.0; 20]),
        groups: Default::default(),
    };
    let distinct = |name: &str| {
        let mut problem = problem(name, "mlp-300", &data);
        let all = [losses(&mut problem, 0), losses(&mut problem, 1)].concat();
        all.iter().map(|loss| loss.to_bits()).collect::<BTreeSet<_>>().len()
    };
    assert_eq!(distinct("sgd"), 1);
    assert_eq!(distinct("mc-dropout"), 40);
    assert_eq!(distinct("gaussian-dropout"), 40);
}

#[test]
fn settings_come_back_from_json_as_they_went() {
    for (method, _) in quick_methods() {
        let name = method.card().name;
        let text = serde_json::to_string(&method).expect("JSON");
        assert_eq!(serde_json::from_str::<Method>(&text).expect(name), method);
        let mut settings = table(&method);
        assert_eq!(settings.remove("method"), Some(json!(name)));
        assert_eq!(Method::parse(name, settings.clone()).expect(name), method);
        let setup = json!({"batch": 7, "prior_std": 0.3, "members": 2, "layers": ["fc1"],
            "augment": ["crop"], "start": ["a.safetensors"]});
        settings.extend(setup.as_object().expect("a table").clone());
        let recipe = Recipe::parse(name, settings).expect(name);
        let text = serde_json::to_string(&recipe).expect("JSON");
        assert_eq!(serde_json::from_str::<Recipe>(&text).expect(name), recipe);
    }
}

#[test]
fn every_number_comes_back_from_json_to_the_last_bit() {
    for i in 1..2000 {
        let lr = (f64::from(i) * 0.37).sin().abs() * 10_f64.powi(i % 12 - 8);
        let method = Method::Sgd(Descent { lr, ..Descent::default() }.into());
        let text = serde_json::to_string(&method).expect("JSON");
        assert_eq!(serde_json::from_str::<Method>(&text).expect("a method"), method, "{text}");
    }
}

#[test]
fn one_file_one_change_and_one_layer_need_no_list() {
    let one = recipe("sgd", json!({"start": "a", "augment": "flip", "layers": "fc2"}));
    let list = recipe("sgd", json!({"start": ["a"], "augment": ["flip"], "layers": ["fc2"]}));
    assert_eq!(one, list);
}

#[test]
fn no_method_has_a_setting_that_every_method_has() {
    for card in CARDS {
        let recipe = Recipe::named(card.name).expect("defaults");
        let shared = table(&recipe.setup);
        let twice: Vec<String> = table(&recipe.method)
            .into_iter()
            .map(|(name, _)| name)
            .filter(|n| shared.contains_key(n))
            .collect();
        assert!(twice.is_empty(), "{}: {twice:?} could not be set", card.name);
    }
}

#[test]
fn an_unknown_setting_is_refused_with_the_nearest_known_one() {
    for card in CARDS {
        for (wrong, right) in [("sample", "samples"), ("membres", "members"), ("lrr", "lr")] {
            let message = refused(card.name, json!({ wrong: 1 }));
            assert!(message.starts_with(&format!("{}: ", card.name)), "{message}");
            assert!(message.contains(&format!("`{wrong}`")), "{message}");
            let names = table(&Recipe::named(card.name).expect("defaults").method);
            if names.contains_key(right) || right == "members" {
                assert!(message.contains(&format!("did you mean `{right}`?")), "{message}");
            }
        }
        let message = refused(card.name, json!({ "enthusiasm": 1 }));
        assert!(message.contains("`enthusiasm`; there are "), "{message}");
        assert!(message.contains("prior_std"), "those of every method too: {message}");
    }
}

#[test]
fn an_error_says_which_method_and_which_setting_is_meant() {
    for card in CARDS {
        let recipe = Recipe::named(card.name).expect("defaults");
        let names = table(&recipe.method).into_iter().chain(table(&recipe.setup));
        for (setting, _) in names.filter(|(name, _)| name != "method") {
            let value = if setting == "warm_up" { json!(true) } else { json!({}) };
            let wrong = wrong(card.name, json!({ setting.clone(): value }));
            assert_eq!((wrong.settings, wrong.kind), (vec![setting], Kind::Type), "{}", card.name);
        }
        let unknown = wrong(card.name, json!({ "enthusiasm": 1 }));
        assert_eq!((&unknown.settings[0][..], unknown.kind), ("enthusiasm", Kind::Unknown));
        let none = wrong(card.name, json!({ "batch": 0 }));
        assert_eq!((&none.settings[0][..], none.kind), ("batch", Kind::Value));
        let both = wrong(card.name, json!({ "prior_std": 1.0, "weight_decay": 1.0 }));
        assert_eq!(
            (&both.settings[..], both.kind),
            (&["prior_std", "weight_decay"].map(String::from)[..], Kind::Value)
        );
    }
    assert!(
        matches!(Recipe::named("sgdd"), Err(Error::UnknownMethod { name, .. }) if name == "sgdd")
    );
    let of = |value: Value| wrong("sgd", value).what;
    assert_eq!(of(json!({ "lr": "big" })), "`lr`: expected a number, got \"big\"");
    assert_eq!(of(json!({ "epochs": 1.5 })), "`epochs`: expected a whole number from 0, got 1.5");
    assert_eq!(of(json!({ "members": -1 })), "`members`: expected a whole number from 0, got -1");
    assert_eq!(of(json!({ "prior_std": [] })), "`prior_std`: expected a number, got []");
}

/// What each setting cannot be, whichever method has it. None: every whole number will do.
const IMPOSSIBLE: &[(&str, &[&str])] = &[
    ("lr", &["0", "-1"]),
    ("lr_high", &["0"]),
    ("lr_low", &["0", "1e9"]),
    ("collect_lr", &["-0.1"]),
    ("schedule", &["\"cosin\"", "\"step:0:1\""]),
    ("optimiser", &["\"sdg\""]),
    ("covariance", &["\"half\""]),
    ("momentum", &["1", "-0.1"]),
    ("friction", &["0", "1.5"]),
    ("temperature", &["-1"]),
    ("rate", &["1", "-0.1"]),
    ("step", &["0"]),
    ("target_acceptance", &["1", "-0.5"]),
    ("coordinate_std", &["0"]),
    ("samples", &["0"]),
    ("thin", &["0"]),
    ("leapfrog", &["0"]),
    ("jitter", &["1", "-0.1"]),
    ("max_depth", &["0"]),
    ("rank", &["0"]),
    ("cycle_epochs", &["0", "1"]),
    ("cycle_samples", &["0", "1000"]),
    ("collect", &["0", "1000"]),
    ("collect_epochs", &["0"]),
    ("noise_epochs", &["0", "1000"]),
    ("epochs", &[]),
    ("burn_in", &[]),
    ("noise_from", &[]),
    ("particles", &["0", "2000"]),
    ("initial_std", &["0"]),
    ("log_std_lr", &["0"]),
    ("kl_weight", &["-1"]),
    ("kl_warm_up", &[]),
    ("estimator", &["\"weight\""]),
    ("position", &["\"inputs\""]),
    ("draws", &["0"]),
    ("curvature", &["0"]),
    ("curvature_momentum", &["1", "-0.1"]),
    ("augmentation_factor", &["0", "-1"]),
    ("structure", &["\"kron\""]),
    ("noise_scale", &["0", "-1"]),
    ("prior_precision", &["0", "1e300", "\"best\""]),
    ("predict", &["\"glm\""]),
    ("student_lr", &["0"]),
    ("features", &["0", "20000"]),
    ("length_scale", &["0"]),
    ("directions", &["\"random\""]),
    ("linear_bound", &["0"]),
    ("conv_bound", &["0"]),
    ("hidden", &["0", "257"]),
    ("signs", &["1", "-0.1"]),
    ("spread", &["-1"]),
    ("factor_lr", &["-1"]),
    ("components", &["0"]),
    ("factor_prior_std", &["0"]),
    ("scale", &["0.5", "1000"]),
    ("alpha", &["0", "1000"]),
    ("levels", &["0"]),
    ("iterations", &["0"]),
    ("prior", &["\"cauchy\""]),
    ("narrow_std", &["0"]),
    ("wide_fraction", &["0", "1"]),
];

#[test]
fn an_impossible_setting_is_refused_by_name() {
    let mut seen = BTreeSet::new();
    for card in CARDS {
        for (name, value) in table(&Recipe::named(card.name).expect("defaults").method) {
            if name == "method" {
                continue;
            }
            let listed = IMPOSSIBLE.iter().find(|(known, _)| *known == name);
            let (_, values) = listed.unwrap_or_else(|| panic!("say what {name} cannot be"));
            // Of another type, and what JSON makes of NaN.
            let other = if value.is_number() { "\"fast\"" } else { "3" };
            for text in [other, "null", "-0.5"].iter().chain(*values) {
                if (card.name, &name[..], *text) == ("snapshot", "cycle_epochs", "1") {
                    continue; // that one may be as short
                }
                if (&name[..], *text) == ("prior_precision", "3") {
                    continue; // a name or a number
                }
                let value: Value = serde_json::from_str(text).expect("JSON");
                let wrong = wrong(card.name, json!({ &name[..]: value }));
                assert!(wrong.settings.contains(&name), "{} {text}: {wrong:?}", card.name);
                assert!(wrong.what.contains(&format!("`{name}`")), "{} {text}: {wrong}", card.name);
            }
            seen.insert(name);
        }
    }
    assert_eq!(seen.len(), IMPOSSIBLE.len(), "a setting that no method has: {seen:?}");
}

#[test]
fn an_impossible_setup_is_refused_by_name_with_every_method() {
    for card in CARDS {
        for (name, values) in [
            ("batch", &["0", "-1", "\"all\""][..]),
            ("members", &["0", "1.5"]),
            ("prior_std", &["0", "-1"]),
            ("weight_decay", &["-1", "\"NaN\""]),
            ("layers", &["3", "[]", "[1]"]),
            ("augment", &["\"crp\"", "[\"flip\", 1]"]),
            ("start", &["3"]),
            ("noise", &["0", "-1", "\"loud\"", "[]"]),
        ] {
            for text in values {
                let value: Value = serde_json::from_str(text).expect("JSON");
                let message = refused(card.name, json!({ name: value }));
                assert!(message.contains(&format!("`{name}`")), "{} {text}: {message}", card.name);
            }
        }
        let message = refused(card.name, json!({"prior_std": 1, "weight_decay": 1}));
        assert!(message.contains("`prior_std`") && message.contains("`weight_decay`"));
    }
}

#[test]
fn settings_that_were_not_read_from_a_table_are_checked_all_the_same() {
    let mut bad = Recipe::named("sgd").expect("defaults");
    bad.method = Method::Sgd(Descent { lr: f64::NAN, ..Descent::default() }.into());
    let whole =
        bad.fit(&Single::default(), "mlp-4", &digits(40), &Stream::root(0), &Options::default());
    let message = whole.err().expect("refused").error.to_string();
    assert!(message.contains("`lr`") && message.contains("NaN"), "{message}");
    let mut bad = Recipe::named("sgd").expect("defaults");
    bad.setup.batch = 0;
    let whole =
        bad.fit(&Single::default(), "mlp-4", &digits(40), &Stream::root(0), &Options::default());
    assert!(whole.is_err_and(|e| e.error.to_string().contains("`batch`")));
}

/// A member of a recipe by itself: a problem of its own on the member's stream.
fn alone(recipe: &Recipe, network: &str, examples: u32, stream: &Stream) -> Vec<Flat<f32>> {
    let engine = Single::default();
    let training = Training::new(&engine, &digits(examples), &[]).expect("digits");
    let network = recipe.network(network, &training).expect("a network");
    let batch = recipe.setup.batch;
    let task = task(&training, recipe.prior_precision(training.len()));
    let problem = Problem::new(&engine, &network, &task, batch, None, Start::Fresh, stream);
    let mut problem = problem.expect("a problem");
    let rule = recipe.method.rule(&problem.start(0).theta);
    let posterior = fit::fit(rule, &mut problem, stream, 0, &Options::default());
    let posterior = posterior.unwrap_or_else(|e| panic!("{}", e.error));
    posterior.points.into_iter().map(|point| point.theta).collect()
}

#[test]
fn three_members_are_three_runs_on_the_members_streams_put_together() {
    for recipe in quick_recipes(&json!({"members": 3})) {
        let together = fitted(&recipe, "mlp-4", 80, 5).posterior;
        let streams = (0..3).map(|member| Stream::root(5).child("member").nth(member));
        let apart: Vec<Flat<f32>> =
            streams.flat_map(|stream| alone(&recipe, "mlp-4", 80, &stream)).collect();
        let together: Vec<Flat<f32>> = together.points.into_iter().map(|p| p.theta).collect();
        assert!(together == apart, "{}", recipe.method.card().name);
        assert!(together.len() >= 3 && together[0] != together[together.len() - 1]);
    }
}

/// Where a single member begins.
fn begin(recipe: &Recipe, network: &str, seed: u64) -> (Flat<f32>, Network) {
    let engine = Single::default();
    let training = Training::new(&engine, &digits(80), &[]).expect("digits");
    let network = recipe.network(network, &training).expect("a network");
    let stream = Stream::root(seed).child("member").nth(0).child("start");
    (engine.model(&network, 1).start(&stream).theta, network)
}

/// Whether a method moves a network of the widths that it is given.
fn keeps_widths(recipe: &Recipe) -> bool {
    let training = Training::new(&Single::default(), &digits(80), &[]).expect("digits");
    let [plain, own] = [&Recipe::named("sgd").expect("defaults"), recipe]
        .map(|recipe| recipe.network("mlp-4-3", &training).expect("a network").parameters());
    plain == own
}

#[test]
fn with_layers_only_those_named_move() {
    for (layers, moves) in [
        (json!("last"), &["fc3"][..]),
        (json!(["fc2"]), &["fc2"]),
        (json!(["fc2", "fc3"]), &["fc2", "fc3"]),
        (json!("all"), &["fc1", "fc2", "fc3"]),
    ] {
        for recipe in quick_recipes(&json!({"members": 1, "layers": layers})) {
            let (start, network) = begin(&recipe, "mlp-4-3", 6);
            for point in fitted(&recipe, "mlp-4-3", 80, 6).posterior.points {
                assert_eq!(point.theta.0.len(), start.0.len());
                for slice in network.slices() {
                    let layer = slice.name.split('.').next().expect("a name");
                    let stays = point.theta.0[slice.range.clone()] == start.0[slice.range];
                    let name = recipe.method.card().name;
                    // Where a chain refuses all its moves, nothing moves.
                    let still = name == "hmc" && stays;
                    assert!(stays != moves.contains(&layer) || still, "{name} {layers} {layer}");
                }
            }
        }
    }
}

/// What layers that stay make of the inputs is worked out once; the chain is the same as if it were
/// worked out at every step.
#[test]
fn layers_that_stay_are_as_good_as_never_looked_at_again() {
    let (seed, network) = (6, "mlp-4-3");
    for layers in [json!("last"), json!(["fc2"]), json!(["fc2", "fc3"])] {
        for recipe in quick_recipes(&json!({"members": 1, "layers": layers})) {
            let name = recipe.method.card().name;
            let data = digits(80);
            let root = Stream::root(seed);
            let fast = recipe.fit(&Double::default(), network, &data, &root, &Options::default());
            let fast = fast.unwrap_or_else(|e| panic!("{name}: {}", e.error)).posterior;

            let engine = Double::default();
            let training = Training::new(&engine, &data, &[]).expect("digits");
            let network = recipe.network(network, &training).expect("a network");
            let task = task(&training, recipe.prior_precision(training.len()));
            let stream = root.child("member").nth(0);
            let moving = recipe.setup.layers.range(&network.slices()).expect("layers");
            let moving = moving.expect("not all");
            let held = Some(moving.clone());
            let problem = Problem::new(&engine, &network, &task, 40, held, Start::Fresh, &stream);
            let mut problem = problem.expect("a problem");
            let mut part = Subnetwork::new(&mut problem, moving);
            let rule = recipe.method.rule(&part.start(0).theta);
            let slow = fit::fit(rule, &mut part, &stream, 0, &Options::default());
            let slow = slow.unwrap_or_else(|e| panic!("{name}: {}", e.error));
            assert_eq!(fast.points.len(), slow.points.len(), "{name}");
            for (fast, slow) in fast.points.into_iter().zip(slow.points) {
                let slow = part.complete(slow);
                let pairs = fast.theta.0.iter().zip(&slow.theta.0);
                let apart =
                    pairs.fold(0.0, |most: f64, (a, b): (&f64, &f64)| most.max((a - b).abs()));
                assert!(apart < 1e-9, "{name} {layers}: {apart}");
            }
        }
    }
}

/// A layer that stays is a function: it normalises by the statistics that it has, and these stay too.
#[test]
fn layers_that_stay_keep_their_running_statistics() {
    let start = json!({"batch": 40, "epochs": 2});
    let trained = fitted(&recipe("sgd", start), "preresnet20/8", 80, 1);
    let folder = scratch();
    let weights = folder.path().join("start.safetensors");
    std::fs::write(&weights, &trained.weights().expect("weights")[0]).expect("written");
    let begin = &trained.posterior.points[0];
    let part = json!(["layer3", "bn", "fc"]);
    // Augmented images are run through the layers that stay at every step, others only once.
    for (layers, augment, moving) in
        [(json!("last"), json!([]), 0), (json!("last"), json!(["flip"]), 0), (part, json!([]), 1)]
    {
        let settings =
            json!({"members": 1, "start": weights, "layers": layers, "augment": augment});
        let settings = quick_recipes(&settings).into_iter().filter(keeps_widths);
        for recipe in settings.filter(|recipe| moving == 0 || recipe.method.bears_batch_norm()) {
            for point in fitted(&recipe, "preresnet20/8", 80, 6).posterior.points {
                let name = recipe.method.card().name;
                let pairs = point.statistics.0.iter().zip(&begin.statistics.0);
                let moved = pairs.filter(|(a, b)| a != b).count();
                assert_eq!(moved > 0, moving > 0, "{name} {layers}: {moved} statistics moved");
                assert!(moved < begin.statistics.0.len() / 2 + begin.statistics.0.len() / 4);
            }
        }
    }
}

/// A plan accepts what can be run: all methods on the last layer, and those that need a potential on no layers that
/// normalise over the batch.
#[test]
fn methods_that_need_a_potential_move_no_batch_normalisation() {
    let engine = Single::default();
    let training = Training::new(&engine, &digits(80), &[]).expect("digits");
    for (layers, moves) in
        [(json!("last"), false), (json!(["bn", "fc"]), true), (json!("all"), true)]
    {
        for recipe in quick_recipes(&json!({"layers": layers})) {
            let network = recipe.network("preresnet20/8", &training).expect("a network");
            let suits = recipe.suits(&network);
            assert_eq!(suits.is_ok(), !moves || recipe.method.bears_batch_norm(), "{suits:?}");
            if let Err(error) = suits {
                assert!(error.to_string().contains("layers = \"last\""), "{error}");
            }
        }
    }
}

/// Settings that methods share have defaults that differ; what a user leaves out has the method's own.
#[test]
fn what_is_left_out_has_the_methods_own_default() {
    for card in CARDS {
        let all = Method::parse(card.name, Map::new()).expect(card.name);
        let table = table(&all);
        for (key, value) in table.iter().filter(|(key, _)| *key != "method") {
            let one = Map::from_iter([(key.clone(), value.clone())]);
            let read = Method::parse(card.name, one).expect(card.name);
            assert_eq!(read, all, "{} with its default {key}", card.name);
        }
    }
    let default =
        |name: &str, key: &str| table(&Method::parse(name, Map::new()).expect(name))[key].clone();
    // The rates and schedules that docs/results was made with.
    assert_eq!((default("sgld", "lr"), default("sghmc", "lr")), (json!(0.05), json!(0.01)));
    assert_eq!((default("csgld", "lr"), default("csghmc", "lr")), (json!(0.5), json!(0.1)));
    assert_ne!(default("sgd", "schedule"), default("swag", "schedule"));
}

#[test]
fn unknown_layers_are_refused_with_the_list_of_those_there_are() {
    for (layers, expected) in [
        (json!(["fc2", "fc9"]), "no layer is called `fc9`; there are fc1, fc2, fc3"),
        (json!("first"), "no layer is called `first`; there are fc1, fc2, fc3"),
        (json!(["fc1", "fc3"]), "must be consecutive"),
    ] {
        let recipe = recipe("sgd", json!({"layers": layers, "batch": 40}));
        let fit = recipe.fit(
            &Single::default(),
            "mlp-4-3",
            &digits(80),
            &Stream::root(0),
            &Options::default(),
        );
        let message = fit.err().expect("refused").error.to_string();
        assert!(message.contains(expected) && message.contains("`layers`"), "{message}");
    }
}

#[test]
fn a_warm_start_begins_at_the_weights_of_the_file() {
    let folder = scratch();
    let trained = fitted(&recipe("sgd", json!({"batch": 40, "epochs": 2})), "mlp-4", 80, 1);
    let file = folder.path().join("trained.safetensors");
    std::fs::write(&file, &trained.weights().expect("weights")[0]).expect("written");
    // Steps too small to move a number of 32 bits: the sample is the start.
    let still = json!({"epochs": 1, "lr": 1e-30, "batch": 40, "start": file, "members": 2});
    let points = fitted(&recipe("deep-ensemble", still), "mlp-4", 80, 2).posterior.points;
    assert!(points.len() == 2 && points.iter().all(|p| *p == trained.posterior.points[0]));
    // And the first loss of a warm start is no higher than the last of the training before it.
    let more = json!({"epochs": 1, "lr": 1e-3, "batch": 40, "start": file});
    let warm = fitted(&recipe("sgd", more.clone()), "mlp-4", 80, 2).posterior.records.remove(0);
    let mut cold = more;
    cold["start"] = json!([]);
    let cold = fitted(&recipe("sgd", cold), "mlp-4", 80, 2).posterior.records.remove(0);
    assert!(warm.losses[0] < cold.losses[0], "{warm:?} {cold:?}");
}

#[test]
fn each_member_may_start_from_a_file_of_its_own() {
    let folder = scratch();
    let two =
        fitted(&recipe("sgd", json!({"batch": 40, "epochs": 1, "members": 2})), "mlp-4", 80, 1);
    let files = ["a", "b"].map(|name| folder.path().join(name));
    for (file, weights) in files.iter().zip(two.weights().expect("weights")) {
        std::fs::write(file, weights).expect("written");
    }
    let mut settings = json!({"epochs": 1, "lr": 1e-30, "batch": 40, "start": files, "members": 2});
    let points = fitted(&recipe("sgd", settings.clone()), "mlp-4", 80, 2).posterior.points;
    assert!(points == two.posterior.points && points[0] != points[1]);
    settings["members"] = json!(3);
    let three = recipe("sgd", settings);
    let fit =
        three.fit(&Single::default(), "mlp-4", &digits(80), &Stream::root(0), &Options::default());
    let message = fit.err().expect("refused").error.to_string();
    assert!(message.contains("`start` names 2 files for 3 members"), "{message}");
}

/// Members that share weights start from the weights of a plain network; those of other widths say what does not fit.
#[test]
fn every_method_starts_from_the_weights_of_a_plain_network_or_says_why_not() {
    let folder = scratch();
    let trained = fitted(&recipe("sgd", json!({"batch": 40, "epochs": 1})), "mlp-4", 80, 1);
    let file = folder.path().join("trained");
    std::fs::write(&file, &trained.weights().expect("weights")[0]).expect("written");
    for recipe in quick_recipes(&json!({"members": 1, "start": file})) {
        let (name, engine) = (recipe.method.card().name, Single::default());
        let (data, options) = (digits(80), Options::default());
        match recipe.fit(&engine, "mlp-4", &data, &Stream::root(2), &options) {
            Ok(_) => assert!(keeps_widths(&recipe), "{name}"),
            Err(unfinished) => {
                let message = unfinished.error.to_string();
                assert!(!keeps_widths(&recipe), "{name}: {message}");
                assert!(message.contains("tensor `fc"), "{name}: {message}");
                assert!(message.contains("name a .safetensors file of this network's weights"));
            }
        }
    }
}

#[test]
fn a_start_that_cannot_be_read_is_a_clear_error() {
    let folder = scratch();
    let wrong = fitted(&recipe("sgd", json!({"batch": 40, "epochs": 1})), "mlp-4-3", 80, 1);
    let bytes = wrong.weights().expect("weights").remove(0);
    std::fs::write(folder.path().join("wrong"), &bytes).expect("written");
    std::fs::write(folder.path().join("cut"), &bytes[..bytes.len() / 2]).expect("written");
    for (name, expected) in [
        ("missing", "No such file"),
        ("wrong", "tensor `fc2.weight`"),
        ("cut", "not a readable .safetensors file"),
    ] {
        let file = folder.path().join(name);
        let recipe = recipe("sgd", json!({"batch": 40, "start": file}));
        let fit = recipe.fit(
            &Single::default(),
            "mlp-4",
            &digits(80),
            &Stream::root(0),
            &Options::default(),
        );
        let message = fit.err().expect("refused").error.to_string();
        assert!(message.starts_with(&file.display().to_string()), "{message}");
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("name a .safetensors file of this network's weights"));
    }
}

#[test]
fn looks_at_test_time_multiply_the_samples() {
    let data = digits(40);
    for recipe in quick_recipes(&json!({"members": 1})) {
        let name = recipe.method.card().name;
        let fitted = fitted(&recipe, "mlp-4", 80, 1);
        let samples = fitted.samples();
        let of = |looks: usize, augment: &[Augmentation]| {
            let test_time = TestTime { augment: augment.to_vec(), looks };
            fitted.predict(&data, &test_time, &Stream::root(1)).unwrap_or_else(|e| panic!("{e}"))
        };
        let (plain, looks) = (of(3, &[]), of(3, &[Augmentation::Crop]));
        assert_eq!(plain.shape, [samples, 40, 10], "{name}: no changes, no second look");
        assert_eq!(looks.shape, [3 * samples, 40, 10], "{name}");
        assert_eq!(of(0, &[Augmentation::Crop]).shape, [samples, 40, 10], "{name}");
        let each: Vec<&[f32]> = looks.values.chunks(400).collect();
        assert!(each[0] != each[1] && each[0] != &plain.values[..400], "{name}: looks differ");
    }
}

#[test]
fn passes_with_noise_times_looks_times_members_are_all_samples() {
    let settings = json!({"epochs": 1, "samples": 5, "members": 2, "batch": 40});
    let fitted = fitted(&recipe("mc-dropout", settings), "mlp-8", 80, 1);
    assert_eq!(fitted.samples(), 5 * 2);
    let test_time = TestTime { augment: vec![Augmentation::Flip], looks: 3 };
    let predicted = fitted.predict(&digits(40), &test_time, &Stream::root(1)).expect("predicted");
    assert_eq!(predicted.shape, [5 * 2 * 3, 40, 10]);
    let distinct: BTreeSet<Vec<u32>> =
        predicted.values.chunks(400).map(|s| s.iter().map(|v| v.to_bits()).collect()).collect();
    assert_eq!(distinct.len(), 30, "no two passes are the same");
}
