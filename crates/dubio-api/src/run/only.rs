//! Some of the runs of a plan.

use std::collections::BTreeMap;

use dubio_bench::plan::PlannedRun;

use crate::Error;
use crate::error::refuse;

/// The runs that `only` leaves. Its entries are `KEY=PATTERN`; for every key that is given, one of its patterns
/// must match.
pub(super) fn chosen(runs: &[PlannedRun], only: &[String]) -> Result<Vec<PlannedRun>, Error> {
    let mut left = Vec::new();
    for run in runs {
        if matches(run, only)? {
            left.push(run.clone());
        }
    }
    Ok(left)
}

fn matches(run: &PlannedRun, only: &[String]) -> Result<bool, Error> {
    let mut matched: BTreeMap<&str, bool> = BTreeMap::new();
    for text in only {
        let Some((key, pattern)) = text.split_once('=') else {
            refuse!("--only {text}: give a key and a pattern, as in --only 'method=sgld*'");
        };
        let s = &run.settings;
        let value = match key {
            "method" => s.recipe.method.card().name.to_string(),
            "label" => run.label.clone(),
            "data" => s.data.clone(),
            "network" => s.network.clone(),
            "seed" => s.seed.to_string(),
            _ => refuse!("--only {text}: the keys are method, label, data, network and seed"),
        };
        *matched.entry(key).or_default() |= like(pattern, &value);
    }
    Ok(matched.into_values().all(|one| one))
}

/// Whether a text is like a pattern, in which `*` stands for anything.
fn like(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => {
            let Some(tail) = text.strip_prefix(head) else { return false };
            (0..=tail.len()).filter(|&i| tail.is_char_boundary(i)).any(|i| like(rest, &tail[i..]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, expected) in [
            ("sg*", "sgld", true),
            ("*ld", "sgld", true),
            ("s*l*", "sgld", true),
            ("sgld", "csgld", false),
            ("*", "", true),
            ("a*b", "ab", true),
            ("a*b", "ac", false),
        ] {
            assert_eq!(like(pattern, text), expected, "{pattern} {text}");
        }
    }
}
