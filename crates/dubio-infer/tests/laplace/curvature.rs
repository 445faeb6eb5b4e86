//! What is summed, over which examples and parameters.

use std::f64::consts::PI;
use std::ops::Range;
use std::sync::Arc;

use dubio_infer::curvature::{Curvature, LayerGradients, Sought};
use dubio_infer::fit::{Options, fit as run_rule};
use dubio_infer::problem::Problem;
use dubio_infer::target::Target;
use dubio_nn::Double;
use dubio_nn::engine::{Engine, Model, Point, Vector};
use dubio_nn::examples::Answers;
use dubio_random::stream::Stream;
use serde_json::json;

use crate::case::{case, softmax, wave};
use crate::support::*;

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
