//! Studies of made-up predictions, scored as real ones are.

use dubio_metrics::bootstrap::Bootstrap;
use dubio_metrics::check::{self, Checking, Mode, Rule};
use dubio_metrics::classification;
use dubio_metrics::compare::{over_bins, over_temperatures};
use dubio_metrics::dee::Point;
use dubio_metrics::detection::ood::Uncertainties;
use dubio_metrics::examples::Examples;
use dubio_metrics::members::{Form, InMemory};
use dubio_metrics::pool::pool;
use dubio_metrics::regression::{self, Outcomes, Parts};
use dubio_metrics::score::{Options, Score};
use dubio_metrics::scorecard::{self, Scoring};
use dubio_progress::Silent;
use dubio_random::stream::Stream;
use dubio_report::study::{
    Check, Cost, Finished, Growth, Outcome, Row, Run, Setting, Study, Sweep,
};
use dubio_report::view::View;
use rand::RngExt;

const EXAMPLES: usize = 120;
const CLASSES: usize = 4;
const MEMBERS: usize = 3;

/// How large a study is.
pub(crate) struct Size {
    pub(crate) methods: usize,
    pub(crate) seeds: u64,
    pub(crate) shifts: usize,
    pub(crate) severities: usize,
}

fn scoring<'a>(wanted: &'a (dyn Fn(&str) -> bool + Sync), resamples: usize) -> Scoring<'a> {
    let root = Stream::root(0);
    Scoring {
        options: Options::default(),
        bootstrap: (resamples > 0)
            .then(|| Bootstrap { resamples, stream: root.child("bootstrap") }),
        splits: root.child("calibrated"),
        wanted,
        progress: &Silent,
    }
}

/// Logits that know the label as well as `skill`, on top of noise that members share in part.
fn logits(stream: &Stream, skill: f64) -> (Vec<f64>, Vec<u32>) {
    // The same labels for every method, as in a study.
    let mut truth = Stream::root(9).child("labels").generator();
    let labels: Vec<u32> = (0..EXAMPLES).map(|_| truth.random_range(0..CLASSES as u32)).collect();
    let mut noise = stream.generator();
    let mut values = Vec::new();
    for _ in 0..MEMBERS {
        for label in &labels {
            for class in 0..CLASSES as u32 {
                let own = if class == *label { skill } else { 0.0 };
                values.push(2.5 * (own + noise.random_range(-1.5..1.5)));
            }
        }
    }
    (values, labels)
}

fn source(values: Vec<f64>) -> InMemory<f64> {
    InMemory::new(values, [MEMBERS, EXAMPLES, CLASSES]).expect("it fits")
}

fn finished(method: usize, seed: u64, size: &Size) -> Finished {
    let stream = Stream::root(seed).child("predictions").nth(method);
    let skill = 0.9 - 0.02 * method as f64;
    let (values, labels) = logits(&stream, skill);
    let predictions = source(values);
    let pooled = pool(&predictions, Form::Logits, &|_| ()).expect("plain numbers");
    let inside = Uncertainties::of(&pooled);
    let examples = Examples::new(pooled, labels);
    let scores = classification::scores();
    let given = |name: &str| {
        let plain = name.strip_prefix("calibrated.").unwrap_or(name);
        !["agreement", "total_variation", "decision_cost", "decision_cost_mean"].contains(&plain)
    };
    let row = |split: &str| {
        let split = split.to_string();
        move |entry| Row { split: split.clone(), entry }
    };
    let mut rows: Vec<Row> = Vec::new();
    let test = scoring(&given, 60);
    rows.extend(scorecard::plain(&examples, &scores, &test).into_iter().map(row("test")));
    rows.extend(scorecard::calibrated(&examples, &scores, &test).into_iter().map(row("test")));
    let groups: Vec<i64> = (0..EXAMPLES as i64).map(|i| i % 3).collect();
    rows.extend(
        scorecard::grouped(&examples, &scores, &groups, &test).into_iter().map(row("test")),
    );
    let mut views = vec![View::classified("test", &examples)];
    let plain_only = |name: &str| given(name) && !name.contains('.');
    for shift in 0..size.shifts {
        for severity in 1..=size.severities {
            let split = format!("shift.corruption{shift}.{severity}");
            let worse = skill - 0.12 * severity as f64;
            let (values, labels) = logits(&stream.child(&split), worse);
            let pooled = pool(&source(values), Form::Logits, &|_| ()).expect("plain numbers");
            let examples = Examples::new(pooled, labels);
            let entries = scorecard::plain(&examples, &scores, &scoring(&plain_only, 0));
            rows.extend(entries.into_iter().map(row(&split)));
            views.push(View::classified(&split, &examples));
        }
    }
    let (ood, _) = logits(&stream.child("ood"), 0.0);
    let outside =
        Uncertainties::of(&pool(&source(ood), Form::Logits, &|_| ()).expect("plain numbers"));
    rows.extend(scorecard::ood("far", &inside, &outside, &test).into_iter().map(row("test")));
    views.push(View::ood("ood.far", CLASSES, &inside, &outside));
    let record = serde_json::json!({"settings": {"seed": seed, "note": "</script><b>&"}});
    Finished {
        members: MEMBERS,
        cost: Some(Cost {
            train_secs: 1.5 * (method + 1) as f64,
            train_cpu_secs: Some(2.5 * (method + 1) as f64),
            predict_secs: 2e-5 * (method + 1) as f64,
            peak_bytes: Some(20_000_000),
            parameters: 3_760,
            macs: 3_700,
            stored_bytes: 45_120,
        }),
        record: Some(record),
        rows,
        views,
        checks: checks(&predictions, &examples),
        sweeps: sweeps(&examples),
    }
}

fn checks(predictions: &InMemory<f64>, examples: &Examples) -> Vec<Check> {
    let wanted = |name: &str| ["accuracy", "ece"].contains(&name);
    let root = Stream::root(0);
    let checking = Checking {
        mode: Mode::Bayesian,
        replicates: 64,
        options: Options::default(),
        stream: root.child("check"),
        splits: root.child("calibrated"),
        wanted: &wanted,
        progress: &Silent,
    };
    let scores = classification::scores();
    let checked = check::classification(predictions, Form::Logits, examples, &scores, &checking);
    let check = |checked: &check::Checked| Check {
        split: "test".to_string(),
        mode: Mode::Bayesian,
        summary: checked.summary(Rule::default()),
    };
    checked.iter().map(check).collect()
}

fn sweeps(examples: &Examples) -> Vec<Sweep> {
    let scores = classification::scores();
    let named = |names: &[&str]| -> Vec<&dyn Score<Examples>> {
        scores.iter().map(|s| &**s).filter(|s| names.contains(&&s.name()[..])).collect()
    };
    let options = Options::default();
    let bins = over_bins(&[examples], &named(&["ece"]), &options).into_iter();
    let temperatures = over_temperatures(&[examples], &named(&["nll"]), &options).into_iter();
    let both =
        bins.map(|s| (Setting::Bins, s)).chain(temperatures.map(|s| (Setting::Temperature, s)));
    both.map(|(setting, mut stability)| Sweep {
        setting,
        score: stability.score,
        values: stability.values.remove(0),
    })
    .collect()
}

fn name(method: usize) -> String {
    match method {
        0 => "deep-ensemble".to_string(),
        1 => "sgd & <friends>_1".to_string(),
        n => format!("method-{n}"),
    }
}

/// A study of classifiers; the last seed of the last method failed.
pub(crate) fn study(size: &Size) -> Study {
    let mut runs = Vec::new();
    for method in 0..size.methods {
        for seed in 0..size.seeds {
            let last = method + 1 == size.methods && seed + 1 == size.seeds && size.seeds > 1;
            let outcome = match last {
                true => Outcome::Failed("the loss became NaN in epoch 3; lower lr".to_string()),
                false => Outcome::Finished(Box::new(finished(method, seed, size))),
            };
            runs.push(Run {
                id: format!("{method:02}{seed:02}"),
                data: "digits".to_string(),
                network: "mlp-50".to_string(),
                method: name(method),
                seed: Some(seed),
                outcome,
            });
        }
    }
    let growth = (0..size.methods).map(|method| Growth {
        data: "digits".to_string(),
        network: "mlp-50".to_string(),
        method: name(method),
        score: "calibrated.nll".to_string(),
        points: (1..=4)
            .map(|n| Point {
                n_samples: n,
                mean: 0.6 + 0.3 / n as f64 + 0.01 * method as f64,
                std: Some(0.01),
            })
            .collect(),
    });
    Study {
        title: "Made-up methods on made-up digits".to_string(),
        about: "To see what a report looks like.".to_string(),
        runs,
        growth: growth.collect(),
        baseline: Some("deep-ensemble".to_string()),
        level: None,
        warnings: Vec::new(),
    }
}

/// One regression, as from a file.
pub(crate) fn regression() -> Study {
    let mut noise = Stream::root(3).child("numbers").generator();
    let targets: Vec<f64> =
        (0..80).map(|i| f64::from(i) / 40.0 + noise.random_range(-0.5..0.5)).collect();
    let mean: Vec<f64> = (0..2 * 80).map(|i| f64::from(i % 80) / 40.0).collect();
    let std = vec![0.3; 2 * 80];
    let shape = [2, 80, 1];
    let made = |values| InMemory::new(values, shape).expect("it fits");
    let (mean, std) = (made(mean), made(std));
    let outcomes =
        Outcomes::gaussians(&mean, &std, targets, 0.95, Parts::ALL).expect("plain numbers");
    let wanted = |name: &str| name != "pinball";
    let entries = scorecard::plain(&outcomes, &regression::scores(), &scoring(&wanted, 60));
    let finished = Finished {
        members: 2,
        rows: entries.into_iter().map(|entry| Row { split: "test".into(), entry }).collect(),
        views: vec![View::regressed("test", &outcomes)],
        ..Finished::default()
    };
    let run = Run {
        id: "gaussians.npz".to_string(),
        data: String::new(),
        network: String::new(),
        method: "gaussians".to_string(),
        seed: None,
        outcome: Outcome::Finished(Box::new(finished)),
    };
    Study { title: "One file".to_string(), runs: vec![run], ..Study::default() }
}
