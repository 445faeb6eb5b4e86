//! What a reader must know before believing a number.

use dubio_metrics::compare::{Stability, incomparable, unequal_passes};
use serde_json::Value;

use crate::chapter::{Chapter, Method};
use crate::ranking::Ranking;
use crate::stability;
use crate::study::{Outcome, Setting, Warning};
use crate::words::{capital, in_words, listed};

/// The warnings of a chapter, the gravest first.
pub fn warnings(chapter: &Chapter<'_>, ranking: Option<&Ranking<'_>>) -> Vec<Warning> {
    let mut all = unfinished(chapter);
    all.extend(unconverged(chapter));
    all.extend(infinite(chapter));
    all.extend(crossings(chapter));
    // One method alone is not ranked.
    if let Some(ranking) = ranking.filter(|_| chapter.present().count() > 1) {
        all.extend(second_choice(ranking));
        all.extend(partial(ranking));
    }
    all.extend(unequal(chapter));
    all.extend(flips(chapter));
    all.extend(refused(chapter));
    all
}

/// Runs that failed or are not there. Methods with the same message are named together.
fn unfinished(chapter: &Chapter<'_>) -> Vec<Warning> {
    let mut all: Vec<(String, String, Vec<&str>)> = Vec::new();
    for method in &chapter.methods {
        let (done, runs) = method.count();
        if done == runs {
            continue;
        }
        let failed = method.runs.iter().find_map(|run| match &run.outcome {
            Outcome::Failed(why) => Some(format!("Error: {why}")),
            _ => None,
        });
        let what = match (done, runs) {
            (0, 1) => "its only run did not finish".to_string(),
            (0, _) => format!("none of {runs} runs finished"),
            _ => format!("{done} of {runs} runs finished"),
        };
        let missing = || "The others have not run yet; the same command continues.".to_string();
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

/// Runs whose own records say that they should not be trusted: training that diverged, chains that did not converge. One warning names all
/// methods, and its text says what is wrong with each.
fn unconverged(chapter: &Chapter<'_>) -> Option<Warning> {
    let told = |record: &Value| {
        let all = record["warnings"].as_array().into_iter().flatten();
        let all: Vec<String> = all.filter_map(|w| w.as_str().map(capital)).collect();
        (!all.is_empty()).then(|| format!("{}.", all.join(". ")))
    };
    let mut found: Vec<(&str, String)> = Vec::new();
    for method in &chapter.methods {
        let records = method.finished().map(|(_, finished)| finished.record.as_ref());
        let runs: Vec<Option<String>> = records.map(|record| record.and_then(told)).collect();
        let (count, total) = (runs.iter().flatten().count(), runs.len());
        let Some(first) = runs.into_iter().flatten().next() else { continue };
        let which = if total == 1 { String::new() } else { format!(" ({count} of {total} runs)") };
        found.push((method.name, format!("{}{which}: {first}", method.name)));
    }
    let (names, each): (Vec<&str>, Vec<String>) = found.into_iter().unzip();
    (!names.is_empty()).then(|| Warning {
        what: format!("{}: the results should not be trusted", listed(&names)),
        why: each.join(" "),
    })
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
                what: format!("{}: the NLL is infinite{runs}", method.name),
                why: format!("{}. Nothing was clipped.", capital(first)),
            });
        }
    }
    all
}

/// Predicted quantiles in the wrong order.
fn crossings(chapter: &Chapter<'_>) -> Vec<Warning> {
    let of = |method: &Method<'_>| {
        let views = method.finished().filter_map(|(_, finished)| finished.view("test"));
        views.map(|view| (view.crossings, view.examples)).max()
    };
    let crossing = chapter.methods.iter().filter_map(|method| {
        let (crossings, examples) = of(method).filter(|(crossings, _)| *crossings > 0)?;
        Some(Warning {
            what: format!(
                "{}: the predicted quantiles of {crossings} of {examples} examples cross",
                method.name
            ),
            why: "A quantile of a higher level lies below one of a lower level, which no distribution allows. Sort \
                  the quantiles of each example: it never makes the pinball loss worse (Chernozhukov et al. 2010)."
                .to_string(),
        })
    });
    crossing.collect()
}

fn second_choice(ranking: &Ranking<'_>) -> Option<Warning> {
    let why = ranking.instead_of.as_ref()?;
    let also = match ranking.score {
        "brier" => {
            " The Brier score also depends on how well the temperature of each method is set."
        }
        _ => "",
    };
    let better = why.split(" is undefined").next().unwrap_or_default();
    Some(Warning {
        what: format!("Ranked by {}: {better} is undefined here", in_words(ranking.score)),
        why: format!("{}.{also}", capital(why)),
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
            what: format!(
                "{} is undefined for some runs of {}",
                in_words(ranking.score),
                listed(&short)
            ),
            why: "Their means are over the other runs.".to_string(),
        });
    }
    for (method, why) in ranking.without.iter().filter(|(m, _)| m.count().0 > 0) {
        all.push(Warning {
            what: format!("{} is not ranked", method.name),
            why: format!("{}.", capital(why)),
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
            "The methods need different numbers of forward passes per prediction: {least} to {most}"
        ),
        why: format!(
            "{} ({}). Look at deep ensemble equivalents and at the costs.",
            capital(&caution.why),
            caution.reference
        ),
    })
}

/// Warns that orders by a binned score depend on the number of bins.
fn flips(chapter: &Chapter<'_>) -> Option<Warning> {
    let names: Vec<String> = chapter.present().map(|m| m.name.to_string()).collect();
    let all = stability::over(chapter, Setting::Bins);
    let unstable: Vec<&Stability> = all.iter().filter(|stability| !stability.stable()).collect();
    let first = unstable.iter().find(|s| s.score == "ece").or(unstable.first())?;
    let caution = first.bins_caution(&names)?;
    let scores: Vec<String> = unstable.iter().map(|stability| in_words(&stability.score)).collect();
    Some(Warning {
        what: format!("The order by {} depends on the number of bins", listed(&scores)),
        why: format!(
            "{}: {} ({}); {}.",
            in_words(&first.score),
            caution.why,
            caution.reference,
            caution.instead.replace('`', "")
        ),
    })
}

/// Scores that are left out because they cannot be compared.
fn refused(chapter: &Chapter<'_>) -> Option<Warning> {
    if chapter.present().count() < 2 {
        return None;
    }
    let caution = chapter.scores("test").iter().find_map(|score| incomparable(score.name))?;
    Some(Warning {
        what: "Error detection (misclassification.*) is not compared between methods".to_string(),
        why: format!(
            "{} ({}); {}. The record of each run has the numbers.",
            capital(&caution.why),
            caution.reference,
            caution.instead.replace('`', "")
        ),
    })
}
