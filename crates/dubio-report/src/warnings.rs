//! What a reader must know before believing a number.

use crate::chapter::Chapter;
use crate::ranking::{Ranking, listed};
use crate::study::Outcome;

/// The warnings of a chapter, the gravest first.
pub fn warnings(chapter: &Chapter<'_>, ranking: Option<&Ranking<'_>>) -> Vec<String> {
    let mut all = unfinished(chapter);
    if let Some(instead) = ranking.and_then(|r| r.instead_of.as_ref().map(|why| (r.score, why))) {
        let (score, why) = instead;
        all.push(format!(
            "Ranked by {score}, because {why}. The plain likelihood also ranks how well temperatures happen \
             to be set."
        ));
    }
    all.extend(infinite(chapter));
    all.extend(partial(chapter, ranking));
    all.extend(unequal_passes(chapter));
    all.extend(misclassification(chapter));
    all
}

/// Runs that failed or are not there, method by method.
fn unfinished(chapter: &Chapter<'_>) -> Vec<String> {
    let mut all = Vec::new();
    for method in &chapter.methods {
        let (done, runs) = method.count();
        if done == runs {
            continue;
        }
        let why = method.runs.iter().find_map(|run| match &run.outcome {
            Outcome::Failed(why) => Some(format!("one failed with: {why}")),
            _ => None,
        });
        let why = why.unwrap_or_else(|| "the others are not there yet".to_string());
        let name = method.name;
        all.push(match done {
            0 => format!("{name}: none of {runs} runs finished; {why}"),
            _ => format!("{name}: {done} of {runs} runs finished; {why}"),
        });
    }
    all
}

/// Likelihoods that are infinite, and for how many rows.
fn infinite(chapter: &Chapter<'_>) -> Vec<String> {
    let mut all = Vec::new();
    for method in &chapter.methods {
        let notes = method.finished().filter_map(|(_, finished)| {
            let entry = finished.entry("test", "nll")?;
            (entry.value == Ok(f64::INFINITY)).then(|| entry.note.clone().unwrap_or_default())
        });
        let notes: Vec<String> = notes.collect();
        if let Some(first) = notes.first() {
            let runs =
                if notes.len() > 1 { format!(" (in {} runs)", notes.len()) } else { String::new() };
            all.push(format!(
                "{}: the likelihood is infinite{runs}, because {first}; nothing was clipped.",
                method.name
            ));
        }
    }
    all
}

/// Means of the ranked score over fewer runs than there are.
fn partial(chapter: &Chapter<'_>, ranking: Option<&Ranking<'_>>) -> Vec<String> {
    let Some(ranking) = ranking else { return Vec::new() };
    let short: Vec<&str> = ranking
        .standings
        .iter()
        .filter(|s| s.summary.values.len() < s.summary.runs)
        .map(|s| s.method.name)
        .collect();
    let mut all = Vec::new();
    if !short.is_empty() {
        all.push(format!(
            "{} has no value for some runs of {}; their means are over the others.",
            ranking.score,
            listed(&short)
        ));
    }
    for (method, why) in ranking.without.iter().filter(|(m, _)| m.count().0 > 0) {
        all.push(format!("{} is not ranked: {why}.", method.name));
    }
    let _ = chapter;
    all
}

fn unequal_passes(chapter: &Chapter<'_>) -> Option<String> {
    let members: Vec<usize> = chapter.methods.iter().filter_map(|m| m.members()).collect();
    let (least, most) = (members.iter().min()?, members.iter().max()?);
    (least != most).then(|| {
        format!(
            "The methods do not cost the same: from {least} to {most} forward passes for one prediction. \
             Compare at equal cost, or in deep ensemble equivalents (Ashukha et al. 2020, sec. 4)."
        )
    })
}

fn misclassification(chapter: &Chapter<'_>) -> Option<String> {
    let several = chapter.methods.iter().filter(|m| m.count().0 > 0).count() > 1;
    let there = chapter.scores("test").iter().any(|s| s.name.starts_with("misclassification."));
    (several && there).then(|| {
        "The scores misclassification.* are left out here: every model has its own errors to find, so they say \
         nothing side by side (Ashukha et al. 2020, sec. 3.2). A run's full record has them."
            .to_string()
    })
}
