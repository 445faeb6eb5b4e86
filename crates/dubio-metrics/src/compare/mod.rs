//! Comparisons of methods on the same examples: differences with intervals, a ranking, how far it
//! can be trusted, and what may not be compared at all.

mod caution;
mod correlation;
mod holm;
mod ranking;
mod stability;

use caution::uncalibrated_order;
pub use caution::{Caution, forbidden, incomparable, unequal_passes};
pub use correlation::{Correlation, correlations};
pub use holm::{holm, p_value};
pub use ranking::{Difference, RankedMethod, Ranking, differences, ranking};
pub use stability::{
    BINS, ENOUGH, Flip, Stability, TEMPERATURES, calibrated_over_bins, over_bins, over_temperatures,
};

use serde::Serialize;

use crate::card::{Ranked, Setting};
use crate::classification;
use crate::examples::Examples;
use crate::regression::Outcomes;
use crate::score::Score;
use crate::scorecard::{self, Entry, Scoring};

/// A method's predictions of the examples that all methods predict.
pub struct Contestant<E> {
    /// Its name.
    pub name: String,
    /// Number of members, which is the number of forward passes.
    pub members: usize,
    /// Its predictions, with the labels or targets.
    pub examples: E,
}

/// What a comparison found.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The methods, in the order in which others refer to them.
    pub methods: Vec<Method>,
    /// The score that methods are ranked by.
    pub headline: String,
    /// Why it is not the first choice: which methods do not have that score, and why.
    pub instead_of: Option<String>,
    /// By the headline score; `None` when that would mislead, and a caution says why.
    pub ranking: Option<Ranking>,
    /// Each score of each method.
    pub scores: Vec<Scored>,
    /// Paired differences of every score and pair.
    pub differences: Vec<Difference>,
    /// Correlations of the scores over methods; none for fewer than three methods.
    pub correlations: Vec<Correlation>,
    /// Binned scores over the number of bins.
    pub over_bins: Vec<Stability>,
    /// Scores over the temperature.
    pub over_temperatures: Vec<Stability>,
    /// What may not be compared.
    pub cautions: Vec<Caution>,
}

/// One of the methods.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// Number of forward passes.
    pub members: usize,
}

/// A score of all methods.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scored {
    /// The score.
    pub score: String,
    /// Arrow of the better direction.
    pub better: &'static str,
    /// Value of each method; `None` where there is none.
    pub values: Vec<Option<f64>>,
    /// Its 95 % interval.
    pub intervals: Vec<Option<(f64, f64)>>,
    /// Why a method has no value.
    pub why: Vec<Option<String>>,
}

/// Compares classifiers of the same examples by the scores that are wanted, and ranks them by the first of
/// `headlines` that all of them have; the headlines must be among the wanted scores.
pub fn classifiers(
    methods: &mut [Contestant<Examples>],
    headlines: &[&str],
    scoring: &Scoring<'_>,
) -> Comparison {
    let mut scores = classification::scores();
    scores.retain(|score| score.card().facts.ranked != Ranked::Never);
    let table = |method: &mut Contestant<Examples>| {
        let mut entries = scorecard::plain(&method.examples, &scores, scoring);
        method.examples.forget();
        entries.extend(scorecard::calibrated(&method.examples, &scores, scoring));
        entries
    };
    let tables: Vec<Vec<Entry>> = methods.iter_mut().map(table).collect();
    let methods = &*methods;
    let mut comparison = compared(methods, &tables, headlines);
    let headline = &comparison.headline.clone()[..];
    let all: Vec<&Examples> = methods.iter().map(|method| &method.examples).collect();
    let named = |names: &[&str]| -> Vec<&dyn Score<Examples>> {
        let known = scores.iter().map(|score| &**score);
        known.filter(|score| names.contains(&&score.name()[..])).collect()
    };
    scoring.progress.start("stability", 2);
    let with_bins = |names: &[&str]| -> Vec<&dyn Score<Examples>> {
        named(names).into_iter().filter(|score| score.card().facts.has(Setting::Bins)).collect()
    };
    let binned = with_bins(&["ece", "ace", "uce", headline]);
    comparison.over_bins = over_bins(&all, &binned, &scoring.options);
    let calibrated = headline.strip_prefix("calibrated.").map(|plain| with_bins(&[plain]));
    let calibrated = calibrated.unwrap_or_default();
    comparison.over_bins.extend(calibrated_over_bins(&all, &calibrated, scoring));
    scoring.progress.advance(1);
    let tempered = named(&["nll", "brier", "ece", "ace", "uce", "mmce"]);
    comparison.over_temperatures = over_temperatures(&all, &tempered, &scoring.options);
    scoring.progress.advance(1);
    comparison.refuse(headline);
    comparison
}

/// The same for regressions.
pub fn regressions(
    methods: &[Contestant<Outcomes>],
    headlines: &[&str],
    scoring: &Scoring<'_>,
) -> Comparison {
    let scores = crate::regression::scores();
    let tables: Vec<Vec<Entry>> =
        methods.iter().map(|m| scorecard::plain(&m.examples, &scores, scoring)).collect();
    compared(methods, &tables, headlines)
}

fn compared<E>(methods: &[Contestant<E>], tables: &[Vec<Entry>], headlines: &[&str]) -> Comparison {
    let count = tables.first().map_or(0, Vec::len);
    let rows: Vec<Vec<&Entry>> =
        (0..count).map(|s| tables.iter().map(|table| &table[s]).collect()).collect();
    let scores: Vec<Scored> = rows.iter().map(|row| Scored::new(row)).collect();
    let names: Vec<String> = scores.iter().map(|scored| scored.score.clone()).collect();
    let values: Vec<Vec<Option<f64>>> = scores.iter().map(|s| s.values.clone()).collect();
    let pairs: Vec<(usize, usize)> =
        (0..methods.len()).flat_map(|a| (a + 1..methods.len()).map(move |b| (a, b))).collect();
    let own: Vec<Method> =
        methods.iter().map(|m| Method { name: m.name.clone(), members: m.members }).collect();
    let members: Vec<usize> = own.iter().map(|method| method.members).collect();
    let called: Vec<String> = own.iter().map(|method| method.name.clone()).collect();
    let (headline, instead_of) = headline(&scores, &called, headlines);
    Comparison {
        ranking: rows.iter().find(|row| row[0].name == headline).and_then(|row| ranking(row)),
        headline,
        instead_of,
        differences: rows.iter().flat_map(|row| differences(row, &pairs)).collect(),
        correlations: correlations(&names, &values),
        over_bins: Vec::new(),
        over_temperatures: Vec::new(),
        cautions: unequal_passes(&called, &members).into_iter().collect(),
        scores,
        methods: own,
    }
}

/// The first of the wanted scores that every method has, and why it is not the first choice. Where no
/// score is one that all have, it is the first choice, and methods without it are not ranked.
fn headline(scores: &[Scored], methods: &[String], wanted: &[&str]) -> (String, Option<String>) {
    let find = |name: &&str| scores.iter().find(|scored| scored.score == **name);
    let of_all = |name: &&&str| find(name).is_some_and(|s| s.values.iter().all(Option::is_some));
    let first = wanted.first().copied().unwrap_or_default();
    let chosen = wanted.iter().find(of_all).copied().unwrap_or(first);
    let lacking = find(&first).filter(|_| chosen != first).and_then(|scored| {
        let (method, why) =
            scored.why.iter().enumerate().find_map(|(m, why)| Some((m, why.as_ref()?)))?;
        Some(format!("{} has no {first} ({why})", methods[method]))
    });
    (chosen.to_string(), lacking)
}

impl Scored {
    fn new(row: &[&Entry]) -> Self {
        Self {
            score: row[0].name.clone(),
            better: row[0].card.direction.arrow(),
            values: row.iter().map(|entry| entry.value.as_ref().ok().copied()).collect(),
            intervals: row.iter().map(|entry| entry.interval).collect(),
            why: row.iter().map(|entry| Some(entry.value.as_ref().err()?.0.clone())).collect(),
        }
    }
}

impl Comparison {
    /// Takes the ranking back where the papers show that it would mislead.
    fn refuse(&mut self, headline: &str) {
        let names: Vec<String> = self.methods.iter().map(|method| method.name.clone()).collect();
        let mut refused = forbidden(headline);
        for stability in &self.over_bins {
            let caution = stability.bins_caution(&names);
            if stability.score == headline {
                refused = refused.or(caution);
            } else {
                self.cautions.extend(caution);
            }
        }
        let values =
            |name: &str| self.scores.iter().find(|s| s.score == name).map(|s| &s.values[..]);
        if let Some((plain, calibrated)) = values("nll").zip(values("calibrated.nll")) {
            let turned = uncalibrated_order(plain, calibrated);
            self.cautions.extend(turned.filter(|_| headline != "nll"));
        }
        if let Some(caution) = refused {
            self.ranking = None;
            self.cautions.insert(0, caution);
        }
    }
}
