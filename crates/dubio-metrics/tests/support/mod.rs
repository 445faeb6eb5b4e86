//! Predictions for the tests of the scores: builders, the changes that laws speak of, generators.
#![allow(dead_code, unreachable_pub)] // Each test binary uses its own part.

use dubio_metrics::bootstrap::Bootstrap;
use dubio_metrics::classification;
use dubio_metrics::costs::Costs;
use dubio_metrics::detection::ood::Uncertainties;
use dubio_metrics::distributions;
use dubio_metrics::examples::Examples;
use dubio_metrics::members::{Fault, Form, InMemory, Members};
use dubio_metrics::pool::{Pooled, pool};
use dubio_metrics::regression::{self, Outcomes, Parts};
use dubio_metrics::score::Options;
use dubio_metrics::scorecard::{self, Entry, Scoring};
use dubio_metrics::weights::{Count, LANES};
use dubio_progress::Silent;
use dubio_random::stream::Stream;
use proptest::collection::vec;
use proptest::prelude::*;
use rand::Rng;

/// Classified examples before anything is made of them.
#[derive(Clone, Debug)]
pub struct Data {
    pub form: Form,
    pub members: usize,
    pub classes: usize,
    /// `[members, examples, classes]`.
    pub values: Vec<f64>,
    pub labels: Vec<u32>,
    /// Logits of the reference, `[examples, classes]`.
    pub reference: Vec<f64>,
    /// `K[decision, truth]`.
    pub costs: Vec<Vec<f64>>,
    /// Whether the example counts as one from elsewhere, for the detection scores.
    pub ood: Vec<bool>,
    /// The example's group.
    pub groups: Vec<i64>,
    /// Whether the predictions are handed over in single precision.
    pub narrow: bool,
}

impl Data {
    /// One member's rows with their labels: costs 0 or 1, the reference the uniform distribution.
    pub fn single(form: Form, rows: &[Vec<f64>], labels: &[u32]) -> Self {
        Self::ensemble(form, &[rows.to_vec()], labels)
    }

    /// The same with several members.
    pub fn ensemble(form: Form, members: &[Vec<Vec<f64>>], labels: &[u32]) -> Self {
        let (n, classes) = (labels.len(), members[0][0].len());
        let cost = |h, c| f64::from(u8::from(h != c));
        Self {
            form,
            members: members.len(),
            classes,
            values: members.concat().concat(),
            labels: labels.to_vec(),
            reference: vec![0.0; n * classes],
            costs: (0..classes).map(|h| (0..classes).map(|c| cost(h, c)).collect()).collect(),
            ood: (0..n).map(|i| i % 2 == 1).collect(),
            groups: (0..n).map(|i| i as i64 % 3).collect(),
            narrow: false,
        }
    }

    /// Top-label predictions: two classes, the first with this confidence, and whether it is right.
    pub fn confident(confidence: &[f64], correct: &[u8]) -> Self {
        let rows: Vec<Vec<f64>> = confidence.iter().map(|&c| vec![c, 1.0 - c]).collect();
        let labels: Vec<u32> = correct.iter().map(|&hit| u32::from(hit == 0)).collect();
        Self::single(Form::Probs, &rows, &labels)
    }

    pub fn n(&self) -> usize {
        self.labels.len()
    }

    pub fn try_pool(&self) -> Result<Pooled, Fault> {
        let shape = [self.members, self.n(), self.classes];
        pool(&*source(&self.values, shape, self.narrow), self.form, &|_| {})
    }

    pub fn examples(&self) -> Examples {
        self.labelled(self.try_pool().expect("no number is at fault"))
    }

    /// These pooled predictions with the labels, costs and reference.
    pub fn labelled(&self, pooled: Pooled) -> Examples {
        let reference = source(&self.reference, [1, self.n(), self.classes], self.narrow);
        let reference = pool(&*reference, Form::Logits, &|_| {}).expect("finite logits");
        let costs = Costs::new(self.costs.clone()).expect("finite costs");
        Examples::new(pooled, self.labels.clone()).with_costs(costs).with_reference(&reference)
    }

    /// Every score of classification, then every score of detection of the OOD examples.
    pub fn scores(&self, options: &Options) -> Vec<Entry> {
        let scoring = scoring(options, 0);
        let mut entries = scorecard::plain(&self.examples(), &classification::scores(), &scoring);
        let (own, ood) = self.sides();
        entries.extend(scorecard::ood("other", &own, &ood, &scoring));
        entries
    }

    /// The same, then every score of every group and over the groups.
    pub fn scores_and_groups(&self, options: &Options) -> Vec<Entry> {
        let (mut entries, scores) = (self.scores(options), classification::scores());
        let scoring = scoring(options, 0);
        entries.extend(scorecard::grouped(&self.examples(), &scores, &self.groups, &scoring));
        entries
    }

    /// Every score at the temperature `1/beta`.
    pub fn tempered(&self, beta: f64, options: &Options) -> Vec<Entry> {
        let examples = self.examples().tempered(None, beta);
        scorecard::plain(&examples, &classification::scores(), &scoring(options, 0))
    }

    /// Every score at the best temperature.
    pub fn calibrated(&self, options: &Options) -> Vec<Entry> {
        let scoring = scoring(options, 0);
        scorecard::calibrated(&self.examples(), &classification::scores(), &scoring)
    }

    /// Uncertainties of the own and of the OOD examples.
    pub fn sides(&self) -> (Uncertainties, Uncertainties) {
        let side = |ood: bool| {
            let rows: Vec<usize> = (0..self.n()).filter(|&i| self.ood[i] == ood).collect();
            if rows.is_empty() {
                return Uncertainties { confidence: vec![], total: vec![], model: None };
            }
            Uncertainties::of(&self.rows(&rows).try_pool().expect("no number is at fault"))
        };
        (side(false), side(true))
    }

    /// The examples with these indices, in this order, as often as they are named.
    pub fn rows(&self, rows: &[usize]) -> Self {
        let all = self.n();
        Self {
            values: take_rows(&self.values, all, self.classes, rows),
            labels: rows.iter().map(|&i| self.labels[i]).collect(),
            reference: take_rows(&self.reference, all, self.classes, rows),
            ood: rows.iter().map(|&i| self.ood[i]).collect(),
            groups: rows.iter().map(|&i| self.groups[i]).collect(),
            ..self.clone()
        }
    }

    /// Class `c` becomes what class `from[c]` was, in members, labels, reference and costs alike.
    pub fn classes_from(&self, from: &[usize]) -> Self {
        let move_all = |values: &[f64]| -> Vec<f64> {
            values.chunks(self.classes).flat_map(|row| from.iter().map(|&c| row[c])).collect()
        };
        let now = |label: u32| from.iter().position(|&c| c == label as usize).unwrap() as u32;
        Self {
            values: move_all(&self.values),
            reference: move_all(&self.reference),
            labels: self.labels.iter().map(|&label| now(label)).collect(),
            costs: self.costs.iter().map(|row| move_all(row)).collect(),
            ..self.clone()
        }
    }

    /// The members with these indices.
    pub fn members_from(&self, from: &[usize]) -> Self {
        let size = self.n() * self.classes;
        let values = from.iter().flat_map(|&m| &self.values[m * size..(m + 1) * size]);
        Self { members: from.len(), values: values.copied().collect(), ..self.clone() }
    }

    /// Every row of every member made into another.
    pub fn each_row(&self, form: Form, f: impl Fn(usize, &[f64]) -> Vec<f64>) -> Self {
        let rows = self.values.chunks(self.classes).enumerate();
        Self { form, values: rows.flat_map(|(i, row)| f(i, row)).collect(), ..self.clone() }
    }
}

/// An ensemble of logits whose labels are drawn from its pooled probabilities to the power
/// `1/temperature`.
pub fn drawn(n: usize, classes: usize, members: usize, temperature: f64) -> Data {
    let mut generator = Stream::root(7).child("drawn").generator();
    let mut row = || (0..classes).map(|_| 4.0 * uniform(&mut generator) - 2.0).collect();
    let members: Vec<Vec<Vec<f64>>> =
        (0..members).map(|_| (0..n).map(|_| row()).collect()).collect();
    let mut data = Data::ensemble(Form::Logits, &members, &vec![0; n]);
    let pooled = data.try_pool().unwrap();
    let log_p = pooled.distributions.rows(distributions::Kind::LogP, 0..n);
    for (label, log_p) in data.labels.iter_mut().zip(log_p.chunks(classes)) {
        let scaled: Vec<f64> = log_p.iter().map(|l| l / temperature).collect();
        let mut rest = uniform(&mut generator);
        let position = log_softmax(&scaled).iter().position(|l| {
            rest -= l.exp();
            rest < 0.0
        });
        *label = position.unwrap_or(classes - 1) as u32;
    }
    data
}

/// Regressed examples: each member a Gaussian, a draw or the maker of a row of quantiles.
#[derive(Clone, Debug)]
pub struct Targets {
    pub members: usize,
    /// `[members, examples]`.
    pub locations: Vec<f64>,
    /// `[members, examples]`.
    pub scales: Vec<f64>,
    pub targets: Vec<f64>,
    /// The example's group.
    pub groups: Vec<i64>,
    /// Whether the predictions are handed over in single precision.
    pub narrow: bool,
}

/// What the numbers of [`Targets`] are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Gaussians,
    /// The locations are draws.
    Samples,
    /// Quantiles of the first member's Gaussian, to three digits.
    Quantiles,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Gaussians, Self::Samples, Self::Quantiles];
}

/// Levels of the files of quantiles, and those quantiles of the standard normal distribution.
pub const QUANTILES: [(f64, f64); 5] =
    [(0.025, -1.96), (0.25, -0.674), (0.5, 0.0), (0.75, 0.674), (0.975, 1.96)];

impl Targets {
    pub fn n(&self) -> usize {
        self.targets.len()
    }

    pub fn outcomes(&self, kind: Kind) -> Outcomes {
        self.outcomes_at(kind, Options::default().level)
    }

    /// With central intervals of this mass.
    pub fn outcomes_at(&self, kind: Kind, level: f64) -> Outcomes {
        self.parts_at(kind, level, Parts::ALL)
    }

    /// Some parts of those of Gaussians; other kinds are whole.
    pub fn parts_at(&self, kind: Kind, level: f64, parts: Parts) -> Outcomes {
        let n = self.n();
        let locations = source(&self.locations, [self.members, n, 1], self.narrow);
        let scales = source(&self.scales, [self.members, n, 1], self.narrow);
        let targets = self.targets.clone();
        match kind {
            Kind::Gaussians => Outcomes::gaussians(&*locations, &*scales, targets, level, parts),
            Kind::Samples => Outcomes::samples(&*locations, targets, level),
            Kind::Quantiles => {
                let at = |z: f64| (0..n).map(move |i| self.locations[i] + z * self.scales[i]);
                let values: Vec<f64> = QUANTILES.iter().flat_map(|&(_, z)| at(z)).collect();
                let held = |level: f64| if self.narrow { f64::from(level as f32) } else { level };
                let levels = QUANTILES.iter().map(|&(level, _)| held(level)).collect();
                let quantiles = source(&values, [5, n, 1], self.narrow);
                Outcomes::quantiles(levels, &*quantiles, targets, level)
            }
        }
        .expect("finite numbers")
    }

    pub fn scores(&self, kind: Kind) -> Vec<Entry> {
        let scoring = scoring(&Options::default(), 0);
        scorecard::plain(&self.outcomes(kind), &regression::scores(), &scoring)
    }

    /// The same, then every score of every group and over the groups.
    pub fn scores_and_groups(&self, kind: Kind) -> Vec<Entry> {
        let (mut entries, scores) = (self.scores(kind), regression::scores());
        let scoring = scoring(&Options::default(), 0);
        entries.extend(scorecard::grouped(&self.outcomes(kind), &scores, &self.groups, &scoring));
        entries
    }

    pub fn rows(&self, rows: &[usize]) -> Self {
        let all = self.n();
        Self {
            locations: take_rows(&self.locations, all, 1, rows),
            scales: take_rows(&self.scales, all, 1, rows),
            targets: rows.iter().map(|&i| self.targets[i]).collect(),
            groups: rows.iter().map(|&i| self.groups[i]).collect(),
            ..*self
        }
    }

    pub fn members_from(&self, from: &[usize]) -> Self {
        let n = self.n();
        let pick = |values: &[f64]| -> Vec<f64> {
            from.iter().flat_map(|&m| values[m * n..(m + 1) * n].to_vec()).collect()
        };
        let (locations, scales) = (pick(&self.locations), pick(&self.scales));
        Self { members: from.len(), locations, scales, ..self.clone() }
    }

    /// In another unit: `factor * y + shift`.
    pub fn in_unit(&self, factor: f64, shift: f64) -> Self {
        let moved = |values: &[f64]| values.iter().map(|v| factor * v + shift).collect();
        Self {
            locations: moved(&self.locations),
            scales: self.scales.iter().map(|s| factor * s).collect(),
            targets: moved(&self.targets),
            ..self.clone()
        }
    }
}

fn take_rows(values: &[f64], all: usize, width: usize, rows: &[usize]) -> Vec<f64> {
    let member = |member: &[f64]| -> Vec<f64> {
        rows.iter().flat_map(|&i| member[i * width..(i + 1) * width].to_vec()).collect()
    };
    values.chunks(all * width).flat_map(member).collect()
}

/// Numbers in memory as a source of members, `narrow` for single precision.
pub fn source(values: &[f64], shape: [usize; 3], narrow: bool) -> Box<dyn Members> {
    if narrow {
        let values = values.iter().map(|&v| v as f32).collect();
        Box::new(InMemory::<f32>::new(values, shape).expect("the shape fits"))
    } else {
        Box::new(InMemory::new(values.to_vec(), shape).expect("the shape fits"))
    }
}

/// Everything is wanted; `resamples` of 0 for no intervals.
pub fn scoring(options: &Options, resamples: usize) -> Scoring<'static> {
    let root = Stream::root(1);
    Scoring {
        options: options.clone(),
        bootstrap: (resamples > 0)
            .then(|| Bootstrap { resamples, stream: root.child("bootstrap") }),
        splits: root.child("splits"),
        wanted: &|_| true,
        progress: &Silent,
    }
}

/// What an entry says, where it must say something.
pub fn value_in(entries: &[Entry], name: &str) -> f64 {
    let entry = entries.iter().find(|e| e.name == name).expect("the table has the name");
    entry.value.clone().unwrap_or_else(|why| panic!("{name} is undefined: {}", why.0))
}

/// Whether two numbers agree, relatively or absolutely, whichever is more lenient. An infinite one
/// agrees with nothing but itself.
pub fn close(a: f64, b: f64, tolerance: f64) -> bool {
    let apart = (a - b).abs();
    a == b || (apart.is_finite() && apart <= tolerance * (1.0 + a.abs().max(b.abs())))
}

/// Small whole weights for [`LANES`] resamples, each with some weight in it.
pub fn weights(n: usize) -> impl Strategy<Value = Vec<[Count; LANES]>> {
    vec(proptest::array::uniform16(0_u8..4), n).prop_map(|mut weights| {
        weights[0] = weights[0].map(|w| w.max(1));
        weights
    })
}

/// The sizes of generated data.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub members: usize,
    pub n: usize,
    pub classes: usize,
}

/// Members up to 4, classes up to 11, examples a multiple of `step` up to `most` times that.
pub fn shape(step: usize, most: usize) -> impl Strategy<Value = Shape> {
    (1..=4_usize, 1..=most, 2..=11_usize).prop_map(move |(members, n, classes)| Shape {
        members,
        n: n * step,
        classes,
    })
}

/// Classification data around these values; about two labels of three are the first member's
/// prediction, so that there is something to calibrate.
fn around(
    Shape { members, n, classes }: Shape,
    form: Form,
    values: impl Strategy<Value = Vec<f64>>,
) -> impl Strategy<Value = Data> {
    let labels = vec((0..3_u8, 0..classes as u32), n);
    let costs = vec(vec(-1.0..2.0_f64, classes), 1..4);
    let reference = vec(-3.0..3.0_f64, n * classes);
    let rest = (labels, reference, costs, vec(any::<bool>(), n), groups(n));
    (values, rest).prop_map(move |(values, (labels, reference, costs, ood, groups))| {
        let predicted = |i: usize| {
            let row = &values[i * classes..(i + 1) * classes];
            (0..classes).fold(0, |best, c| if row[c] > row[best] { c } else { best }) as u32
        };
        let label = |(i, &(kind, other)): (usize, &(u8, u32))| {
            if kind > 0 { predicted(i) } else { other }
        };
        let labels = labels.iter().enumerate().map(label).collect();
        let narrow = false;
        Data { form, members, classes, values, labels, reference, costs, ood, groups, narrow }
    })
}

/// Up to three groups.
fn groups(n: usize) -> impl Strategy<Value = Vec<i64>> {
    vec(-1..=1_i64, n)
}

/// Logits without ties.
pub fn smooth(shape: Shape) -> impl Strategy<Value = Data> {
    around(shape, Form::Logits, vec(-4.0..4.0_f64, shape.members * shape.n * shape.classes))
}

/// Probabilities that are multiples of 1/8: ties everywhere, zeros and ones among them.
pub fn tied(shape: Shape) -> impl Strategy<Value = Data> {
    let Shape { members, n, classes } = shape;
    let eighths = vec(vec(0..classes, 8), members * n).prop_map(move |rows| {
        let mut values = vec![0.0; rows.len() * classes];
        for (row, eighths) in rows.iter().enumerate() {
            eighths.iter().for_each(|&class| values[row * classes + class] += 0.125);
        }
        values
    });
    around(shape, Form::Probs, eighths)
}

/// Logits of 1000 and -inf between ordinary ones.
pub fn extreme(shape: Shape) -> impl Strategy<Value = Data> {
    let logit = prop_oneof![
        Just(1e3),
        Just(-1e3),
        Just(f64::NEG_INFINITY),
        Just(0.0),
        -1e3..1e3_f64,
        -1.0..1.0_f64
    ];
    let rows = vec(vec(logit, shape.classes), shape.members * shape.n).prop_map(|mut rows| {
        // A row of nothing but -inf is no distribution, and refused.
        for row in rows.iter_mut().filter(|row| row.iter().all(|x| x.is_infinite())) {
            row[0] = 0.0;
        }
        rows.concat()
    });
    around(shape, Form::Logits, rows)
}

/// Regression data; `grid` of 0 for numbers without ties, or else multiples of it.
pub fn targets(shape: Shape, grid: f64) -> impl Strategy<Value = Targets> {
    let Shape { members, n, .. } = shape;
    let snap = move |x: f64| if grid > 0.0 { (x / grid).round() * grid } else { x };
    let numbers = move |low: f64, high: f64, count: usize| {
        vec(low..high, count).prop_map(move |v| v.into_iter().map(snap).collect::<Vec<f64>>())
    };
    let (locations, scales) = (numbers(-2.0, 2.0, members * n), numbers(0.25, 2.0, members * n));
    (locations, scales, numbers(-2.0, 2.0, n), groups(n)).prop_map(
        move |(locations, scales, targets, groups)| Targets {
            members,
            locations,
            scales,
            targets,
            groups,
            narrow: false,
        },
    )
}

/// An order of `0..n`.
pub fn order(n: usize) -> impl Strategy<Value = Vec<usize>> {
    Just((0..n).collect::<Vec<usize>>()).prop_shuffle()
}

/// A number in `[0, 1)`.
pub fn uniform(generator: &mut impl Rng) -> f64 {
    (generator.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Logits as log probabilities, from the definition.
pub fn log_softmax(row: &[f64]) -> Vec<f64> {
    let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log_z = top + row.iter().map(|x| (x - top).exp()).sum::<f64>().ln();
    row.iter().map(|x| x - log_z).collect()
}

pub fn defaults() -> Options {
    Options::default()
}

/// The part of a name that says which score it is.
pub fn base(name: &str) -> &str {
    let of_group = || name.strip_prefix("group.")?.split_once('.').map(|(_, score)| score);
    let prefixed = ["calibrated.", "worst_group.", "p10_group.", "median_group."];
    let stripped = prefixed.iter().find_map(|prefix| name.strip_prefix(prefix));
    stripped.or_else(of_group).unwrap_or(name)
}

/// Whether a number is made of the values of several groups.
pub fn over_groups(name: &str) -> bool {
    name.starts_with("worst_group.") || name.starts_with("p10_group.")
}

/// Roots are compared before the root is taken: near 0 it magnifies rounding.
pub fn unrooted(name: &str, value: f64) -> f64 {
    let root = matches!(base(name), "mmce" | "mmce_weighted" | "debiased_ece");
    if root { value * value } else { value }
}

pub fn assert_same(name: &str, a: f64, b: f64, tolerance: f64) {
    let same = close(unrooted(name, a), unrooted(name, b), tolerance);
    assert!(same, "{name}: {a} became {b}");
}

pub fn assert_same_entry(a: &Entry, b: &Entry, tolerance: f64) {
    assert_eq!(a.name, b.name);
    match (&a.value, &b.value) {
        (Ok(before), Ok(after)) => assert_same(&a.name, *before, *after, tolerance),
        (Err(_), Err(_)) => {}
        (before, after) => panic!("{}: {before:?} became {after:?}", a.name),
    }
}

pub fn assert_unchanged(before: &[Entry], after: &[Entry], tolerance: f64) {
    assert_eq!(before.len(), after.len());
    before.iter().zip(after).for_each(|(a, b)| assert_same_entry(a, b, tolerance));
}

/// Rounding of sums in another order, with some room.
pub const ROUNDING: f64 = 1e-9;

/// What remains of a temperature's last Newton step, where rounding changed the steps before it.
pub const FITTED: f64 = 1e-7;

/// Gaps between probability and frequency are resampled in single precision.
pub const SINGLE: f64 = 1e-6;
