//! `distill` beside the very chain that teaches it.

mod support;

use dubio_data::dataset::{self, Dataset};
use dubio_infer::fit::Options;
use dubio_infer::fitted::Fitted;
use dubio_infer::predict::TestTime;
use dubio_infer::training::Training;
use dubio_nn::Double;
use dubio_nn::engine::{Engine, Model, Point};
use dubio_random::stream::Stream;
use serde_json::{Value, json};
use support::*;

/// Twelve points in the plane, and three classes that no line divides.
fn points(answers: dataset::Answers) -> Dataset {
    let values = (0..24).map(|i| (1.3 * f64::from(i)).sin()).collect();
    Dataset {
        inputs: dataset::Inputs::Features { width: 2, values },
        answers,
        groups: Default::default(),
    }
}

fn classes() -> Dataset {
    points(dataset::Answers::Classes {
        labels: (0..12).map(|n| n * n / 2 % 3).collect(),
        classes: 3,
    })
}

fn targets() -> Dataset {
    points(dataset::Answers::Targets((0..12).map(|n| (0.9 * f64::from(n)).cos()).collect()))
}

const BURN_IN: usize = 300;
const EPOCHS: usize = 12_000;

fn fitted(name: &str, own: &Value, data: &Dataset) -> Fitted<Double> {
    let mut settings = json!({"burn_in": BURN_IN, "lr": 0.02, "schedule": "constant", "batch": 12});
    settings.as_object_mut().expect("a table").extend(own.as_object().expect("a table").clone());
    let fit = recipe(name, settings).fit(
        &Double::default(),
        "mlp-20",
        data,
        &Stream::root(3),
        &Options::default(),
    );
    fit.unwrap_or_else(|e| panic!("{}", e.error))
}

/// What the samples predict for the twelve points, `[samples, 12 numbers]`.
fn predicted(fitted: &Fitted<Double>, data: &Dataset) -> Vec<Vec<f64>> {
    let predicted = fitted.predict(data, &TestTime::default(), &Stream::root(1)).expect("predicts");
    let size = predicted.shape[1] * predicted.shape[2];
    predicted.values.chunks(size).map(|s| s.iter().map(|v| f64::from(*v)).collect()).collect()
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let sum: f64 = row.iter().map(|v| v.exp()).sum();
    row.iter().map(|v| v.exp() / sum).collect()
}

fn entropy(p: &[f64]) -> f64 {
    p.iter().map(|p| -p * p.ln()).sum()
}

/// Probabilities of some logits, row by row.
fn probabilities(logits: &[f64]) -> Vec<Vec<f64>> {
    logits.chunks(3).map(softmax).collect()
}

/// Chains of `sghmc` on the same stream are the teachers: one for every step of the student.
#[test]
fn a_student_predicts_the_mean_of_its_teachers_and_another_network_their_mean_entropy() {
    let data = classes();
    let teachers = fitted("sghmc", &json!({"samples": EPOCHS}), &data);
    let teachers: Vec<Vec<Vec<f64>>> =
        predicted(&teachers, &data).iter().map(|logits| probabilities(logits)).collect();
    let count = teachers.len() as f64;
    let mean = |example: usize, class: usize| {
        teachers.iter().map(|p| p[example][class]).sum::<f64>() / count
    };
    let entropies = |n: usize| teachers.iter().map(move |p| entropy(&p[n])).sum::<f64>() / count;
    let expected: Vec<f64> = (0..12).map(entropies).collect();
    let distance = |student: &Fitted<Double>| {
        let p = probabilities(&predicted(student, &data)[0]);
        let of = |n: usize| 0.5 * (0..3).map(|c| (p[n][c] - mean(n, c)).abs()).sum::<f64>();
        (0..12).map(of).sum::<f64>() / 12.0
    };
    let student = fitted("distill", &json!({"epochs": EPOCHS, "student_lr": 0.002}), &data);
    let untaught = fitted("distill", &json!({"epochs": EPOCHS, "student_lr": 1e-12}), &data);
    let single = fitted("sghmc", &json!({"samples": 1}), &data);
    let (near, far, one) = (distance(&student), distance(&untaught), distance(&single));
    assert!(near < 0.02, "total variation from the teachers' mean: {near}");
    assert!(far > 0.1 && one > 0.05, "the test can tell: untaught {far}, one teacher {one}");

    // The network of the entropy is kept beside the student; its first output is the entropy.
    let training = Training::new(&Double::default(), &data, &[]).expect("data");
    let network = recipe("distill", json!({})).network("mlp-20", &training).expect("a network");
    let inputs: Vec<f64> = training.scaling().inputs(&data).expect("inputs");
    let mut model = Double::default().model(&network, 12);
    let mut off = |fitted: &Fitted<Double>| {
        let theta = fitted.posterior.factors[0][0].clone();
        let statistics = fitted.posterior.points[0].statistics.clone();
        let mut out = Vec::new();
        model.predict(&Point { theta, statistics }, &inputs, None, &mut out);
        let each = out.chunks(3).enumerate().map(|(n, row)| (row[0] - expected[n]).powi(2));
        (each.sum::<f64>() / 12.0).sqrt()
    };
    let (near, far) = (off(&student), off(&untaught));
    let of_one = |p: &Vec<Vec<f64>>| {
        ((0..12).map(|n| (entropy(&p[n]) - expected[n]).powi(2)).sum::<f64>() / 12.0).sqrt()
    };
    let one = teachers.iter().map(of_one).sum::<f64>() / count;
    assert!(near < 0.05, "expected entropy: off by {near}");
    assert!(far > 0.3 && one > 0.1, "the test can tell: untaught {far}, one teacher {one}");
    // The entropy of the mean is more than the mean of the entropies: what the student's own probabilities cannot say.
    let total: f64 = (0..12).map(|n| entropy(&[0, 1, 2].map(|c| mean(n, c)))).sum::<f64>() / 12.0;
    let data_part: f64 = expected.iter().sum::<f64>() / 12.0;
    assert!(total - data_part > 0.05, "{total} {data_part}");
    let report = &student.posterior.records[0].report;
    let told = |name: &str| report.iter().find(|(known, _)| *known == name).expect("told").1;
    assert!((told("teacher_entropy") - data_part).abs() < 1e-5, "{report:?} {data_part}");
    assert!((told("expected_entropy") - data_part).abs() < 0.04, "{report:?} {data_part}");
}

/// In a regression the student has the moments of the mixture of its teachers.
#[test]
fn a_student_of_a_regression_has_the_mean_and_the_deviation_of_its_teachers_mixture() {
    let data = targets();
    // A narrow prior: under a wide one a few teachers predict deviations that are all of the mixture's.
    let chain = json!({"samples": EPOCHS, "prior_std": 0.3});
    let teachers = predicted(&fitted("sghmc", &chain, &data), &data);
    let count = teachers.len() as f64;
    let school = json!({"epochs": EPOCHS, "student_lr": 0.003, "prior_std": 0.3});
    let student = predicted(&fitted("distill", &school, &data), &data).remove(0);
    let (mut of_mean, mut of_deviation, mut without) = (0.0, 0.0, 0.0);
    for n in 0..12 {
        let mean = teachers.iter().map(|t| t[2 * n]).sum::<f64>() / count;
        let noise = teachers.iter().map(|t| t[2 * n + 1].powi(2)).sum::<f64>() / count;
        let spread = teachers.iter().map(|t| (t[2 * n] - mean).powi(2)).sum::<f64>() / count;
        let deviation = (noise + spread).sqrt();
        of_mean += (student[2 * n] - mean).abs() / deviation / 12.0;
        of_deviation += (student[2 * n + 1] / deviation - 1.0).abs() / 12.0;
        without += (noise.sqrt() / deviation - 1.0).abs() / 12.0;
    }
    assert!(of_mean < 0.06 && of_deviation < 0.03, "{of_mean} {of_deviation}");
    assert!(without > 0.04, "the test can tell a deviation without the spread of means: {without}");
}

#[test]
fn a_known_noise_is_refused_in_words() {
    let recipe = recipe("distill", json!({"batch": 12, "noise": 0.3}));
    let message = recipe.learns(&targets()).expect_err("refused").to_string();
    assert!(message.contains("`noise`"), "{message}");
}
