//! Replicates against their definition: the score of rows that are there as often as they were
//! drawn, worked out anew.

mod support;

use std::sync::{Arc, Mutex};

use dubio_metrics::bootstrap::Bootstrap;
use dubio_metrics::calibrate::cross_validation::Split;
use dubio_metrics::calibrate::temperature;
use dubio_metrics::card::{Card, Direction, Facts};
use dubio_metrics::classification;
use dubio_metrics::detection::{Measure, Signal, ood};
use dubio_metrics::distributions;
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Form;
use dubio_metrics::regression;
use dubio_metrics::score::{Options, Preparation, Prepared, Score};
use dubio_metrics::scorecard::{self, Entry, Examined, Scoring};
use dubio_metrics::weights::{Count, LANES, Weights};
use dubio_random::stream::Stream;
use support::*;

/// Two blocks, of which the second is not full.
const RESAMPLES: usize = LANES + 3;

/// A score that looks on: it keeps the counts of every block it is asked about.
#[derive(Clone, Default)]
struct Witness(Arc<Mutex<Vec<Vec<[Count; LANES]>>>>);

impl<E> Score<E> for Witness {
    fn card(&self) -> &'static Card {
        &Card {
            name: "witness",
            summary: "",
            formula: "",
            range: (0.0, 0.0),
            direction: Direction::Neither,
            citation: "",
            facts: Facts::CLASSES,
        }
    }
    fn prepare<'a>(&self, _: &'a E, _: &Options) -> Preparation<'a> {
        Ok(Box::new(self.clone()))
    }
}

impl Prepared for Witness {
    fn value(&self, _: &Weights<'_, 1>) -> f64 {
        0.0
    }
    fn replicates(&self, weights: &Weights<'_, LANES>) -> [f64; LANES] {
        self.0.lock().unwrap().push(weights.counts().to_vec());
        [0.0; LANES]
    }
}

impl Witness {
    /// How often each example was drawn in each resample, from the `first`-th block on.
    fn drawn(&self, first: usize) -> Vec<Vec<Count>> {
        let blocks = self.0.lock().unwrap();
        let lane = |r: usize| blocks[first + r / LANES].iter().map(move |c| c[r % LANES]).collect();
        (0..RESAMPLES).map(lane).collect()
    }
}

/// Every score with its replicates, and who looked on. One thread, so that blocks come in order.
fn resampled<E: Examined>(
    examples: &E,
    mut scores: Vec<Box<dyn Score<E>>>,
    scored: impl Fn(&E, &[Box<dyn Score<E>>], &Scoring<'_>) -> Vec<Entry> + Send + Sync,
) -> (Vec<Entry>, Witness) {
    let witness = Witness::default();
    scores.push(Box::new(witness.clone()));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let scoring = scoring(&defaults(), RESAMPLES);
    let mut entries = pool.install(|| scored(examples, &scores, &scoring));
    entries.retain(|entry| base(&entry.name) != "witness");
    (entries, witness)
}

/// The scores of the rows, each as often as it was drawn.
fn repeated<E: Examined>(
    examples: &E,
    scores: &[Box<dyn Score<E>>],
    counts: &[Count],
) -> Vec<Entry> {
    let times = |(i, &count): (usize, &Count)| vec![i as u32; usize::from(count)];
    let rows: Vec<u32> = counts.iter().enumerate().flat_map(times).collect();
    scorecard::plain(&examples.select(&rows), scores, &scoring(&defaults(), 0))
}

/// Scores whose resamples are something else than the score of the repeated rows: a temperature is
/// one Newton step away, bins of equal mass stay at the cuts of the file.
fn stays_behind(name: &str) -> bool {
    matches!(base(name), "temperature" | "ace" | "tace" | "debiased_ece")
}

fn tolerance(name: &str) -> f64 {
    if matches!(base(name), "sce" | "ace" | "tace") { SINGLE } else { ROUNDING }
}

fn assert_replicate(entry: &Entry, resample: usize, expected: &Entry) {
    assert_eq!(entry.name, expected.name);
    let replicate = entry.replicates[resample];
    match expected.value {
        Ok(value) => assert_same(&entry.name, value, replicate, tolerance(&entry.name)),
        Err(_) => assert!(replicate.is_nan(), "{} should have no value", entry.name),
    }
}

fn check_plain<E: Examined>(
    examples: &E,
    scores: fn() -> Vec<Box<dyn Score<E>>>,
) -> Vec<Vec<Count>> {
    let (entries, witness) = resampled(examples, scores(), scorecard::plain);
    let drawn = witness.drawn(0);
    for (resample, counts) in drawn.iter().enumerate() {
        let expected = repeated(examples, &scores(), counts);
        for (entry, expected) in entries.iter().zip(&expected) {
            if entry.value.is_ok() && !stays_behind(&entry.name) {
                assert_replicate(entry, resample, expected);
            }
        }
    }
    drawn
}

/// Three classes whose probabilities are multiples of 1/64: ties everywhere, and zeros.
fn tied_data(n: usize) -> Data {
    let data = drawn(n, 3, 2, 1.0);
    data.each_row(Form::Probs, |_, row| {
        let [a, b] = [0, 1].map(|class: usize| (8.0 * row[class].abs()).round());
        [a, b, 32.0 - a - b].iter().map(|parts| parts / 32.0).collect()
    })
}

/// Probabilities of the examples at a temperature, `[examples][classes]`, from the definition.
fn probabilities(data: &Data, beta: Option<f64>) -> Vec<Vec<f64>> {
    let distributions = data.try_pool().unwrap().distributions;
    let rows = |kind| {
        let rows = distributions.rows(kind, 0..data.n()).into_owned();
        rows.chunks(data.classes).map(<[f64]>::to_vec).collect::<Vec<Vec<f64>>>()
    };
    let Some(beta) = beta else { return rows(distributions::Kind::P) };
    let raised = |row: &Vec<f64>| {
        let scaled: Vec<f64> = row.iter().map(|l| beta * l).collect();
        log_softmax(&scaled).iter().map(|l| l.exp()).collect()
    };
    rows(distributions::Kind::LogP).iter().map(raised).collect()
}

/// What fraction of each value lies in each bin of equal mass: a run of equals is spread over the
/// bins that its places are in.
fn weights(values: &[f64], bins: usize) -> Vec<Vec<f64>> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let size = values.len() / bins;
    let bin = |place: usize| place.checked_div(size).unwrap_or(bins).min(bins - 1);
    let weight = |&value: &f64| {
        let own: Vec<usize> = (0..sorted.len()).filter(|&place| sorted[place] == value).collect();
        let mut weights = vec![0.0; bins];
        own.iter().for_each(|&place| weights[bin(place)] += 1.0 / own.len() as f64);
        weights
    };
    values.iter().map(weight).collect()
}

/// `sum_m |sum_i count_i share_im (p_i - hit_i)|` over the probabilities above a threshold.
fn mass_gap(p: &[f64], hits: &[f64], counts: &[Count], threshold: f64, bins: usize) -> f64 {
    let above: Vec<usize> = (0..p.len()).filter(|&i| p[i] > threshold).collect();
    let values: Vec<f64> = above.iter().map(|&i| p[i]).collect();
    let mut gaps = vec![0.0; bins];
    for (&i, weights) in above.iter().zip(weights(&values, bins)) {
        for (gap, weight) in gaps.iter_mut().zip(weights) {
            *gap += f64::from(counts[i]) * weight * (p[i] - hits[i]);
        }
    }
    gaps.iter().map(|gap| gap.abs()).sum()
}

/// `ace` (threshold below 0) or `tace` of a resample whose bins are those of the file.
fn class_gap(p: &[Vec<f64>], labels: &[u32], counts: &[Count], threshold: f64) -> f64 {
    let (n, classes) = (p.len(), p[0].len());
    let gap = |class: usize| {
        let column: Vec<f64> = p.iter().map(|row| row[class]).collect();
        let hit = |&label: &u32| f64::from(u8::from(label as usize == class));
        let hits: Vec<f64> = labels.iter().map(hit).collect();
        mass_gap(&column, &hits, counts, threshold, defaults().bins)
    };
    (0..classes).map(gap).sum::<f64>() / (n * classes) as f64
}

/// `debiased_ece` of a resample whose bins are those of the file.
fn debiased(examples: &Examples, counts: &[Count]) -> f64 {
    let bins = defaults().bins;
    let weights = weights(&examples.confidence, bins);
    let bin = |m: usize| {
        let sum = |f: &dyn Fn(usize) -> f64| -> f64 {
            (0..counts.len()).map(|i| f64::from(counts[i]) * weights[i][m] * f(i)).sum()
        };
        let size = sum(&|_| 1.0);
        let (acc, conf) =
            (sum(&|i| examples.correct(i)) / size, sum(&|i| examples.confidence[i]) / size);
        let noise = if size > 1.0 { acc * (1.0 - acc) / (size - 1.0) } else { 0.0 };
        if size > 0.0 { size * ((acc - conf).powi(2) - noise) } else { 0.0 }
    };
    ((0..bins).map(bin).sum::<f64>() / counts.len() as f64).max(0.0).sqrt()
}

#[test]
fn a_replicate_is_the_score_of_the_rows_that_were_drawn() {
    for data in [drawn(600, 11, 3, 1.3), tied_data(600)] {
        check_plain(&data.examples(), classification::scores);
        check_plain(&data.examples().tempered(None, 0.7), classification::scores);
    }
    let targets = |n: usize| {
        let data = drawn(2, n, 3, 1.0);
        let locations = data.values[..3 * n].to_vec();
        let scales = data.values[3 * n..].iter().map(|v| 0.3 + v.abs()).collect();
        let targets = data.values[2 * n..3 * n].iter().map(|v| (2.0 * v).round()).collect();
        Targets { members: 3, locations, scales, targets, groups: vec![0; n], narrow: false }
    };
    for kind in Kind::ALL {
        check_plain(&targets(300).outcomes(kind), regression::scores);
    }
}

#[test]
fn bins_of_equal_mass_stay_at_the_cuts_of_the_file() {
    let sets = [
        (drawn(600, 11, 2, 1.3), None),
        (tied_data(400), None),
        (drawn(600, 5, 2, 1.0), Some(0.7)),
    ];
    for (data, beta) in sets {
        let plain = data.examples();
        let examples = beta.map_or_else(|| plain.clone(), |beta| plain.tempered(None, beta));
        let p = probabilities(&data, beta);
        let (entries, witness) = resampled(&examples, classification::scores(), scorecard::plain);
        for (resample, counts) in witness.drawn(0).iter().enumerate().step_by(6) {
            let gap = |threshold: f64| class_gap(&p, &data.labels, counts, threshold);
            let expected = [
                ("ace", gap(-1.0)),
                ("tace", gap(defaults().threshold)),
                ("debiased_ece", debiased(&examples, counts)),
            ];
            for (name, expected) in expected {
                let entry = entries.iter().find(|entry| entry.name == name).unwrap();
                assert_same(name, expected, entry.replicates[resample], tolerance(name));
            }
        }
    }
}

#[test]
fn a_calibrated_replicate_is_that_of_both_halves_moved_to_the_mean_of_all_splits() {
    let data = drawn(601, 5, 2, 1.4);
    let (examples, scores) = (data.examples(), classification::scores());
    let (entries, witness) = resampled(&examples, classification::scores(), scorecard::calibrated);
    let splits = scoring(&defaults(), 0).splits;
    let fit = temperature::fit(&examples).unwrap();
    let split = Split::new(&examples, &fit, &splits, 0).unwrap();
    let halves = [0, 1].map(|half| split.half(&examples, half));
    // The blocks of the first half, then those of the second.
    let drawn = [witness.drawn(0), witness.drawn(RESAMPLES.div_ceil(LANES))];
    let mean = |of: &dyn Fn(usize) -> Vec<Entry>, name: &str| {
        let value = |half: usize| value_in(&of(half), base(name));
        0.5 * (value(0) + value(1))
    };
    let once = |half: usize| scorecard::plain(&halves[half], &scores, &scoring(&defaults(), 0));
    for resample in [0, LANES - 1, RESAMPLES - 1] {
        let again = |half: usize| repeated(&halves[half], &scores, &drawn[half][resample]);
        let (once, again) = ([once(0), once(1)], [again(0), again(1)]);
        for entry in entries.iter().filter(|e| e.value.is_ok() && !stays_behind(&e.name)) {
            let shift =
                entry.value.clone().unwrap() - mean(&|half| once[half].clone(), &entry.name);
            let (low, high) = entry.card.range;
            let expected =
                (mean(&|half| again[half].clone(), &entry.name) + shift).clamp(low, high);
            assert_same(&entry.name, expected, entry.replicates[resample], tolerance(&entry.name));
        }
    }
}

#[test]
fn detection_resamples_own_and_ood_examples_apart() {
    for data in &[drawn(500, 4, 3, 1.0), tied_data(500)] {
        let ((own, ood_side), bootstrap) =
            (data.sides(), Bootstrap { resamples: RESAMPLES, stream: Stream::root(3) });
        let witness = Witness::default();
        let all: Vec<(Measure, Signal)> =
            Signal::ALL.into_iter().flat_map(|s| Measure::ALL.map(|m| (m, s))).collect();
        let prepared: Vec<Box<dyn Prepared>> =
            all.iter().map(|(m, s)| ood::prepare(*m, *s, &own, &ood_side).unwrap()).collect();
        let mut statistics: Vec<&dyn Prepared> = prepared.iter().map(|p| &**p).collect();
        statistics.push(&witness);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let strata = [own.len(), ood_side.len()];
        let replicates = pool.install(|| bootstrap.replicates(&strata, &statistics, &|_| {}));
        let side = |ood_side: bool| (0..data.n()).filter(move |&i| data.ood[i] == ood_side);
        let places: Vec<usize> = side(false).chain(side(true)).collect();
        for (resample, counts) in witness.drawn(0).iter().enumerate() {
            let drawn = places.iter().zip(counts);
            let rows: Vec<usize> =
                drawn.flat_map(|(&row, &count)| vec![row; usize::from(count)]).collect();
            let expected = data.rows(&rows).scores(&defaults());
            for ((measure, signal), replicates) in all.iter().zip(&replicates) {
                let name = measure.name("ood.other", *signal);
                assert_same(&name, value_in(&expected, &name), replicates[resample], ROUNDING);
            }
        }
    }
}
