//! Kill and resume: whenever a chain ends before its time, the same call again gives the same bytes.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dubio_infer::Error;
use dubio_infer::fit::{Options, Outcome};
use dubio_infer::fitted::Fitted;
use dubio_infer::methods::Method;
use dubio_infer::posterior::Posterior;
use dubio_infer::recipe::Recipe;
use dubio_nn::Single;
use dubio_nn::cpu::Flat;
use dubio_progress::{Progress, Silent};
use dubio_random::stream::Stream;
use serde_json::json;
use support::*;

/// Two batches, the last one smaller.
fn small() -> LinearRegression {
    let mut target = LinearRegression::new(9, 1.0);
    target.batch = 5;
    target
}

type Fit = Outcome<Posterior<Flat<f64>>, Posterior<Flat<f64>>>;

fn go<T: Analytic>(method: &Method, target: &mut T, options: &Options<'_>) -> Fit {
    fit(method, target, &Stream::root(1), 0, options)
}

#[test]
fn a_chain_stopped_after_any_number_of_steps_goes_on_to_the_same_bytes() {
    for (method, _) in quick_methods() {
        let name = method.card().name;
        let straight = run(&method, &mut small(), 1);
        for steps in 0.. {
            let folder = scratch();
            let stopped = go(
                &method,
                &mut small(),
                &options(folder.path(), Duration::ZERO, &StopAfter::new(steps)),
            );
            let Err(stopped) = stopped else {
                assert!(steps > 0, "{name}");
                break;
            };
            assert!(matches!(stopped.error, Error::Stopped), "{name}: {}", stopped.error);
            let so_far = &stopped.so_far.points;
            assert_eq!(so_far[..], straight.points[..so_far.len()], "{name}");
            let resumed =
                go(&method, &mut small(), &options(folder.path(), Duration::ZERO, &Silent));
            let resumed = resumed.unwrap_or_else(|e| panic!("{name}: {}", e.error));
            assert_eq!(contents(&resumed), contents(&straight), "{name} after {steps} steps");
        }
    }
}

#[test]
fn a_chain_stopped_after_every_single_step_ends_with_the_same_bytes() {
    for (method, _) in quick_methods() {
        let folder = scratch();
        let straight = contents(&run(&method, &mut small(), 1));
        let mut times = 0;
        let end = loop {
            // A draw that is stopped begins again, and may need many passes: what gets nowhere may go on for longer.
            let stop = StopAfter::new(1 << (times / 64));
            match go(&method, &mut small(), &options(folder.path(), Duration::MAX, &stop)) {
                Ok(end) => break end,
                Err(_) => times += 1,
            }
            assert!(times < 1000, "{method:?} gets nowhere");
        };
        assert_eq!(contents(&end), straight, "{method:?}");
        let again = go(&method, &mut small(), &options(folder.path(), Duration::MAX, &Silent));
        let again = again.unwrap_or_else(|e| panic!("{}", e.error));
        assert_eq!(contents(&again), straight, "what is finished stays: {method:?}");
    }
}

/// Passes over all the data since it was last asked whether to stop.
#[derive(Default)]
struct Passes {
    since: AtomicUsize,
    most: AtomicUsize,
}

impl Passes {
    fn pass(&self) {
        let since = self.since.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(since, Ordering::Relaxed);
    }
}

impl Progress for Passes {
    fn should_stop(&self) -> bool {
        self.since.store(0, Ordering::Relaxed);
        false
    }
}

struct Counted<'a> {
    inner: LinearRegression,
    passes: &'a Passes,
}

impl Analytic for Counted<'_> {
    around!(inner);

    fn batch(&mut self, theta: &Flat<f64>, epoch: usize, batch: usize, out: &mut Flat<f64>) -> f64 {
        self.inner.batch(theta, epoch, batch, out)
    }
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
        self.passes.pass();
        self.inner.whole(theta, out)
    }
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
        self.passes.pass();
        self.inner.whole_loss(theta)
    }
}

/// A trajectory may take hours: who asks for a stop waits for a pass over the data, not for the draw.
#[test]
fn a_draw_asks_whether_to_stop_before_every_pass_over_the_data() {
    for (method, _) in quick_methods() {
        let name = method.card().name;
        let passes = Passes::default();
        let options = Options { progress: &passes, checkpoints: None };
        let fit = go(&method, &mut Counted { inner: small(), passes: &passes }, &options);
        assert!(fit.is_ok(), "{name}");
        let most = passes.most.into_inner();
        assert!(most <= 1, "{name} makes {most} passes between two questions");
        let expected = ["hmc", "nuts", "subspace", "laplace", "sngp"].contains(&name);
        assert_eq!(most == 1, expected, "{name} passes over all the data");
    }
}

/// A target that dies at one of the calls to it, as if the process were killed there.
struct Mortal {
    inner: LinearRegression,
    calls_left: std::cell::Cell<usize>,
}

impl Mortal {
    fn call(&self) {
        let left = self.calls_left.get();
        self.calls_left.set(left.checked_sub(1).expect("killed"));
    }
}

impl Analytic for Mortal {
    around!(inner);

    fn batch(&mut self, theta: &Flat<f64>, epoch: usize, batch: usize, out: &mut Flat<f64>) -> f64 {
        self.call();
        self.inner.batch(theta, epoch, batch, out)
    }
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
        self.call();
        self.inner.whole(theta, out)
    }
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
        self.call();
        self.inner.whole_loss(theta)
    }
    fn asked(&self) {
        self.call(); // before a sample is kept, between that and its checkpoint, and at others
    }
    fn refresh(&mut self, _: &Flat<f64>) {
        self.call();
    }
}

#[test]
fn a_chain_killed_at_any_call_of_its_target_goes_on_to_the_same_bytes() {
    for (method, _) in quick_methods() {
        let name = method.card().name;
        let straight = contents(&run(&method, &mut small(), 1));
        for calls in 0.. {
            let folder = scratch();
            let options = options(folder.path(), Duration::ZERO, &Silent);
            let killed = catch_unwind(AssertUnwindSafe(|| {
                let mut mortal = Mortal { inner: small(), calls_left: calls.into() };
                go(&method, &mut mortal, &options).is_ok()
            }));
            if killed.is_ok() {
                assert!(calls > 0, "{name}");
                break;
            }
            let resumed = go(&method, &mut small(), &options);
            let resumed = resumed.unwrap_or_else(|e| panic!("{name}: {}", e.error));
            assert_eq!(contents(&resumed), straight, "{name} killed at call {calls}");
        }
    }
}

/// A network with batch normalisation, a network with dropout, and several members.
fn on_digits() -> Vec<(Recipe, &'static str)> {
    let path = json!({"epochs": 1, "collect_epochs": 2, "collect": 2, "rank": 2, "batch": 30,
        "samples": 2, "augment": "crop"});
    vec![
        (recipe("sgd", json!({"epochs": 2, "batch": 25})), "preresnet20/8"),
        (recipe("swag", path.clone()), "preresnet20/8"),
        (recipe("subspace", path), "preresnet20/8"),
        (recipe("sghmc", json!({"burn_in": 1, "samples": 2, "batch": 30})), "preresnet20/8"),
        // Without epochs: all that can be stopped is the one draw, which sums up the curvature.
        (recipe("laplace", json!({"epochs": 0, "batch": 30})), "mlp-8"),
        (
            recipe(
                "sngp",
                json!({"epochs": 1, "features": 8, "linear_bound": 0.4, "batch": 30,
                "members": 4}),
            ),
            "mlp-30-30",
        ),
        (recipe("mc-dropout", json!({"epochs": 3, "batch": 30})), "mlp-8"),
        (
            recipe(
                "csghmc",
                json!({"samples": 2, "cycle_epochs": 2, "noise_epochs": 2,
                "cycle_samples": 1, "batch": 30, "members": 3, "layers": "last"}),
            ),
            "mlp-8",
        ),
    ]
}

#[test]
fn a_recipe_stopped_after_any_number_of_steps_goes_on_to_the_same_bytes() {
    let data = digits(60);
    for (recipe, network) in on_digits() {
        let name = recipe.method.card().name;
        let go = |options: &Options<'_>| -> Outcome<Fitted<Single>, Option<Fitted<Single>>> {
            recipe.fit(&Single::default(), network, &data, &Stream::root(2), options)
        };
        let straight = go(&Options::default()).unwrap_or_else(|e| panic!("{name}: {}", e.error));
        let straight = contents(&straight.posterior);
        assert_eq!(
            straight[1].is_empty(),
            network.starts_with("mlp"),
            "batch normalisation or none"
        );
        for steps in 0.. {
            let folder = scratch();
            let stop = StopAfter::new(steps);
            if go(&options(folder.path(), Duration::MAX, &stop)).is_ok() {
                assert!(steps > 4, "{name}");
                break;
            }
            let resumed = go(&options(folder.path(), Duration::ZERO, &Silent));
            let resumed = resumed.unwrap_or_else(|e| panic!("{name}: {}", e.error));
            assert!(contents(&resumed.posterior) == straight, "{name} after {steps} steps");
        }
    }
}

/// A folder in which `sgld` was stopped with two samples, and what to go on with.
fn half_way() -> (tempfile::TempDir, Method) {
    let folder = scratch();
    let method = method("sgld", json!({"burn_in": 1, "samples": 4}));
    let stop = StopAfter::new(6);
    let stopped = go(&method, &mut small(), &options(folder.path(), Duration::MAX, &stop));
    assert_eq!(stopped.expect_err("stopped").so_far.points.len(), 2);
    (folder, method)
}

fn refused(method: &Method, options: &Options<'_>) -> String {
    match go(method, &mut small(), options).expect_err("refused").error {
        error @ Error::Checkpoint { .. } => error.to_string(),
        other => panic!("{other}"),
    }
}

#[test]
fn two_chains_do_not_work_in_one_folder_at_a_time() {
    struct Second<'a>(&'a Path, &'a Method);
    impl Progress for Second<'_> {
        fn advance(&self, _: usize) {
            let second = go(self.1, &mut small(), &options(self.0, Duration::ZERO, &Silent));
            let message = second.expect_err("the first is at work").error.to_string();
            assert!(
                message.contains("another process is using this folder; wait for it"),
                "{message}"
            );
        }
    }
    let (folder, method) = half_way();
    let progress = Second(folder.path(), &method);
    assert!(go(&method, &mut small(), &options(folder.path(), Duration::ZERO, &progress)).is_ok());
    let after = go(&method, &mut small(), &options(folder.path(), Duration::ZERO, &Silent));
    assert!(after.is_ok(), "the first has gone");
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let (folder, method) = half_way();
    let mut other = options(folder.path(), Duration::MAX, &Silent);
    other.checkpoints.as_mut().expect("checkpoints").identity = "another test".to_string();
    let message = refused(&method, &other);
    let state = folder.path().join("member-0/state.safetensors");
    assert!(message.starts_with(&state.display().to_string()), "{message}");
    assert!(message.contains("checkpoint of other settings or other data"), "{message}");
    assert!(message.ends_with("delete the folder to start over"), "{message}");
    let same = go(&method, &mut small(), &options(folder.path(), Duration::MAX, &Silent));
    assert!(same.is_ok(), "refusing it has not harmed it");
}

#[test]
fn a_checkpoint_that_was_cut_short_or_overwritten_is_an_error_that_names_it() {
    let (folder, method) = half_way();
    let options = options(folder.path(), Duration::MAX, &Silent);
    for name in ["state", "point-0", "point-1"] {
        let path = folder.path().join(format!("member-0/{name}.safetensors"));
        let whole = std::fs::read(&path).expect("a checkpoint");
        let mut damaged: Vec<Vec<u8>> =
            (0..whole.len()).step_by(7).map(|length| whole[..length].to_vec()).collect();
        damaged.extend([b"garbage".to_vec(), vec![0xff; 4096], vec![0; 4096]]);
        // Every byte wrong, one at a time: in the header, in a name, in a number.
        damaged.extend((0..whole.len()).map(|place| {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            bytes
        }));
        for bytes in damaged {
            std::fs::write(&path, &bytes).expect("written");
            let message = refused(&method, &options);
            assert!(message.starts_with(&path.display().to_string()), "{message}");
            assert!(message.ends_with("delete the folder to start over"), "{message}");
        }
        std::fs::write(&path, &whole).expect("written");
    }
    assert!(go(&method, &mut small(), &options).is_ok());
}

#[test]
fn a_sample_that_is_missing_from_a_checkpoint_is_an_error_that_names_it() {
    let (folder, method) = half_way();
    let path = folder.path().join("member-0/point-1.safetensors");
    std::fs::remove_file(&path).expect("it was there");
    let message = refused(&method, &options(folder.path(), Duration::MAX, &Silent));
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    assert!(message.ends_with("delete the folder to start over"), "{message}");
}

#[test]
fn seconds_of_a_chain_are_those_of_all_processes_that_worked_on_it() {
    let settings = json!({"epochs": 1000, "lr": 1e-3});
    let method = Method::read("sgd", settings.as_object().cloned().expect("a table"));
    let method = method.expect("settings");
    let target = || LinearRegression::new(100_000, 1.0);
    let folder = scratch();
    // Stopped late, so that the seconds of the rest alone would be fewer.
    let late = StopAfter::new(980);
    let first = go(&method, &mut target(), &options(folder.path(), Duration::MAX, &late));
    let first = first.expect_err("stopped").so_far.records[0].seconds;
    let rest = go(&method, &mut target(), &options(folder.path(), Duration::MAX, &Silent));
    let all = rest.unwrap_or_else(|e| panic!("{}", e.error)).records[0].seconds;
    assert!(first.wall > 0.0 && all.wall > first.wall, "{first:?} {all:?}");
    if let (Some(before), Some(after)) = (first.cpu(), all.cpu()) {
        assert!(before > 0.0 && after >= before, "{first:?} {all:?}");
    }
}
