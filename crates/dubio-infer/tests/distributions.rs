//! `sqr` and `conditional-flow`: quantiles and densities that are known.

mod support;

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_infer::fit::Options;
use dubio_infer::fitted::Fitted;
use dubio_infer::likelihood::Likelihood;
use dubio_infer::likelihood::flow::Flow;
use dubio_infer::likelihood::pinball::Pinball;
use dubio_infer::predict::TestTime;
use dubio_nn::Double;
use dubio_nn::loss::{Loss, Truth};
use dubio_nn::shape::Shape;
use dubio_predictions::{Predictions, RegressionKind, open};
use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;
use serde_json::{Value, json};
use support::*;

fn close(value: f64, expected: f64, tolerance: f64, what: &str) {
    let scale = 1.0 + expected.abs();
    assert!((value - expected).abs() < tolerance * scale, "{what}: {value}, not {expected}");
}

/// The loss of some outputs, and its gradient.
fn loss(loss: &dyn Loss, outputs: &[f64], targets: &[f64]) -> (f64, Vec<f64>) {
    let mut gradient = vec![f64::NAN; outputs.len()];
    let rows: Vec<u32> = (0..targets.len() as u32).collect();
    let value = loss.mean(outputs, Truth::Targets(targets), &rows, &mut gradient);
    (value, gradient)
}

#[test]
fn the_pinball_loss_is_least_at_the_quantile() {
    let targets: Vec<f64> = (0..1000).map(|i| (f64::from(i) + 0.5) / 1000.0).collect();
    let pinball = Pinball { levels: Vec::new() };
    for level in [0.05, 0.5, 0.9] {
        // The network is shown (level - 1/2) sqrt(12).
        let at =
            |q: f64| loss(&pinball, &[q, (level - 0.5) * 12_f64.sqrt()].repeat(1000), &targets);
        // Of uniform targets E max(u (y - q), (u - 1) (y - q)) = (q^2 - 2 u q + u) / 2, least at q = u.
        for q in [0.02, 0.31, level, 0.97] {
            let (value, gradient) = at(q);
            close(value, 0.5 * (q * q - 2.0 * level * q + level), 1e-5, "loss");
            close(gradient.iter().step_by(2).sum(), q - level, 1e-3, "slope");
            assert!(gradient.iter().skip(1).step_by(2).all(|g| *g == 0.0), "the level is given");
        }
    }
}

const HIDDEN: usize = 3;
const FLOW: Flow = Flow { hidden: HIDDEN };

/// Outputs for two examples; the larger the numbers, the more the slope of the blocks is held down.
fn outputs(size: f64) -> Vec<f64> {
    let shared: Vec<f64> = (1..41).map(|i| size * (0.7 * f64::from(i)).sin()).collect();
    let own = |k: usize| (0..8).map(move |i| 0.4 * (1.1 * f64::from(i) + k as f64).cos());
    (0..2).flat_map(|k| own(k).chain(shared.clone()).collect::<Vec<_>>()).collect()
}

/// import torch, math; torch.set_default_dtype(torch.float64); H = 3; elu = torch.nn.functional.elu
/// def nll(rows, ys):
///     total = 0
///     for row, y in zip(rows, ys):
///         x = torch.tensor(y).requires_grad_(True); z = (x - row[0]) * torch.exp(-row[1]); at = 2 + 2 * H
///         for k in range(2):
///             o = row[2 + k * H: 2 + (k + 1) * H]
///             w, m, b, v = torch.split(row[at: at + H * (H + 3)], [H, H * H, H, H]); m = m.reshape(H, H)
///             a, t = row[at + H * (H + 3)], row[at + H * (H + 3) + 1]; at += H * (H + 3) + 2
///             c = torch.clamp(0.97 / (w.norm() * torch.linalg.matrix_norm(m, 2) * v.norm()), max=1)
///             z = (z + c * (v @ elu(elu(w * z + o) @ m + b))) * torch.exp(a) + t
///         slope, = torch.autograd.grad(z, x, create_graph=True)
///         total = total + 0.5 * z * z + 0.5 * math.log(2 * math.pi) - torch.log(slope)
///     return total / len(ys)
/// for size in (0.3, 1.5):
///     shared = (size * torch.sin(0.7 * torch.arange(1, 41))).requires_grad_(True)
///     own = [(0.4 * torch.cos(1.1 * torch.arange(8) + i)).requires_grad_(True) for i in range(2)]
///     loss = nll([torch.cat([c, shared]) for c in own], [0.3, -1.2]); loss.backward()
///     print(loss.item(), own[0].grad[[0, 1, 2, 7]].tolist(), shared.grad[[0, 4, 13, 16, 18, 19]].tolist())
#[test]
fn the_density_of_a_flow_and_its_gradient_are_those_of_pytorch() {
    let known = [
        (
            0.3,
            1.990_111_397_301_769_4,
            [
                -0.099_820_207_960_165_61,
                0.509_982_020_796_016_5,
                -0.000_322_548_320_898_482_24,
                -0.000_926_377_373_256_054_5,
            ],
            [
                -0.012_377_647_950_761_482,
                -0.155_515_033_231_262_8,
                0.329_344_150_677_523_8,
                0.002_217_148_012_315_154_5,
                2.358_792_449_072_862,
                -1.454_616_724_011_160_3,
            ],
        ),
        (
            1.5,
            36.150_718_870_441_594,
            [
                -11.429_231_852_116_73,
                1.642_923_185_211_673_5,
                -0.383_970_895_335_685_85,
                -0.166_915_895_451_031_47,
            ],
            [
                -0.774_273_453_884_126_3,
                -2.207_792_115_714_795_5,
                2.073_988_834_847_318,
                2.062_606_433_854_690_6,
                94.234_444_889_544_3,
                -14.889_106_852_180_56,
            ],
        ),
    ];
    for (size, expected, own, shared) in known {
        let (value, gradient) = loss(&FLOW, &outputs(size), &[0.3, -1.2]);
        close(value, expected, 1e-6, "loss");
        [0, 1, 2, 7].iter().zip(own).for_each(|(i, g)| close(gradient[*i], g, 1e-5, "own"));
        let indices = [0, 4, 13, 16, 18, 19];
        indices.iter().zip(shared).for_each(|(i, g)| close(gradient[8 + i], g, 1e-5, "shared"));
    }
}

#[test]
fn the_gradient_of_a_flow_is_that_of_finite_differences() {
    for size in [0.3, 1.5] {
        let (targets, plain) = ([0.3, -1.2], outputs(size));
        let (_, gradient) = loss(&FLOW, &plain, &targets);
        let width = FLOW.outputs();
        for i in 0..width {
            // What is shared is the same for all examples.
            let moved = |step: f64| {
                let mut outputs = plain.clone();
                outputs
                    .iter_mut()
                    .skip(i)
                    .step_by(if i < 8 { 2 * width } else { width })
                    .for_each(|v| *v += step);
                loss(&FLOW, &outputs, &targets).0
            };
            let numeric = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            close(gradient[i], numeric, 1e-5, &format!("{i}"));
        }
    }
}

#[test]
fn a_flow_is_a_density_and_its_draws_have_it() {
    for size in [0.2, 0.7, 1.5] {
        let outputs = outputs(size);
        let row = &outputs[..FLOW.outputs()];
        let shared = FLOW.shared(row);
        let (mut mass, mut mean) = (0.0, 0.0);
        let step = 1e-3;
        let at = |y: f64| shared.forward(y, row);
        for i in -60_000..60_000 {
            let y = f64::from(i) * step;
            let (z, log_slope) = at(y);
            let density = (log_slope - 0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
            mass += step * density;
            mean += step * y * density;
            if i % 1000 == 0 {
                let numeric = (at(y + 1e-6).0 - at(y - 1e-6).0) / 2e-6;
                close(log_slope.exp(), numeric, 1e-6, "the slope by differences");
            }
        }
        close(mass, 1.0, 1e-6, "mass");
        let n = 4000;
        let z: Vec<f64> =
            (0..n).map(|i| normal_quantile((f64::from(i) + 0.5) / f64::from(n))).collect();
        let draws = shared.draws(&z, row);
        draws.iter().zip(&z).for_each(|(y, z)| close(at(*y).0, *z, 1e-9, "z(y) of a draw"));
        close(draws.iter().sum::<f64>() / f64::from(n), mean, 5e-3, "the mean of draws");
    }
}

/// The standard normal quantile, by bisection of the error function.
fn normal_quantile(p: f64) -> f64 {
    let cdf = |z: f64| 0.5 * libm::erfc(-z / 2_f64.sqrt());
    let (mut low, mut high) = (-10.0, 10.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if cdf(middle) < p { low = middle } else { high = middle }
    }
    low
}

/// `y = 10 + 4 x + (1 + 0.6 x) (E - 1)`, with `x` uniform in +-1 and `E` standard exponential: the quantile of level
/// `u` is `10 + 4 x + (1 + 0.6 x) (-log(1 - u) - 1)`.
fn skewed(count: usize, seed: u64) -> Dataset {
    let mut generator = Stream::root(seed).generator();
    let mut draw = || uniform(&mut generator);
    let values: Vec<f64> = (0..count).map(|_| 2.0 * draw() - 1.0).collect();
    let targets = values.iter().map(|x| quantile(*x, draw())).collect();
    let inputs = Inputs::Features { width: 1, values };
    Dataset { inputs, answers: Answers::Targets(targets), groups: Default::default() }
}

fn quantile(x: f64, level: f64) -> f64 {
    10.0 + 4.0 * x + (1.0 + 0.6 * x) * (-(1.0 - level).ln() - 1.0)
}

const LEVELS: [f64; 3] = [0.1, 0.5, 0.9];

fn trained(name: &str, settings: Value, data: &Dataset) -> Fitted<Double> {
    let recipe = recipe(name, settings);
    let fit = recipe.fit(&Double::default(), "mlp-32", data, &Stream::root(4), &Options::default());
    fit.unwrap_or_else(|e| panic!("{}", e.error))
}

/// The mean over examples of how far a predicted quantile is from the known one, in units of the noise.
fn distance(test: &Dataset, level: f64, predicted: &dyn Fn(usize) -> f64) -> f64 {
    let Inputs::Features { values, .. } = &test.inputs else { unreachable!("a table") };
    let away = |(i, x): (usize, &f64)| (predicted(i) - quantile(*x, level)).abs() / (1.0 + 0.6 * x);
    values.iter().enumerate().map(away).sum::<f64>() / values.len() as f64
}

/// What a predictions file has, `[rows, examples]`.
fn written(fitted: &Fitted<Double>, test: &Dataset) -> (RegressionKind, usize) {
    let predicted = fitted.predict(test, &TestTime::default(), &Stream::root(1)).expect("numbers");
    let folder = scratch();
    let path = folder.path().join("a.npz");
    predicted.write(&path).expect("written");
    let Predictions::Regression(file) = open(&path).expect("read") else { panic!("a regression") };
    (file.kind, test.len())
}

#[test]
fn sqr_finds_the_quantiles_of_a_known_distribution() {
    let (train, test) = (skewed(3000, 1), skewed(200, 2));
    let settings = json!({"epochs": 60, "lr": 0.005, "schedule": "cosine", "batch": 100,
        "weight_decay": 0, "predict": "quantiles", "levels": 9});
    let (kind, n) = written(&trained("sqr", settings, &train), &test);
    let RegressionKind::Quantiles(levels, source) = kind else { panic!("quantiles") };
    assert_eq!(levels.len(), 9);
    let mut row = vec![0.0; n];
    for level in LEVELS {
        let index = levels.iter().position(|l| (l - level).abs() < 1e-6).expect("this level");
        dubio_metrics::members::Members::read(&source, index, 0..n, &mut row);
        let away = distance(&test, level, &|i| row[i]);
        // A Gaussian with the right mean and variance is 0.39, 0.31 and 0.02 away.
        assert!(away < 0.12, "{level}: {away}");
    }
}

/// The empirical quantiles of the draws of each example.
fn of_draws(kind: &RegressionKind, n: usize, draws: usize, test: &Dataset) -> Vec<f64> {
    let RegressionKind::Samples(source) = kind else { panic!("draws") };
    let mut rows = vec![0.0; draws * n];
    for (k, row) in rows.chunks_mut(n).enumerate() {
        dubio_metrics::members::Members::read(source, k, 0..n, row);
    }
    let own = |i: usize| {
        let mut own: Vec<f64> = rows.iter().skip(i).step_by(n).copied().collect();
        own.sort_by(f64::total_cmp);
        own
    };
    let sorted: Vec<Vec<f64>> = (0..n).map(own).collect();
    LEVELS
        .map(|level| distance(test, level, &|i| sorted[i][(level * draws as f64) as usize]))
        .to_vec()
}

#[test]
fn draws_of_sqr_and_of_a_flow_have_a_known_distribution() {
    let (train, test) = (skewed(3000, 1), skewed(200, 2));
    for (name, more, draws) in [
        ("sqr", json!({"samples": 2000}), 2000),
        ("conditional-flow", json!({"draws": 2000, "hidden": 12}), 2000),
    ] {
        let mut settings = json!({"epochs": 60, "lr": 0.005, "schedule": "cosine", "batch": 100,
            "weight_decay": 0});
        settings
            .as_object_mut()
            .expect("a table")
            .extend(more.as_object().expect("a table").clone());
        let (kind, n) = written(&trained(name, settings, &train), &test);
        for (level, away) in LEVELS.iter().zip(of_draws(&kind, n, draws, &test)) {
            // The draws alone are off by up to 0.05 at the highest level.
            assert!(away < 0.15, "{name} {level}: {away}");
        }
    }
}

#[test]
fn the_quantiles_of_members_are_averaged_at_each_level() {
    let pinball = Pinball { levels: vec![0.25, 0.75] };
    // [members levels, examples, 1]
    let arrays = pinball.arrays(&[1.0, 2.0, 3.0, 4.0, 11.0, 12.0, 13.0, 14.0], [4, 2, 1]);
    assert_eq!((arrays[0].name, &*arrays[0].values), ("quantiles", &[6.0, 7.0, 8.0, 9.0][..]));
    assert_eq!((arrays[1].name, &*arrays[1].values), ("levels", &[0.25, 0.75][..]));
}

#[test]
fn what_a_likelihood_of_ones_own_leaves_no_room_for_is_refused() {
    for (name, settings, words) in [
        ("sqr", json!({"noise": "shared"}), "leave `noise` out"),
        ("conditional-flow", json!({"noise": 1.5}), "leave `noise` out"),
        ("sgd", json!({"warm_up": {"method": "sqr"}}), "sqr has a loss and a network of its own"),
    ] {
        let mut settings = settings;
        settings["batch"] = json!(10);
        let fit = recipe(name, settings).fit(
            &Double::default(),
            "mlp-3",
            &skewed(20, 1),
            &Stream::root(0),
            &Options::default(),
        );
        let error = fit.err().expect("refused").error.to_string();
        assert!(error.contains(words), "{error}");
    }
    let images = Pinball { levels: Vec::new() }.network("mlp-5", Shape::image(1, 8, 8));
    assert!(images.expect_err("refused").contains("images"));
}

#[test]
fn one_thread_and_two_draw_the_same_bytes_and_no_two_examples_the_same_levels() {
    let (train, test) = (skewed(300, 1), skewed(120, 2));
    for (name, settings) in [
        ("sqr", json!({"epochs": 3, "batch": 50, "samples": 4})),
        ("conditional-flow", json!({"epochs": 3, "batch": 50, "hidden": 5, "draws": 4})),
    ] {
        let of = |threads| {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let fitted = trained(name, settings.clone(), &train);
                fitted
                    .predict(&test, &TestTime::default(), &Stream::root(1))
                    .expect("numbers")
                    .values
            })
        };
        let first = of(1);
        assert_eq!(first, of(2), "{name}");
        // The same inputs over and over: what differs is what is drawn.
        let same = test.subset(&[0; 50]);
        let fitted = trained(name, settings, &train);
        let predicted =
            fitted.predict(&same, &TestTime::default(), &Stream::root(1)).expect("numbers");
        let mut values = predicted.values;
        values.sort_by(f32::total_cmp);
        values.dedup();
        assert!(values.len() > 190, "{name}: {} of 200 draws differ", values.len());
    }
}
