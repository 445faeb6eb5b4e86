//! What a ranking says, by which score and under which condition, and what to do.

use dubio_metrics::card::Direction;

use crate::calibration::{advice, confidence, temperature};
use crate::chapter::{Chapter, Method};
use crate::conclude::{checks, detection, intervals, quantiles};
use crate::number::shown;
use crate::ranking::{Ranking, Standing};
use crate::summary::{Difference, correct, difference};
use crate::words::{in_words, listed};

/// What the whole ranking says, in a few sentences.
pub fn headline(chapter: &Chapter<'_>, ranking: &Ranking<'_>) -> String {
    let Some((first, rest)) = ranking.standings.split_first() else {
        return "No run has predictions that could be ranked.".to_string();
    };
    if rest.is_empty() {
        return alone(chapter, &first.method);
    }
    let others = [disagreement(chapter, ranking), advice(&first.method)];
    let all: Vec<String> =
        [leading(ranking, first, rest)].into_iter().chain(others.into_iter().flatten()).collect();
    all.join(" ")
}

/// Who is ahead, by which score, and whether chance may have made it so.
fn leading(ranking: &Ranking<'_>, first: &Standing<'_>, rest: &[Standing<'_>]) -> String {
    let name = first.method.name;
    let scaled = ranking.score.strip_prefix("calibrated.");
    let score = in_words(scaled.unwrap_or(ranking.score));
    let condition = |temperature: Option<String>| match (scaled, temperature) {
        (None, _) => String::new(),
        (Some(_), None) => "After temperature scaling, ".to_string(),
        (Some(_), Some(t)) => format!("After temperature scaling ({t} for {name}), "),
    };
    let equals: Vec<&Standing<'_>> = rest.iter().filter(|s| s.may_be_first()).collect();
    let count = rest.len() + 1;
    match (equals.len(), rest) {
        (0, [other]) => {
            let condition = condition(temperature(&first.method));
            format!(
                "{condition}{name} is better than {} in {score} by more than chance.",
                other.method.name
            )
        }
        (0, _) => {
            let condition = condition(temperature(&first.method));
            format!(
                "{condition}{name} has the best {score} of {count} methods, ahead of every other by more than chance."
            )
        }
        (_, [other]) => {
            let condition = condition(None);
            format!(
                "{condition}{name} and {} do not differ in {score} by more than chance.",
                other.method.name
            )
        }
        (n, _) if n == rest.len() => {
            let condition = condition(None);
            format!(
                "{condition}{name} has the best {score} of {count} methods, but no other is worse by more than chance."
            )
        }
        (n, _) => {
            let (condition, few) = (condition(None), cheapest(&equals, first));
            format!(
                "{condition}{name} has the best {score}; {n} of the other {} methods may be as good{few}.",
                rest.len()
            )
        }
    }
}

/// Scores that a reader looks at besides the one of the ranking.
const BESIDES: [&str; 7] = ["accuracy", "nll", "brier", "ece", "rmse", "crps", "interval_score"];

/// Which methods are better than the first by other scores, by more than chance.
fn disagreement(chapter: &Chapter<'_>, ranking: &Ranking<'_>) -> Option<String> {
    let (first, rest) = ranking.standings.split_first()?;
    let directed = |score: &&&str| {
        **score != ranking.score
            && chapter.card(score).is_some_and(|card| card.direction != Direction::Neither)
    };
    let scores: Vec<&str> = BESIDES.iter().filter(directed).copied().collect();
    let pairs: Vec<(usize, &str)> =
        (0..rest.len()).flat_map(|m| scores.iter().map(move |score| (m, *score))).collect();
    let behind = |(m, score): &(usize, &str)| {
        difference(&first.method.units("test", score), &rest[*m].method.units("test", score))
    };
    let mut found: Vec<_> = pairs.iter().map(behind).collect();
    correct(found.iter_mut().flatten());
    let scaled = ranking.score.starts_with("calibrated.");
    let mut better: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    let mut accurate = String::new();
    // Of two that the ranking cannot tell apart, one may still be better by other scores.
    if let [other] = rest
        && other.may_be_first()
    {
        let ahead = |found: &Option<Difference>| {
            found.as_ref().is_some_and(|d| d.value < 0.0 && !d.may_be_chance())
        };
        let by = pairs.iter().zip(&found).filter(|(_, found)| ahead(found)).map(|((_, s), _)| *s);
        let (same, changed): (Vec<&str>, _) = by.partition(|s| scaled && *s == "accuracy");
        if !same.is_empty() {
            accurate = format!("{} is better in accuracy.", first.method.name);
        }
        if !changed.is_empty() {
            better.push((vec![first.method.name], changed));
        }
    }
    for (m, standing) in rest.iter().enumerate() {
        let worse = |((own, _), found): &(&(usize, &str), &Option<Difference>)| {
            *own == m && found.is_some_and(|d| d.value > 0.0 && !d.may_be_chance())
        };
        let by: Vec<&str> =
            pairs.iter().zip(&found).filter(worse).map(|((_, score), _)| *score).collect();
        match better.iter_mut().find(|(_, scores)| *scores == by) {
            _ if by.is_empty() => {}
            Some((methods, _)) => methods.push(standing.method.name),
            None => better.push((vec![standing.method.name], by)),
        }
    }
    let sentences = [Some(accurate).filter(|text| !text.is_empty()), said(&better, scaled)];
    let sentences: Vec<String> = sentences.into_iter().flatten().collect();
    Some(sentences.join(" ")).filter(|text| !text.is_empty())
}

/// `As they stand, without scaling, B is better in NLL and ECE.`
fn said(better: &[(Vec<&str>, Vec<&str>)], scaled: bool) -> Option<String> {
    let affected = |scores: &[&str]| scores.iter().any(|score| *score != "accuracy");
    let clause = |(methods, scores): &(Vec<&str>, Vec<&str>)| {
        let words: Vec<String> = scores.iter().map(|score| in_words(score)).collect();
        let (who, are) = match methods.len() {
            1 => (methods[0].to_string(), "is"),
            2..=3 => (listed(methods), "are"),
            n => (format!("{n} other methods"), "are"),
        };
        format!("{who} {are} better in {}", listed(&words))
    };
    let first = better.first()?;
    let condition =
        if scaled && affected(&first.1) { "As they stand, without scaling, " } else { "But " };
    let more = if better.len() > 2 { "; others are better in other scores" } else { "" };
    let clauses: Vec<String> = better.iter().take(2).map(clause).collect();
    Some(format!("{condition}{}{more}.", clauses.join("; ")))
}

/// Which of those that may be first needs the fewest forward passes, if it is not the first.
fn cheapest(equals: &[&Standing<'_>], first: &Standing<'_>) -> String {
    let passes = |s: &Standing<'_>| s.method.members().unwrap_or(usize::MAX);
    match equals.iter().copied().min_by_key(|s| passes(s)) {
        Some(one) if passes(one) < passes(first) => {
            let (name, own, other) = (one.method.name, passes(one), passes(first));
            let passes = if own == 1 { "forward pass" } else { "forward passes" };
            format!(", among them {name} with {own} {passes} instead of {other}")
        }
        _ => String::new(),
    }
}

/// What can be said of a single method.
fn alone(chapter: &Chapter<'_>, method: &Method<'_>) -> String {
    let accuracy = || {
        let cell = method.cell("test", "accuracy")?;
        let summary = cell.summary()?;
        let percent = |v: f64| shown(100.0 * v, 1);
        let interval =
            summary.interval.map(|(lo, hi)| format!(" ({} to {} %)", percent(lo), percent(hi)));
        Some(format!("accuracy {} %{}", percent(summary.mean), interval.unwrap_or_default()))
    };
    let clauses = [
        accuracy(),
        confidence(method),
        intervals(chapter, method),
        quantiles(method),
        checks(method),
        detection(chapter, method),
    ];
    let known: Vec<String> = clauses.into_iter().flatten().collect();
    let advice = advice(method).map_or(String::new(), |advice| format!(" {advice}"));
    match known.is_empty() {
        true => format!("{}: none of the scores that are summarised here.{advice}", method.name),
        false => format!("{}: {}.{advice}", method.name, known.join("; ")),
    }
}

/// What several data sets or networks say together: which method has the best mean rank, and how often it is the
/// best or not worse than the best by more than chance.
pub(crate) fn overall(methods: &[&str], rankings: &[&Ranking<'_>]) -> Option<String> {
    if rankings.len() < 2 || methods.len() < 2 {
        return None;
    }
    let position = |ranking: &Ranking<'_>, name: &str| {
        ranking.standings.iter().position(|standing| standing.method.name == name)
    };
    let mean_rank = |name: &&str| -> Option<f64> {
        let ranks: Option<Vec<usize>> = rankings.iter().map(|r| position(r, name)).collect();
        Some(ranks?.iter().map(|rank| rank + 1).sum::<usize>() as f64 / rankings.len() as f64)
    };
    let among_best = |name: &str| {
        let best = |ranking: &&&Ranking<'_>| {
            position(ranking, name).is_some_and(|at| ranking.standings[at].may_be_first())
        };
        rankings.iter().filter(best).count()
    };
    let ranked = methods.iter().filter_map(|name| Some((*name, mean_rank(name)?)));
    let (name, rank) = ranked.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let (times, all) = (among_best(name), rankings.len());
    let others: Vec<&str> =
        methods.iter().copied().filter(|own| *own != name && among_best(own) >= times).collect();
    let tied = match others.len() {
        0 => String::new(),
        1..=3 => format!(", as often as {}", listed(&others)),
        n => format!(", as often as {n} other methods"),
    };
    Some(format!(
        "Over {all} data sets and networks, {name} has the best mean rank ({}). It is the best, or not worse than \
         the best by more than chance, in {times} of {all}{tied}.",
        shown(rank, 1)
    ))
}
