//! Regularisers: their values by plain sums, their gradients by finite differences, and what they do to a network.

mod support;

use std::sync::Arc;

use dubio_infer::fit::Options;
use dubio_infer::likelihood::{Categorical, Likelihood};
use dubio_infer::predict::TestTime;
use dubio_infer::regulariser::{Regulariser, regularised};
use dubio_nn::Double;
use dubio_nn::loss::Truth;
use dubio_random::stream::Stream;
use serde_json::json;
use support::*;

const N: usize = 24;
const CLASSES: usize = 4;

fn outputs() -> Vec<f64> {
    (0..N * CLASSES).map(|i| 3.0 * (1.7 * (i + 1) as f64).sin()).collect()
}

fn labels() -> Vec<u32> {
    (0..N).map(|i| (i * 7 / 3 % CLASSES) as u32).collect()
}

fn loss(text: &str, outputs: &[f64], gradient: &mut [f64]) -> f64 {
    let plain: Arc<dyn Likelihood> = Arc::new(Categorical { classes: CLASSES });
    let terms: Vec<Regulariser> = text.split_terminator(' ').map(|t| t.parse().unwrap()).collect();
    let rows: Vec<u32> = (0..N as u32).collect();
    regularised(plain, &terms).mean(outputs, Truth::Labels(&labels()), &rows, gradient)
}

const ALL: [&str; 6] =
    ["uce:1", "classwise-uce:1", "mmce:1", "entropy:1", "focal:2", "label-smoothing:0.1"];

/// import numpy as np, math
/// n, C = 24, 4
/// z = np.array([3 * math.sin(1.7 * (i + 1)) for i in range(n * C)]).reshape(n, C)
/// y = np.array([(i * 7 // 3) % C for i in range(n)])
/// p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
/// H = -(p * np.log(p)).sum(1); u = H / np.log(C); top = p.argmax(1); c = p.max(1); wrong = (top != y).astype(float)
/// def uce(rows):
///     b = np.ceil(u[rows] * 15).astype(int)
///     return sum(abs((wrong - u)[rows][b == m].sum()) for m in set(b)) / len(rows)
/// py = p[np.arange(n), y]; nll = -np.log(py).mean(); d = (1 - wrong) - c
/// uce(np.arange(n)); np.mean([uce(np.where(top == k)[0]) for k in range(C) if (top == k).any()])
/// np.sqrt((d[:, None] * d * np.exp(-abs(c[:, None] - c) / 0.4)).sum()) / n
/// -H.mean(); (-(1 - py) ** 2 * np.log(py)).mean() - nll; 0.1 * (-np.log(p).mean() - nll)
#[test]
fn every_term_is_its_formula() {
    let expected = [
        0.269_463_282_313_697_6,
        0.364_646_836_746_124_64,
        0.361_603_614_675_829_9,
        -0.567_108_049_265_257_8,
        -0.228_583_538_009_928_6,
        0.052_798_428_082_516_67,
    ];
    let mut unused = vec![0.0; N * CLASSES];
    let plain = loss("", &outputs(), &mut unused);
    for (text, expected) in ALL.iter().zip(expected) {
        let term = loss(text, &outputs(), &mut unused) - plain;
        assert!((term - expected).abs() < 1e-12, "{text}: {term} {expected}");
    }
    let weighted = loss("uce:10", &outputs(), &mut unused) - plain;
    assert!((weighted - 10.0 * expected[0]).abs() < 1e-12, "{weighted}");
}

#[test]
fn gradients_are_those_of_finite_differences() {
    for text in ALL.into_iter().chain(["uce:10 mmce:3 label-smoothing:0.2"]) {
        let mut gradient = vec![0.0; N * CLASSES];
        let mut unused = gradient.clone();
        loss(text, &outputs(), &mut gradient);
        for i in 0..N * CLASSES {
            let step = 1e-6;
            let at = |way: f64, unused: &mut Vec<f64>| {
                let mut outputs = outputs();
                outputs[i] += way * step;
                loss(text, &outputs, unused)
            };
            let slope = (at(1.0, &mut unused) - at(-1.0, &mut unused)) / (2.0 * step);
            assert!((slope - gradient[i]).abs() < 1e-7, "{text} {i}: {slope} {}", gradient[i]);
        }
    }
}

#[test]
fn a_regulariser_is_read_as_it_is_written_and_nonsense_is_refused() {
    for text in ALL {
        assert_eq!(String::from(text.parse::<Regulariser>().unwrap()), text);
    }
    for text in ["uce", "uce:", "uce:0", "uce:-1", "uce:nan", "ece:1", "label-smoothing:1"] {
        assert!(text.parse::<Regulariser>().is_err(), "{text}");
    }
}

/// Entropy of the predictions after training, with each regulariser.
#[test]
fn penalties_on_confidence_leave_less_of_it_with_any_method() {
    let (data, engine) = (digits(200), Double::default());
    let entropy = |method: &str, terms: &[&str]| {
        let settings = match method {
            "sgd" => json!({"epochs": 30, "batch": 50, "lr": 0.1, "regularise": terms}),
            _ => {
                json!({"epochs": 30, "batch": 50, "lr": 0.1, "samples": 3, "collect_epochs": 5, "collect": 5,
                "regularise": terms})
            }
        };
        let recipe = recipe(method, settings);
        let fitted =
            recipe.fit(&engine, "mlp-20", &data, &Stream::root(1), &Options::default()).unwrap();
        let predicted = fitted.predict(&data, &TestTime::default(), &Stream::root(2)).unwrap();
        let rows = predicted.values.chunks(10);
        let entropy = |row: &[f32]| {
            let sum: f64 = row.iter().map(|z| f64::from(*z).exp()).sum();
            let p = row.iter().map(|z| f64::from(*z).exp() / sum);
            -p.map(|p| p * p.max(1e-300).ln()).sum::<f64>()
        };
        rows.clone().map(entropy).sum::<f64>() / rows.len() as f64
    };
    for method in ["sgd", "swag"] {
        let plain = entropy(method, &[]);
        for term in ["entropy:0.3", "focal:3", "label-smoothing:0.2"] {
            let penalised = entropy(method, &[term]);
            assert!(penalised > 1.2 * plain, "{method} {term}: {penalised} {plain}");
        }
    }
}

#[test]
fn a_regression_cannot_be_regularised_so() {
    use dubio_data::sets;
    let name = sets::parse("yacht:standard/0/train").unwrap();
    let data = name.set.load("".as_ref(), name.part.unwrap()).unwrap();
    let recipe = recipe("sgd", json!({"regularise": "uce:1", "epochs": 1}));
    let fit = recipe.fit(&Double::default(), "mlp-5", &data, &Stream::root(1), &Options::default());
    assert!(fit.err().unwrap().to_string().contains("`regularise` is for classification"));
}
