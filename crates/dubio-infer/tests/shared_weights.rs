//! `batch-ensemble`, `rank1-vi`, `masksembles` and `packed-ensemble`: what their members have in common, and what not.

mod support;

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_infer::fit::{self, Options};
use dubio_infer::fitted::Fitted;
use dubio_infer::methods::masksembles::masks;
use dubio_infer::predict::TestTime;
use dubio_infer::problem::{Problem, Start};
use dubio_infer::target::Target as _;
use dubio_infer::training::Training;
use dubio_nn::Double;
use dubio_nn::cpu::Flat;
use dubio_nn::matrix::{Matrix, Reads, Side};
use dubio_nn::network::Network;
use dubio_random::stream::Stream;
use serde_json::{Value, json};
use support::*;

fn fitted(name: &str, settings: Value, network: &str, data: &Dataset) -> Fitted<Double> {
    let recipe = recipe(name, settings);
    let fit = recipe.fit(&Double::default(), network, data, &Stream::root(5), &Options::default());
    fit.unwrap_or_else(|e| panic!("{name}: {}", e.error))
}

fn thetas(fitted: &Fitted<Double>) -> Vec<&[f64]> {
    fitted.posterior.points.iter().map(|point| &point.theta.0[..]).collect()
}

/// The network of a method on digits.
fn network(name: &str, settings: Value, network: &str) -> Network {
    let training = Training::new(&Double::default(), &digits(60), &[]).expect("digits");
    recipe(name, settings).network(network, &training).expect("a network")
}

fn close(value: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((value - expected).abs() < tolerance, "{what}: {value}, not {expected}");
}

/// With factors that stay at one, or masks that leave nothing out, there is nothing left but descent, prior and all.
#[test]
fn without_factors_of_their_own_members_are_plain_descent() {
    let descent = json!({"epochs": 4, "lr": 0.1, "optimiser": "sgd", "momentum": 0.9, "batch": 40,
        "schedule": "constant", "weight_decay": 0.01});
    let with = |extra: Value| {
        let mut all = descent.clone();
        all.as_object_mut().expect("a table").extend(extra.as_object().expect("a table").clone());
        all
    };
    let still = json!({"samples": 1, "signs": 0, "factor_lr": 0});
    let narrow = json!({"samples": 2, "components": 1, "signs": 0, "factor_lr": 0,
        "initial_std": 1e-12, "log_std_lr": 1e-9, "kl_weight": 0});
    for network in ["mlp-6-5", "resnet20-cifar/8"] {
        let data = digits(80);
        let plain = fitted("sgd", descent.clone(), network, &data);
        for (name, settings) in [
            ("batch-ensemble", with(still.clone())),
            ("rank1-vi", with(narrow.clone())),
            ("masksembles", with(json!({"samples": 2, "scale": 1}))),
            ("packed-ensemble", with(json!({"samples": 1, "alpha": 1}))),
        ] {
            for theta in thetas(&fitted(name, settings.clone(), network, &data)) {
                let pairs = theta.iter().zip(thetas(&plain)[0]);
                let apart = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(apart < 1e-8, "{name} on {network}: {apart}");
            }
        }
    }
}

/// One step of plain descent on the mean loss `J` over `(W, r, s)` from ones, with `J`'s slopes by differences.
#[test]
fn a_step_of_batch_ensemble_descends_by_weights_and_both_factors() {
    let (start, lr) = ([1.0, -0.5], 0.1);
    // Of a member of two that are alike, the mean over members feels half of what its factors do.
    for members in [1, 2] {
        step_from_ones(start, lr, members);
    }
}

fn step_from_ones(start: [f64; 2], lr: f64, members: usize) {
    let settings = json!({"samples": members, "epochs": 1, "lr": lr, "momentum": 0, "signs": 0,
        "factor_lr": 0.5, "schedule": "constant"});
    let mut target = LinearRegression { start, ..LinearRegression::new(20, 0.0) };
    let found = places(&run(&method("batch-ensemble", settings), &mut target, 1))[0];
    let mut loss =
        |[w0, w1, r0, r1, s]: [f64; 5]| target.whole_loss(&Flat(vec![w0 * r0 * s, w1 * r1 * s]));
    let here = [start[0], start[1], 1.0, 1.0, 1.0];
    let mut there = here;
    for i in 0..5 {
        let mut at = |h: f64| {
            let mut moved = here;
            moved[i] += h;
            loss(moved)
        };
        let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
        there[i] -= if i < 2 { lr } else { 0.5 * lr / members as f64 } * slope;
    }
    let [w0, w1, r0, r1, s] = there;
    close(found[0], w0 * r0 * s, 1e-8, "first");
    close(found[1], w1 * r1 * s, 1e-8, "second");
}

/// The ratio of two members' weights is an outer product, at every place of a kernel the same.
fn assert_rank_one(a: &[f64], b: &[f64], matrix: &Matrix, what: &str) {
    let start = matrix.range.start;
    let ratio = |k: usize, row: usize, column: usize| {
        let index = start + (k * matrix.rows + row) * matrix.columns + column;
        a[index] / b[index]
    };
    for k in 0..matrix.range.len() / (matrix.rows * matrix.columns) {
        for row in 0..matrix.rows {
            for column in 0..matrix.columns {
                let [whole, left, above, corner] =
                    [ratio(k, row, column), ratio(0, row, 0), ratio(0, 0, column), ratio(0, 0, 0)];
                let (found, expected) = (whole * corner, left * above);
                assert!((found - expected).abs() < 1e-6 * expected.abs(), "{what}: {row} {column}");
            }
        }
    }
}

#[test]
fn members_of_batch_ensemble_differ_by_factors_and_biases_alone() {
    let settings = json!({"samples": 3, "epochs": 3, "batch": 40});
    for name in ["mlp-6-5", "lenet5"] {
        let data = if name == "lenet5" { grown(digits(80)) } else { digits(80) };
        let fitted = fitted("batch-ensemble", settings.clone(), name, &data);
        let training = Training::new(&Double::default(), &data, &[]).expect("digits");
        let network = recipe("batch-ensemble", settings.clone()).network(name, &training);
        let thetas = thetas(&fitted);
        for matrix in network.expect("a network").matrices() {
            assert_rank_one(thetas[0], thetas[2], &matrix, name);
            let [a, b] = [0, 2].map(|k| &thetas[k][matrix.bias.clone()]);
            // Those of units that never fire stay where they all began.
            assert!(a.iter().zip(b).any(|(a, b)| a != b), "{name}: biases");
            let [a, b] = [0, 2].map(|k| &thetas[k][matrix.range.clone()]);
            let opposed = a.iter().zip(b).filter(|(a, b)| *a * *b < 0.0).count();
            let share = opposed as f64 / a.len() as f64;
            assert!((0.2..0.8).contains(&share), "{name}: signs {share}");
        }
    }
}

/// Digits of four times the side, which `lenet5` can read.
fn grown(mut data: Dataset) -> Dataset {
    let count = data.len();
    let Inputs::Images(images) = &mut data.inputs else { panic!("images") };
    let side = images.height;
    let mut pixels = Vec::new();
    for image in 0..count {
        for (y, x) in (0..4 * side).flat_map(|y| (0..4 * side).map(move |x| (y, x))) {
            pixels.push(images.pixels[image * side * side + y / 4 * side + x / 4]);
        }
    }
    (images.height, images.width, images.pixels) = (4 * side, 4 * side, pixels);
    data
}

/// The least of the bound over `q(s) q(r_1) q(r_2)` for fixed weights, by coordinate updates in closed form: with
/// `b_i = W_i sum x_i y` and `A_ij = W_i W_j sum x_i x_j` the expected loss is
/// `-E[s] b'E[r] + E[s^2] E[r'A r] / 2`, quadratic in each factor.
fn coordinate_updates(target: &LinearRegression, w: [f64; 2], p: f64) -> [[f64; 2]; 3] {
    let sum = |f: &dyn Fn(&[f64; 2], f64) -> f64| {
        target.x.iter().zip(&target.y).map(|(x, y)| f(x, *y)).sum::<f64>()
    };
    let b = [0, 1].map(|i| w[i] * sum(&|x, y| x[i] * y));
    let a = [0, 1].map(|i| [0, 1].map(|j| w[i] * w[j] * sum(&|x, _| x[i] * x[j])));
    let (prior, mut s, mut r) = (1.0 / (p * p), [1.0, 0.0], [[1.0, 0.0]; 2]);
    for _ in 0..10_000 {
        let square = s[0] * s[0] + s[1];
        for i in 0..2 {
            let variance = 1.0 / (prior + square * a[i][i]);
            let pull = prior + s[0] * b[i] - square * a[i][1 - i] * r[1 - i][0];
            r[i] = [variance * pull, variance];
        }
        let means = [r[0][0], r[1][0]];
        let products =
            |i: usize, j: usize| means[i] * means[j] + if i == j { r[i][1] } else { 0.0 };
        let curve: f64 = (0..4).map(|k| a[k / 2][k % 2] * products(k / 2, k % 2)).sum();
        let variance = 1.0 / (prior + curve);
        s = [variance * (prior + means[0] * b[0] + means[1] * b[1]), variance];
    }
    [s, r[0], r[1]]
}

#[test]
fn rank_one_factors_of_a_linear_regression_are_those_of_coordinate_updates() {
    let (w, p) = ([1.0, -0.8], 0.5);
    // The weights stay: their rate is next to nothing, and that of the factors a multiple of it.
    let settings = json!({"components": 1, "samples": 1, "epochs": 6000, "lr": 1e-12, "factor_lr": 1e10,
        "log_std_lr": 0.01, "draws": 8, "signs": 0, "factor_prior_std": p});
    let mut target = LinearRegression { start: w, ..LinearRegression::new(20, 1.0) };
    let posterior = run(&method("rank1-vi", settings), &mut target, 4);
    let [means, log_stds] = &posterior.factors[0][..] else { panic!("a mean and a spread") };
    let expected = coordinate_updates(&target, w, p);
    for (index, [mean, variance]) in expected.into_iter().enumerate() {
        close(means.0[index], mean, 0.02, "mean");
        close(log_stds.0[index].exp(), variance.sqrt(), 0.02, "standard deviation");
    }
    // sum log(p / s) + (s^2 + (m - 1)^2) / (2 p^2) - 1 / 2.
    let each = means.0.iter().zip(&log_stds.0).map(|(m, rho)| {
        (p / rho.exp()).ln() + (rho.exp().powi(2) + (m - 1.0).powi(2)) / (2.0 * p * p) - 0.5
    });
    let (name, kl) = posterior.records[0].report[0];
    assert_eq!(name, "kl");
    close(kl, each.sum(), 1e-9, "divergence");
}

/// Durasov et al. 2021, section 3.2: `M` units a mask, `M S (1 - (1 - 1 / S)^N)` units in all, `M / S` in common.
#[test]
fn masks_have_the_sizes_and_the_overlap_of_the_paper() {
    for (units, count, scale) in [(64, 4, 2.0), (120, 4, 3.0), (84, 8, 1.5), (512, 4, 6.0)] {
        let stream = Stream::root(1);
        let mut overlap = Vec::new();
        for seed in 0..200 {
            let masks = masks(units, count, scale, &stream.nth(seed));
            assert_eq!((masks.len(), masks[0].len()), (count, units));
            let ones = |mask: &[bool]| mask.iter().filter(|kept| **kept).count();
            let kept = ones(&masks[0]);
            assert!(masks.iter().all(|mask| ones(mask) == kept), "each keeps as many");
            assert!((0..units).all(|unit| masks.iter().any(|mask| mask[unit])), "none is useless");
            let whole = kept as f64 * scale * (1.0 - (1.0 - 1.0 / scale).powi(count as i32));
            assert!((whole / units as f64 - 1.0).abs() < 0.03, "{kept} of {units}");
            let common = masks[0].iter().zip(&masks[1]).filter(|(a, b)| **a && **b).count();
            overlap.push(common as f64 / kept as f64);
        }
        let mean = overlap.iter().sum::<f64>() / overlap.len() as f64;
        assert!((mean * scale - 1.0).abs() < 0.08, "{mean} of units in common at scale {scale}");
    }
}

#[test]
fn masks_of_any_size_can_be_had() {
    for (units, count) in (1..9).flat_map(|units| (1..6).map(move |count| (units, count))) {
        for scale in [1.0, 1.3, 2.0, 10.0, 100.0] {
            let masks = masks(units, count, scale, &Stream::root(2));
            assert!((0..units).all(|unit| masks.iter().any(|mask| mask[unit])));
        }
    }
}

/// Units that a member leaves out have no weights in the layer that reads them; all others are those of every member.
#[test]
fn members_of_masksembles_are_one_network_with_hidden_units_left_out() {
    let settings = json!({"samples": 3, "epochs": 2, "batch": 40});
    let fitted = fitted("masksembles", settings.clone(), "mlp-9-8", &digits(80));
    let thetas = thetas(&fitted);
    for matrix in network("masksembles", settings, "mlp-9-8").matrices() {
        let inputs = if matrix.inputs == Side::Rows { matrix.rows } else { matrix.columns };
        let mut left_out = vec![vec![false; inputs]; 3];
        for (own, theta) in left_out.iter_mut().zip(&thetas) {
            for (column, left_out) in own.iter_mut().enumerate() {
                let mut weights = theta[matrix.range.clone()].iter().skip(column).step_by(inputs);
                *left_out = weights.all(|w| *w == 0.0);
            }
        }
        let count = left_out[0].iter().filter(|out| **out).count();
        assert_eq!(count > 0, matrix.reads == Reads::Hidden, "the data are never left out");
        for index in 0..matrix.range.len() {
            let values: Vec<f64> = (0..3)
                .filter(|k| !left_out[*k][index % inputs])
                .map(|k| thetas[k][matrix.range.start + index])
                .collect();
            assert!(!values.is_empty() && values.iter().all(|w| *w == values[0]));
        }
        let biases = thetas.iter().map(|theta| &theta[matrix.bias.clone()]);
        assert!(biases.clone().all(|bias| Some(bias) == biases.clone().next()));
        if matrix.reads == Reads::Hidden {
            assert!(left_out[0] != left_out[1] && left_out[1] != left_out[2], "masks of their own");
        }
    }
}

/// One step of plain descent on the mean loss `J(W)` of the masked networks, with `J`'s slopes by differences.
#[test]
fn a_step_of_masksembles_descends_on_the_mean_loss_of_the_members() {
    let (lr, stream) = (0.5, Stream::root(3));
    let settings = json!({"samples": 3, "epochs": 1, "lr": lr, "momentum": 0, "batch": 60,
        "schedule": "constant"});
    let network = network("masksembles", settings.clone(), "mlp-7");
    let training = Training::new(&Double::default(), &digits(60), &[]).expect("digits");
    let (task, engine) = (task(&training, 0.0), Double::default());
    let problem = Problem::new(&engine, &network, &task, 60, None, Start::Fresh, &stream);
    let mut problem = problem.expect("a problem");
    let start = problem.start(0).theta.0;
    let rule = recipe("masksembles", settings).method.rule(&problem.start(0).theta);
    let fit = fit::fit(rule, &mut problem, &stream, 0, &Options::default());
    let members: Vec<Vec<f64>> = fit.expect("fits").points.into_iter().map(|p| p.theta.0).collect();
    let mut mean = |weights: &[f64]| {
        let masked = |member: &Vec<f64>| {
            let pairs = weights.iter().zip(member);
            Flat(pairs.map(|(w, kept)| if *kept == 0.0 { 0.0 } else { *w }).collect())
        };
        members.iter().map(|member| problem.whole_loss(&masked(member))).sum::<f64>() / 3.0
    };
    let last = network.matrices()[1].range.clone();
    for index in last.clone().chain((0..last.start).step_by(37)) {
        let after = members.iter().map(|member| member[index]).find(|w| *w != 0.0);
        let mut at = |h: f64| {
            let mut moved = start.clone();
            moved[index] += h;
            mean(&moved)
        };
        let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
        close(after.expect("in a mask"), start[index] - lr * slope, 1e-8, "weight");
    }
}

/// Laurent et al. 2023, section 4: a layer of `C_in C_out` weights becomes `M` of `(alpha / M)^2 C_in C_out`; the first
/// reads all inputs and the last gives all outputs, so these become `alpha C_in C_out` in all.
#[test]
fn a_packed_ensemble_has_as_many_weights_as_the_paper_says() {
    for (members, alpha) in [(4, 2.0), (2, 1.0), (8, 4.0), (4, 3.0)] {
        let settings = json!({"samples": members, "alpha": alpha});
        for name in ["mlp-40-80", "resnet20-cifar", "preresnet20"] {
            let [whole, narrow] = ["sgd", "packed-ensemble"].map(|method| {
                let settings = if method == "sgd" { json!({}) } else { settings.clone() };
                network(method, settings, name).matrices()
            });
            let last = whole.len() - 1;
            for (index, (whole, narrow)) in whole.iter().zip(&narrow).enumerate() {
                let factor = if index == 0 || index == last {
                    alpha
                } else {
                    alpha * alpha / members as f64
                };
                let all = members * narrow.range.len();
                assert_eq!(all as f64, factor * whole.range.len() as f64, "{name}: {index}");
            }
        }
    }
}

/// What a member does depends on no other: alone it ends at the same numbers, whoever trains beside it.
#[test]
fn members_of_a_packed_ensemble_do_not_know_of_one_another() {
    let of = |samples: usize, optimiser: &str| {
        let settings = json!({"samples": samples, "epochs": 5, "lr": 0.05, "optimiser": optimiser});
        let mut target = LinearRegression { batch: 5, ..LinearRegression::new(12, 1.0) };
        places(&run(&method("packed-ensemble", settings), &mut target, 1))
    };
    for optimiser in ["sgd", "adam"] {
        let (one, two, three) = (of(1, optimiser), of(2, optimiser), of(3, optimiser));
        assert_eq!(one[..], two[..1]);
        assert_eq!(two[..], three[..2]);
        assert!(three[0] != three[1] && three[1] != three[2]);
    }
}

const FOUR: [&str; 4] = ["batch-ensemble", "rank1-vi", "masksembles", "packed-ensemble"];

#[test]
fn every_one_of_them_learns_classes_and_its_members_disagree() {
    let data = digits(900);
    let (train, test) = ((0..600).collect::<Vec<_>>(), (600..900).collect::<Vec<_>>());
    let (train, test) = (data.subset(&train), data.subset(&test));
    let Answers::Classes { labels, .. } = &test.answers else { panic!("classes") };
    for name in FOUR {
        let fitted = fitted(name, json!({"epochs": 30, "batch": 60}), "mlp-40-40", &train);
        let predicted = fitted.predict(&test, &TestTime::default(), &Stream::root(1));
        let predicted = predicted.unwrap_or_else(|e| panic!("{e}"));
        let samples: Vec<&[f32]> = predicted.values.chunks(3000).collect();
        let best = |logits: &[f32]| {
            (0..10).max_by(|a, b| logits[*a].total_cmp(&logits[*b])).expect("ten") as u32
        };
        for sample in &samples {
            let right = sample.chunks(10).zip(labels).filter(|(row, label)| best(row) == **label);
            let right = right.count() as f64 / 300.0;
            assert!(right > 0.7, "{name}: {right} right by a single member");
        }
        assert!(samples[0] != samples[1], "{name}");
    }
}

#[test]
fn every_one_of_them_learns_a_regression() {
    let x: Vec<f64> = (0..200).map(|i| (f64::from(i) - 99.5) / 50.0).collect();
    let targets: Vec<f64> = x.iter().map(|x| x.abs() * 3.0 + 1.0).collect();
    let data = Dataset {
        inputs: Inputs::Features { width: 1, values: x },
        answers: Answers::Targets(targets.clone()),
        groups: Default::default(),
    };
    for name in FOUR {
        let settings = json!({"epochs": 150, "batch": 50, "lr": 0.01, "optimiser": "adam"});
        let fitted = fitted(name, settings, "mlp-30-30", &data);
        let predicted = fitted.predict(&data, &TestTime::default(), &Stream::root(1));
        let predicted = predicted.unwrap_or_else(|e| panic!("{e}"));
        let [samples, examples, numbers] = predicted.shape;
        let mean = |example: usize| {
            let all = (0..samples).map(|s| predicted.values[(s * examples + example) * numbers]);
            f64::from(all.sum::<f32>()) / samples as f64
        };
        let square: f64 = (0..200).map(|i| (mean(i) - targets[i]).powi(2)).sum();
        let root = (square / 200.0).sqrt();
        assert!(root < 0.4, "{name}: {root} beside a standard deviation of 1.7");
    }
}
