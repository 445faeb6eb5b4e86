//! Laws of comparisons, and the toy experiments of the UCE paper.

mod support;

use dubio_metrics::card::Direction;
use dubio_metrics::classification;
use dubio_metrics::compare::{
    BINS, Comparison, Contestant, Difference, ENOUGH, classifiers, forbidden, over_bins,
    over_temperatures, ranking, regressions,
};
use dubio_metrics::dee::{Equivalent, Falling, Point, equivalents};
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Form;
use dubio_metrics::score::{Options, Score};
use dubio_metrics::scorecard::{self, Entry, Scoring};
use dubio_random::stream::Stream;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use support::*;

fn contestant<E>(name: &str, members: usize, examples: E) -> Contestant<E> {
    Contestant { name: name.to_string(), members, examples }
}

const SCORES: [&str; 7] =
    ["accuracy", "nll", "brier", "ece", "calibrated.nll", "calibrated.brier", "temperature"];

fn wanted(name: &str) -> bool {
    SCORES.contains(&name)
}

fn how() -> Scoring<'static> {
    Scoring { wanted: &wanted, ..scoring(&Options::default(), 200) }
}

fn compared(data: &[&Data], headline: &str) -> Comparison {
    let names = ["a", "b", "c", "d"];
    let mut methods: Vec<Contestant<Examples>> = data
        .iter()
        .zip(names)
        .map(|(data, name)| contestant(name, data.members, data.examples()))
        .collect();
    classifiers(&mut methods, &[headline], &how())
}

fn cases(cases: u32) -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(1);
    ProptestConfig { cases, failure_persistence: None, rng_seed, ..ProptestConfig::default() }
}

/// Two sets of predictions of the same labels.
fn two(data: &Data, other: &Data) -> Data {
    Data { labels: data.labels.clone(), ..other.clone() }
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn a_file_differs_from_itself_by_nothing(
        data in shape(4, 10).prop_flat_map(|s| prop_oneof![smooth(s), tied(s)]),
    ) {
        let comparison = compared(&[&data, &data], "calibrated.nll");
        for difference in &comparison.differences {
            if let Some(value) = difference.value {
                prop_assert_eq!(value, 0.0, "{}", difference.score);
                if let Some((lo, hi)) = difference.lo.zip(difference.hi) {
                    prop_assert_eq!((lo, hi), (0.0, 0.0), "{}", difference.score);
                    prop_assert_eq!(difference.told_apart, Some(false));
                }
            }
        }
        if let Some(ranking) = comparison.ranking {
            prop_assert!(ranking.ranked.iter().all(|place| place.rank == 1));
            prop_assert!(ranking.groups.len() <= 1, "they cannot be told apart");
        }
    }

    #[test]
    fn swapping_two_files_turns_every_difference_and_every_rank_round(
        (a, b) in shape(4, 10).prop_flat_map(|s| (smooth(s), smooth(s))),
    ) {
        let b = two(&a, &b);
        let there = compared(&[&a, &b], "calibrated.nll");
        let back = compared(&[&b, &a], "calibrated.nll");
        for (x, y) in there.differences.iter().zip(&back.differences) {
            let sum = x.value.zip(y.value).map(|(x, y)| x + y);
            prop_assert!(sum.is_none_or(|sum| sum == 0.0), "{}", x.score);
            if let (Some((lo, hi)), Some((low, high))) = (x.lo.zip(x.hi), y.lo.zip(y.hi)) {
                prop_assert!(close(lo, -high, 1e-12) && close(hi, -low, 1e-12), "{}", x.score);
            }
            prop_assert_eq!(x.told_apart, y.told_apart);
        }
        if let (Some(there), Some(back)) = (there.ranking, back.ranking) {
            for (x, y) in there.ranked.iter().zip(&back.ranked) {
                prop_assert_eq!((x.value, x.rank), (y.value, y.rank));
            }
        }
    }

    /// The equivalent of the baseline itself is its number of networks where it gets ever better,
    /// and never more elsewhere; a better score never has a smaller equivalent.
    #[test]
    fn equivalents_grow_with_the_score(
        values in proptest::collection::vec(-3.0..0.0_f64, 1..30),
        goals in proptest::collection::vec(-4.0..1.0_f64, 2..10),
        std in 0.0..0.5_f64,
    ) {
        let points = |values: &[f64]| -> Vec<Point> {
            let point = |(i, &mean): (usize, &f64)| Point { n_samples: i + 1, mean, std: Some(std) };
            values.iter().enumerate().map(point).collect()
        };
        let size = |dee: Equivalent| dee.networks().unwrap_or(f64::INFINITY);
        let of = |baseline: &[f64], method: &[f64]| {
            equivalents(&points(baseline), &points(method), Direction::Higher, Falling::Allowed)
                .expect("a direction")
        };
        for row in of(&values, &values) {
            prop_assert!(size(row.dee) <= row.n_samples as f64);
        }
        let mut rising = values.clone();
        rising.sort_by(f64::total_cmp);
        rising.dedup();
        for row in of(&rising, &rising) {
            prop_assert!((size(row.dee) - row.n_samples as f64).abs() < 1e-9);
        }
        let mut goals = goals;
        goals.sort_by(f64::total_cmp);
        let rows = of(&values, &goals);
        for pair in rows.windows(2) {
            prop_assert!(size(pair[0].dee) <= size(pair[1].dee));
        }
        for row in rows {
            let [lower, upper] = [row.lower, row.upper].map(|dee| size(dee.expect("known")));
            prop_assert!(lower <= size(row.dee) && size(row.dee) <= upper);
        }
    }
}

/// An entry whose replicates are its value and some noise that methods share, and some of their own.
fn entry(value: f64, own: f64) -> Entry {
    let data = Data::confident(&[0.9, 0.6, 0.7, 0.8], &[1, 0, 1, 1]);
    let entries =
        scorecard::plain(&data.examples(), &classification::scores(), &scoring(&defaults(), 0));
    let noise = |r: usize| (r as f64 / 200.0 - 0.5) + own * ((r * 7919 % 200) as f64 / 200.0 - 0.5);
    let replicates: Vec<f64> = (0..200).map(|r| value + noise(r)).collect();
    let nll = entries.into_iter().find(|entry| entry.name == "nll").expect("in the table");
    Entry { value: Ok(value), replicates, interval: Some((value - 0.5, value + 0.5)), ..nll }
}

/// What the methods share cancels; only their own noise decides who can be told apart.
#[test]
fn methods_that_cannot_be_told_apart_are_grouped_and_a_method_may_be_in_two_groups() {
    let entries = [entry(0.30, 0.0), entry(0.10, 0.0), entry(0.14, 0.1), entry(0.18, -0.1)];
    let of = ranking(&entries.iter().collect::<Vec<_>>()).expect("a direction");
    let order: Vec<usize> = of.ranked.iter().map(|place| place.method).collect();
    assert_eq!(order, [1, 2, 3, 0], "lower is better");
    assert_eq!(of.groups, [vec![1, 2], vec![2, 3], vec![0]]);
    assert_eq!(of.differences.len(), 6);
    let first = &of.differences[0];
    assert_eq!((first.a, first.b), (1, 2));
    assert!((first.value.expect("defined") + 0.04).abs() < 1e-12);
}

#[test]
fn what_misleads_is_refused_with_reason_and_reference() {
    for name in
        ["misclassification.auroc.total", "calibrated.misclassification.aupr.confidence", "nll"]
    {
        let caution = forbidden(name).expect("refused");
        assert!(caution.reference.starts_with("Ashukha et al. 2020, sec. 3"), "{caution:?}");
    }
    for name in ["calibrated.nll", "accuracy", "ood.far.auroc.total", "aurc"] {
        assert_eq!(forbidden(name), None);
    }
    let data = Data::confident(&[0.9, 0.6, 0.7, 0.8], &[1, 0, 1, 1]);
    let more = Data::ensemble(
        Form::Probs,
        &[vec![vec![0.8, 0.2]; 4], vec![vec![0.7, 0.3]; 4]],
        &data.labels,
    );
    let comparison = compared(&[&data, &more], "nll");
    assert_eq!(comparison.ranking, None);
    let what: Vec<&str> = comparison.cautions.iter().map(|caution| &caution.what[..]).collect();
    assert!(what.contains(&"a ranking by `nll`"), "{what:?}");
    assert!(what.contains(&"unequal numbers of forward passes: a 1, b 2"), "{what:?}");
}

#[test]
fn regressions_are_ranked_by_their_likelihood() {
    let mut generator = Stream::root(1).generator();
    let n = 60;
    let targets: Vec<f64> = (0..n).map(|_| 4.0 * uniform(&mut generator)).collect();
    let near = |off: f64| {
        let locations = targets.iter().map(|y| y + off).collect();
        Targets {
            members: 1,
            locations,
            scales: vec![1.0; n],
            targets: targets.clone(),
            groups: vec![0; n],
            narrow: false,
        }
    };
    let of = |off: f64| near(off).outcomes(Kind::Gaussians);
    let scoring = Scoring { wanted: &|name| name == "nll", ..scoring(&defaults(), 100) };
    let methods = [contestant("far", 1, of(2.0)), contestant("near", 1, of(0.1))];
    let ranking = regressions(&methods, &["nll"], &scoring).ranking.expect("a ranking");
    assert_eq!(ranking.ranked[0].method, 1);
    assert_eq!(ranking.groups, [vec![1], vec![0]]);
}

/// Draws have no density: a Gaussian and draws are ranked by `crps`, which both have, and not one of them
/// alone by `nll`.
#[test]
fn methods_are_ranked_by_the_first_score_that_all_have() {
    let mut generator = Stream::root(2).generator();
    let n = 80;
    let targets: Vec<f64> = (0..n).map(|_| 4.0 * uniform(&mut generator)).collect();
    let method = |members: usize, off: f64| Targets {
        members,
        locations: (0..members * n).map(|i| targets[i % n] + off + (i / n) as f64).collect(),
        scales: vec![1.0; members * n],
        targets: targets.clone(),
        groups: vec![0; n],
        narrow: false,
    };
    let names = ["nll", "crps"];
    let scoring = Scoring { wanted: &|name| names.contains(&name), ..scoring(&defaults(), 100) };
    let methods = [
        contestant("gaussian", 1, method(1, 0.2).outcomes(Kind::Gaussians)),
        contestant("draws", 3, method(3, 1.0).outcomes(Kind::Samples)),
    ];
    let found = regressions(&methods, &names, &scoring);
    assert_eq!(found.headline, "crps");
    let why = "draws has no nll (draws have no density: give mean and std)";
    assert_eq!(found.instead_of.as_deref(), Some(why));
    let ranked: Vec<usize> =
        found.ranking.expect("a ranking").ranked.iter().map(|r| r.method).collect();
    assert_eq!(ranked, [0, 1]);
    // Asked for by name, a score that one has not is kept, and the other is not ranked.
    let asked = regressions(&methods, &["nll"], &scoring);
    assert_eq!((&asked.headline[..], asked.instead_of), ("nll", None));
    assert_eq!(asked.ranking.expect("a ranking").ranked.len(), 1);
}

/// Twenty copies of one method, each with its own noise: without a correction some pairs would differ "by
/// more than chance" at 5 %.
#[test]
fn many_comparisons_of_equals_find_no_difference() {
    let mut generator = Stream::root(5).generator();
    let n = 200;
    let targets: Vec<f64> = (0..n).map(|_| 4.0 * uniform(&mut generator)).collect();
    let mut noisy = || Targets {
        members: 1,
        locations: targets.iter().map(|y| y + uniform(&mut generator) - 0.5).collect(),
        scales: vec![1.0; n],
        targets: targets.clone(),
        groups: vec![0; n],
        narrow: false,
    };
    let methods: Vec<_> = (0..20)
        .map(|m| contestant(&format!("m{m}"), 1, noisy().outcomes(Kind::Gaussians)))
        .collect();
    let scoring = Scoring { wanted: &|name| name == "nll", ..scoring(&defaults(), 200) };
    let found = regressions(&methods, &["nll"], &scoring);
    let zero_outside =
        |d: &&Difference| d.lo.is_some_and(|lo| lo > 0.0) || d.hi.is_some_and(|hi| hi < 0.0);
    assert!(found.differences.iter().filter(zero_outside).count() > 2, "what is corrected");
    assert!(found.differences.iter().all(|d| d.told_apart == Some(false)));
}

fn scores(names: &[&str]) -> Vec<Box<dyn Score<Examples>>> {
    let mut all = classification::scores();
    all.retain(|score| names.contains(&&score.name()[..]));
    all
}

/// The UCE paper 2021, fig. 3: sixty of a hundred examples are of class 1, and the model says so of
/// every one. `uce` is `|0.4 - H(0.6, 0.4) / log 2| = 0.57095`; `ace` sees class 2's fraction too, and is 0.
#[test]
fn a_constant_model_has_no_calibration_error_but_a_large_uncertainty_calibration_error() {
    let rows = vec![vec![0.6, 0.4]; 100];
    let labels: Vec<u32> = (0..100).map(|i| u32::from(i % 5 >= 3)).collect();
    let data = Data::single(Form::Probs, &rows, &labels);
    let entries = data.scores(&defaults());
    for name in ["ece", "mmce"] {
        assert!(value_in(&entries, name).abs() < 1e-9, "{name}");
    }
    let entropy: f64 = -[0.6_f64, 0.4].map(|p| p * p.log2()).iter().sum::<f64>();
    assert!((value_in(&entries, "uce") - (entropy - 0.4)).abs() < 1e-12);
    assert!((entropy - 0.4 - 0.57095).abs() < 1e-5);
}

/// The UCE paper 2021, fig. 4: two models of two classes that are off in opposite ways. Over 5 to 50
/// bins the order by `uce` stands in every one of 20 experiments, the orders by `ece` and `ace` do not.
#[test]
fn the_order_by_uce_stands_where_the_orders_by_ece_and_ace_flip() {
    let mut flips = [0; 3];
    for seed in 0..20 {
        let mut generator = Stream::root(seed).child("toy").generator();
        let z: Vec<f64> = (0..1000).map(|_| 6.0 * (uniform(&mut generator) - 0.5)).collect();
        let sure = |scale: f64, z: f64| 1.0 / (1.0 + (-scale * z).exp());
        let labels: Vec<u32> =
            z.iter().map(|z| u32::from(uniform(&mut generator) >= sure(1.0, *z))).collect();
        let model = |scale: f64| {
            let row = |z: &f64| vec![sure(scale, *z), 1.0 - sure(scale, *z)];
            let rows: Vec<Vec<f64>> = z.iter().map(row).collect();
            Data::single(Form::Probs, &rows, &labels).examples()
        };
        let (a, b) = (model(1.6), model(0.6));
        let scores = scores(&["ece", "ace", "uce"]);
        let scores: Vec<&dyn Score<Examples>> = scores.iter().map(|score| &**score).collect();
        let all = over_bins(&[&a, &b], &scores, &defaults());
        assert_eq!(all[0].settings.len(), BINS.count());
        for (flips, stability) in flips.iter_mut().zip(&all) {
            *flips += usize::from(!stability.stable());
        }
    }
    let [ece, ace, uce] = flips;
    assert_eq!(uce, 0);
    assert!(ece >= 3 && ace >= 3, "{ece} and {ace} of 20");
}

/// The UCE paper 2021, fig. 5 and 6: of two models that order their classes alike but for temperature,
/// the one is better at low temperatures and the other at high ones; the accuracies never move.
#[test]
fn over_temperatures_the_order_by_calibration_flips_and_the_order_by_accuracy_does_not() {
    let mut generator = Stream::root(3).child("toy").generator();
    let mut rows = Vec::new();
    let mut labels = Vec::new();
    for _ in 0..500 {
        let row: Vec<f64> = (0..4).map(|_| 4.0 * uniform(&mut generator)).collect();
        let p: Vec<f64> = log_softmax(&row).iter().map(|l| l.exp()).collect();
        let mut rest = uniform(&mut generator);
        let label = p
            .iter()
            .take_while(|p| {
                rest -= **p;
                rest >= 0.0
            })
            .count()
            .min(3);
        labels.push(label as u32);
        rows.push(row);
    }
    let model = |scale: f64| {
        let rows: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().map(|x| scale * x).collect()).collect();
        Data::single(Form::Logits, &rows, &labels).examples()
    };
    let (sharp, flat) = (model(2.0), model(0.5));
    let scores = scores(&["accuracy", "nll", "ece"]);
    let scores: Vec<&dyn Score<Examples>> = scores.iter().map(|score| &**score).collect();
    let all = over_temperatures(&[&sharp, &flat], &scores, &defaults());
    let stable: Vec<bool> = all.iter().map(|stability| stability.stable()).collect();
    assert_eq!(stable, [true, false, false]);
    // Logits twice as large at T = 2 are logits half as large at T = 1/2.
    let at = |method: usize, temperature: f64| {
        let place = all[1].settings.iter().position(|t| *t == temperature).expect("in the grid");
        all[1].values[method][place].expect("defined")
    };
    assert!((at(0, 2.0) - at(1, 0.5)).abs() < 1e-12);
}

/// A score of evenly spaced examples is near that of all of them, and says what it is of.
#[test]
fn settings_are_tried_on_evenly_spaced_examples_where_there_are_very_many() {
    let examples = drawn(2 * ENOUGH, 2, 1, 1.5).examples();
    let scores = classification::scores();
    let ece: Vec<_> = scores.iter().map(|s| &**s).filter(|s| s.name() == "ece").collect();
    let whole = over_bins(&[&examples], &ece, &defaults());
    let every_second: Vec<u32> = (0..ENOUGH as u32).map(|i| 2 * i).collect();
    let half = over_bins(&[&examples.subset(&every_second)], &ece, &defaults());
    assert_eq!((whole[0].thinned_to, half[0].thinned_to), (Some(ENOUGH), None));
    assert_eq!(whole[0].values, half[0].values);
}
