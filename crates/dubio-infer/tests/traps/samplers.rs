//! Langevin and Hamiltonian dynamics, slice sampling.

use dubio_infer::target::Potential;
use dubio_nn::cpu::Flat;
use serde_json::{Value, json};

use crate::support::*;
use crate::{Plane, close, on_digits, variance};

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

/// Where gradients can be of any size, that of the loss is cut to the length 30, of 1 where there is no noise. Neither the
/// noise nor the prior is: a step from 2 on a slope of any size goes by `lr (30 / sqrt(d) + p 2 / N)` for `d` parameters.
#[test]
fn a_clip_bounds_the_gradient_of_the_loss_and_neither_the_noise_nor_the_prior() {
    let (lr, examples, precision, dimensions) = (0.1, 100, 50.0, 20_000);
    let sampler = |temperature: f64| json!({"burn_in": 0, "samples": 1, "schedule": "constant", "lr": lr, "temperature": temperature});
    let cycle = |temperature: f64| json!({"cycle_epochs": 1, "noise_epochs": 1, "cycle_samples": 1, "samples": 1, "lr": lr, "temperature": temperature});
    let with_friction = |mut settings: Value| {
        settings["friction"] = json!(0.3);
        settings
    };
    for (temperature, longest) in [(1.0, 30.0), (0.0, 1.0)] {
        for (name, settings, factor) in [
            ("sgld", sampler(temperature), 2.0),
            ("sghmc", with_friction(sampler(temperature)), 2.0 * 0.3),
            ("csgld", cycle(temperature), 2.0),
            ("csghmc", with_friction(cycle(temperature)), 2.0 * 0.3),
        ] {
            // Of 20,000 parameters the second has a length of 14, and is cut only where there is no noise.
            for slope in [1e6, 0.1] {
                let plane =
                    Plane { precision, slope, start: 2.0, ..Plane::flat(examples, dimensions) };
                let mut target = Plane { is_steep: true, ..plane };
                let moved = run(&method(name, settings.clone()), &mut target, 1);
                let steps: Vec<f64> = moved.points[0].theta.0.iter().map(|v| v - 2.0).collect();
                let mean = steps.iter().sum::<f64>() / dimensions as f64;
                let noise = factor * lr * temperature / examples as f64;
                let clipped = slope.min(longest / (dimensions as f64).sqrt());
                let expected = -lr * (clipped + precision * 2.0 / examples as f64);
                let error = (noise / dimensions as f64).sqrt();
                let what =
                    format!("{name} at {temperature}, slope {slope}: {mean}, not {expected}");
                assert!((mean - expected).abs() < 5.0 * error + 1e-9, "{what}");
                assert!(5.0 * error < 0.2 * lr * clipped, "the test can tell: {error}");
                assert!((variance(&steps) - noise).abs() <= 0.05 * noise + 1e-15, "{what}");
            }
        }
    }
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
