//! What a reader must know before believing a number.

use dubio_metrics::compare::{Stability, incomparable, unequal_passes};

use crate::chapter::Chapter;
use crate::ranking::{Ranking, listed};
use crate::stability;
use crate::study::{Outcome, Setting, Warning};

/// The warnings of a chapter, the gravest first.
pub fn warnings(chapter: &Chapter<'_>, ranking: Option<&Ranking<'_>>) -> Vec<Warning> {
    let mut all = unfinished(chapter);
    all.extend(infinite(chapter));
    if let Some(ranking) = ranking {
        all.extend(second_choice(ranking));
        all.extend(partial(ranking));
    }
    all.extend(unequal(chapter));
    all.extend(flips(chapter));
    all.extend(refused(chapter));
    all
}

/// Runs that failed or are not there. Methods of which the same is to be said are named together.
fn unfinished(chapter: &Chapter<'_>) -> Vec<Warning> {
    let mut all: Vec<(String, String, Vec<&str>)> = Vec::new();
    for method in &chapter.methods {
        let (done, runs) = method.count();
        if done == runs {
            continue;
        }
        let failed = method.runs.iter().find_map(|run| match &run.outcome {
            Outcome::Failed(why) => Some(format!("What happened: {why}")),
            _ => None,
        });
        let what = match (done, runs) {
            (0, 1) => "its only run did not finish".to_string(),
            (0, _) => format!("none of {runs} runs finished"),
            _ => format!("{done} of {runs} runs finished"),
        };
        let missing = || "What is missing is not there yet; the same command goes on.".to_string();
        let why = failed.unwrap_or_else(missing);
        match all.iter_mut().find(|(w, y, _)| *w == what && *y == why) {
            Some((_, _, names)) => names.push(method.name),
            None => all.push((what, why, vec![method.name])),
        }
    }
    let told = |(what, why, names): (String, String, Vec<&str>)| {
        let each = if names.len() > 1 { " each" } else { "" };
        Warning { what: format!("{}: {what}{each}", listed(&names)), why }
    };
    all.into_iter().map(told).collect()
}

/// Likelihoods that are infinite, and for how many rows.
fn infinite(chapter: &Chapter<'_>) -> Vec<Warning> {
    let mut all = Vec::new();
    for method in &chapter.methods {
        let notes: Vec<&str> = method
            .finished()
            .filter_map(|(_, finished)| finished.entry("test", "nll"))
            .filter(|entry| entry.value == Ok(f64::INFINITY))
            .map(|entry| entry.note.as_deref().unwrap_or_default())
            .collect();
        if let Some(first) = notes.first() {
            let runs = match notes.len() {
                1 => String::new(),
                n => format!(" in {n} runs"),
            };
            all.push(Warning {
                what: format!("{}: the likelihood is infinite{runs}", method.name),
                why: format!("Because {first}. Nothing was clipped."),
            });
        }
    }
    all
}

fn second_choice(ranking: &Ranking<'_>) -> Option<Warning> {
    let why = ranking.instead_of.as_ref()?;
    Some(Warning {
        what: format!("Ranked by {}, which is second choice", ranking.score),
        why: format!(
            "Because {why}. Unlike it, this score also ranks how well temperatures happen to be set."
        ),
    })
}

/// Means of the ranked score over fewer runs than there are, and methods without one.
fn partial(ranking: &Ranking<'_>) -> Vec<Warning> {
    let short: Vec<&str> = ranking
        .standings
        .iter()
        .filter(|s| s.summary.values.len() < s.summary.runs)
        .map(|s| s.method.name)
        .collect();
    let mut all = Vec::new();
    if !short.is_empty() {
        all.push(Warning {
            what: format!("{} has no value for some runs of {}", ranking.score, listed(&short)),
            why: "Their means are over the other runs.".to_string(),
        });
    }
    for (method, why) in ranking.without.iter().filter(|(m, _)| m.count().0 > 0) {
        all.push(Warning {
            what: format!("{} is not ranked", method.name),
            why: format!("Because {why}."),
        });
    }
    all
}

fn unequal(chapter: &Chapter<'_>) -> Option<Warning> {
    let (names, members): (Vec<String>, Vec<usize>) = chapter
        .present()
        .filter_map(|method| Some((method.name.to_string(), method.members()?)))
        .unzip();
    let caution = unequal_passes(&names, &members)?;
    let (least, most) = (members.iter().min()?, members.iter().max()?);
    Some(Warning {
        what: format!(
            "The methods do not cost the same: {least} to {most} forward passes for one prediction"
        ),
        why: format!(
            "{} ({}). Look at what a method is worth in networks of a deep ensemble, and at its cost.",
            capital(&caution.why),
            caution.reference
        ),
    })
}

/// That orders by a binned score depend on the number of bins.
fn flips(chapter: &Chapter<'_>) -> Option<Warning> {
    let names: Vec<String> = chapter.present().map(|m| m.name.to_string()).collect();
    let all = stability::over(chapter, Setting::Bins);
    let unstable: Vec<&Stability> = all.iter().filter(|stability| !stability.stable()).collect();
    let first = unstable.iter().find(|s| s.score == "ece").or(unstable.first())?;
    let caution = first.bins_caution(&names)?;
    let scores: Vec<&str> = unstable.iter().map(|stability| &stability.score[..]).collect();
    Some(Warning {
        what: format!("The order by {} depends on the number of bins", listed(&scores)),
        why: format!(
            "{}: {} ({}); {}.",
            capital(&first.score),
            caution.why,
            caution.reference,
            caution.instead.replace('`', "")
        ),
    })
}

/// Scores that are left out because they say nothing side by side.
fn refused(chapter: &Chapter<'_>) -> Option<Warning> {
    if chapter.present().count() < 2 {
        return None;
    }
    let caution = chapter.scores("test").iter().find_map(|score| incomparable(score.name))?;
    Some(Warning {
        what: "Detection of errors (misclassification.*) is not compared".to_string(),
        why: format!(
            "{} ({}); {}. A run's full record has the numbers.",
            capital(&caution.why),
            caution.reference,
            caution.instead.replace('`', "")
        ),
    })
}

/// With a capital letter at the beginning.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
