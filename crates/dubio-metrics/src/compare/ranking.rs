//! Paired differences, and the order of methods that follows from them.

use serde::Serialize;

use super::holm::{holm, p_value};
use crate::bootstrap::interval;
use crate::scorecard::Entry;

/// `a - b` of one score of two methods on the same examples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The score.
    pub score: String,
    /// Index of the first method among those compared.
    pub a: usize,
    /// Index of the second.
    pub b: usize,
    /// The difference; `None` where one of the two has no value.
    pub value: Option<f64>,
    /// Lower end of its 95 % interval, from resamples that both share.
    pub lo: Option<f64>,
    /// Upper end.
    pub hi: Option<f64>,
    /// Two-sided p-value of no difference, corrected by Holm's method for all pairs of this score.
    pub p_holm: Option<f64>,
    /// Whether the interval leaves 0 out and `p_holm` is at most 0.05: more than chance.
    pub told_apart: Option<bool>,
}

/// The paired differences of one score for some pairs of methods, corrected for their number.
pub fn differences(entries: &[&Entry], pairs: &[(usize, usize)]) -> Vec<Difference> {
    let mut all: Vec<Difference> =
        pairs.iter().map(|&(a, b)| difference((a, entries[a]), (b, entries[b]))).collect();
    let plain: Vec<Option<f64>> = all.iter().map(|d| d.p_holm).collect();
    for (difference, p) in all.iter_mut().zip(holm(&plain)) {
        difference.p_holm = p;
        let zero_outside = difference.lo.zip(difference.hi).map(|(lo, hi)| lo > 0.0 || hi < 0.0);
        difference.told_apart = zero_outside.zip(p).map(|(outside, p)| outside && p <= 0.05);
    }
    all
}

/// The paired difference of two entries of the same score, its p-value not yet corrected. Their replicates
/// must come from the same resamples: the same bootstrap stream over the same examples.
fn difference((a, first): (usize, &Entry), (b, second): (usize, &Entry)) -> Difference {
    let value = match (&first.value, &second.value) {
        (Ok(x), Ok(y)) if x == y => Some(0.0), // also where both are infinite
        (Ok(x), Ok(y)) => Some(x - y),
        _ => None,
    };
    let both = first.replicates.iter().zip(&second.replicates);
    let resamples: Vec<f64> = both.map(|(a, b)| if a == b { 0.0 } else { a - b }).collect();
    let interval =
        value.and(interval(&resamples)).filter(|(lo, hi)| lo.is_finite() && hi.is_finite());
    Difference {
        score: first.name.clone(),
        a,
        b,
        value,
        lo: interval.map(|(lo, _)| lo),
        hi: interval.map(|(_, hi)| hi),
        p_holm: interval.and(value).and_then(|value| p_value(value, &resamples)),
        told_apart: None,
    }
}

/// One method in a ranking.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedMethod {
    /// Index of the method among those compared.
    pub method: usize,
    /// 1 for the best; methods with equal values share a rank.
    pub rank: usize,
    /// Its score.
    pub value: f64,
    /// Lower end of the score's own 95 % interval.
    pub lo: Option<f64>,
    /// Upper end.
    pub hi: Option<f64>,
}

/// Methods from best to worst.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranking {
    /// The score.
    pub score: String,
    /// From best to worst; methods without a value are missing.
    #[serde(rename = "ranks")]
    pub ranked: Vec<RankedMethod>,
    /// Largest runs of neighbours in the ranking no two of which can be told apart, best first; a
    /// method that can be told from all others is a run of its own. A method may be in two.
    pub groups: Vec<Vec<usize>>,
    /// Differences of every pair, the better one first.
    pub differences: Vec<Difference>,
}

/// Ranks methods by one score of theirs. `None` when its direction is neither.
pub fn ranking(entries: &[&Entry]) -> Option<Ranking> {
    let first = entries.first()?;
    let direction = first.card.direction;
    direction.badness(0.0)?;
    let badness = |value: f64| direction.badness(value).unwrap_or(f64::NAN);
    let mut order: Vec<(usize, f64)> = entries
        .iter()
        .enumerate()
        .filter_map(|(method, entry)| Some((method, *entry.value.as_ref().ok()?)))
        .collect();
    order.sort_by(|(_, a), (_, b)| badness(*a).total_cmp(&badness(*b)));
    let ranked = order.iter().map(|&(method, value)| RankedMethod {
        method,
        rank: 1 + order.iter().filter(|(_, other)| badness(*other) < badness(value)).count(),
        value,
        lo: entries[method].interval.map(|(lo, _)| lo),
        hi: entries[method].interval.map(|(_, hi)| hi),
    });
    let ranked: Vec<RankedMethod> = ranked.collect();
    let order: Vec<usize> = ranked.iter().map(|own| own.method).collect();
    let pairs = order.iter().enumerate();
    let pairs = pairs.flat_map(|(i, &a)| order[i + 1..].iter().map(move |&b| (a, b)));
    let differences = differences(entries, &pairs.collect::<Vec<_>>());
    let groups = groups(&order, &differences);
    Some(Ranking { score: first.name.clone(), ranked, groups, differences })
}

/// See [`Ranking::groups`]. What has no interval cannot be told apart.
fn groups(ranked: &[usize], differences: &[Difference]) -> Vec<Vec<usize>> {
    let apart = |a: usize, b: usize| {
        let pair = differences.iter().find(|d| (d.a, d.b) == (a, b));
        pair.and_then(|d| d.told_apart).unwrap_or(false)
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut covered = 0;
    for start in 0..ranked.len() {
        let fits = |end: &usize| ranked[start..*end].iter().all(|&a| !apart(a, ranked[*end]));
        let end = start + 1 + (start + 1..ranked.len()).take_while(fits).count();
        if end > covered {
            groups.push(ranked[start..end].to_vec());
            covered = end;
        }
    }
    groups
}
