//! Laws of posterior predictive checks.

mod support;

use dubio_metrics::calibrate::joint::{self, Sharing};
use dubio_metrics::card::Card;
use dubio_metrics::check::{self, Checked, Checking, Mode, Rule};
use dubio_metrics::classification;
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Form;
use dubio_metrics::pool::pool;
use dubio_metrics::score::{Options, Preparation, Score};
use dubio_metrics::scorecard;
use dubio_metrics::views::Tempered;
use dubio_progress::Silent;
use dubio_random::stream::Stream;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use support::*;

/// A score that does not say how little of the labels it looks at.
struct Reticent(Box<dyn Score<Examples>>);

impl Score<Examples> for Reticent {
    fn card(&self) -> &'static Card {
        self.0.card()
    }
    fn name(&self) -> String {
        self.0.name()
    }
    fn prepare<'a>(&self, examples: &'a Examples, options: &Options) -> Preparation<'a> {
        self.0.prepare(examples, options)
    }
}

fn checking(mode: Mode, replicates: usize, seed: u64) -> Checking<'static> {
    let root = Stream::root(seed);
    Checking {
        mode,
        replicates,
        options: Options::default(),
        stream: root.child("check"),
        splits: Stream::root(1).child("splits"),
        wanted: &|_| true,
        progress: &Silent,
    }
}

fn checked(data: &Data, scores: &[Box<dyn Score<Examples>>], how: &Checking<'_>) -> Vec<Checked> {
    let members = source(&data.values, [data.members, data.n(), data.classes], data.narrow);
    check::classification(&*members, data.form, &data.examples(), scores, how)
}

fn cases(cases: u32) -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(1);
    ProptestConfig { cases, failure_persistence: None, rng_seed, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn what_a_score_says_that_it_needs_is_all_that_it_needs(
        data in shape(1, 40).prop_flat_map(|s| prop_oneof![smooth(s), tied(s), extreme(s)]),
        independent in any::<bool>(),
    ) {
        let how = checking(if independent { Mode::Independent } else { Mode::Bayesian }, 37, 5);
        let quick = checked(&data, &classification::scores(), &how);
        let reticent = classification::scores().into_iter();
        let reticent: Vec<Box<dyn Score<Examples>>> =
            reticent.map(|score| Box::new(Reticent(score)) as _).collect();
        let plain = checked(&data, &reticent, &how);
        prop_assert_eq!(quick.len(), plain.len());
        for (quick, plain) in quick.iter().zip(&plain) {
            let blind = quick.observed.as_ref().is_err_and(|why| why.0.contains("predictions alone"));
            if blind {
                continue;
            }
            prop_assert_eq!(quick.observed.is_ok(), plain.observed.is_ok(), "{}", quick.statistic);
            prop_assert_eq!(quick.replicates.len(), plain.replicates.len());
            for (a, b) in quick.replicates.iter().zip(&plain.replicates) {
                assert_same(&quick.statistic, *a, *b, ROUNDING);
            }
        }
    }

    #[test]
    fn the_observed_value_is_the_score(
        data in shape(1, 40).prop_flat_map(|s| prop_oneof![smooth(s), tied(s), extreme(s)]),
    ) {
        let (scores, how) = (classification::scores(), checking(Mode::Bayesian, 16, 0));
        let scoring = scoring(&how.options, 0);
        let mut entries = scorecard::plain(&data.examples(), &scores, &scoring);
        entries.extend(scorecard::calibrated(&data.examples(), &scores, &scoring));
        for checked in checked(&data, &scores, &how) {
            if let Ok(observed) = checked.observed {
                assert_same(&checked.statistic, observed, value_in(&entries, &checked.statistic), ROUNDING);
            }
        }
    }
}

/// Members that agree in part, and labels drawn from one of them.
fn drawn(members: usize, n: usize, classes: usize, seed: u64) -> Data {
    let mut generator = Stream::root(seed).child("data").generator();
    let mut logit = |spread: f64| spread * (uniform(&mut generator) - 0.5);
    let shared: Vec<f64> = (0..n * classes).map(|_| logit(8.0)).collect();
    let values: Vec<f64> =
        (0..members * n * classes).map(|i| shared[i % (n * classes)] + logit(3.0)).collect();
    let mut generator = Stream::root(seed).child("labels").generator();
    let chosen = (uniform(&mut generator) * members as f64) as usize;
    let label = |i: usize| {
        let start = (chosen * n + i) * classes;
        let p: Vec<f64> =
            log_softmax(&values[start..start + classes]).iter().map(|l| l.exp()).collect();
        let mut rest = uniform(&mut generator);
        let passed = p.iter().take_while(|p| {
            rest -= **p;
            rest >= 0.0
        });
        passed.count().min(classes - 1) as u32
    };
    let labels: Vec<u32> = (0..n).map(label).collect();
    let rows: Vec<Vec<f64>> = values.chunks(classes).map(<[f64]>::to_vec).collect();
    let members: Vec<Vec<Vec<f64>>> = rows.chunks(n).map(<[Vec<f64>]>::to_vec).collect();
    Data::ensemble(Form::Logits, &members, &labels)
}

fn wanted(names: &'static [&'static str]) -> impl Fn(&str) -> bool + Sync {
    move |name: &str| names.contains(&name)
}

/// Nineteen in twenty, within four standard deviations of 400 trials; discrete scores a little more,
/// because values on the ends of the interval are inside.
#[test]
fn labels_of_the_model_itself_pass_about_nineteen_times_in_twenty() {
    const TRIALS: usize = 400;
    let names = wanted(&["accuracy", "ece", "nll", "brier", "ks", "ace"]);
    let mut passed = [0; 6];
    for trial in 0..TRIALS {
        let data = drawn(30, 80, 4, trial as u64);
        let how = Checking { wanted: &names, ..checking(Mode::Bayesian, 200, trial as u64) };
        for (passed, checked) in
            passed.iter_mut().zip(checked(&data, &classification::scores(), &how))
        {
            *passed += usize::from(checked.passes(Rule::Interval).expect("defined"));
        }
    }
    for passed in passed {
        let fraction = passed as f64 / TRIALS as f64;
        assert!((0.906..0.99).contains(&fraction), "{fraction}");
    }
}

#[test]
fn an_overconfident_model_fails() {
    let mut data = drawn(5, 500, 4, 3);
    data.values.iter_mut().for_each(|logit| *logit *= 3.0);
    let names = wanted(&["accuracy", "ece", "nll"]);
    let how = Checking { wanted: &names, ..checking(Mode::Bayesian, 500, 0) };
    for checked in checked(&data, &classification::scores(), &how) {
        assert_eq!(checked.passes(Rule::Range), Some(false), "{}", checked.statistic);
        let expected = if checked.statistic == "accuracy" { 0.0 } else { 1.0 };
        assert_eq!(checked.p_value(), Some(expected), "{}", checked.statistic);
    }
}

#[test]
fn both_readings_of_one_member_are_the_same() {
    let data = drawn(1, 60, 3, 8);
    let of = |mode| checked(&data, &classification::scores(), &checking(mode, 48, 2));
    for (a, b) in of(Mode::Bayesian).iter().zip(of(Mode::Independent)) {
        assert_eq!(a.replicates.len(), b.replicates.len(), "{}", a.statistic);
        for (x, y) in a.replicates.iter().zip(&b.replicates) {
            assert_same(&a.statistic, *x, *y, FITTED);
        }
    }
}

/// The mean and the spread of the replicates, within five standard errors.
fn assert_same_distribution(a: &Checked, b: &Checked) {
    let moments = |v: &[f64]| {
        let n = v.len() as f64;
        let mean = v.iter().sum::<f64>() / n;
        let variance = v.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, variance)
    };
    let ((m, v), (mean, variance)) = (moments(&a.replicates), moments(&b.replicates));
    let n = a.replicates.len() as f64;
    let error = ((v + variance) / n).sqrt();
    assert!((m - mean).abs() < 5.0 * error, "{}: {m} became {mean} ± {error}", a.statistic);
    let ratio = v / variance;
    assert!((0.8..1.25).contains(&ratio), "{}: variances differ by {ratio}", a.statistic);
}

#[test]
fn the_order_of_rows_and_of_members_does_not_matter_in_distribution() {
    let names = wanted(&["accuracy", "ece", "nll", "brier", "sce", "macro_f1", "aurc"]);
    let data = drawn(6, 120, 4, 1);
    let order: Vec<usize> = (0..120).map(|i| (i * 77 + 5) % 120).collect();
    let mut turned = data.clone();
    turned.values.rotate_left(2 * 120 * 4);
    for mode in [Mode::Bayesian, Mode::Independent] {
        let how = Checking { wanted: &names, ..checking(mode, 4000, 0) };
        let of = |data: &Data| checked(data, &classification::scores(), &how);
        let before = of(&data);
        for other in [of(&data.rows(&order)), of(&turned)] {
            for (a, b) in before.iter().zip(&other) {
                assert_same(
                    "observed",
                    a.observed.clone().expect("defined"),
                    b.observed.clone().expect("defined"),
                    ROUNDING,
                );
                assert_same_distribution(a, b);
            }
        }
    }
}

/// By hand: labels of `p = (3/4, 1/4)` are right three times in four, independently, so the accuracy
/// of 16 examples has mean 3/4 and variance 3/256; of two members that are sure of the same class or
/// in doubt, replicates are all right, or right by halves.
#[test]
fn accuracies_of_replicates_are_binomial() {
    let names = wanted(&["accuracy"]);
    let replicates = |data: &Data, mode| {
        let how = Checking { wanted: &names, ..checking(mode, 20_000, 4) };
        let mut checked = checked(data, &classification::scores(), &how);
        checked.remove(0).replicates
    };
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let variance = |v: &[f64]| mean(&v.iter().map(|x| (x - mean(v)).powi(2)).collect::<Vec<_>>());
    let single = Data::single(Form::Probs, &vec![vec![0.75, 0.25]; 16], &[0; 16]);
    let own = replicates(&single, Mode::Bayesian);
    assert!((mean(&own) - 0.75).abs() < 0.004 && (variance(&own) * 256.0 / 3.0 - 1.0).abs() < 0.05);

    let sure = vec![vec![1.0, 0.0]; 16];
    let torn = vec![vec![0.5, 0.5]; 16];
    let pair = Data::ensemble(Form::Probs, &[sure, torn], &[0; 16]);
    let bayesian = replicates(&pair, Mode::Bayesian);
    let all_right = bayesian.iter().filter(|v| **v == 1.0).count() as f64 / 20_000.0;
    assert!((all_right - 0.5).abs() < 0.02, "{all_right}");
    // Half of the time the variance of 16 fair coins, 1/64, and half of the time none; besides, the
    // means 1 and 1/2 are 1/4 from their mean.
    assert!((variance(&bayesian) - (1.0 / 128.0 + 1.0 / 16.0)).abs() < 0.003);
    let independent = replicates(&pair, Mode::Independent);
    assert!((variance(&independent) * 256.0 / 3.0 - 1.0).abs() < 0.05);
}

#[test]
fn a_score_of_the_predictions_alone_is_not_checked() {
    let data = drawn(3, 20, 3, 0);
    for checked in checked(&data, &classification::scores(), &checking(Mode::Bayesian, 32, 0)) {
        let blind = checked.observed.is_err_and(|why| why.0.contains("predictions alone"));
        let description = matches!(&checked.statistic[..], "agreement" | "total_variation")
            || checked.statistic.starts_with("uncertainty.");
        assert_eq!(blind, description, "{}", checked.statistic);
    }
}

/// The p-value counts what is strictly below; percentiles are linear between neighbours.
#[test]
fn a_summary_is_what_the_contract_says() {
    // One example, sure of class 0: every replicate is right.
    let data = Data::single(Form::Probs, &[vec![1.0, 0.0]], &[0]);
    let names = wanted(&["accuracy"]);
    let how = Checking { wanted: &names, ..checking(Mode::Bayesian, 40, 0) };
    let checked = checked(&data, &classification::scores(), &how).remove(0);
    let summary = checked.summary(Rule::Range);
    assert_eq!((summary.observed, summary.p_value), (Some(1.0), Some(0.0)));
    assert_eq!((summary.sharpness, summary.passes), (Some(0.0), Some(false)));
    assert_eq!(checked.passes(Rule::Interval), Some(true));
    assert_eq!(summary.box_plot, Some([1.0; 5]));
}

fn likelihood(data: &Data, temperatures: &[f64]) -> f64 {
    let members = source(&data.values, [data.members, data.n(), data.classes], false);
    let tempered = Tempered::new(&*members, data.form, temperatures);
    let pooled = pool(&tempered, Tempered::FORM, &|_| ()).expect("finite");
    let examples = Examples::new(pooled, data.labels.clone());
    examples.log_likelihood().iter().sum::<f64>() / data.n() as f64
}

#[test]
fn temperatures_fitted_together_suit_the_mean_best() {
    let mut data = drawn(4, 400, 5, 6);
    // Members that are too sure by different factors.
    let size = data.values.len() / 4;
    for (member, values) in data.values.chunks_mut(size).enumerate() {
        values.iter_mut().for_each(|logit| *logit *= [1.0, 2.0, 0.5, 3.0][member]);
    }
    let members = source(&data.values, [4, 400, 5], false);
    let fitted = |sharing| {
        joint::fit(&*members, data.form, &data.labels, sharing).expect("there is an optimum")
    };
    let own = fitted(Sharing::PerMember);
    let best = likelihood(&data, &own);
    for member in 0..4 {
        for factor in [0.97, 1.03] {
            let mut moved = own.clone();
            moved[member] *= factor;
            assert!(likelihood(&data, &moved) < best, "{own:?}, member {member}");
        }
    }
    let one = fitted(Sharing::One);
    assert!(one.iter().all(|t| *t == one[0]));
    let of_one = likelihood(&data, &one);
    assert!(of_one < best);
    for factor in [0.97, 1.03] {
        assert!(likelihood(&data, &[one[0] * factor; 4]) < of_one);
    }
    assert!(likelihood(&data, &[1.0; 4]) < of_one);
}

#[test]
fn a_label_that_is_impossible_for_every_member_has_no_temperatures() {
    let data = Data::single(Form::Probs, &[vec![1.0, 0.0], vec![0.5, 0.5]], &[1, 0]);
    let members = source(&data.values, [1, 2, 2], false);
    let fitted = joint::fit(&*members, data.form, &data.labels, Sharing::PerMember);
    assert!(fitted.is_err_and(|why| why.0.contains("probability 0")));
}

/// Mean scores have replicates whose mean and variance are sums over classes: within five standard
/// errors of `E = mean_m mean_i sum_c p_mic s_ic`, and of the variances within and between members.
#[test]
fn moments_of_replicates_are_those_of_the_members() {
    let (members, n, classes) = (4, 50, 5);
    let data = drawn(members, n, classes, 11);
    let p: Vec<f64> = data.values.chunks(classes).flat_map(log_softmax).map(f64::exp).collect();
    let pooled = |i: usize, c: usize| {
        let of = |m: usize| p[(m * n + i) * classes + c];
        (0..members).map(of).sum::<f64>() / members as f64
    };
    let row = |i: usize| -> Vec<f64> { (0..classes).map(|c| pooled(i, c)).collect() };
    let best =
        |i: usize| (0..classes).fold(0, |best, c| if row(i)[c] > row(i)[best] { c } else { best });
    type Term<'a> = &'a dyn Fn(usize, usize) -> f64;
    let terms: [(&str, Term<'_>); 3] = [
        ("accuracy", &|i, c| f64::from(u8::from(best(i) == c))),
        ("nll", &|i, c| -pooled(i, c).ln()),
        ("brier", &|i, c| {
            let square: f64 = row(i).iter().map(|p| p * p).sum();
            square - 2.0 * pooled(i, c) + 1.0
        }),
    ];
    let names = wanted(&["accuracy", "nll", "brier"]);
    for mode in [Mode::Bayesian, Mode::Independent] {
        let how = Checking { wanted: &names, ..checking(mode, 20_000, 3) };
        let all = checked(&data, &classification::scores(), &how);
        for (checked, (name, term)) in all.iter().zip(terms) {
            assert_eq!(checked.statistic, name);
            // Moments of the mean over examples when labels come from these probabilities.
            let moments = |of: &dyn Fn(usize, usize) -> f64| {
                let (mut mean, mut variance) = (0.0, 0.0);
                for i in 0..n {
                    let moment = |k: i32| (0..classes).map(|c| of(i, c) * term(i, c).powi(k)).sum();
                    let (first, second): (f64, f64) = (moment(1), moment(2));
                    mean += first / n as f64;
                    variance += (second - first * first) / (n * n) as f64;
                }
                (mean, variance)
            };
            let (mean, variance) = match mode {
                Mode::Independent => moments(&pooled),
                Mode::Bayesian => {
                    let of = |m: usize| moments(&|i, c| p[(m * n + i) * classes + c]);
                    let each: Vec<(f64, f64)> = (0..members).map(of).collect();
                    let average = |v: &dyn Fn(&(f64, f64)) -> f64| {
                        each.iter().map(v).sum::<f64>() / members as f64
                    };
                    let mean = average(&|member| member.0);
                    (mean, average(&|member| member.1 + (member.0 - mean).powi(2)))
                }
            };
            let count = checked.replicates.len() as f64;
            let found = checked.replicates.iter().sum::<f64>() / count;
            let spread =
                checked.replicates.iter().map(|v| (v - found).powi(2)).sum::<f64>() / count;
            assert!((found - mean).abs() < 5.0 * (variance / count).sqrt(), "{name} {mode:?}");
            assert!(
                (spread / variance - 1.0).abs() < 0.06,
                "{name} {mode:?}: {spread}, {variance}"
            );
        }
    }
}
