//! What goes wrong, and what is said and kept when it does.

mod support;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_infer::Error;
use dubio_infer::attack::{Attack, Rule as AttackRule};
use dubio_infer::fit::{Checkpoints, Options, Outcome};
use dubio_infer::fitted::Fitted;
use dubio_infer::methods::Method;
use dubio_infer::predict::TestTime;
use dubio_infer::recipe::Recipe;
use dubio_nn::Single;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::Vector;
use dubio_progress::{Progress, Silent};
use dubio_random::stream::Stream;
use serde_json::{Value, json};
use support::*;

fn go(
    recipe: &Recipe,
    network: &str,
    data: &Dataset,
) -> Outcome<Fitted<Single>, Option<Fitted<Single>>> {
    recipe.fit(&Single::default(), network, data, &Stream::root(1), &Options::default())
}

fn failure(name: &str, settings: Value, network: &str, data: &Dataset) -> Error {
    match go(&recipe(name, settings), network, data) {
        Err(unfinished) => unfinished.error,
        Ok(_) => panic!("{name} has not failed"),
    }
}

/// What is not finite is never handed out as a prediction: a file with it would pass for a result.
#[test]
fn a_prediction_that_is_no_number_is_an_error_that_names_its_place() {
    let data = digits(200);
    let mut fitted = go(&recipe("sgd", json!({"epochs": 1})), "mlp-5", &data).expect("fits");
    let sound = fitted.predict(&data, &TestTime::default(), &Stream::root(0)).expect("predicts");
    assert!(sound.values.iter().all(|value| value.is_finite()));
    fitted.posterior.points[0].theta.fill(f64::INFINITY);
    let error = fitted.predict(&data, &TestTime::default(), &Stream::root(0)).expect_err("none");
    assert!(matches!(error, Error::Predicted { sample: 0, example: 0, .. }), "{error}");
    // In the second of two samples, for the fourth example alone: 1e30 * 1e5 * 1e5 is no number of 32 bits.
    let values =
        |fourth: f64| (0..40).map(|i| if i == 3 { fourth } else { f64::from(i) }).collect();
    let data = |fourth: f64| Dataset {
        answers: Answers::Classes { classes: 2, labels: (0..40).map(|i| i % 2).collect() },
        inputs: Inputs::Features { width: 1, values: values(fourth) },
        groups: Default::default(),
    };
    let recipe = recipe("sgd", json!({"epochs": 1, "members": 2, "batch": 20}));
    let mut fitted = go(&recipe, "mlp-5", &data(3.0)).expect("fits");
    fitted.posterior.points[0].theta.fill(0.0);
    fitted.posterior.points[1].theta.fill(1e5);
    let data = data(1e30);
    let error = fitted.predict(&data, &TestTime::default(), &Stream::root(0)).expect_err("none");
    assert!(matches!(error, Error::Predicted { sample: 1, example: 3, .. }), "{error}");
}

/// A loss that is no number from some step on, for a while: divergence made to order.
struct Diverges {
    inner: LinearRegression,
    at: (usize, usize),
    becomes: f64,
}

impl Analytic for Diverges {
    around!(inner);

    fn batch(&mut self, theta: &Flat<f64>, epoch: usize, batch: usize, out: &mut Flat<f64>) -> f64 {
        let loss = self.inner.batch(theta, epoch, batch, out);
        if (epoch, batch) == self.at { self.becomes } else { loss }
    }
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
        self.inner.whole(theta, out)
    }
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
        self.inner.whole_loss(theta)
    }
}

#[test]
fn divergence_names_epoch_and_step_and_keeps_the_samples_so_far() {
    for (method, _) in quick_methods() {
        if ["hmc", "nuts", "bayesian-ridge"].contains(&method.card().name) {
            continue; // they have no epochs
        }
        let mut inner = LinearRegression::new(12, 1.0);
        inner.batch = 5;
        let straight = run(&method, &mut inner, 1);
        for (at, becomes) in [((0, 0), f64::NAN), ((4, 2), f64::INFINITY)] {
            let mut inner = LinearRegression::new(12, 1.0);
            inner.batch = 5;
            let mut target = Diverges { inner, at, becomes };
            let fit = fit(&method, &mut target, &Stream::root(1), 0, &Options::default());
            let unfinished = fit.expect_err("it diverges");
            let Error::Diverged { loss, epoch, step, rate } = unfinished.error else {
                panic!("{}", unfinished.error)
            };
            assert_eq!((epoch, step), (at.0 + 1, at.1 + 1), "counted from 1");
            assert_eq!(loss.to_bits(), becomes.to_bits());
            assert!(rate > 0.0);
            let so_far = &unfinished.so_far;
            assert_eq!(so_far.points[..], straight.points[..so_far.points.len()]);
            assert_eq!(so_far.records[0].losses.len(), at.0, "of whole epochs");
            let early = ["snapshot", "fge", "csgld", "csghmc"];
            let some = at.0 == 4 && early.contains(&method.card().name);
            assert_eq!(!so_far.points.is_empty(), some, "{method:?}");
        }
    }
}

#[test]
fn a_learning_rate_that_is_far_too_high_is_found_out_and_said() {
    for name in ["sgd", "deep-ensemble", "sghmc", "snapshot", "swag"] {
        // Adam's steps are bounded, so that it is descent that is asked to fly.
        let error = failure(name, json!({"lr": 1e18, "batch": 30}), "mlp-4", &digits(60));
        assert!(matches!(error, Error::Diverged { .. }), "{name}: {error}");
        let message = error.to_string();
        for part in ["epoch ", "step ", "smaller learning rate (`lr`, now "] {
            assert!(message.contains(part), "{name}: {message}");
        }
    }
}

#[test]
fn a_last_step_that_overflows_is_no_sample() {
    // One step, from a loss that is a number to parameters that are not.
    let mut target = LinearRegression::new(12, 1.0);
    target.start = [10.0, 10.0];
    for (name, settings) in [
        ("sgd", json!({"epochs": 1, "lr": 1e308, "momentum": 0})),
        ("sgld", json!({"burn_in": 0, "samples": 1, "lr": 1e308})),
        ("swa", json!({"epochs": 0, "collect_epochs": 1, "collect": 1, "collect_lr": 1e308})),
    ] {
        let method = method(name, settings);
        let fit = fit(&method, &mut target, &Stream::root(1), 0, &Options::default());
        let unfinished = fit.expect_err(name);
        assert!(matches!(unfinished.error, Error::NotFinite { .. }), "{}", unfinished.error);
        assert!(unfinished.so_far.points.is_empty(), "{name}");
        let message = unfinished.error.to_string();
        let after = if name == "swa" { "after draw 1" } else { "after epoch 1" };
        assert!(message.contains(after) && message.contains("`lr`"), "{message}");
    }
}

#[test]
fn when_one_member_diverges_the_samples_of_the_others_are_kept() {
    // A start that is no good for one of two members.
    let folder = scratch();
    let settings = json!({"epochs": 1, "batch": 30, "members": 2});
    let two = go(&recipe("sgd", settings.clone()), "mlp-4", &digits(60)).map_err(|e| e.error);
    let two = two.unwrap_or_else(|e| panic!("{e}"));
    let weights = two.weights().expect("weights");
    let files = [folder.path().join("good"), folder.path().join("bad")];
    std::fs::write(&files[0], &weights[0]).expect("written");
    let mut bad = weights[1].clone();
    let end = bad.len();
    bad[end - 160..].copy_from_slice(&f32::NAN.to_le_bytes().repeat(40));
    std::fs::write(&files[1], bad).expect("written");
    let mut settings = settings;
    settings["start"] = json!(files);
    let unfinished = go(&recipe("sgd", settings), "mlp-4", &digits(60)).err().expect("diverges");
    assert!(matches!(unfinished.error, Error::Diverged { epoch: 1, step: 1, .. }));
    let so_far = unfinished.so_far.expect("the other member");
    assert_eq!(so_far.samples(), 1);
    let predicted = so_far.predict(&digits(60), &TestTime::default(), &Stream::root(1));
    assert!(predicted.expect("it predicts").values.iter().all(|v| v.is_finite()));
}

#[test]
fn a_batch_larger_than_the_set_is_refused_with_the_largest_there_can_be() {
    for name in ["sgd", "sghmc", "swag"] {
        let error = failure(name, json!({"batch": 61}), "mlp-4", &digits(60));
        assert!(matches!(error, Error::BatchTooLarge { batch: 61, examples: 60 }), "{error}");
        assert!(error.to_string().contains("give at most 60"), "{error}");
    }
}

#[test]
fn the_default_batch_is_all_examples_where_there_are_fewer() {
    let values = |name: &str, settings: Value| {
        let fitted = go(&recipe(name, settings), "mlp-4", &digits(60))
            .unwrap_or_else(|unfinished| panic!("{}", unfinished.error));
        let predicted = fitted.predict(&digits(60), &TestTime::default(), &Stream::root(1));
        predicted.expect("it predicts").values
    };
    for name in ["sgd", "deep-ensemble"] {
        let all = values(name, json!({"epochs": 2, "batch": 60}));
        assert_eq!(all, values(name, json!({"epochs": 2})), "{name}");
        assert_ne!(all, values(name, json!({"epochs": 2, "batch": 59})), "{name}");
    }
}

#[test]
fn a_class_without_an_example_is_refused_by_its_number() {
    let data = digits(200);
    let Answers::Classes { labels, .. } = &data.answers else { panic!("classes") };
    let rows: Vec<u32> = (0..200).filter(|&row| labels[row as usize] != 7).collect();
    let error = failure("sgd", json!({"batch": 10}), "mlp-4", &data.subset(&rows));
    assert!(matches!(error, Error::EmptyClass { class: 7, classes: 10 }), "{error}");
    assert!(error.to_string().contains("keep at least one"), "{error}");
    let mut alike = data;
    alike.answers = Answers::Classes { classes: 1, labels: vec![0; 200] };
    let error = failure("sgd", json!({}), "mlp-4", &alike);
    assert!(error.to_string().contains("are of one class"), "{error}");
}

#[test]
fn no_examples_at_all_is_refused_in_words() {
    for name in ["sgd", "nuts", "mc-dropout"] {
        let error = failure(name, json!({}), "mlp-4", &digits(60).subset(&[]));
        assert!(error.to_string().contains("no training examples"), "{name}: {error}");
    }
}

#[test]
fn an_unknown_network_is_refused_with_those_there_are() {
    let error = failure("sgd", json!({"batch": 30}), "preresnet", &digits(60));
    let message = error.to_string();
    assert!(message.contains("`preresnet`") && message.contains("preresnetN"), "{message}");
}

fn checkpointed(folder: &Path, method: &Method, progress: &dyn Progress) -> Option<Error> {
    let (folder, identity) = (folder.to_path_buf(), "a test".to_string());
    let checkpoints = Some(Checkpoints { folder, every: Duration::ZERO, identity });
    let mut target = LinearRegression::new(12, 1.0);
    let options = Options { progress, checkpoints };
    fit(method, &mut target, &Stream::root(1), 0, &options).err().map(|e| e.error)
}

#[test]
fn a_folder_of_checkpoints_that_cannot_be_made_is_refused_before_any_step() {
    let folder = scratch();
    let file = folder.path().join("file");
    std::fs::write(&file, "not a folder").expect("written");
    struct Never;
    impl Progress for Never {
        fn should_stop(&self) -> bool {
            panic!("it began")
        }
    }
    for path in [file.clone(), file.join("below")] {
        let error = checkpointed(&path, &method("sgd", json!({"epochs": 2})), &Never);
        let message = error.expect("refused").to_string();
        assert!(message.starts_with(&path.join("member-0").display().to_string()), "{message}");
        assert!(message.ends_with("choose a writable folder"), "{message}");
    }
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), "not a folder");
}

#[test]
fn a_folder_of_checkpoints_that_disappears_is_an_error_and_keeps_the_samples() {
    struct Removes(std::path::PathBuf, std::sync::atomic::AtomicUsize);
    impl Progress for Removes {
        fn advance(&self, pieces: usize) {
            if self.1.fetch_add(pieces, std::sync::atomic::Ordering::Relaxed) + pieces == 3 {
                std::fs::remove_dir_all(&self.0).expect("removed");
            }
        }
    }
    let folder = scratch();
    let checkpoints = folder.path().join("checkpoints");
    let method = method("sgld", json!({"burn_in": 0, "samples": 9}));
    let progress = Removes(checkpoints.clone(), 0.into());
    let error = checkpointed(&checkpoints, &method, &progress).expect("no place to write");
    let message = error.to_string();
    assert!(message.starts_with(&checkpoints.display().to_string()), "{message}");
    assert!(message.contains("free some space or choose another folder"), "{message}");
}

#[test]
fn a_start_that_disappears_is_missed_by_name_when_a_stopped_fit_goes_on() {
    struct StopsAtOnce;
    impl Progress for StopsAtOnce {
        fn should_stop(&self) -> bool {
            true
        }
    }
    let folder = scratch();
    let start = folder.path().join("start.safetensors");
    let first = recipe("sgd", json!({"epochs": 1, "batch": 30}));
    let first = go(&first, "mlp-4", &digits(60)).map_err(|e| e.error).expect("trained");
    std::fs::write(&start, &first.weights().expect("weights")[0]).expect("written");
    let recipe = recipe("sgd", json!({"epochs": 1, "batch": 30, "start": start}));
    let again = |progress: &dyn Progress| {
        let identity = "a test".to_string();
        let (folder, every) = (folder.path().join("checkpoints"), Duration::ZERO);
        let options =
            Options { progress, checkpoints: Some(Checkpoints { folder, every, identity }) };
        let fit = recipe.fit(&Single::default(), "mlp-4", &digits(60), &Stream::root(1), &options);
        fit.err().map(|unfinished| unfinished.error)
    };
    assert!(matches!(again(&StopsAtOnce), Some(Error::Stopped)));
    let moved = folder.path().join("moved");
    std::fs::rename(&start, &moved).expect("moved");
    let message = again(&Silent).expect("missed").to_string();
    assert!(message.starts_with(&start.display().to_string()), "{message}");
    std::fs::rename(&moved, &start).expect("moved back");
    assert!(again(&Silent).is_none());
}

#[test]
fn chains_on_all_the_data_refuse_batch_normalisation_and_say_what_to_take() {
    for name in ["hmc", "nuts"] {
        let settings = json!({"batch": 30, "samples": 1, "burn_in": 1});
        let error = failure(name, settings.clone(), "preresnet20/8", &digits(60));
        let message = error.to_string();
        assert!(matches!(error, Error::Unsuited(_)), "{message}");
        assert!(message.starts_with(name) && message.contains("batch normalisation"), "{message}");
        assert!(message.contains("such as resnet20-frn"), "{message}");
        let mut settings = settings;
        settings.as_object_mut().expect("a table").extend(match name {
            "hmc" => json!({"leapfrog": 1}).as_object().expect("a table").clone(),
            _ => json!({"max_depth": 1}).as_object().expect("a table").clone(),
        });
        let advised = go(&recipe(name, settings), "resnet20-frn/8", &digits(60));
        assert!(advised.is_ok(), "{name}: the advice can be followed");
    }
}

#[test]
fn a_chain_that_begins_where_there_is_no_potential_says_so() {
    for name in ["hmc", "nuts"] {
        let mut target = LinearRegression::new(12, 1.0);
        target.start = [1e300, 1e300];
        let method = method(name, json!({"samples": 1, "burn_in": 1}));
        let fit = fit(&method, &mut target, &Stream::root(1), 0, &Options::default());
        let message = fit.expect_err(name).error.to_string();
        assert!(message.contains("not finite"), "{name}: {message}");
    }
}

#[test]
fn a_set_of_another_kind_or_shape_is_not_predicted() {
    let digits = digits(60);
    let fitted = go(&recipe("sgd", json!({"epochs": 1, "batch": 30})), "mlp-4", &digits);
    let fitted = fitted.map_err(|e| e.error).expect("trained");
    let refused = |data: &Dataset| {
        let predicted = fitted.predict(data, &TestTime::default(), &Stream::root(1));
        predicted.expect_err("refused").to_string()
    };
    let mut other = digits.clone();
    let Inputs::Images(images) = &mut other.inputs else { panic!("images") };
    (images.height, images.width) = (4, 16);
    assert!(refused(&other).contains("4x16, but training images had 1 and 8x8"));
    let mut other = digits.clone();
    other.inputs = Inputs::Features { width: 64, values: vec![0.0; 60 * 64] };
    assert!(refused(&other).contains("a network for images"));
    let mut other = digits.clone();
    other.answers = Answers::Targets(vec![0.0; 60]);
    assert!(refused(&other).contains("predicts classes, but the set asks for numbers"));
}

#[test]
fn predictions_stop_when_they_are_told_to() {
    /// Allows so many chunks.
    struct After(AtomicUsize);
    impl Progress for After {
        fn should_stop(&self) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed) >= 2
        }
    }
    let recipe = recipe("mc-dropout", json!({"epochs": 1, "batch": 30, "samples": 20}));
    let fitted = go(&recipe, "mlp-4", &digits(60)).unwrap_or_else(|e| panic!("{}", e.error));
    let (test_time, stream) = (TestTime::default(), Stream::root(1));
    let count = After(AtomicUsize::new(0));
    let stopped = fitted.predict_watched(&digits(60), &test_time, &stream, &count);
    assert!(matches!(stopped, Err(Error::Stopped)));
    assert!(count.0.into_inner() < 20, "every pass was made all the same");
    let attack = Attack { rule: AttackRule::Fgsm, epsilon: 0.1 };
    let stopping = After(AtomicUsize::new(2));
    let stopped = fitted.predict_attacked_watched(&digits(60), &attack, &stream, &stopping);
    assert!(matches!(stopped, Err(Error::Stopped)));
}
