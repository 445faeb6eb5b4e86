//! The check of a classification.

use dubio_progress::Silent;
use rayon::prelude::*;

use super::draw::Draws;
use super::relabel::Relabelled;
use super::{BLIND, Checked, Checking, Mode};
use crate::binning::Edges;
use crate::bootstrap;
use crate::examples::Examples;
use crate::members::{Form, Members};
use crate::score::{Needs, Prepared, Score, Undefined};
use crate::scorecard::{self, Scoring};
use crate::views::Mean;
use crate::weights::{Count, LANES, Weights};

/// Checks the statistics that are wanted: any score of `scores`, and its calibrated form. `examples`
/// are the members' mean with the observed labels.
pub fn classification(
    source: &dyn Members,
    form: Form,
    examples: &Examples,
    scores: &[Box<dyn Score<Examples>>],
    checking: &Checking<'_>,
) -> Vec<Checked> {
    let statistics = Statistics::new(scores, checking);
    let mean = Mean(&examples.columns);
    let (source, form): (&dyn Members, Form) = match checking.mode {
        Mode::Bayesian => (source, form),
        Mode::Independent => (&mean, Form::Probs),
    };
    let draws =
        Draws::new(source, form, &examples.predicted, checking.replicates, &checking.stream);
    let start = Relabelled::new(examples);
    let observed = statistics.of(&start.examples, checking);
    checking.progress.start("replicates", draws.blocks());
    let replicates = statistics.replicates(&draws, &start, checking);
    let named = statistics.all.iter().zip(observed).zip(replicates);
    named
        .map(|((statistic, observed), replicates)| {
            let (name, card) = (statistic.name(), statistic.score.card());
            Checked::new(name, card, examples.len(), observed, draws.in_order(&replicates))
        })
        .collect()
}

/// A score as a statistic, as it is or at the best temperature.
#[derive(Clone, Copy)]
struct Statistic<'a> {
    score: &'a dyn Score<Examples>,
    form: Of,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// The predictions alone.
    Nothing,
    /// The labels, in whatever way the score uses them.
    Labels,
    /// Which predictions are right.
    Hits,
    /// The examples at the best temperature.
    Calibrated,
}

impl Statistic<'_> {
    fn name(&self) -> String {
        match self.form {
            Of::Calibrated => format!("calibrated.{}", self.score.name()),
            Of::Nothing | Of::Labels | Of::Hits => self.score.name(),
        }
    }
}

struct Statistics<'a> {
    all: Vec<Statistic<'a>>,
}

/// A value of each statistic in each lane.
type Block = Vec<[f64; LANES]>;

impl<'a> Statistics<'a> {
    fn new(scores: &'a [Box<dyn Score<Examples>>], checking: &Checking<'_>) -> Self {
        // Edges at the values' own quantiles move when examples are counted twice.
        let movable = checking.options.edges == Edges::QuantileStrict;
        let plain = scores.iter().map(|score| {
            let form = match score.needs() {
                Needs::Nothing => Of::Nothing,
                Needs::Hits if !movable => Of::Hits,
                _ => Of::Labels,
            };
            Statistic { score: &**score, form }
        });
        let calibrated = scores
            .iter()
            .filter(|score| score.card().facts.calibrated)
            .map(|score| Statistic { score: &**score, form: Of::Calibrated });
        let all = plain.chain(calibrated).filter(|s| (checking.wanted)(&s.name())).collect();
        Self { all }
    }

    fn some(&self, form: Of) -> impl Iterator<Item = (usize, &Statistic<'a>)> {
        self.all.iter().enumerate().filter(move |(_, statistic)| statistic.form == form)
    }

    /// The value of every statistic for the examples' labels.
    fn of(&self, examples: &Examples, checking: &Checking<'_>) -> Vec<Result<f64, Undefined>> {
        let ones = vec![[1]; examples.len()];
        let ones = Weights::new(&ones);
        let plain = |statistic: &Statistic<'_>| {
            Ok(statistic.score.prepare(examples, &checking.options)?.value(&ones))
        };
        let mut calibrated = self.calibrated(examples, checking).into_iter();
        let value = |statistic: &Statistic<'_>| match statistic.form {
            Of::Nothing => Err(Undefined::because(BLIND)),
            Of::Calibrated => calibrated.next().unwrap_or_else(|| plain(statistic)),
            Of::Labels | Of::Hits => plain(statistic),
        };
        self.all.iter().map(value).collect()
    }

    /// The values of the calibrated statistics.
    fn calibrated(
        &self,
        examples: &Examples,
        checking: &Checking<'_>,
    ) -> Vec<Result<f64, Undefined>> {
        let scores: Vec<&dyn Score<Examples>> =
            self.some(Of::Calibrated).map(|(_, statistic)| statistic.score).collect();
        let scoring = Scoring {
            options: checking.options.clone(),
            bootstrap: None,
            splits: checking.splits.clone(),
            wanted: &|_| true,
            progress: &Silent,
        };
        scorecard::calibrated_values(examples, &scores, &scoring)
    }

    /// The values of each statistic for the replicates, in the draws' own order.
    fn replicates(
        &self,
        draws: &Draws<'_>,
        start: &Relabelled,
        checking: &Checking<'_>,
    ) -> Vec<Block> {
        let twice = Twice::new(start);
        let prepare = |statistic: &Statistic<'_>| {
            statistic.score.prepare(&twice.examples, &checking.options).ok()
        };
        let hits: OfHits<'_> =
            self.some(Of::Hits).filter_map(|(s, own)| Some((s, prepare(own)?))).collect();
        let of_labels = |s: &&Statistic<'_>| matches!(s.form, Of::Labels | Of::Calibrated);
        let others = Self { all: self.all.iter().filter(of_labels).copied().collect() };
        let blocks: Vec<Block> = (0..draws.blocks())
            .into_par_iter()
            .map_init(
                || start.clone(),
                |own, block| {
                    let mut values = vec![[f64::NAN; LANES]; self.all.len()];
                    let mut values_of_labels =
                        others.block(draws, block, own, checking).into_iter();
                    for (value, statistic) in values.iter_mut().zip(&self.all) {
                        if of_labels(&statistic) {
                            *value = values_of_labels.next().unwrap_or([f64::NAN; LANES]);
                        }
                    }
                    of_hits(draws, block, &hits, &mut values);
                    checking.progress.advance(1);
                    values
                },
            )
            .collect();
        (0..self.all.len()).map(|s| blocks.iter().map(|block| block[s]).collect()).collect()
    }

    /// The values for the labels of a block's replicates.
    fn block(
        &self,
        draws: &Draws<'_>,
        block: usize,
        own: &mut Relabelled,
        checking: &Checking<'_>,
    ) -> Block {
        let mut values = vec![[f64::NAN; LANES]; self.all.len()];
        if self.all.is_empty() {
            return values;
        }
        let n = own.examples.len();
        let mut labels = vec![0; LANES * n];
        draws.labels(block, |lane, example, label| labels[lane * n + example] = label);
        for (lane, labels) in labels.chunks_exact(n).enumerate().take(draws.lanes(block)) {
            own.put(labels);
            let of_lane = self.of(&own.examples, checking);
            for (values, value) in values.iter_mut().zip(of_lane) {
                values[lane] = value.unwrap_or(f64::NAN);
            }
        }
        values
    }
}

/// Statistics of which predictions are right, prepared on [`Twice`], with their places.
type OfHits<'a> = Vec<(usize, Box<dyn Prepared + 'a>)>;

/// Their values for a block's replicates.
fn of_hits(draws: &Draws<'_>, block: usize, hits: &OfHits<'_>, values: &mut Block) {
    if hits.is_empty() {
        return;
    }
    let n = draws.examples();
    let mut weights = vec![[0; LANES]; 2 * n];
    draws.hits(block, |lane, example, hit| {
        weights[example][lane] = Count::from(hit);
        weights[n + example][lane] = Count::from(!hit);
    });
    // Lanes beyond the last replicate: their values are not used, but each must have an example.
    weights[n][draws.lanes(block)..].fill(1);
    let statistics: Vec<&dyn Prepared> = hits.iter().map(|(_, prepared)| &**prepared).collect();
    let of_block = bootstrap::replicates(&statistics, vec![Weights::new(&weights)], &|_| ());
    for ((s, _), value) in hits.iter().zip(&of_block[0]) {
        values[*s] = *value;
    }
}

/// Every example twice, once with its predicted class as its label and once with another class. A
/// replicate is then a set of weights: of each pair, the copy counts that is right if the drawn label
/// is, and wrong if it is not.
struct Twice {
    examples: Examples,
}

impl Twice {
    fn new(start: &Relabelled) -> Self {
        let (n, classes) = (start.examples.len() as u32, start.examples.classes as u32);
        let rows: Vec<u32> = (0..n).chain(0..n).collect();
        let mut examples = start.examples.subset(&rows);
        let (right, wrong) = examples.labels.split_at_mut(n as usize);
        for ((right, wrong), &predicted) in right.iter_mut().zip(wrong).zip(&examples.predicted) {
            (*right, *wrong) = (predicted, (predicted + 1) % classes);
        }
        Self { examples }
    }
}
