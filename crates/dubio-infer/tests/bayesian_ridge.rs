//! `bayesian-ridge` against scikit-learn.

mod support;

use std::sync::Arc;

use dubio_infer::fit::{Options, fit as run_rule};
use dubio_infer::likelihood::{Gaussian as PerExample, Likelihood};
use dubio_infer::methods::Scene;
use dubio_infer::posterior::Sample;
use dubio_infer::predict::TestTime;
use dubio_infer::prior::Gaussian;
use dubio_infer::problem::{Problem, Start, Task};
use dubio_infer::target::Target as _;
use dubio_nn::Double;
use dubio_nn::engine::Engine;
use dubio_nn::examples::{Answers, Examples, Inputs};
use dubio_nn::layer::Layer;
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;
use serde_json::json;
use support::*;

fn wave(count: usize, k: f64) -> Vec<f64> {
    (0..count).map(|i| (k * (i + 1) as f64).sin()).collect()
}

/// Less the mean of each of so many columns.
fn centred(mut values: Vec<f64>, columns: usize) -> Vec<f64> {
    let rows = (values.len() / columns) as f64;
    for column in 0..columns {
        let mean = values.iter().skip(column).step_by(columns).sum::<f64>() / rows;
        values.iter_mut().skip(column).step_by(columns).for_each(|value| *value -= mean);
    }
    values
}

/// wave = lambda n, k: np.array([math.sin(k * (i + 1)) for i in range(n)])
/// x = wave(36, 1.3).reshape(12, 3); x -= x.mean(0)
/// y = x @ [1.0, -0.5, 0.2] + 0.3 * wave(12, 2.1); y -= y.mean()
/// m = sklearn.linear_model.BayesianRidge(alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0, tol=1e-14, max_iter=5000,
///                                        compute_score=True).fit(x, y)
/// m.coef_, m.alpha_, m.lambda_, m.predict(wave(6, 0.4).reshape(2, 3), return_std=True), m.scores_[-1]
#[test]
fn weights_precisions_predictions_and_evidence_are_those_of_scikit_learn() {
    let inputs = centred(wave(36, 1.3), 3);
    let noise = wave(12, 2.1);
    let rows = inputs.chunks(3).zip(&noise);
    let targets = rows.map(|(x, e)| x[0] - 0.5 * x[1] + 0.2 * x[2] + 0.3 * e).collect();
    let answers = Answers::Targets(Arc::new(centred(targets, 1)));
    let method = method("bayesian-ridge", json!({"iterations": 5000}));
    let mut any = Network::new(Shape::vector(3));
    any.then("unused", Layer::Linear { outputs: 2 });
    let network = method.network(any);
    let engine = Double::default();
    let likelihood: Arc<dyn Likelihood> = Arc::new(PerExample);
    let examples = Examples { inputs: Inputs::Ready(Arc::new(inputs)), answers: answers.clone() };
    let (data, prior) = (engine.data(&examples), Arc::new(Gaussian { precision: 1.0 }));
    let task = Task { data, answers, likelihood, prior };
    let stream = Stream::root(1);
    let problem = Problem::new(&engine, &network, &task, 12, None, Start::Fresh, &stream);
    let mut problem = problem.unwrap();
    let rule = method.rule(&problem.start(0).theta);
    let posterior = run_rule(rule, &mut problem, &stream, 0, &Options::default()).unwrap();
    let close = |value: f64, expected: f64, what: &str| {
        assert!(
            (value - expected).abs() < 1e-7 * (1.0 + expected.abs()),
            "{what}: {value} {expected}"
        );
    };
    let theta = &posterior.points[0].theta.0;
    let coefficients =
        [0.415_755_383_042_818_8, 0.018_506_395_599_749_35, -0.405_854_504_752_856_06];
    coefficients.iter().zip(theta).for_each(|(expected, w)| close(*w, *expected, "weight"));
    close(theta[3], 0.0, "intercept");
    close((-2.0 * theta[4]).exp(), 32.968_800_786_337_24, "precision of the noise");
    let report = &posterior.records[0].report;
    close(report[0].1, 5.796_846_694_548_879, "precision of the prior");
    close(report[1].1, 0.027_921_071_404_140_463, "evidence");
    let scene = Scene { network: network.clone(), moving: 0..5, likelihood: &PerExample };
    let predictive = method.predictive::<Double>(&posterior, &scene);
    let (sample, mut out) = (Sample { part: 0, of_part: 0 }, Vec::new());
    let mut model = engine.model(&network, 2);
    predictive.outputs(sample, &mut model, &wave(6, 0.4), &stream, &mut out);
    close(out[0], -0.203_093_813_971_024_44, "mean");
    close(out[2], 0.158_266_149_489_305_4, "mean");
    close(out[1].exp(), 0.318_499_482_439_776_8, "std");
    close(out[3].exp(), 0.379_918_226_046_608_9, "std");
}

/// On a real table, through the scaling of targets, with a noise that is learnt, shared or known.
#[test]
fn a_table_is_predicted_with_the_spread_that_its_targets_have() {
    use dubio_data::dataset::Answers;
    use dubio_data::sets;
    let load = |part: &str| {
        let name = sets::parse(&format!("concrete:standard/0/{part}")).unwrap();
        name.set.load("".as_ref(), name.part.unwrap()).unwrap()
    };
    let (train, test) = (load("train"), load("test"));
    for noise in [json!("per-example"), json!("shared"), json!(10.0)] {
        let recipe = recipe("bayesian-ridge", json!({"noise": noise, "batch": 32}));
        let engine = Double::default();
        let fitted =
            recipe.fit(&engine, "mlp-50", &train, &Stream::root(1), &Options::default()).unwrap();
        let predicted = fitted.predict(&test, &TestTime::default(), &Stream::root(2)).unwrap();
        let Answers::Targets(targets) = &test.answers else { panic!("numbers") };
        assert_eq!(predicted.shape, [1, targets.len(), 2]);
        let pairs = predicted.values.chunks(2).zip(targets);
        let squares = pairs.map(|(p, y)| ((y - f64::from(p[0])) / f64::from(p[1])).powi(2));
        let mean = squares.sum::<f64>() / targets.len() as f64;
        assert!(
            (0.6..1.6).contains(&mean),
            "{noise}: squared errors in units of the variance, {mean}"
        );
    }
}

#[test]
fn classes_are_refused() {
    for name in ["bayesian-ridge", "conditional-gaussian"] {
        let recipe = recipe(name, json!({"batch": 40}));
        let engine = Double::default();
        let fit = recipe.fit(&engine, "mlp-5", &digits(80), &Stream::root(1), &Options::default());
        let error = fit.err().unwrap().to_string();
        assert!(error.contains("is for regression"), "{error}");
    }
}
