//! A look at a user's own data, for people and for machines.

use std::io::{self, Write};

use dubio_data::sets::own::OPTIONS;
use dubio_data::sets::own::look::Look;
use dubio_words::counted;
use serde_json::{Map, Value, json};

use crate::render::number;
use crate::terminal::one_line;

/// Lines of a list that are shown; `--json` has all.
const SHOWN: usize = 20;

/// Examples, and every option of a user's own data.
pub(super) fn help() -> String {
    let examples = "Examples:
  dubio data check mnist svhn --json
  dubio data check mine.csv:target=price,ignore=id
  dubio data check ./images:size=32x32
  dubio data check arrays.npz:folds=5,fold=0

Options of your own data, PATH:NAME=VALUE,...:";
    let options = OPTIONS.iter().map(|(name, about)| format!("\n  {name:<11}{about}"));
    examples.to_string() + &options.collect::<String>()
}

pub(super) fn text(out: &mut impl Write, look: &Look) -> io::Result<()> {
    let seen = &look.seen;
    writeln!(out, "{}: {}", one_line(&look.name), seen.kind)?;
    let inputs = match look.shape[..] {
        [features] => counted(features, "feature"),
        _ => {
            let shape: Vec<String> = look.shape.iter().map(usize::to_string).collect();
            format!("{} (channels x height x width)", shape.join(" x "))
        }
    };
    let mut line = |name: &str, text: &str| writeln!(out, "  {name:<12} {}", one_line(text));
    line("inputs", &inputs)?;
    line("target", &format!("{}; {}", seen.target, seen.task))?;
    if let Some((low, high)) = look.targets {
        line("targets", &format!("{} to {}", number(low), number(high)))?;
    }
    let [train, test] = look.examples;
    line("examples", &format!("{train} train, {test} test ({})", look.split))?;
    for (column, categories) in &seen.one_hot {
        line("one-hot", &format!("{column}: {}", shortened(categories)))?;
    }
    for (column, count) in &seen.missing {
        line("missing", &format!("{}: {}", column, counted(*count, "value")))?;
    }
    if seen.dropped > 0 {
        line("dropped", &counted(seen.dropped, "row"))?;
    }
    for (name, groups) in &look.groups {
        line("groups", &format!("{name}: {}", counted(*groups, "group")))?;
    }
    line("duplicates", &counted(look.duplicates, "example"))?;
    line("in both", &format!("{} in training and test set", counted(look.leaked, "example")))?;
    line("sha256", &look.sha256)?;
    tables(out, look)?;
    for warning in &look.warnings {
        writeln!(out, "warning: {}", one_line(warning))?;
    }
    Ok(())
}

fn shortened(list: &[String]) -> String {
    let shown = list.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match list.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn tables(out: &mut impl Write, look: &Look) -> io::Result<()> {
    for (class, [train, test]) in look.classes.iter().take(SHOWN) {
        writeln!(out, "  class {:<20} {train:>8} train {test:>8} test", one_line(class))?;
    }
    more(out, look.classes.len())?;
    for (name, low, high) in look.ranges.iter().take(SHOWN) {
        let (low, high) = (number(*low), number(*high));
        writeln!(out, "  range {:<20} {low:>14} {high:>14}", one_line(name))?;
    }
    more(out, look.ranges.len())
}

fn more(out: &mut impl Write, count: usize) -> io::Result<()> {
    match count.saturating_sub(SHOWN) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more"),
    }
}

pub(super) fn json(look: &Look) -> Value {
    let seen = &look.seen;
    let range = |low: f64, high: f64| json!({"min": low, "max": high});
    let ranges: Map<String, Value> =
        look.ranges.iter().map(|(name, low, high)| (name.clone(), range(*low, *high))).collect();
    let class = |(name, [train, test]): &(String, [usize; 2])| {
        (name.clone(), json!({"train": train, "test": test}))
    };
    json!({
        "name": look.name,
        "kind": seen.kind,
        "shape": look.shape,
        "task": seen.task,
        "target": seen.target,
        "targets": look.targets.map(|(low, high)| range(low, high)),
        "train": look.examples[0],
        "test": look.examples[1],
        "split": look.split,
        "classes": look.classes.iter().map(class).collect::<Map<_, _>>(),
        "features": seen.features,
        "one_hot": seen.one_hot,
        "missing": seen.missing,
        "dropped": seen.dropped,
        "groups": look.groups.iter().map(|(n, c)| (n.clone(), json!(c))).collect::<Map<_, _>>(),
        "ranges": ranges,
        "duplicates": look.duplicates,
        "leaked": look.leaked,
        "contradicting": look.contradicting,
        "sha256": look.sha256,
        "warnings": look.warnings,
    })
}
