//! Where published code and papers part ways: each of these is a mistake that somebody shipped.

mod support;

use std::sync::Arc;

use dubio_infer::fit::Options;
use dubio_infer::fitted::Fitted;
use dubio_infer::likelihood::Categorical;
use dubio_infer::methods::Method;
use dubio_infer::predict::TestTime;
use dubio_infer::problem::{Problem, Start};
use dubio_infer::recipe::Recipe;
use dubio_infer::target::{Potential, Target as _};
use dubio_infer::training::Training;
use dubio_nn::Double;
use dubio_nn::cpu::{self, Flat};
use dubio_nn::engine::{Batch, Engine, Model, Point, Rows};
use dubio_nn::examples::Answers;
use dubio_nn::layer::Layer::{BatchNorm, Flatten, Linear};
use dubio_nn::loss::{Loss, Truth};
use dubio_nn::matrix::{Matrix, Reads, Side};
use dubio_nn::network::Network;
use dubio_nn::parameter::Slice;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;
use serde_json::{Value, json};
use support::*;

/// The processor itself: these tests look into its vectors.
type Single = dubio_nn::cpu::Cpu<f32>;

/// A loss with the same slope everywhere: what moves is the method alone.
struct Plane {
    examples: usize,
    batches: usize,
    precision: f64,
    slope: f64,
    start: f64,
    dimensions: usize,
    /// Parameters that they are divided among.
    tensors: usize,
    /// The first coordinate wherever a gradient was asked for.
    visited: Vec<f64>,
}

impl Plane {
    fn flat(examples: usize, dimensions: usize) -> Self {
        let (batches, precision, slope, start, tensors) = (1, 0.0, 0.0, 0.0, 1);
        let visited = Vec::new();
        Self { examples, batches, precision, slope, start, dimensions, tensors, visited }
    }
}

impl Analytic for Plane {
    fn examples(&self) -> usize {
        self.examples
    }
    fn prior_precision(&self) -> f64 {
        self.precision
    }
    fn batches(&self) -> usize {
        self.batches
    }
    fn start(&self) -> Flat<f64> {
        Flat(vec![self.start; self.dimensions])
    }
    fn slices(&self) -> Vec<Slice> {
        let size = self.dimensions / self.tensors;
        let each = (0..self.tensors)
            .map(|i| Slice { name: format!("layer{i}.weight"), range: i * size..(i + 1) * size });
        each.collect()
    }
    fn matrices(&self) -> Vec<Matrix> {
        let (inputs, reads, range) = (Side::Columns, Reads::Data, 0..self.dimensions);
        vec![Matrix { rows: 1, columns: range.len(), range, inputs, bias: 0..0, reads }]
    }
    fn batch(&mut self, theta: &Flat<f64>, _: usize, _: usize, out: &mut Flat<f64>) -> f64 {
        self.visited.push(theta.0[0]);
        self.whole(theta, out)
    }
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
        out.0.fill(self.slope);
        self.whole_loss(theta)
    }
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
        self.slope * theta.0.iter().sum::<f64>()
    }
}

fn variance(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64
}

fn close(value: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((value / expected - 1.0).abs() < tolerance, "{what}: {value}, not {expected}");
}

/// T33. URSABench divides the noise by N where sqrt(N) is right, a temperature of 1/N;
/// pytorch-ensembles divides by the number of batches; torch-uncertainty has no N at all. Where the
/// gradient is 0 a first step is nothing but noise, and its variance is read off 20,000 numbers.
#[test]
fn the_variance_of_the_noise_goes_as_the_temperature_over_the_number_of_examples() {
    for (examples, lr, temperature) in [(10, 0.1, 1.0), (1000, 0.1, 1.0), (1000, 0.02, 0.25)] {
        let common = json!({"lr": lr, "temperature": temperature, "samples": 1});
        let sampler = json!({"burn_in": 0, "schedule": "constant"});
        let cycle = json!({"cycle_epochs": 1, "noise_epochs": 1, "cycle_samples": 1});
        let friction = json!({"friction": 0.3});
        for (name, parts, factor) in [
            ("sgld", vec![&sampler], 2.0),
            ("sghmc", vec![&sampler, &friction], 2.0 * 0.3),
            ("csgld", vec![&cycle], 2.0),
            ("csghmc", vec![&cycle, &friction], 2.0 * 0.3),
        ] {
            let mut settings = common.clone();
            for part in parts {
                let part = part.as_object().expect("a table").clone();
                settings.as_object_mut().expect("a table").extend(part);
            }
            let posterior = run(&method(name, settings), &mut Plane::flat(examples, 20_000), 1);
            let expected = factor * lr * temperature / examples as f64;
            let what = format!("{name} N = {examples}, lr = {lr}, T = {temperature}");
            close(variance(&posterior.points[0].theta.0), expected, 0.05, &what);
        }
    }
}

/// T33. One step's noise does not depend on how many steps an epoch has.
#[test]
fn an_epoch_of_several_batches_has_the_noise_of_as_many_steps() {
    let mut target = Plane::flat(100, 20_000);
    target.batches = 7;
    let settings = json!({"burn_in": 0, "samples": 1, "schedule": "constant", "lr": 0.1});
    let posterior = run(&method("sgld", settings), &mut target, 1);
    close(variance(&posterior.points[0].theta.0), 7.0 * 2.0 * 0.1 / 100.0, 0.05, "seven steps");
}

/// T34. URSABench starts the velocity at plus the gradient, so that its first step climbs.
#[test]
fn the_first_step_of_hamiltonian_dynamics_goes_downhill() {
    for (name, settings) in [
        ("sghmc", json!({"burn_in": 1, "samples": 1, "schedule": "constant", "temperature": 0})),
        ("csghmc", json!({"samples": 1, "cycle_epochs": 4, "noise_epochs": 1, "cycle_samples": 1})),
    ] {
        let mut target = LinearRegression::new(20, 2.0);
        target.start = [3.0, -2.0];
        let mut settings = settings;
        settings["lr"] = json!(0.05);
        run(&method(name, settings), &mut target, 1);
        let [first, second] = [target.visited[0], target.visited[1]];
        let mut gradient = Flat(vec![0.0; 2]);
        let before =
            Potential::at(&mut Seen(&mut target, Vec::new()), &Flat(first.to_vec()), &mut gradient);
        for i in 0..2 {
            let expected = first[i] - 0.05 * gradient.0[i] / 20.0;
            assert!((second[i] - expected).abs() < 1e-12, "{name}: {first:?} {second:?}");
        }
        let after = Potential::at(
            &mut Seen(&mut target, Vec::new()),
            &Flat(second.to_vec()),
            &mut gradient,
        );
        assert!(after.below(before) > 0.0, "{name}");
    }
}

fn on_digits(recipe: &Recipe, network: &str, examples: u32) -> Fitted<Single> {
    let fit = recipe.fit(
        &Single::default(),
        network,
        &digits(examples),
        &Stream::root(7),
        &Options::default(),
    );
    fit.unwrap_or_else(|e| panic!("{}: {}", recipe.method.card().name, e.error))
}

/// T35. With a mean loss the prior is a weight decay of 1 / (N s^2); csgmcmc has a constant 5e-4
/// whatever N, torch-uncertainty and lightning-uq-box leave the prior unscaled.
#[test]
fn a_prior_and_the_weight_decay_that_it_is_give_the_same_bytes() {
    let of = |settings: Value| -> Vec<Vec<Vec<u64>>> {
        let recipes = quick_recipes(&settings).into_iter();
        recipes.map(|recipe| contents(&on_digits(&recipe, "mlp-4", 80).posterior)).collect()
    };
    // s = 1/2, N = 80.
    let prior = of(json!({"members": 1, "prior_std": 0.5}));
    let decay = of(json!({"members": 1, "weight_decay": 4.0 / 80.0}));
    let other = of(json!({"members": 1, "prior_std": 0.25}));
    for (index, recipe) in quick_recipes(&json!({})).into_iter().enumerate() {
        let method = recipe.method;
        assert!(prior[index] == decay[index], "{method:?}");
        assert!(prior[index] != other[index], "{method:?} knows of no prior");
    }
}

/// T35. Under a prior alone the samples are the prior's, whatever the number of examples.
#[test]
fn without_data_the_samples_have_the_variance_of_the_prior() {
    for (examples, std) in [(10, 0.5_f64), (1000, 3.0)] {
        let precision = std.powi(-2);
        // Steps a fiftieth of what would be unstable: an error of a hundredth.
        let lr = 0.02 * examples as f64 / precision;
        let sampler =
            json!({"burn_in": 400, "samples": 10, "thin": 50, "schedule": "constant", "lr": lr});
        let mut rough = sampler.clone();
        rough["friction"] = json!(0.5);
        let hmc = json!({"burn_in": 30, "samples": 10, "leapfrog": 40, "step": 0.03 * std,
            "target_acceptance": 0.0});
        for (name, settings) in [("sgld", sampler), ("sghmc", rough), ("hmc", hmc)] {
            let mut target = Plane { precision, ..Plane::flat(examples, 2_000) };
            let posterior = run(&method(name, settings), &mut target, 3);
            let all: Vec<f64> = posterior.points.into_iter().flat_map(|p| p.theta.0).collect();
            close(variance(&all), std * std, 0.06, &format!("{name}, N = {examples}"));
        }
    }
}

/// T36. URSABench adds noise during the whole of burn-in, whatever it is told.
#[test]
fn before_the_noise_begins_burn_in_is_descent_with_momentum() {
    let visited = |name: &str, settings: Value| {
        let mut target = LinearRegression::new(20, 2.0);
        (target.batch, target.start) = (6, [3.0, -2.0]);
        run(&method(name, settings), &mut target, 1);
        target.visited
    };
    let quiet = 5 * 4; // epochs, batches
    for (name, momentum) in [("sgld", 0.0), ("sghmc", 0.7)] {
        let settings = |noise_from: usize, temperature: f64| {
            let mut all = json!({"burn_in": 8, "samples": 1, "lr": 0.05, "schedule": "constant",
                "noise_from": noise_from, "temperature": temperature});
            if name == "sghmc" {
                all["friction"] = json!(1.0 - momentum);
            }
            all
        };
        let warm = visited(name, settings(5, 1.0));
        let cold = visited(name, settings(0, 0.0));
        assert_eq!(warm[..=quiet], cold[..=quiet], "{name}");
        assert_ne!(warm[quiet + 1], cold[quiet + 1], "{name}");
        assert_ne!(visited(name, settings(0, 1.0))[1], cold[1], "{name}: noise from the start");
        let descent =
            json!({"epochs": 9, "lr": 0.05, "momentum": momentum, "schedule": "constant"});
        for (here, there) in cold.iter().zip(visited("sgd", descent)) {
            assert!((0..2).all(|i| (here[i] - there[i]).abs() < 1e-12), "{name} is not descent");
        }
    }
}

/// T36. The same in the exploring part of every cycle.
#[test]
fn noise_comes_only_in_the_last_epochs_of_a_cycle() {
    for name in ["csgld", "csghmc"] {
        let steps = |temperature: f64| {
            let mut target = Plane { batches: 3, ..Plane::flat(10, 2) };
            let settings = json!({"samples": 2, "cycle_epochs": 5, "noise_epochs": 2,
                "cycle_samples": 1, "lr": 0.1, "temperature": temperature});
            run(&method(name, settings), &mut target, 1);
            let moves: Vec<bool> = target.visited.windows(2).map(|w| w[0] != w[1]).collect();
            moves
        };
        let moves = steps(1.0);
        // Where the loss is flat only noise moves, and with friction what is left of it.
        let first_cycle: Vec<usize> = (0..15).filter(|&step| moves[step]).collect();
        assert_eq!(first_cycle, (9..15).collect::<Vec<_>>(), "{name}");
        assert_eq!(moves[15..24].contains(&true), name == "csghmc", "{name}: the second cycle");
        assert!(!steps(0.0).contains(&true), "{name}");
    }
}

/// T36. URSABench computes the length of a cycle from N / B + 1 as a float, so that cycles drift
/// away from epochs when B does not divide N. On a slope of 1 each step is as long as its rate.
#[test]
fn cycles_are_whole_epochs_even_when_batches_do_not_divide_the_data() {
    let mut target = Plane { batches: 7, slope: 1.0, ..Plane::flat(20, 1) }; // 20 = 6 x 3 + 2
    let settings = json!({"samples": 4, "cycle_epochs": 3, "noise_epochs": 1, "cycle_samples": 1,
        "lr": 0.1, "temperature": 0});
    run(&method("csgld", settings), &mut target, 1);
    assert_eq!(target.visited.len(), 4 * 21);
    let rates: Vec<f64> = target.visited.windows(2).map(|w| w[0] - w[1]).collect();
    for (step, rate) in rates.iter().enumerate() {
        assert!((rate - rates[step % 21]).abs() < 1e-12, "step {step}");
        let top = step % 21 == 0;
        assert_eq!(top, (rate - 0.1).abs() < 1e-12, "step {step}: {rate}");
    }
}

/// T37. torch-uncertainty counts a step of burn-in for every parameter tensor, so that burn-in ends
/// as many times too early as there are tensors.
#[test]
fn burn_in_counts_epochs_whatever_the_number_of_tensors() {
    for name in ["sgld", "sghmc"] {
        let of = |tensors: usize| {
            let mut target = Plane { batches: 3, slope: 1.0, tensors, ..Plane::flat(10, 50) };
            let settings = json!({"burn_in": 6, "samples": 2, "thin": 2, "noise_from": 4});
            (run(&method(name, settings), &mut target, 1), target.visited)
        };
        let ((one, visited), (many, also)) = (of(1), of(50));
        assert_eq!(visited.len(), 3 * (6 + 2 * 2), "{name}");
        assert_eq!((contents(&one), visited.clone()), (contents(&many), also), "{name}");
        // The first sample is where the ninth epoch begins.
        assert_eq!(one.points[0].theta.0[0], visited[3 * 8], "{name}");
    }
}

/// A chain of long steps from far away, in which many moves are refused, cut at `burn_in`.
fn rough_chain(burn_in: usize) -> (Vec<[f64; 2]>, f64) {
    let mut target = LinearRegression::new(20, 1.0);
    target.start = [2.0, 2.0];
    let settings = json!({"burn_in": burn_in, "samples": 60 - burn_in, "leapfrog": 3, "step": 0.22,
        "target_acceptance": 0.0});
    let posterior = run(&method("hmc", settings), &mut target, 2);
    (places(&posterior), posterior.records[0].report[0].1)
}

/// T38. hamiltorch puts a chain whose first move after burn-in is refused back to its initial point,
/// and counts burn-in in the acceptance rate.
#[test]
fn a_refused_move_stays_where_the_chain_is_and_the_acceptance_rate_is_of_the_samples() {
    let (all, _) = rough_chain(0);
    let refused = |i: usize| all[i] == all[i - 1];
    let mut rates = Vec::new();
    let mut began_with_refusal = false;
    for burn_in in 1..50 {
        let (kept, rate) = rough_chain(burn_in);
        assert_eq!(kept, all[burn_in..], "burn-in only hides the first moves");
        began_with_refusal |= refused(burn_in) && kept[0] != [2.0, 2.0];
        let accepted = (burn_in..60).filter(|&i| !refused(i)).count() as f64;
        assert!((rate - accepted / (60 - burn_in) as f64).abs() < 1e-12, "{burn_in}: {rate}");
        rates.push(rate);
    }
    assert!(began_with_refusal, "the case at hand has come up");
    assert!(rates.iter().any(|rate| (rate - rates[0]).abs() > 0.05), "{rates:?}");
}

/// A target that is no number beyond a wall.
struct Wall(LinearRegression, f64);

impl Analytic for Wall {
    around!(0);

    fn batch(&mut self, theta: &Flat<f64>, _: usize, _: usize, out: &mut Flat<f64>) -> f64 {
        self.whole(theta, out)
    }
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
        let loss = self.0.whole(theta, out);
        if theta.0[0] > 0.9 { self.1 } else { loss }
    }
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
        self.whole(theta, &mut Flat(vec![0.0; 2]))
    }
}

/// T38. After a whole period a trajectory under a Gaussian ends where it began: every move is accepted, and the chain
/// stays. A leapfrog step turns by the angle `acos(1 - (w step)^2 / 2)`, here a twelfth of a circle.
#[test]
fn a_trajectory_of_a_whole_period_does_not_keep_the_chain_in_place() {
    let angle = std::f64::consts::TAU / 12.0;
    let precision = 4.0_f64;
    let step = (2.0 * (1.0 - angle.cos()) / precision).sqrt();
    let spread = |jitter: f64| {
        let mut target = Plane { precision, ..Plane::flat(10, 50) };
        let settings = json!({"burn_in": 50, "samples": 400, "leapfrog": 12, "step": step,
            "target_acceptance": 0.0, "jitter": jitter});
        let posterior = run(&method("hmc", settings), &mut target, 3);
        let all: Vec<f64> = posterior.points.into_iter().flat_map(|p| p.theta.0).collect();
        (variance(&all), posterior.records[0].report[0].1)
    };
    let (still, accepted) = spread(0.0);
    assert!(still < 1e-9 && accepted > 0.99, "the case at hand: {still} at {accepted}");
    let Value::Number(jitter) =
        serde_json::to_value(method("hmc", json!({}))).expect("a table")["jitter"].clone()
    else {
        panic!("a number")
    };
    let (moves, _) = spread(jitter.as_f64().expect("a number"));
    close(moves, 1.0 / precision, 0.06, "the variance of the prior");
}

/// Where the posterior has a wall a trajectory's energy is no number beyond it, which is a divergence.
#[test]
fn divergent_draws_are_counted_and_said_in_words() {
    for (name, settings) in [
        ("hmc", json!({"burn_in": 20, "samples": 300, "leapfrog": 5, "step": 0.1})),
        ("nuts", json!({"burn_in": 100, "samples": 300})),
    ] {
        let mut target = Wall(LinearRegression::new(20, 1.0), f64::NAN);
        let record = run(&method(name, settings.clone()), &mut target, 1).records.remove(0);
        let count = record.report.iter().find(|(name, _)| *name == "divergent_draws");
        let count = count.expect("counted").1;
        assert!(count > 10.0, "{name}: {count}");
        let said = format!("{count} of 300 draws diverged");
        assert!(record.warnings[0].starts_with(&said), "{:?}", record.warnings);
        let mut open = LinearRegression::new(20, 1.0);
        let record = run(&method(name, settings), &mut open, 1).records.remove(0);
        assert_eq!(record.warnings, Vec::<String>::new(), "{name}");
        let fraction = record.report.iter().find(|(name, _)| *name == "e_bfmi").expect("told").1;
        assert!((0.5..2.0).contains(&fraction), "{name}: {fraction}");
    }
}

/// T38. A comparison with NaN is false either way, and which way accepts is luck.
#[test]
fn an_energy_that_is_no_number_refuses_the_move() {
    for (name, settings) in [
        ("hmc", json!({"burn_in": 20, "samples": 300, "leapfrog": 5, "step": 0.1})),
        ("nuts", json!({"burn_in": 100, "samples": 300})),
    ] {
        for beyond in [f64::NAN, f64::INFINITY] {
            let mut target = Wall(LinearRegression::new(20, 1.0), beyond);
            assert!(target.0.mean()[0] > 0.5, "the wall is in the way");
            let places = places(&run(&method(name, settings.clone()), &mut target, 1));
            assert!(places.iter().all(|p| p[0] <= 0.9 && p[1].is_finite()), "{name} {beyond}");
            let moves = places.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!(moves > 100, "{name} {beyond}: {moves} moves");
        }
    }
}

/// T38. hamiltorch's loss for classes is a mean, so that N examples weigh as one.
#[test]
fn the_potential_has_the_loss_of_all_examples_not_their_mean() {
    let mut target = LinearRegression::new(50, 3.0);
    let theta = [0.3, -1.2];
    let miss = |(x, y): (&[f64; 2], &f64)| (y - x[0] * theta[0] - x[1] * theta[1]).powi(2) / 2.0;
    let sum: f64 = target.x.iter().zip(&target.y).map(miss).sum();
    let mut gradient = Flat(vec![0.0; 2]);
    let potential =
        Potential::at(&mut Seen(&mut target, Vec::new()), &Flat(theta.to_vec()), &mut gradient);
    assert!((potential.likelihood - sum).abs() < 1e-9, "{potential:?} {sum}");
    let prior = 3.0 * (theta[0] * theta[0] + theta[1] * theta[1]) / 2.0;
    assert!((potential.prior - prior).abs() < 1e-12);
    // The gradient is that of the sum: a small step changes it by as much.
    let nearby = Flat(vec![theta[0] + 1e-6, theta[1]]);
    let there = Potential::at(&mut Seen(&mut target, Vec::new()), &nearby, &mut Flat(vec![0.0; 2]));
    assert!((potential.below(there) / 1e-6 - gradient.0[0]).abs() < 1e-3);
}

/// T38. Differences of large sums lose what accepting a move hangs on: bnn_hmc takes them apart.
#[test]
fn a_small_change_of_the_likelihood_is_seen_beside_a_large_prior() {
    let before = Potential { likelihood: 3.25, prior: 1e17 };
    let after = Potential { likelihood: 2.0, prior: 1e17 };
    assert_eq!(after.below(before), 1.25);
}

/// T39, T40. In the coordinates of the plane the prior is around 0, the mean of the path, and one
/// unit is one standard deviation of the path, with K - 1; URSABench's normalised directions make of
/// `prior_std` a length in parameters. At a high temperature nothing but the prior is left.
#[test]
fn in_a_subspace_the_prior_is_around_the_mean_of_the_path_in_units_of_its_stds() {
    let mut target = LinearRegression::new(20, 0.0);
    target.start = [4.0, 1.0];
    let settings = json!({"epochs": 1, "collect_epochs": 5, "collect": 5, "lr": 0.3,
        "collect_lr": 0.3, "momentum": 0.5, "schedule": "constant", "rank": 2, "samples": 40_000,
        "coordinate_std": 2.0, "temperature": 1e12});
    let posterior = run(&method("subspace", settings), &mut target, 1);
    // The points that were collected are where the gradients after them were asked for, and the end.
    let sgd = json!({"epochs": 7, "lr": 0.3, "momentum": 0.5, "schedule": "constant"});
    let mut again = LinearRegression::new(20, 0.0);
    again.start = [4.0, 1.0];
    run(&method("sgd", sgd), &mut again, 1);
    let path = &again.visited[2..7];
    let mean = [0, 1].map(|i| path.iter().map(|p| p[i]).sum::<f64>() / 5.0);
    let covariance = [0, 1].map(|i| {
        [0, 1].map(|j| {
            path.iter().map(|p| (p[i] - mean[i]) * (p[j] - mean[j])).sum::<f64>() / 4.0 * 4.0
        })
    });
    assert_gaussian(&places(&posterior), mean, covariance, "the prior");
}

/// Remembers where the loss of all the data was asked for.
struct Remembers(LinearRegression, Vec<[u64; 2]>);

impl Analytic for Remembers {
    around!(0);

    fn batch(&mut self, theta: &Flat<f64>, epoch: usize, b: usize, out: &mut Flat<f64>) -> f64 {
        self.0.batch(theta, epoch, b, out)
    }
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
        self.0.whole(theta, out)
    }
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
        self.1.push([theta.0[0].to_bits(), theta.0[1].to_bits()]);
        self.0.whole_loss(theta)
    }
}

/// T39. URSABench asks anew for the likelihood of the place where the chain is, a pass over all the
/// data for every sample.
#[test]
fn slice_sampling_asks_for_the_likelihood_of_a_place_once() {
    let mut target = Remembers(LinearRegression::new(20, 0.0), Vec::new());
    target.0.start = [4.0, 1.0];
    let settings = json!({"epochs": 1, "collect_epochs": 4, "collect": 4, "lr": 0.3,
        "collect_lr": 0.3, "samples": 50});
    let posterior = run(&method("subspace", settings), &mut target, 1);
    let mut asked = target.1.clone();
    asked.sort_unstable();
    asked.dedup();
    assert_eq!(asked.len(), target.1.len(), "no place twice");
    assert_eq!(posterior.records[0].report, [("likelihood_evaluations", asked.len() as f64)]);
    for place in places(&posterior) {
        assert!(asked.contains(&place.map(f64::to_bits)), "each sample's own was among them");
    }
}

/// T40. URSABench counts before it collects, so that its mean of k points is the sum over k + 1.
#[test]
fn the_average_of_a_path_that_stands_still_is_where_it_stands() {
    let mut target = Plane { start: 3.7, ..Plane::flat(10, 2) };
    for collect in [1, 2, 5] {
        let settings = json!({"epochs": 1, "collect_epochs": 5, "collect": collect});
        let posterior = run(&method("swa", settings), &mut target, 1);
        assert!(posterior.points[0].theta.0.iter().all(|v| (v - 3.7).abs() < 1e-12));
    }
}

/// On a slope the path is a straight line, all parameters in step: at -d, 0 and d around its mean.
fn swag_on_a_line(rank: usize) -> (Vec<Flat<f64>>, f64) {
    let mut target = Plane { slope: 1.0, tensors: 2, ..Plane::flat(10, 400) };
    let settings = json!({"epochs": 2, "collect_epochs": 3, "collect": 3, "lr": 0.1,
        "collect_lr": 0.1, "momentum": 0.0, "schedule": "constant", "rank": rank,
        "samples": 6000});
    let posterior = run(&method("swag", settings), &mut target, 1);
    (posterior.points.into_iter().map(|point| point.theta).collect(), 0.1)
}

/// T41. fortuna divides by the rank, others by the largest rank less one even when fewer points were
/// collected; a scale of 1 in swa_gaussian is twice the variance. Three points at -d, 0, d: half of
/// the diagonal's 2 d^2 / 3, and half of the low-rank part's 2 d^2 / (3 - 1).
#[test]
fn swag_divides_by_the_columns_it_has_less_one() {
    for rank in [3, 20] {
        let (samples, d) = swag_on_a_line(rank);
        let one: Vec<f64> = samples.iter().map(|theta| theta.0[0]).collect();
        close(variance(&one), d * d * (1.0 / 3.0 + 1.0 / 2.0), 0.1, "one parameter");
        // Within a sample the parameters differ by the diagonal's part alone.
        let within: f64 = samples.iter().map(|theta| variance(&theta.0)).sum::<f64>() / 6000.0;
        close(within, d * d / 3.0, 0.02, "among the parameters of a sample");
    }
}

/// T44. torch-uncertainty draws a new z2 for every parameter tensor, so that parameters of different
/// layers are never correlated.
#[test]
fn swag_correlates_parameters_of_different_layers() {
    let (samples, d) = swag_on_a_line(3);
    let centre = 0.0 - 4.0 * d; // two steps of training, then the second of three
    let product = |theta: &Flat<f64>| (theta.0[0] - centre) * (theta.0[399] - centre);
    let covariance = samples.iter().map(product).sum::<f64>() / 6000.0;
    close(covariance, d * d / 2.0, 0.15, "of the first and the last parameter");
}

/// T42. URSABench never counts its points and overwrites every sample by the mean.
#[test]
fn swag_samples_differ_from_the_mean_and_from_one_another() {
    let path = json!({"epochs": 2, "collect_epochs": 4, "collect": 4, "batch": 40, "samples": 4});
    let samples = on_digits(&recipe("swag", path.clone()), "mlp-4", 80).posterior.points;
    let mut path = path;
    path.as_object_mut().expect("a table").remove("samples");
    let mean = on_digits(&recipe("swa", path), "mlp-4", 80).posterior.points;
    for (index, sample) in samples.iter().enumerate() {
        assert!(sample.theta != mean[0].theta);
        assert!(samples[..index].iter().all(|other| other.theta != sample.theta));
    }
}

/// T43. Beyond_Deep_Ensembles counts the weights that the optimiser was made with as the first
/// point: random numbers in the mean and, squared, in the variance.
#[test]
fn where_the_path_starts_is_not_in_its_mean_or_variance() {
    let mut target = LinearRegression::new(20, 2.0);
    target.start = [1e6, -1e6];
    let settings = json!({"epochs": 600, "collect_epochs": 5, "collect": 5, "lr": 0.1,
        "collect_lr": 0.1, "schedule": "constant", "samples": 50});
    let best = target.mean();
    for place in places(&run(&method("swag", settings), &mut target, 1)) {
        assert!((0..2).all(|i| (place[i] - best[i]).abs() < 1e-3), "{place:?} {best:?}");
    }
}

/// The running statistics of a network at some weights: a pass over all the data.
fn statistics_of(recipe: &Recipe, network: &str, theta: &Flat<f32>, examples: u32) -> Flat<f32> {
    let data = digits(examples);
    let training = Training::new(&Single::default(), &data, &[]).expect("digits");
    let network = recipe.network(network, &training).expect("a network");
    let (task, stream) = (task(&training, 1.0), Stream::root(0));
    let engine = Single::default();
    let mut model = engine.model(&network, examples as usize);
    let loss: Arc<dyn Loss> = task.likelihood;
    model.learn(&task.data, &loss, 0..network.parameters());
    let mut statistics = model.start(&stream).statistics;
    let rows = Rows::Stored(0..examples as usize);
    model.observe(theta, &mut statistics, &Batch { rows, augment: None, noise: None }, 1.0);
    statistics
}

/// T39, T45. Statistics of the last training batches belong to no sampled network: URSABench
/// refreshes them for the last sample only.
#[test]
fn every_sample_has_the_batch_statistics_of_its_own_network() {
    let recipes = quick_recipes(&json!({"members": 1, "batch": 30})).into_iter();
    for recipe in recipes.filter(|recipe| recipe.method.bears_batch_norm()) {
        let name = recipe.method.card().name;
        let points = on_digits(&recipe, "preresnet20/8", 60).posterior.points;
        for point in points.iter().take(3) {
            let expected = statistics_of(&recipe, "preresnet20/8", &point.theta, 60);
            assert!(!expected.0.is_empty());
            assert_eq!(point.statistics, expected, "{name}");
        }
        // Samples of sngp differ in the last layer alone.
        let alike = points.len() > 1 && points[0].statistics == points[1].statistics;
        assert_eq!(alike, name == "sngp", "{name}");
    }
}

/// T45. The statistics are an average over all the data, each example with the same weight, not an
/// exponential one that remembers the last batches; nothing of what they were before stays.
#[test]
fn recomputed_statistics_are_a_plain_mean_over_all_the_data() {
    let data = dubio_data::sets::digits::SET
        .load("".as_ref(), dubio_data::sets::Part::Train)
        .expect("embedded");
    let rows = 0..data.len() as u32;
    let data = data.subset(&rows.clone().chain(rows).collect::<Vec<u32>>());
    let training = Training::new(&Double::default(), &data, &[]).expect("digits");
    assert!(training.len() > 1000, "more than is looked at in one piece");
    let inputs: Vec<f64> = training.scaling().inputs(&data).expect("digits");
    let mut network = Network::new(Shape::image(1, 8, 8));
    network.then("flatten", Flatten);
    network.then("bn", BatchNorm);
    network.then("fc", Linear { outputs: 10 });
    let (engine, task, stream) = (Double::default(), task(&training, 1.0), Stream::root(1));
    let start = engine.model(&network, 1).start(&stream);
    let problem = |statistics: Vec<f64>| {
        let point = Point { theta: start.theta.clone(), statistics: Flat(statistics) };
        Problem::new(&engine, &network, &task, 100, None, Start::Warm(point), &stream)
            .expect("a problem")
    };
    let (mut fresh, mut odd) = (problem(start.statistics.0.clone()), problem(vec![1e6; 128]));
    let loss = fresh.whole_loss(&start.theta);
    assert_eq!(odd.whole_loss(&start.theta), loss, "a likelihood is that of the network alone");
    let statistics = odd.statistics(&start.theta).0;
    for pixel in 0..64 {
        let column: Vec<f64> = inputs.iter().skip(pixel).step_by(64).copied().collect();
        let mean = column.iter().sum::<f64>() / column.len() as f64;
        assert!((statistics[pixel] - mean).abs() < 1e-9, "{pixel}: {} {mean}", statistics[pixel]);
        let spread = variance(&column);
        assert!((statistics[64 + pixel] - spread).abs() <= 0.02 * spread, "{pixel}");
    }
}

/// T45. Beyond_Deep_Ensembles predicts with the statistics of the batch at hand, so that what it
/// says of an example depends on its neighbours.
#[test]
fn what_is_said_of_an_example_does_not_depend_on_its_neighbours() {
    let settings =
        json!({"epochs": 1, "collect_epochs": 2, "collect": 2, "batch": 30, "samples": 2});
    let fitted = on_digits(&recipe("swag", settings), "preresnet20/8", 60);
    let data = digits(60);
    let predict = |rows: &[u32]| {
        let predicted = fitted.predict(&data.subset(rows), &TestTime::default(), &Stream::root(1));
        predicted.unwrap_or_else(|e| panic!("{e}"))
    };
    let all = predict(&(0..60).collect::<Vec<_>>());
    for row in [0, 17, 59] {
        let alone = predict(&[row as u32]);
        for sample in 0..2 {
            let here = &alone.values[sample * 10..][..10];
            let there = &all.values[(sample * 60 + row) * 10..][..10];
            let gap = here.iter().zip(there).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(gap < 1e-4, "{here:?} {there:?}");
        }
    }
    let spread = all.values.iter().fold(0.0_f32, |most, v| most.max(v.abs()));
    assert!(spread > 0.01, "there is something to compare");
}

/// T45. And the statistics that a sample was kept with are those it predicts with.
#[test]
fn a_sample_predicts_with_its_own_parameters_and_statistics() {
    let settings =
        json!({"epochs": 1, "collect_epochs": 2, "collect": 2, "batch": 30, "samples": 2});
    let recipe = recipe("swag", settings);
    let (fitted, data) = (on_digits(&recipe, "preresnet20/8", 60), digits(60));
    let predicted = fitted.predict(&data, &TestTime::default(), &Stream::root(1));
    let predicted = predicted.unwrap_or_else(|e| panic!("{e}"));
    let training = Training::new(&Single::default(), &data, &[]).expect("digits");
    let inputs: Vec<f32> = training.scaling().inputs(&data).expect("digits");
    let mut expected = Vec::new();
    for point in &fitted.posterior.points {
        let network = recipe.network("preresnet20/8", &training).expect("a network");
        let mut model = Single::default().model(&network, 60);
        model.predict(point, &inputs, None, &mut expected);
    }
    assert_eq!(predicted.values, expected);
}

/// T52. URSABench ignores the rate it is given; Beyond_Deep_Ensembles forgets to divide by 1 - p
/// when it predicts. Each number behind the layer is 0, or the one before it over 1 - p.
#[test]
fn dropout_has_the_rate_that_was_set_in_training_and_in_prediction() {
    for rate in [0.0, 0.2, 0.6] {
        let recipe = recipe("mc-dropout", json!({"rate": rate, "position": "linear-and-inputs"}));
        let data = digits(60);
        let training = Training::new(&Single::default(), &data, &[]).expect("digits");
        let inputs: Vec<f32> = training.scaling().inputs(&data).expect("digits");
        let network = recipe.network("mlp-300", &training).expect("a network");
        let nodes = network.nodes().iter();
        let place = |name: &str| nodes.clone().position(|node| node.name == name).expect(name);
        let mut model = Single::default().model(&network, 60);
        let (mut point, noise) = (model.start(&Stream::root(1)), Stream::root(2));
        let labels = vec![0; 60];
        // In training every number has a chance of its own, in prediction every unit.
        let check = |model: &cpu::Model<f32>, [before, after]: [&str; 2], chances: usize| {
            let what = format!("{after}, {chances} chances");
            let (inside, outside) =
                (model.activations(place(before)), model.activations(place(after)));
            let active: Vec<(f32, f32)> = inside
                .iter()
                .zip(outside)
                .filter(|(x, _)| **x != 0.0)
                .map(|(x, y)| (*x, *y))
                .collect();
            let left_out = active.iter().filter(|(_, y)| *y == 0.0).count() as f64;
            let fraction = left_out / active.len() as f64;
            let error = (rate * (1.0 - rate) / chances.min(active.len()) as f64).sqrt();
            assert!((fraction - rate).abs() <= 5.0 * error, "{what}: {fraction}, not {rate}");
            let kept = active.iter().filter(|(_, y)| *y != 0.0);
            let factors = kept.map(|(x, y)| f64::from(y / x) * (1.0 - rate));
            assert!(factors.into_iter().all(|f| (f - 1.0).abs() < 1e-5), "{what}");
        };
        let mut gradient = point.theta.clone();
        let batch = (&inputs[..], Truth::Labels(&labels));
        model.loss_and_gradient(&mut point, batch, Some(&noise), &mut gradient);
        let [hidden, read] = [["relu1", "fc2.dropout"], ["flatten", "fc1.dropout"]];
        check(&model, hidden, usize::MAX);
        check(&model, read, usize::MAX);
        model.predict(&point, &inputs, Some(&noise), &mut Vec::new());
        check(&model, hidden, 300);
        check(&model, read, 64);
    }
}

/// T52. And the rate reaches what is trained and what is written: at 0 it is plain descent.
#[test]
fn without_dropout_the_passes_are_those_of_descent_and_with_more_they_spread_more() {
    let data = digits(60);
    let of = |name: &str, settings: Value| {
        let fitted = on_digits(&recipe(name, settings), "mlp-30", 60);
        let predicted = fitted.predict(&data, &TestTime::default(), &Stream::root(1));
        predicted.unwrap_or_else(|e| panic!("{e}"))
    };
    let plain = of("sgd", json!({"epochs": 2, "batch": 30})).values;
    let spread = |rate: f64, name: &str| {
        let settings = json!({"epochs": 2, "batch": 30, "samples": 8, "rate": rate});
        let values = of(name, settings).values;
        let of_logit = |i: usize| {
            variance(&(0..8).map(|p| f64::from(values[p * 600 + i])).collect::<Vec<_>>())
        };
        ((0..600).map(of_logit).sum::<f64>() / 600.0, values)
    };
    for name in ["mc-dropout", "gaussian-dropout"] {
        let (none, values) = spread(0.0, name);
        assert!(none == 0.0 && values[..600] == plain[..], "{name}");
        let (little, much) = (spread(0.05, name).0, spread(0.5, name).0);
        assert!(little > 0.0 && much > 4.0 * little, "{name}: {little} {much}");
    }
}

/// T57. Beyond_Deep_Ensembles divides a budget of samples among members and drops the remainder.
/// Here each member has as many as were asked for, and the file holds them all.
#[test]
fn the_number_of_forward_passes_is_what_was_asked_for() {
    for (name, settings, passes) in [
        ("deep-ensemble", json!({"epochs": 1}), 5),
        ("deep-ensemble", json!({"epochs": 1, "members": 3}), 3),
        ("mc-dropout", json!({"epochs": 1, "samples": 7, "members": 2}), 14),
        ("gaussian-dropout", json!({"epochs": 1, "samples": 7}), 7),
        ("sgld", json!({"burn_in": 0, "samples": 3, "members": 2}), 6),
        (
            "swag",
            json!({"epochs": 0, "collect_epochs": 2, "collect": 2, "samples": 3, "members": 3}),
            9,
        ),
    ] {
        let mut settings = settings;
        settings["batch"] = json!(30);
        let fitted = on_digits(&recipe(name, settings), "mlp-4", 60);
        assert_eq!(fitted.samples(), passes, "{name}");
        let predicted = fitted.predict(&digits(60), &TestTime::default(), &Stream::root(1));
        assert_eq!(predicted.expect("predicted").shape, [passes, 60, 10], "{name}");
    }
}

/// T27. URSABench builds every trial from one network that has been trained already.
#[test]
fn every_member_starts_from_numbers_of_its_own() {
    // Steps too small to move a number of 32 bits: the samples are the starts.
    let settings = json!({"epochs": 1, "lr": 1e-30, "members": 4, "batch": 30});
    let points =
        on_digits(&recipe("deep-ensemble", settings), "preresnet20/8", 60).posterior.points;
    for (index, point) in points.iter().enumerate() {
        for other in &points[..index] {
            let same = point.theta.0.iter().zip(&other.theta.0).filter(|(a, b)| a == b).count();
            // Scales and shifts of normalisation start at 1 and 0 in every network.
            assert!(same < point.theta.0.len() / 4, "{same} of {}", point.theta.0.len());
        }
    }
}

/// T54. A particle alone is descent by its own optimiser: the median of no distances is no division by 0.
#[test]
fn one_particle_is_descent() {
    for optimiser in ["sgd", "adam"] {
        let of = |name: &str, extra: Value| {
            let mut settings = json!({"epochs": 9, "lr": 0.05, "optimiser": optimiser});
            settings
                .as_object_mut()
                .expect("a table")
                .extend(extra.as_object().expect("a table").clone());
            let mut target = LinearRegression::new(20, 2.0);
            (target.start, target.batch) = ([3.0, -2.0], 6);
            places(&run(&method(name, settings), &mut target, 1))
        };
        let (alone, descent) = (
            of("svgd", json!({"particles": 1})),
            of("sgd", json!({"schedule": "flat-then-linear"})),
        );
        assert!(
            (0..2).all(|i| (alone[0][i] - descent[0][i]).abs() < 1e-12),
            "{alone:?} {descent:?}"
        );
    }
}

/// T54. Beyond_Deep_Ensembles shares one state of the optimiser among all particles, and halves the prior. On a plane
/// every particle has one gradient, and with no data but a prior all go to 0 at its pace.
#[test]
fn particles_feel_the_whole_prior_and_have_optimisers_of_their_own() {
    // Far apart the kernel of two particles is 1 / (n + 1): particle i moves by the prior at (g_i + g_j / 3) / 2.
    let mut target = Plane { precision: 5.0, start: 100.0, ..Plane::flat(10, 1) };
    let settings =
        json!({"particles": 2, "epochs": 1, "lr": 0.001, "optimiser": "sgd", "momentum": 0.0});
    let posterior = run(&method("svgd", settings), &mut target, 1);
    let mut second = Flat(vec![100.0]);
    dubio_nn::engine::Vector::add_noise(&mut second, 1.0, &Stream::root(31).nth(1));
    let start = [100.0, second.0[0]];
    for (i, point) in posterior.points.iter().enumerate() {
        let j = 1 - i;
        let gap = start[i] - start[j];
        let (k, width) = (1.0 / 3.0, gap * gap / 3_f64.ln());
        let pull = 5.0 / 10.0 * (start[i] + k * start[j]) / 2.0;
        let push = 2.0 / (width * 10.0) * k * gap / 2.0;
        let expected = start[i] - 0.001 * (pull - push);
        assert!((point.theta.0[0] - expected).abs() < 1e-9, "{} {expected}", point.theta.0[0]);
    }
}

/// T50. With a mean loss the divergence has the weight 1 / N, and it is a sum over parameters: bayesian-torch's examples
/// divide by the batch and average over weights. Without data the closest Gaussian is the prior, whatever `N`; there
/// KL(q, q) = 0 and its gradient is 0.
#[test]
fn without_data_the_closest_gaussian_is_the_prior() {
    for (examples, std) in [(10, 0.5_f64), (1000, 3.0)] {
        let settings = json!({"epochs": 4000, "lr": 0.05, "log_std_lr": 0.05, "samples": 20, "initial_std": 0.1});
        let mut target = Plane { precision: std.powi(-2), start: 1.0, ..Plane::flat(examples, 50) };
        let posterior = run(&method("vi", settings.clone()), &mut target, 2);
        for r in &posterior.factors[0][0].0 {
            close(r.exp(), std, 0.01, "the prior's standard deviation");
        }
        let all: Vec<f64> = posterior.points.into_iter().flat_map(|p| p.theta.0).collect();
        close(variance(&all), std * std, 0.2, "of samples");
        let mut there = settings;
        there["initial_std"] = json!(std);
        let mut target = Plane { precision: std.powi(-2), ..Plane::flat(examples, 50) };
        let posterior = run(&method("vi", there), &mut target, 2);
        assert!(
            posterior.factors[0][0].0.iter().all(|r| (r - std.ln()).abs() < 1e-6),
            "KL(q, q) = 0"
        );
    }
}

/// T50. On a slope the data pull the mean by `N`, and the divergence holds it back by its weight: `m = -slope N s^2 / w`.
#[test]
fn the_divergence_weighs_what_was_asked_for() {
    for weight in [1.0, 0.5] {
        let mut target = Plane { precision: 4.0, slope: 0.1, ..Plane::flat(10, 1) };
        let settings = json!({"epochs": 4000, "lr": 0.05, "samples": 1, "kl_weight": weight, "kl_warm_up": 100});
        let rule = run(&method("vi", settings), &mut target, 2);
        let last = *target.visited.last().expect("steps");
        let std = rule.factors[0][0].0[0].exp();
        assert!((last + 0.1 * 10.0 / (4.0 * weight)).abs() < 5.0 * std, "{last} for {weight}");
        // The variance of a linear loss is the prior's, whatever the weight.
        close(std, 0.5, 0.02, "the standard deviation");
    }
}

/// T53. The curvature is a mean of products over draws; Beyond_Deep_Ensembles multiplies the means of several draws, whose
/// curvature is too small by their number. With 8 draws a step the precision is that of one.
#[test]
fn the_curvature_of_several_draws_is_the_mean_of_their_products() {
    let of = |draws: usize| {
        let mut target = LinearRegression::new(20, 2.0);
        let settings = json!({"epochs": 80_000 / draws, "draws": draws, "lr": 0.05, "curvature": 0.1, "curvature_momentum": 0.9995, "samples": 1});
        run(&method("ivon", settings), &mut target, 3).factors[0][0].0.clone()
    };
    let [[a, _], [_, b]] = LinearRegression::new(20, 2.0).hessian();
    for (found, expected) in of(8).iter().zip([a, b]) {
        close(*found, expected, 0.1, "the precision by 8 draws a step");
    }
}

/// T53. However wild an estimate of the curvature, the precision stays positive: where a loss is concave it falls and
/// never reaches 0.
#[test]
fn the_precision_stays_positive_where_the_loss_is_concave() {
    struct Dome;
    impl Analytic for Dome {
        fn examples(&self) -> usize {
            10
        }
        fn prior_precision(&self) -> f64 {
            0.1
        }
        fn batches(&self) -> usize {
            1
        }
        fn start(&self) -> Flat<f64> {
            Flat(vec![0.0; 20])
        }
        fn slices(&self) -> Vec<Slice> {
            vec![Slice { name: "layer.weight".to_string(), range: 0..20 }]
        }
        fn batch(&mut self, theta: &Flat<f64>, _: usize, _: usize, out: &mut Flat<f64>) -> f64 {
            self.whole(theta, out)
        }
        fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
            out.0.iter_mut().zip(&theta.0).for_each(|(g, x)| *g = -5.0 * x.sin());
            self.whole_loss(theta)
        }
        fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
            theta.0.iter().map(|x| 5.0 * x.cos()).sum()
        }
    }
    let settings = json!({"epochs": 300, "lr": 1e-6, "curvature_momentum": 0.5, "samples": 2});
    let posterior = run(&method("ivon", settings), &mut Dome, 1);
    assert!(posterior.factors[0][0].0.iter().all(|p| *p > 0.0 && p.is_finite()));
}

/// T51. With a scale-mixture prior the divergence has the entropy of the posterior in it; Beyond_Deep_Ensembles leaves it
/// out, and uses one weight for both parts. Without data the closest Gaussian has the standard deviation where
/// `E_q -log p(theta) - log std` is least, here by the rule of rectangles.
#[test]
fn under_a_scale_mixture_prior_the_closest_gaussian_is_found() {
    use dubio_infer::prior::ScaleMixture;
    let mixture = ScaleMixture { wide_std: 1.0, narrow_std: 0.1, wide_fraction: 0.25 };
    let divergence = |log_std: f64| {
        let step = 0.01;
        let cross: f64 = (-600..600)
            .map(|i| {
                let z = (f64::from(i) + 0.5) * step;
                (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()
                    * step
                    * mixture.at(z * log_std.exp()).0
            })
            .sum();
        cross - log_std
    };
    let best = (0..4000)
        .map(|i| -4.0 + f64::from(i) * 0.001)
        .min_by(|a, b| divergence(*a).total_cmp(&divergence(*b)));
    let best = best.expect("some");
    assert!(best.exp() > 0.105 && best.exp() < 0.9, "between both: {}", best.exp());
    let settings = json!({"epochs": 8000, "lr": 0.01, "log_std_lr": 0.01, "draws": 4, "samples": 1, "prior": "scale-mixture", "narrow_std": 0.1,
        "wide_fraction": 0.25, "initial_std": 0.1});
    let mut target = Plane { precision: 1.0, ..Plane::flat(10, 40) };
    let posterior = run(&method("vi", settings), &mut target, 2);
    let mean = posterior.factors[0][0].0.iter().sum::<f64>() / 40.0;
    assert!((mean - best).abs() < 0.03, "{} {}", mean.exp(), best.exp());
}

/// T56. The prior of rank-1 factors is around 1, not 0: without data every component ends there, from random signs, and its
/// divergence is KL(q, q) = 0.
#[test]
fn without_data_rank_one_factors_are_around_one() {
    for (examples, std) in [(10, 0.3_f64), (1000, 0.1)] {
        let settings = json!({"epochs": 6000, "lr": 0.02, "log_std_lr": 0.02, "components": 3, "samples": 3,
            "factor_prior_std": std});
        let mut target = Plane { start: 1.0, ..Plane::flat(examples, 40) };
        let posterior = run(&method("rank1-vi", settings), &mut target, 2);
        assert_eq!(posterior.factors[0].len(), 2 * 3, "means and spreads of three components");
        for component in posterior.factors[0].chunks(2) {
            for (mean, log_std) in component[0].0.iter().zip(&component[1].0) {
                close(*mean, 1.0, 0.01, "the prior's mean");
                close(log_std.exp(), std, 0.01, "the prior's standard deviation");
            }
        }
        let (_, kl) = posterior.records[0].report[0];
        assert!(kl.abs() < 0.01, "KL(q, q) = 0, not {kl}");
    }
}

/// T56. Beyond_Deep_Ensembles crashes on layers with a bias, gives linear layers one component, and puts the bias under the
/// factors. Here all layers have them, means start at random signs, and biases and normalisation are those of all samples.
#[test]
fn every_layer_has_rank_one_components_and_biases_stay_outside_of_them() {
    let settings = json!({"components": 2, "samples": 2, "epochs": 1, "batch": 40, "lr": 1e-6, "initial_std": 1e-9});
    for network in ["mlp-20-20", "resnet20-cifar"] {
        let fitted = on_digits(&recipe("rank1-vi", settings.clone()), network, 80);
        let training = Training::new(&Single::default(), &digits(80), &[]).expect("digits");
        let network = recipe("sgd", json!({})).network(network, &training).expect("a network");
        let [a, b] = [0, 1].map(|k| &fitted.posterior.points[k].theta.0);
        let mut outside = vec![true; a.len()];
        for matrix in network.matrices() {
            outside[matrix.range.clone()].fill(false);
            let pairs = || a[matrix.range.clone()].iter().zip(&b[matrix.range.clone()]);
            // Factors of a sign and next to no spread: the same weights, half of them turned round.
            assert!(pairs().all(|(a, b)| (a.abs() - b.abs()).abs() < 1e-3));
            let turned = pairs().filter(|(a, b)| *a * *b < 0.0).count();
            let share = turned as f64 / matrix.range.len() as f64;
            // A convolution of three channels may well have the same signs by chance.
            let few = matrix.factors() < 20;
            assert!(few || (0.1..0.9).contains(&share), "{share} of {}", matrix.range.len());
        }
        assert!(outside.iter().any(|outside| *outside), "biases or normalisation");
        assert!((0..a.len()).filter(|i| outside[*i]).all(|i| a[i] == b[i]), "shared by all");
    }
}

/// Three classes of points in the plane, and a Gaussian process with 7 features.
fn process_of_classes(settings: &Value) -> (Process, Method) {
    let mut all = json!({"epochs": 40, "lr": 0.2, "features": 7, "prior_precision": 0.3});
    all.as_object_mut().expect("a table").extend(settings.as_object().expect("a table").clone());
    let method = method("sngp", all);
    let inputs: Vec<f64> = (0..24).map(|i| 2.0 * (1.3 * f64::from(i)).sin()).collect();
    let answers = Answers::Labels(Arc::new((0..12).map(|n| n % 3).collect()));
    let likelihood = Arc::new(Categorical { classes: 3 });
    (Process::new(&method, (2, 3), likelihood, inputs, answers), method)
}

/// Logits at the most probable last layer, and the variance of each: `phi' (d + sum_n p (1 - p) phi_n phi_n')^-1 phi`, by
/// plain loops.
fn logits_and_variances(
    process: &Process,
    theta: &[f64],
    d: f64,
    x: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let side = process.features(x).len();
    let logits = |phi: &[f64]| -> Vec<f64> {
        let weight = |c: usize, j: usize| match j + 1 == side {
            true => theta[3 * (side - 1) + c],
            false => theta[c * (side - 1) + j],
        };
        (0..3).map(|c| (0..side).map(|j| weight(c, j) * phi[j]).sum()).collect()
    };
    let rows = process.rows();
    let variance = |c: usize| {
        let mut precision = vec![vec![0.0; side]; side];
        for phi in &rows {
            let f = logits(phi);
            let p = f[c].exp() / f.iter().map(|f| f.exp()).sum::<f64>();
            for i in 0..side {
                for j in 0..side {
                    precision[i][j] += p * (1.0 - p) * phi[i] * phi[j];
                }
            }
        }
        (0..side).for_each(|i| precision[i][i] += d);
        let phi = process.features(x);
        solved(precision, phi.clone()).iter().zip(&phi).map(|(a, b)| a * b).sum()
    };
    (logits(&process.features(x)), (0..3).map(variance).collect())
}

/// T49, T55. The mean field of a Gaussian process divides a logit by `sqrt(1 + pi v / 8)`, Beyond_Deep_Ensembles by
/// `sqrt(1 + v / 4)`; and its precision has the weight `p (1 - p)` of each class, which edward2's "gaussian" and
/// Beyond_Deep_Ensembles leave out.
#[test]
fn a_gaussian_process_of_classes_has_the_variance_of_its_probabilities_and_a_mean_field_of_pi_over_eight()
 {
    let (process, method) = process_of_classes(&json!({}));
    let posterior = process.posterior(&method);
    let tests = [[0.3, -0.8], [1.5, 1.5], [9.0, -4.0]];
    let found = process.outputs(&method, &posterior, &tests.concat()).remove(0);
    for (found, x) in found.chunks(3).zip(tests) {
        let (f, v) = logits_and_variances(&process, &posterior.points[0].theta.0, 0.3, &x);
        for c in 0..3 {
            let expected = f[c] / (1.0 + std::f64::consts::PI / 8.0 * v[c]).sqrt();
            assert!((found[c] - expected).abs() < 1e-9, "{x:?}: {} {expected}", found[c]);
            let quarter = f[c] / (1.0 + v[c] / 4.0).sqrt();
            let apart = (quarter / expected - 1.0).abs();
            assert!(apart > 0.01, "the test can tell: {expected} {quarter}");
        }
    }
}

/// T55. Beyond_Deep_Ensembles takes the variance of a logit for its standard deviation when it draws, and mixes the axes of
/// examples and samples. Here draws have the variance, and examples in another order have the same draws.
#[test]
fn logits_that_are_drawn_have_the_root_of_their_variance_as_standard_deviation() {
    let (process, method) = process_of_classes(&json!({"predict": "mc", "samples": 20_000}));
    let posterior = process.posterior(&method);
    let (near, far) = ([0.3, -0.8], [9.0, -4.0]);
    let both = process.outputs(&method, &posterior, &[near, far].concat());
    let turned = process.outputs(&method, &posterior, &[far, near].concat());
    let (_, map) = process_of_classes(&json!({}));
    let theta = &process.posterior(&map).points[0].theta.0;
    let mut tells = false;
    for (at, x) in [near, far].into_iter().enumerate() {
        let (f, v) = logits_and_variances(&process, theta, 0.3, &x);
        for c in 0..3 {
            let drawn: Vec<f64> = both.iter().map(|sample| sample[3 * at + c]).collect();
            close(variance(&drawn), v[c], 0.06, "variance of a logit");
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            assert!((mean - f[c]).abs() < 5.0 * (v[c] / 20_000.0).sqrt(), "{mean} {}", f[c]);
            tells |= (v[c] - 1.0).abs() > 0.3;
        }
    }
    assert!(tells, "where a variance is 1 it is its own root");
    let swapped = both.iter().zip(&turned).all(|(a, b)| a[..3] == b[3..] && a[3..] == b[..3]);
    assert!(swapped, "a draw is a function of the input alone");
}

/// T55. The precision is that of the data once, however many epochs there were: sums that go on from epoch to epoch, without
/// a reset, have as many times the data.
#[test]
fn the_precision_of_a_gaussian_process_does_not_grow_with_the_epochs() {
    let of = |epochs: usize| {
        let (process, method) = process_of_classes(&json!({"epochs": epochs, "lr": 1e-30}));
        let posterior = process.posterior(&method);
        process.outputs(&method, &posterior, &[0.3, -0.8]).remove(0)
    };
    assert_eq!(of(1), of(7));
}
