//! Who is ahead, by which score, and whether chance may have made it so.

use dubio_metrics::card::Direction;

use crate::chapter::{Chapter, Method};
use crate::study::Finished;
use crate::summary::{Cell, Difference, Summary, difference, pairs};
use crate::words::{in_words, listed};

/// Scores to rank classifiers by: the likelihood at the best temperature; where it has no value a proper
/// score that is always finite. Not the plain likelihood, see [`dubio_metrics::compare::forbidden`].
const OF_CLASSES: [&str; 2] = ["calibrated.nll", "brier"];
/// Scores to rank regressions by, as far as the form of the predictions determines them.
const OF_NUMBERS: [&str; 5] = ["nll", "crps", "pinball", "interval_score", "mae"];

/// A ranking of a chapter's methods by one score of the test set.
#[derive(Clone, Debug)]
pub struct Ranking<'a> {
    /// The score.
    pub score: &'static str,
    /// Why it is not a better one, where a better one exists.
    pub instead_of: Option<String>,
    /// The methods that have a value, the best first.
    pub standings: Vec<Standing<'a>>,
    /// The methods that have none, and why.
    pub without: Vec<(Method<'a>, String)>,
}

/// A method in a ranking.
#[derive(Clone, Debug)]
pub struct Standing<'a> {
    /// The method.
    pub method: Method<'a>,
    /// Its score.
    pub summary: Summary,
    /// How much worse it is than the first, on the same examples; `None` for the first itself.
    pub behind: Option<Difference>,
}

impl Standing<'_> {
    /// Whether chance alone may have put it behind the first.
    pub fn may_be_first(&self) -> bool {
        self.behind.is_none_or(|d| d.may_be_chance())
    }
}

impl<'a> Ranking<'a> {
    /// The ranking of a chapter, by the first score that every method with predictions has for all its
    /// runs; where no score is, by the one that most methods have.
    pub fn of(chapter: &Chapter<'a>) -> Option<Self> {
        let headlines = if chapter.is_classification() { &OF_CLASSES[..] } else { &OF_NUMBERS };
        // Pinball losses at different levels say nothing side by side.
        let comparable = |score: &&str| *score != "pinball" || same_levels(chapter);
        let scored = || {
            let known = headlines.iter().copied().filter(comparable);
            known.filter(|score| any_value(chapter, score))
        };
        let all_have = |score: &&'static str| lacking(chapter, score).is_empty();
        let fewest = || scored().min_by_key(|score| lacking(chapter, score).len());
        let score = scored().find(all_have).or_else(fewest)?;
        let better = headlines[0];
        let passed_over = score != better && !lacking(chapter, better).is_empty();
        let instead_of = passed_over.then(|| why_not(chapter, better));
        Some(Self { instead_of, ..Self::by(chapter, score) })
    }

    fn by(chapter: &Chapter<'a>, score: &'static str) -> Self {
        let mut without = Vec::new();
        let mut standings: Vec<Standing<'a>> = Vec::new();
        for method in &chapter.methods {
            match method.cell("test", score) {
                Some(Cell::Value(summary)) => {
                    standings.push(Standing { method: method.clone(), summary, behind: None });
                }
                Some(Cell::Undefined(why)) => without.push((method.clone(), why)),
                None => without.push((method.clone(), unfinished(method))),
            }
        }
        let direction = chapter.card(score).map_or(Direction::Lower, |card| card.direction);
        let badness = |s: &Standing<'_>| direction.badness(s.summary.mean).unwrap_or(f64::INFINITY);
        standings.sort_by(|a, b| badness(a).total_cmp(&badness(b)));
        let units: Vec<_> = standings.iter().map(|s| s.method.units("test", score)).collect();
        let differences = pairs(&units);
        for (standing, own) in standings.iter_mut().zip(differences).skip(1) {
            standing.behind = own[0];
        }
        Self { score, instead_of: None, standings, without }
    }
}

/// Why a method has no score at all.
fn unfinished(method: &Method<'_>) -> String {
    match method.count() {
        (0, 1) => "its run did not finish".to_string(),
        (0, runs) => format!("none of its {runs} runs finished"),
        _ => "its predictions do not determine this score".to_string(),
    }
}

fn any_value(chapter: &Chapter<'_>, score: &str) -> bool {
    let mut entries = chapter.finished().filter_map(|(_, finished)| finished.entry("test", score));
    entries.any(|entry| entry.value.is_ok())
}

/// Methods with a run that has no value for a score, and why.
fn lacking<'a>(chapter: &Chapter<'a>, score: &str) -> Vec<(&'a str, String)> {
    let why = |method: &Method<'a>| {
        let entry = |(_, finished): (_, &'a Finished)| match finished.entry("test", score) {
            Some(entry) => entry.value.as_ref().err().map(|why| why.0.clone()),
            None => Some("its predictions do not determine it".to_string()),
        };
        method.finished().find_map(entry)
    };
    chapter.methods.iter().filter_map(|method| Some((method.name, why(method)?))).collect()
}

/// `NLL is undefined for samples (draws have no density)`.
fn why_not(chapter: &Chapter<'_>, score: &str) -> String {
    let lacking = lacking(chapter, score);
    let names: Vec<&str> = lacking.iter().map(|(name, _)| *name).collect();
    let why = lacking.first().map_or("", |(_, why)| &why[..]);
    let of = match names.len() {
        1..=4 => listed(&names),
        n => format!("{n} of {} methods", chapter.methods.len()),
    };
    format!("{} is undefined for {of} ({why})", in_words(score))
}

/// Whether all predictions of quantiles are at the same levels.
fn same_levels(chapter: &Chapter<'_>) -> bool {
    let mut levels = chapter.finished().filter_map(|(_, finished)| {
        let quantiles = finished.view("test")?.quantiles.as_ref()?;
        Some(quantiles.iter().map(|own| own.level).collect::<Vec<f64>>())
    });
    let first = levels.next();
    levels.all(|own| Some(&own) == first.as_ref())
}

/// The method that is better than every other by more than chance, if one is.
pub fn clear_best(chapter: &Chapter<'_>, split: &str, score: &str) -> Option<usize> {
    let units: Vec<_> = chapter.methods.iter().map(|m| m.units(split, score)).collect();
    let valued: Vec<usize> = (0..units.len())
        .filter(|&m| chapter.methods[m].mean(split, score).is_some_and(f64::is_finite))
        .collect();
    let clearly = |d: &Option<Difference>| d.is_some_and(|d| d.value > 0.0 && !d.may_be_chance());
    let rest = |a: usize| valued.iter().copied().filter(move |b| *b != a);
    // Most scores have no clear best: a single comparison that may be chance shows that without correcting all pairs.
    let leads = |a: &usize| rest(*a).all(|b| clearly(&difference(&units[b], &units[*a])));
    let best = valued.iter().copied().find(leads).filter(|_| valued.len() > 1)?;
    let own: Vec<_> = valued.iter().map(|m| units[*m].clone()).collect();
    let at = valued.iter().position(|m| *m == best)?;
    let corrected = pairs(&own);
    (0..own.len()).filter(|m| *m != at).all(|m| clearly(&corrected[m][at])).then_some(best)
}
