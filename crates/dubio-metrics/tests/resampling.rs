//! Laws of resampling and of temperatures: intervals cover, fits are optimal, seeds decide.

mod support;

use std::io;
use std::sync::Mutex;

use dubio_metrics::bootstrap::{Bootstrap, interval};
use dubio_metrics::classification;
use dubio_metrics::distributions::{Kind, Spill};
use dubio_metrics::members::Form;
use dubio_metrics::pool::pool_spilled;
use dubio_metrics::score::{Mean, Prepared};
use dubio_metrics::scorecard::{self, Entry};
use dubio_metrics::weights::{LANES, Weights};
use dubio_random::stream::Stream;
use rand::Rng;
use support::*;

/// A whole number below `n`.
fn below(generator: &mut impl Rng, n: usize) -> usize {
    (generator.next_u64() % n as u64) as usize
}

#[test]
fn no_law_holds_for_want_of_a_value() {
    let data = drawn(200, 5, 3, 1.0);
    let mut entries = data.scores(&defaults());
    entries.extend(data.calibrated(&defaults()));
    for entry in entries {
        let single = entry.name.starts_with("calibrated.")
            && (entry.name.ends_with(".model") || entry.name.contains("uncertainty."));
        assert!(entry.value.is_ok() || single, "{}: {:?}", entry.name, entry.value);
    }
}

#[test]
fn a_newton_step_finds_the_temperature_of_a_resample() {
    let data = drawn(500, 4, 2, 1.5);
    let examples = data.examples();
    let scores = classification::scores();
    let score = scores.iter().find(|s| s.name() == "temperature").unwrap();
    let prepared = score.prepare(&examples, &defaults()).unwrap();
    let mut generator = Stream::root(3).generator();
    let mut weights = vec![[0; LANES]; data.n()];
    for lane in 0..LANES {
        (0..data.n()).for_each(|_| weights[below(&mut generator, 500)][lane] += 1);
    }
    let whole = prepared.value(&Weights::new(&vec![[1]; data.n()]));
    for (lane, replicate) in prepared.replicates(&Weights::new(&weights)).into_iter().enumerate() {
        let rows: Vec<usize> =
            (0..data.n()).flat_map(|i| vec![i; usize::from(weights[i][lane])]).collect();
        let exact = value_in(&data.rows(&rows).scores(&defaults()), "temperature");
        let (step, rest) = ((exact - whole).abs(), (exact - replicate).abs());
        assert!(rest <= 0.15 * step + 1e-3, "{whole} to {exact}: {replicate}");
    }
}

#[test]
fn replicates_depend_on_the_seed_and_not_on_the_number_of_threads() {
    let data = drawn(300, 9, 3, 1.0);
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (examples, scoring) = (data.examples(), scoring(&defaults(), 100));
            let scores = classification::scores();
            let mut entries = scorecard::plain(&examples, &scores, &scoring);
            entries.extend(scorecard::calibrated(&examples, &scores, &scoring));
            entries
        })
    };
    let bits =
        |entry: &Entry| -> Vec<u64> { entry.replicates.iter().map(|r| r.to_bits()).collect() };
    for (one, four) in with_threads(1).iter().zip(&with_threads(4)) {
        assert_eq!(one.value, four.value, "{}", one.name);
        assert_eq!(bits(one), bits(four), "{}", one.name);
        assert!(one.replicates.len() == 100 || one.value.is_err());
    }
}

/// Numbers spilled, kept in memory after all.
#[derive(Debug)]
struct Shelf(Mutex<Vec<f64>>);

impl Spill for Shelf {
    fn write(&self, at: usize, values: &[f64]) -> io::Result<()> {
        self.0.lock().unwrap()[at..at + values.len()].copy_from_slice(values);
        Ok(())
    }
    fn read(&self, at: usize, out: &mut [f64]) {
        out.copy_from_slice(&self.0.lock().unwrap()[at..at + out.len()]);
    }
}

#[test]
fn distributions_that_are_set_aside_give_the_same_bits() {
    // More classes than lie together, and groups of rows that lie far apart.
    for (n, classes) in [(700, 3), (90, 300)] {
        let data = drawn(n, classes, 2, 1.5);
        let groups: Vec<i64> = (0..n as i64).map(|i| (i % 23).min(2)).collect();
        let source = source(&data.values, [2, n, classes], false);
        let shelf = Shelf(Mutex::new(vec![f64::NAN; 2 * n * classes]));
        let spilled = pool_spilled(&*source, data.form, Box::new(shelf), &|_| {}).unwrap();
        let scored = [data.examples(), data.labelled(spilled)].map(|examples| {
            let (scores, scoring) = (classification::scores(), scoring(&defaults(), 40));
            let mut entries = scorecard::plain(&examples, &scores, &scoring);
            entries.extend(scorecard::calibrated(&examples, &scores, &scoring));
            entries.extend(scorecard::grouped(&examples, &scores, &groups, &scoring));
            entries
        });
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
        for (held, spilled) in scored[0].iter().zip(&scored[1]) {
            assert_eq!(held.value, spilled.value, "{}", held.name);
            assert_eq!(bits(&held.replicates), bits(&spilled.replicates), "{}", held.name);
        }
    }
}

#[test]
fn replicates_of_the_accuracy_are_binomial() {
    let data = drawn(200, 4, 1, 1.0);
    let mut scoring = scoring(&defaults(), 8000);
    scoring.wanted = &|name| name == "accuracy";
    let entries = scorecard::plain(&data.examples(), &classification::scores(), &scoring);
    let p = value_in(&entries, "accuracy");
    let replicates = &entries[0].replicates;
    let count = replicates.len() as f64;
    let mean = replicates.iter().sum::<f64>() / count;
    let sd = (replicates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / count).sqrt();
    let binomial = (p * (1.0 - p) / 200.0).sqrt();
    // Four standard errors of a mean and of a standard deviation.
    assert!((mean - p).abs() < 4.0 * binomial / count.sqrt(), "{mean} for {p}");
    assert!((sd / binomial - 1.0).abs() < 4.0 / (2.0 * count).sqrt(), "{sd} for {binomial}");
}

#[test]
fn the_interval_of_a_mean_covers_it_95_times_in_100() {
    let mut generator = Stream::root(11).child("data").generator();
    let covers = (0..400).filter(|&set| {
        let values: Vec<f64> = (0..80).map(|_| uniform(&mut generator)).collect();
        let bootstrap = Bootstrap { resamples: 400, stream: Stream::root(11).nth(set) };
        let mean = Mean::new(values);
        let replicates = bootstrap.replicates(&[80], &[&mean as &dyn Prepared], &|_| {});
        let (low, high) = interval(&replicates[0]).unwrap();
        low <= 0.5 && 0.5 <= high
    });
    let fraction = covers.count() as f64 / 400.0;
    assert!((0.91..=0.98).contains(&fraction), "{fraction}");
}

#[test]
fn a_file_differs_from_itself_by_nothing() {
    let data = drawn(100, 3, 2, 1.0);
    let scoring = scoring(&defaults(), 200);
    for entry in scorecard::plain(&data.examples(), &classification::scores(), &scoring) {
        let own = entry.replicates.iter();
        let paired = interval(&own.map(|v| v - v).collect::<Vec<f64>>());
        assert_eq!(paired, entry.value.is_ok().then_some((0.0, 0.0)), "{}", entry.name);
    }
}

#[test]
fn predictions_do_not_change_with_the_temperature() {
    for members in [1, 3] {
        let data = drawn(200, 6, members, 1.3);
        let (plain, calibrated) = (data.scores(&defaults()), data.calibrated(&defaults()));
        // Halves of equal size: the mean of their fractions is the fraction of the whole.
        for name in ["accuracy", "error", "top5_accuracy"] {
            let (before, after) =
                (value_in(&plain, name), value_in(&calibrated, &format!("calibrated.{name}")));
            assert_same(name, before, after, 1e-12);
        }
        let examples = data.examples();
        for beta in [1e-9, 0.1, 1.0, 10.0, 1e4] {
            let at = examples.tempered(None, beta);
            assert_eq!(at.predicted, examples.predicted);
            for i in 0..data.n() {
                assert!(at.log_likelihood()[i] <= at.confidence[i].ln() + 1e-12);
                assert!(at.confidence[i] >= 1.0 / 6.0 - 1e-12);
            }
        }
    }
}

/// Mean negative log-likelihood of `softmax(log p / temperature)`, from the definition.
fn nll_at(data: &Data, temperature: f64) -> f64 {
    let pooled = data.try_pool().unwrap();
    let log_p = pooled.distributions.rows(Kind::LogP, 0..data.n());
    let rows = log_p.chunks(data.classes).zip(&data.labels);
    let loss = |(log_p, &label): (&[f64], &u32)| {
        let scaled: Vec<f64> = log_p.iter().map(|l| l / temperature).collect();
        -log_softmax(&scaled)[label as usize]
    };
    rows.map(loss).sum::<f64>() / data.n() as f64
}

#[test]
fn the_likelihood_is_flat_at_the_temperature() {
    for (members, drawn_at) in [(1, 0.5), (1, 3.0), (4, 1.0)] {
        let data = drawn(400, 5, members, drawn_at);
        let t = value_in(&data.scores(&defaults()), "temperature");
        let (h, at) = (1e-4 * t, |t: f64| nll_at(&data, t));
        let slope = (at(t + h) - at(t - h)) / (2.0 * h);
        let curvature = (at(t + h) - 2.0 * at(t) + at(t - h)) / (h * h);
        // The optimum is where the slope over the curvature says, relatively to 1e-4.
        assert!((slope / curvature).abs() < 1e-4 * t, "slope {slope}, curvature {curvature}");
        assert!(at(t) < at(1.1 * t) && at(t) < at(t / 1.1));
    }
}

#[test]
fn scaling_logits_scales_their_temperature() {
    let data = drawn(300, 4, 1, 1.2);
    let t = value_in(&data.scores(&defaults()), "temperature");
    let calibrated = data.calibrated(&defaults());
    for scale in [0.01, 0.3, 5.0, 40.0] {
        let scaled = data.each_row(Form::Logits, |_, row| row.iter().map(|x| scale * x).collect());
        let after = value_in(&scaled.scores(&defaults()), "temperature");
        assert!((after / (scale * t) - 1.0).abs() < 1e-6, "{t} times {scale} is not {after}");
        assert_unchanged(&calibrated, &scaled.calibrated(&defaults()), 1e-4);
    }
}

#[test]
fn calibrating_the_calibrated_costs_one_parameter() {
    let data = drawn(4000, 4, 2, 1.0);
    let plain = value_in(&data.scores(&defaults()), "nll");
    let calibrated = value_in(&data.calibrated(&defaults()), "calibrated.nll");
    // A parameter fitted on n/2 examples costs about 1/n nats; the best one gains about 1/(2n).
    assert!((calibrated - plain).abs() < 5.0 / 4000.0, "{plain} became {calibrated}");
}
