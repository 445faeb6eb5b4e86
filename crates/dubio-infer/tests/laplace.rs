//! `laplace` against closed forms and against laplace-torch.

mod support;

use std::f64::consts::PI;
use std::ops::Range;
use std::sync::Arc;

use dubio_infer::curvature::{Curvature, LayerGradients, Sought};
use dubio_infer::fit::{Options, fit as run_rule};
use dubio_infer::likelihood::{Categorical, Curved, FixedNoise, Likelihood, Link};
use dubio_infer::methods::{Method, Scene};
use dubio_infer::posterior::{Posterior, Sample};
use dubio_infer::prior::Gaussian;
use dubio_infer::problem::{Problem, Start, Task};
use dubio_infer::target::Target;
use dubio_nn::Double;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::{Engine, Model, Point, Vector};
use dubio_nn::examples::{Answers, Examples, Inputs};
use dubio_nn::layer::Layer::{GlobalAveragePool, Linear, Relu};
use dubio_nn::layer::{Bias, Layer};
use dubio_nn::network::Network;
use dubio_nn::parameter::Initial;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;
use serde_json::json;
use support::*;

/// With a Gaussian likelihood the posterior is a Gaussian, and its curvature is all there is to it. With a noise that
/// is the same for all examples the Kronecker product is exact, too.
#[test]
fn laplace_is_the_exact_posterior_of_linear_regression() {
    for structure in ["full", "kfac", "diag"] {
        let mut target = LinearRegression::new(20, 2.0);
        let settings = json!({"epochs": 400, "lr": 0.2, "structure": structure, "predict": "mc",
            "prior_precision": "given", "samples": 50_000});
        let posterior = run(&method("laplace", settings), &mut target, 1);
        let [[a, _], [_, b]] = target.hessian();
        let expected = match structure {
            "diag" => [[1.0 / a, 0.0], [0.0, 1.0 / b]],
            _ => target.covariance(),
        };
        assert_gaussian(&places(&posterior), target.mean(), expected, structure);
    }
}

/// The standard deviations of the Gaussian are multiplied: of samples, and of what the linearised network says. What the
/// data say of the prior stays.
#[test]
fn a_noise_scale_multiplies_the_standard_deviations() {
    let mut target = LinearRegression::new(20, 2.0);
    let settings = json!({"epochs": 400, "lr": 0.2, "structure": "full", "predict": "mc",
        "prior_precision": "given", "samples": 50_000, "noise_scale": 1.5});
    let posterior = run(&method("laplace", settings), &mut target, 1);
    let wider = target.covariance().map(|row| row.map(|c| 2.25 * c));
    assert_gaussian(&places(&posterior), target.mean(), wider, "1.5 times as wide");
    for structure in ["diag", "units", "kfac", "full"] {
        let case = case("regression");
        let of = |scale: f64| {
            let settings = json!({"epochs": 0, "structure": structure, "noise_scale": scale});
            let method = method("laplace", settings);
            let posterior = case.posterior(&method);
            let outputs = case.outputs(&method, &posterior);
            let variances = [outputs[1], outputs[3]].map(|log_std| (2.0 * log_std).exp() - 0.16);
            (posterior.records[0].report.clone(), variances)
        };
        let ((plain, once), (scaled, wide)) = (of(1.0), of(3.0));
        assert_eq!(plain, scaled, "{structure}");
        for (once, wide) in once.iter().zip(wide) {
            assert!((wide / once - 9.0).abs() < 1e-9, "{structure}: {once} {wide}");
        }
    }
}

/// The evidence of linear regression is that of a Gaussian over the targets, `Normal(0, I + X X' / d)`:
///
/// log N(y; 0, I + X X' / d) = -(n log(2 pi) + log det(I + X'X / d) + y'y - y'X C X'y) / 2, C = (X'X + d I)^-1
#[test]
fn the_marginal_likelihood_of_linear_regression_is_that_of_its_targets() {
    let mut target = LinearRegression::new(20, 2.0);
    let settings =
        json!({"epochs": 400, "lr": 0.2, "structure": "full", "prior_precision": "given"});
    let posterior = run(&method("laplace", settings), &mut target, 1);
    let [[a, b], [_, c]] = target.hessian();
    let log_determinant = ((a * c - b * b) / 4.0).ln();
    let mean = target.mean();
    let explained: f64 =
        target.x.iter().zip(&target.y).map(|(x, y)| y * (x[0] * mean[0] + x[1] * mean[1])).sum();
    let squares: f64 = target.y.iter().map(|y| y * y).sum();
    // The loss of this target leaves n log(2 pi) out.
    let expected = -0.5 * (log_determinant + squares - explained);
    let report = &posterior.records[0].report;
    assert_eq!(report[0], ("prior_precision", 2.0));
    assert!((report[1].1 - expected).abs() < 1e-6, "{report:?} {expected}");
}

fn wave(count: usize, k: f64) -> Vec<f64> {
    (0..count).map(|i| (k * (i + 1) as f64).sin()).collect()
}

struct Case {
    network: Network,
    inputs: Vec<f64>,
    answers: Answers,
    likelihood: Arc<dyn Likelihood>,
    test: Vec<f64>,
}

fn mlp(outputs: usize) -> Network {
    let mut network = Network::new(Shape::vector(3));
    network.then("first", Linear { outputs: 4 });
    network.then("relu", Relu);
    network.then("second", Linear { outputs });
    network
}

fn case(name: &str) -> Case {
    let labels = |count: u32| Answers::Labels(Arc::new((0..count).map(|n| n % 3).collect()));
    let (inputs, test) = (wave(36, 1.3), wave(6, 0.4));
    let classes: Arc<dyn Likelihood> = Arc::new(Categorical { classes: 3 });
    match name {
        "mlp" => Case { network: mlp(3), inputs, answers: labels(12), likelihood: classes, test },
        "regression" => {
            let answers = Answers::Targets(Arc::new(wave(12, 2.1)));
            Case {
                network: mlp(1),
                inputs,
                answers,
                likelihood: Arc::new(FixedNoise { std: 0.4 }),
                test,
            }
        }
        _ => {
            let conv = |stride| Layer::Conv2d {
                channels: 3,
                kernel: 3,
                stride,
                padding: 1,
                bias: Bias::No,
            };
            let mut network = Network::new(Shape::image(2, 5, 5));
            network.then("first", conv(2));
            network.then("relu", Relu);
            network.then("second", conv(1));
            network.then("pool", GlobalAveragePool);
            let (inputs, test) = (wave(6 * 50, 1.3), wave(100, 0.4));
            Case { network, inputs, answers: labels(6), likelihood: classes, test }
        }
    }
}

impl Case {
    fn problem(&self) -> Problem<Double> {
        let theta = Flat(wave(self.network.parameters(), 0.7));
        self.problem_at(Start::Warm(Point { theta, statistics: Flat(Vec::new()) }))
    }

    fn problem_at(&self, start: Start<Flat<f64>>) -> Problem<Double> {
        let engine = Double::default();
        let (inputs, answers) =
            (Inputs::Ready(Arc::new(self.inputs.clone())), self.answers.clone());
        let data = engine.data(&Examples { inputs, answers: answers.clone() });
        let (likelihood, prior) = (self.likelihood.clone(), Arc::new(Gaussian { precision: 1.0 }));
        let task = Task { data, answers, likelihood, prior };
        let batch = self.answers.len();
        Problem::new(&engine, &self.network, &task, batch, None, start, &Stream::root(1)).unwrap()
    }

    fn posterior(&self, method: &Method) -> Posterior<Flat<f64>> {
        let mut problem = self.problem();
        let rule = method.rule(&problem.start(0).theta);
        run_rule(rule, &mut problem, &Stream::root(2), 0, &Options::default()).unwrap()
    }

    /// What the posterior predicts for the test inputs.
    fn outputs(&self, method: &Method, posterior: &Posterior<Flat<f64>>) -> Vec<f64> {
        let moving = 0..self.network.parameters();
        let scene = Scene { network: self.network.clone(), moving, likelihood: &*self.likelihood };
        let predictive = method.predictive::<Double>(posterior, &scene);
        let mut model = Double::default().model(&self.network, 2);
        let (sample, mut out) = (Sample { part: 0, of_part: 0 }, Vec::new());
        predictive.outputs(sample, &mut model, &self.test, &Stream::root(3), &mut out);
        out
    }
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let sum: f64 = row.iter().map(|v| v.exp()).sum();
    row.iter().map(|v| v.exp() / sum).collect()
}

/// laplace-torch 0.3 with curvlinops 3.0.1, torch 2 in double precision:
///
/// wave = lambda n, k: torch.tensor([math.sin(k * (i + 1)) for i in range(n)])
/// class Ones(nn.Module):
///     def forward(self, x): return torch.cat([x, torch.ones(len(x), 1)], 1)
/// def mlp(outputs):  # biases as weights of a constant input, so that factors are of both together
///     w = wave(4 * 3 + 4 + outputs * 4 + outputs, 0.7)
///     a, b = nn.Linear(4, 4, bias=False), nn.Linear(5, outputs, bias=False)
///     a.weight.data = torch.cat([w[:12].view(4, 3), w[12:16, None]], 1)
///     b.weight.data = torch.cat([w[16:16 + 4 * outputs].view(outputs, 4), w[16 + 4 * outputs:, None]], 1)
///     return nn.Sequential(Ones(), a, nn.ReLU(), Ones(), b)
/// def conv():
///     w = wave(2 * 9 * 3 + 3 * 9 * 3, 0.7)
///     a, b = nn.Conv2d(2, 3, 3, 2, 1, bias=False), nn.Conv2d(3, 3, 3, 1, 1, bias=False)
///     a.weight.data = w[:54].view(3, 3, 2, 3).permute(3, 2, 0, 1)
///     b.weight.data = w[54:].view(3, 3, 3, 3).permute(3, 2, 0, 1)
///     return nn.Sequential(a, nn.ReLU(), b, nn.AdaptiveAvgPool2d(1), nn.Flatten())
/// x, labels, targets = wave(36, 1.3).view(12, 3), torch.arange(12) % 3, wave(12, 2.1)[:, None]
/// images = wave(300, 1.3).view(6, 5, 5, 2).permute(0, 3, 1, 2)
/// test, test_images = wave(6, 0.4).view(2, 3), wave(100, 0.4).view(2, 5, 5, 2).permute(0, 3, 1, 2)
/// la = Laplace(model, task, "all", structure, prior_precision=2.5)  # sigma_noise=0.4 for "regression"
/// la.fit(loader of one batch); la.log_marginal_likelihood()
/// la(test, pred_type="glm", link_approx="probit")  # for "regression" mean and variance without noise
#[test]
fn marginal_likelihoods_and_predictions_are_those_of_laplace_torch() {
    for (name, structure, evidence, expected) in [
        ("mlp", "diag", -43.777978, [0.24474, 0.679782, 0.075479, 0.280059, 0.637901, 0.08204]),
        ("mlp", "kfac", -43.363282, [0.242715, 0.685408, 0.071876, 0.278882, 0.642864, 0.078254]),
        ("mlp", "full", -42.582553, [0.233318, 0.698359, 0.068323, 0.270936, 0.653656, 0.075408]),
        ("conv", "diag", -113.786039, [0.355389, 0.338663, 0.305949, 0.377814, 0.338457, 0.283729]),
        ("conv", "kfac", -110.998876, [0.354996, 0.338737, 0.306267, 0.377377, 0.338558, 0.284065]),
        ("conv", "full", -111.026715, [0.354969, 0.338743, 0.306288, 0.377367, 0.338567, 0.284067]),
        ("regression", "diag", -72.741707, [0.333844, 0.478633, 0.498803, 0.82947, 0.0, 0.0]),
        ("regression", "kfac", -70.518504, [0.333844, 0.478633, 0.470556, 0.794185, 0.0, 0.0]),
        ("regression", "full", -66.856789, [0.333844, 0.478633, 0.382555, 0.723593, 0.0, 0.0]),
    ] {
        let case = case(name);
        let settings = json!({"epochs": 0, "structure": structure, "prior_precision": 2.5,
            "predict": "extended-probit"});
        let method = method("laplace", settings);
        let posterior = case.posterior(&method);
        let ours = posterior.records[0].report[1].1;
        assert!((ours - evidence).abs() < 1e-5, "{name} {structure}: {ours} {evidence}");
        let outputs = case.outputs(&method, &posterior);
        let ours = if name == "regression" {
            let variance = |log_std: f64| (2.0 * log_std).exp() - 0.16;
            vec![outputs[0], outputs[2], variance(outputs[1]), variance(outputs[3])]
        } else {
            outputs.chunks(3).flat_map(softmax).collect()
        };
        for (ours, expected) in ours.iter().zip(expected) {
            assert!((ours - expected).abs() < 2e-6, "{name} {structure}: {ours} {expected}");
        }
    }
}

/// T48. The precision that is chosen acts on predictions and samples alike; there is no damping that could be dropped. The
/// same with `la.optimize_prior_precision(method="marglik", pred_type="glm", n_steps=3000, lr=0.05)`.
#[test]
fn the_best_prior_precision_is_that_of_laplace_torch() {
    for (name, structure, precision, evidence) in [
        ("mlp", "kfac", 0.6308, -33.840378),
        ("mlp", "full", 0.4565, -31.136218),
        ("conv", "kfac", 0.229, -44.432634),
        ("conv", "full", 0.087, -36.076476),
    ] {
        let settings = json!({"epochs": 0, "structure": structure});
        let posterior = case(name).posterior(&method("laplace", settings));
        let report = &posterior.records[0].report;
        assert!((report[0].1 - precision).abs() < 1e-4, "{name} {structure}: {report:?}");
        assert!((report[1].1 - evidence).abs() < 1e-5, "{name} {structure}: {report:?}");
    }
}

/// The diagonal of the last bias's curvature: the sum of its squared gradients.
fn of_last_bias(
    problem: &mut Problem<Double>,
    curvature: Curvature,
    examples: Option<usize>,
    stream: &Stream,
) -> f64 {
    let point = problem.start(0);
    let sought = Sought { stretch: 0..point.theta.len(), curvature, examples };
    let mut sum = 0.0;
    let mut take = |_: usize, layers: Vec<LayerGradients>| {
        let last = layers.last().expect("layers");
        sum += last.squares().last().expect("a bias");
        Ok(())
    };
    problem.curvature(&point, &sought, stream, &mut take).expect("nothing stops it");
    sum
}

/// Labels that are drawn have the Fisher information as their mean; true labels have another.
#[test]
fn sampled_labels_have_the_gauss_newton_matrix_as_their_mean_and_true_labels_have_not() {
    let case = case("mlp");
    let mut problem = case.problem();
    let point = problem.start(0);
    let mut of_bias =
        |curvature: Curvature, stream: &Stream| of_last_bias(&mut problem, curvature, None, stream);
    let exact = of_bias(Curvature::Ggn, &Stream::root(0));
    let draws: Vec<f64> =
        (0..20_000).map(|i| of_bias(Curvature::SampledFisher, &Stream::root(5).nth(i))).collect();
    let (mean, error) = mean_and_error(&draws);
    assert!((mean - exact).abs() < 5.0 * error && error < 0.01 * exact, "{mean} {exact} {error}");
    let empirical = of_bias(Curvature::EmpiricalFisher, &Stream::root(0));
    let outputs = {
        let mut model = Double::default().model(&case.network, 12);
        let mut out = Vec::new();
        model.predict(&point, &case.inputs, None, &mut out);
        out
    };
    let by_hand: f64 = outputs
        .chunks(3)
        .enumerate()
        .map(|(n, row)| (softmax(row)[2] - f64::from(u8::from(n % 3 == 2))).powi(2))
        .sum();
    assert!((empirical - by_hand).abs() < 1e-9, "{empirical} {by_hand}");
    assert!((empirical - exact).abs() > 0.1 * exact, "another matrix");
}

/// Five of twelve examples, each with its own label, have 5/12 of the whole curvature as their mean.
#[test]
fn the_curvature_of_some_examples_has_its_share_of_that_of_all_as_its_mean() {
    let mut problem = case("mlp").problem();
    for curvature in [Curvature::Ggn, Curvature::EmpiricalFisher] {
        let mut of_bias = |examples: Option<usize>, stream: &Stream| {
            of_last_bias(&mut problem, curvature, examples, stream)
        };
        let all = of_bias(None, &Stream::root(0));
        let draws: Vec<f64> =
            (0..20_000).map(|i| of_bias(Some(5), &Stream::root(6).nth(i))).collect();
        let ((mean, error), share) = (mean_and_error(&draws), all * 5.0 / 12.0);
        assert!((mean - share).abs() < 5.0 * error && error < 0.005 * share, "{mean} {share}");
        assert!(draws.iter().any(|draw| *draw != draws[0]));
    }
}

/// Where all examples are the same, some of them say as much as all, and the marginal likelihood is the same number.
#[test]
fn the_curvature_of_some_examples_is_scaled_up_to_all() {
    let mut case = case("mlp");
    case.inputs = wave(3, 1.3).repeat(12);
    case.answers = Answers::Labels(Arc::new(vec![1; 12]));
    for structure in ["diag", "kfac", "full"] {
        let [all, some] = [0, 3].map(|examples| {
            let settings =
                json!({"epochs": 0, "structure": structure, "curvature_examples": examples});
            case.posterior(&method("laplace", settings)).records[0].report.clone()
        });
        for ((name, a), (_, b)) in all.iter().zip(&some) {
            assert!((a - b).abs() < 1e-6 * a.abs(), "{structure}, {name}: {a} {b}");
        }
    }
}

/// The setting reaches the sums. With true labels the curvature of this target is `sum_n miss_n^2 x_n x_n'`; labels that are drawn
/// differ from seed to seed, and nothing else here does.
#[test]
fn the_curvature_that_was_asked_for_is_summed() {
    let target = || LinearRegression::new(20, 2.0);
    let evidence = |curvature: &str| {
        let settings = json!({"epochs": 400, "lr": 0.2, "structure": "full",
            "prior_precision": "given", "curvature": curvature});
        run(&method("laplace", settings), &mut target(), 1).records[0].report[1].1
    };
    let (all, mean) = (target(), target().mean());
    let misses = all.x.iter().zip(&all.y).map(|(x, y)| x[0] * mean[0] + x[1] * mean[1] - y);
    let squares: Vec<f64> = misses.map(|miss| miss * miss).collect();
    let determinant = |weight: &dyn Fn(usize) -> f64| {
        let sum = |i: usize, j: usize| {
            all.x.iter().enumerate().map(|(n, x)| weight(n) * x[i] * x[j]).sum::<f64>()
        };
        (sum(0, 0) + 2.0) * (sum(1, 1) + 2.0) - sum(0, 1).powi(2)
    };
    // Both have the likelihood and the prior in common, and differ in half of the logarithm of the determinant.
    let apart = evidence("empirical-fisher") - evidence("ggn");
    let expected = -0.5 * (determinant(&|n| squares[n]) / determinant(&|_| 1.0)).ln();
    assert!((apart - expected).abs() < 1e-6 && expected.abs() > 0.01, "{apart} {expected}");
    let of_seed = |curvature: &str, seed: u64| {
        let (case, method) =
            (case("mlp"), method("laplace", json!({"epochs": 0, "curvature": curvature})));
        let mut problem = case.problem();
        let rule = method.rule(&problem.start(0).theta);
        let fit = run_rule(rule, &mut problem, &Stream::root(seed), 0, &Options::default());
        fit.unwrap_or_else(|e| panic!("{}", e.error)).records[0].report[1].1
    };
    for curvature in ["ggn", "empirical-fisher", "sampled-fisher"] {
        let differ = of_seed(curvature, 1) != of_seed(curvature, 2);
        assert_eq!(differ, curvature == "sampled-fisher", "{curvature}");
    }
}

/// Layers that are named are random, all others stay: with a known noise `s` the variance at `x` is `J(x) (sum_n J_n' J_n / s^2 +
/// d)^-1 J(x)'`, here by finite differences in the parameters of those layers alone.
#[test]
fn a_subnetwork_has_the_variance_of_its_own_parameters() {
    use dubio_infer::predict::TestTime;
    use support::last_layer::{features, table};
    let (engine, data, noise, d) = (Double::default(), table(), 9.0, 2.0);
    let (network, widths) = ("mlp-3-4", [9, 16, 5]); // weights and biases of its layers
    for (layers, moving) in
        [(json!(["fc1"]), 0..9), (json!(["fc2"]), 9..25), (json!(["fc1", "fc2"]), 0..25)]
    {
        let settings = json!({"epochs": 3, "batch": 40, "layers": layers, "structure": "full",
            "prior_precision": d, "noise": noise});
        let recipe = recipe("laplace", settings);
        let fit = recipe.fit(&engine, network, &data, &Stream::root(4), &Options::default());
        let fitted = fit.unwrap_or_else(|e| panic!("{layers}: {}", e.error));
        let said = fitted.predict(&data, &TestTime::default(), &Stream::root(5)).unwrap().values;
        let training = dubio_infer::training::Training::new(&engine, &data, &[]).unwrap();
        let inputs = training.scaling().inputs::<f64>(&data).unwrap();
        let mut plain = Network::new(Shape::vector(2));
        for (name, outputs) in [("fc1", 3), ("fc2", 4), ("fc3", 1)] {
            plain.then(name, Linear { outputs });
            if outputs > 1 {
                plain.then(format!("relu {name}"), Relu);
            }
        }
        assert_eq!(plain.parameters(), widths.iter().sum::<usize>());
        let mut model = engine.model(&plain, 40);
        let mut outputs = |place: usize, step: f64| {
            let mut point = fitted.posterior.points[0].clone();
            point.theta.0[place] += step;
            let mut out = Vec::new();
            model.predict(&point, &inputs, None, &mut out);
            out
        };
        let columns: Vec<Vec<f64>> = moving
            .map(|place| {
                let (up, down) = (outputs(place, 1e-5), outputs(place, -1e-5));
                up.iter().zip(down).map(|(up, down)| (up - down) / 2e-5).collect()
            })
            .collect();
        let unit = features(&[0.0; 9]).2; // the standard deviation of the targets
        let s = noise / unit;
        let entry = |i: usize, j: usize| {
            let sum: f64 = columns[i].iter().zip(&columns[j]).map(|(a, b)| a * b).sum();
            sum / (s * s) + if i == j { d } else { 0.0 }
        };
        let side = columns.len();
        let matrix: Vec<Vec<f64>> =
            (0..side).map(|i| (0..side).map(|j| entry(i, j)).collect()).collect();
        let mut most = 0.0_f64;
        for n in 0..40 {
            let row: Vec<f64> = columns.iter().map(|column| column[n]).collect();
            let v: f64 =
                solved(matrix.clone(), row.clone()).iter().zip(&row).map(|(a, b)| a * b).sum();
            let expected = unit * (s * s + v).sqrt();
            let said = f64::from(said[2 * n + 1]);
            assert!((said / expected - 1.0).abs() < 1e-4, "{layers} {n}: {said} {expected}");
            most = most.max(v / (s * s));
        }
        assert!(most > 0.01, "{layers}: the variance matters: {most}");
    }
}

/// Nothing is run back for the last layer by itself, and nothing is read of the others: the gradients are the same.
#[test]
fn the_last_layer_alone_has_the_gradients_that_it_has_beside_others() {
    let case = case("mlp");
    let mut problem = case.problem();
    let point = problem.start(0);
    let last = problem.matrices().last().expect("layers").stretch();
    for curvature in [Curvature::Ggn, Curvature::SampledFisher, Curvature::EmpiricalFisher] {
        let mut squares = |stretch: Range<usize>, layers_there: usize| {
            let mut found = Vec::new();
            let mut take = |root: usize, layers: Vec<LayerGradients>| {
                assert_eq!(layers.len(), layers_there);
                let last = layers.last().expect("layers");
                found.push((root, last.weights.clone(), last.squares()));
                Ok(())
            };
            let sought = Sought { stretch, curvature, examples: None };
            let all = problem.curvature(&point, &sought, &Stream::root(3), &mut take);
            all.expect("nothing stops it");
            found
        };
        let beside = squares(0..point.theta.len(), 2);
        assert_eq!(squares(last.clone(), 1), beside, "{curvature:?}");
        assert!(beside.iter().all(|(.., squares)| squares.iter().any(|square| *square > 0.0)));
    }
}

/// T49. For two classes the probit of the difference of both logits; for each class by itself in the extended form.
#[test]
fn probit_of_two_classes_is_that_of_their_difference() {
    let two = Categorical { classes: 2 };
    let (outputs, covariance) = ([0.3, 1.5], [0.5, -0.2, -0.2, 0.9]);
    let of_difference = two.averaged(&outputs, &covariance, Link::Probit);
    let k = |variance: f64| 1.0 / (1.0 + PI / 8.0 * variance).sqrt();
    let difference = of_difference[1] - of_difference[0];
    assert!((difference - 1.2 * k(0.5 + 0.9 + 0.4)).abs() < 1e-12);
    let extended = two.averaged(&outputs, &covariance, Link::ExtendedProbit);
    assert_eq!(extended, vec![0.3 * k(0.5), 1.5 * k(0.9)]);
    // The mean of a sigmoid over a Gaussian, by the rule of rectangles: the approximation is good to a hundredth.
    let mean = |d: f64, variance: f64| {
        let steps = 20_000;
        let z = |i: usize| -8.0 + 16.0 * (i as f64 + 0.5) / steps as f64;
        let term = |z: f64| (-0.5 * z * z).exp() / (1.0 + (-(d + variance.sqrt() * z)).exp());
        (0..steps).map(|i| term(z(i))).sum::<f64>() * 16.0 / steps as f64 / (2.0 * PI).sqrt()
    };
    assert!((mean(1.2, 1.8) - 1.0 / (1.0 + (-difference).exp())).abs() < 0.01);
}

/// A weight that all classes share moves all logits together and changes no probability. The curvature does not see it,
/// so its variance is that of the prior, however large: the variance of a logit by itself says nothing.
///
/// rng = np.random.default_rng(0); f = np.array([2.0, 0.5, -1.0]); own = np.diag([0.8, 0.3, 1.5])
/// z = rng.multivariate_normal(f, own, 4_000_000); e = np.exp(z - z.max(1, keepdims=True))
/// print((e / e.sum(1, keepdims=True)).mean(0))
const KNOWN_MEAN: [f64; 3] = [0.722_96, 0.203_86, 0.073_17];

#[test]
fn what_moves_all_logits_together_changes_no_prediction() {
    let (three, outputs) = (Categorical { classes: 3 }, [2.0, 0.5, -1.0]);
    let own = [0.8, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.5];
    let shared: Vec<f64> = own.iter().map(|v| v + 50.0).collect();
    let of = |covariance: &[f64], link| softmax(&three.averaged(&outputs, covariance, link));
    let plain = of(&own, Link::MeanField);
    for (ours, known) in plain.iter().zip(KNOWN_MEAN) {
        assert!((ours - known).abs() < 0.015, "{plain:?}");
    }
    let moved = of(&shared, Link::MeanField);
    assert!(plain.iter().zip(&moved).all(|(a, b)| (a - b).abs() < 1e-9), "{plain:?} {moved:?}");
    let each = of(&shared, Link::ExtendedProbit);
    assert!((each[0] - KNOWN_MEAN[0]).abs() > 0.2, "by each logit alone it does: {each:?}");
}

/// The last layer behind batch normalisation: features are fixed, so its curvature is that of logistic regression on
/// them, here by plain loops.
#[test]
fn the_last_layer_of_a_network_with_batch_normalisation_has_the_curvature_of_logistic_regression() {
    use dubio_infer::predict::TestTime;
    use dubio_nn::engine::Vector;
    let data = digits(80);
    let engine = Double::default();
    let warm_up = json!({"method": "sgd", "epochs": 2, "batch": 40});
    let settings = json!({"epochs": 0, "layers": "last", "structure": "full", "batch": 40, "warm_up": warm_up,
        "prior_precision": 3.0, "predict": "extended-probit"});
    let recipe = recipe("laplace", settings);
    let fitted =
        recipe.fit(&engine, "preresnet20/8", &data, &Stream::root(4), &Options::default()).unwrap();
    let predicted = fitted.predict(&data, &TestTime::default(), &Stream::root(5)).unwrap();
    // The trained network, and its features by the weights of the last layer: logits = W x + b.
    let training = dubio_infer::training::Training::new(&engine, &data, &[]).unwrap();
    let network = recipe.network("preresnet20/8", &training).unwrap();
    let point = &fitted.posterior.points[0];
    let (last, width) = (network.nodes().last().unwrap(), 8);
    assert_eq!(last.parameters.len(), 10 * (width + 1));
    let (body, _) = network.split(network.nodes().len() - 1);
    let inputs = training.scaling().inputs::<f64>(&data).unwrap();
    let mut features = Vec::new();
    let cut = Point {
        theta: point.theta.part(0..last.parameters.start),
        statistics: point.statistics.clone(),
    };
    engine.model(&body, 80).predict(&cut, &inputs, None, &mut features);
    let w = point.theta.read(last.parameters.clone());
    let mut hessian = vec![vec![0.0; 90]; 90];
    let mut logits = Vec::new();
    for x in features.chunks(width) {
        let x1 = [x, &[1.0]].concat();
        let logit =
            |k: usize| w[10 * width + k] + (0..width).map(|i| w[k * width + i] * x[i]).sum::<f64>();
        let row: Vec<f64> = (0..10).map(logit).collect();
        let p = softmax(&row);
        logits.push(row);
        for (a, b) in (0..90).flat_map(|a| (0..90).map(move |b| (a, b))) {
            let ((k, i), (l, j)) = ((a / 9, a % 9), (b / 9, b % 9));
            let f = if k == l { p[k] * (1.0 - p[k]) } else { -p[k] * p[l] };
            hessian[a][b] += f * x1[i] * x1[j];
        }
    }
    (0..90).for_each(|i| hessian[i][i] += 3.0);
    // v = x' (H + d)^-1 x for the unit of class 2 and the first example, by elimination.
    let mut right = vec![0.0; 90];
    let x1 = [&features[..width], &[1.0]].concat();
    right[18..27].copy_from_slice(&x1);
    for i in 0..90 {
        for j in i + 1..90 {
            let factor = hessian[j][i] / hessian[i][i];
            let row = hessian[i].clone();
            (i..90).for_each(|c| hessian[j][c] -= factor * row[c]);
            right[j] -= factor * right[i];
        }
    }
    for i in (0..90).rev() {
        let rest: f64 = (i + 1..90).map(|c| hessian[i][c] * right[c]).sum();
        right[i] = (right[i] - rest) / hessian[i][i];
    }
    let v: f64 = right[18..27].iter().zip(&x1).map(|(a, b)| a * b).sum();
    let expected = logits[0][2] / (1.0 + PI / 8.0 * v).sqrt();
    let ours = f64::from(predicted.values[2]);
    assert!((ours - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{ours} {expected} {v}");
    assert!(v > 0.01, "the variance matters: {v}");
}

/// T47. Twice the data have twice the curvature: factors that are sums over the examples on both sides have four times.
/// With twice the prior precision, too, the covariance is half of what it was.
#[test]
fn twice_the_data_have_twice_the_curvature_in_every_structure() {
    for structure in ["diag", "kfac", "full"] {
        let variances = |times: usize| {
            let mut case = case("regression");
            case.inputs = case.inputs.repeat(times);
            let Answers::Targets(targets) = &case.answers else { panic!("numbers") };
            case.answers = Answers::Targets(Arc::new(targets.repeat(times)));
            let precision = 2.5 * times as f64;
            let settings =
                json!({"epochs": 0, "structure": structure, "prior_precision": precision});
            let method = method("laplace", settings);
            let outputs = case.outputs(&method, &case.posterior(&method));
            [outputs[1], outputs[3]].map(|log_std| (2.0 * log_std).exp() - 0.16)
        };
        let (once, twice) = (variances(1), variances(2));
        for (once, twice) in once.iter().zip(twice) {
            assert!((once / twice - 2.0).abs() < 1e-9, "{structure}: {once} {twice}");
        }
    }
}

/// With `noise = "shared"` the marginal likelihood chooses the noise, too: no other pair has a larger one. Those of the
/// others come from runs of their own, which choose nothing.
#[test]
fn no_other_noise_and_prior_precision_have_a_larger_marginal_likelihood() {
    use dubio_infer::likelihood::SharedNoise;
    for structure in ["diag", "kfac", "full"] {
        let mut case = case("regression");
        case.network.then("noise", Layer::Append { numbers: 1, initial: Initial::Constant(0.0) });
        case.likelihood = Arc::new(SharedNoise);
        let evidence = |std: f64, precision: serde_json::Value| {
            let mut problem = case.problem();
            let mut theta = problem.start(0).theta;
            theta.0[21] = std.ln();
            let settings =
                json!({"epochs": 0, "structure": structure, "prior_precision": precision});
            let method = method("laplace", settings);
            let start = Start::Warm(Point { theta, statistics: Flat(Vec::new()) });
            problem = case.problem_at(start);
            let rule = method.rule(&problem.start(0).theta);
            run_rule(rule, &mut problem, &Stream::root(2), 0, &Options::default()).unwrap()
        };
        let best = evidence(0.3, json!("marginal-likelihood"));
        let report = &best.records[0].report;
        let (precision, most) = (report[0].1, report[1].1);
        let std = best.points[0].theta.0[21].exp();
        // The curvature goes with the noise: it predicts like a run that began with the one that is chosen.
        let method = method("laplace", json!({"structure": structure}));
        let [ours, expected] =
            [&best, &evidence(std, json!(precision))].map(|fit| case.outputs(&method, fit));
        for (ours, expected) in ours.iter().zip(&expected) {
            assert!((ours - expected).abs() < 1e-6, "{structure}: {ours} {expected}");
        }
        for (a, b) in [(1.0, 1.0), (1.1, 1.0), (0.9, 1.0), (1.0, 1.1), (1.0, 0.9), (1.05, 1.05)] {
            let other = evidence(a * std, json!(b * precision)).records[0].report[1].1;
            let same = (a, b) == (1.0, 1.0);
            assert!(
                if same { (other - most).abs() < 1e-6 } else { other < most - 1e-4 },
                "{structure} {a} {b}: {other} {most}"
            );
        }
        // From another start to the same.
        let again = evidence(2.0, json!("marginal-likelihood"));
        assert!((again.points[0].theta.0[21].exp() / std - 1.0).abs() < 1e-6);
    }
}
