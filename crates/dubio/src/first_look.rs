//! The table that a study ends with.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use dubio_api::run::Ran;
use dubio_api::score::RunScore;
use dubio_bench::plan::PlannedRun;

use crate::terminal;

/// Scores of a first look: of which split, and which.
const FIRST: [(&str, &str); 7] = [
    ("test", "accuracy"),
    ("test", "nll"),
    ("test", "calibrated.nll"),
    ("test", "ece"),
    ("test", "rmse"),
    ("test", "crps"),
    ("decision", "decision_cost"),
];

/// What methods are ranked by, and what stands in for it where a run does not have it.
const CALIBRATED: (&str, &str) = ("test", "calibrated.nll");
const BRIER: (&str, &str) = ("test", "brier");

/// The first scores of every method, mean over seeds.
pub(crate) fn first_look(ran: &Ran) -> Result<()> {
    let (planned, rows) = (&ran.planned, &ran.scores);
    let mut there: Vec<(&str, &str)> =
        FIRST.into_iter().filter(|&which| rows.iter().any(|row| is(row, which))).collect();
    if rows.iter().any(|row| is(row, CALIBRATED) && row.score.value.is_none()) {
        // A score of some methods alone compares nothing; the Brier score is proper, too, and always defined.
        there.iter_mut().filter(|which| **which == CALIBRATED).for_each(|which| *which = BRIER);
    }
    let widest = |of: fn(&PlannedRun) -> &str| planned.iter().map(|r| of(r).chars().count()).max();
    let first = widest(|run| &run.label).unwrap_or(0).max(6);
    let second = widest(|run| run.settings.set()).unwrap_or(0).max(4);
    let network = Network::of(planned);
    let mut out = terminal::stdout();
    let mut head = format!("{:<first$} {:<second$}", "method", "data");
    head += &network.cell("network");
    head += &format!(" {:>8}", "runs");
    there.iter().for_each(|(_, name)| head += &format!(" {name:>14}"));
    out.heading(&head)?;
    let mut seen: Vec<(&str, &str, &str)> = Vec::new();
    let mut starred = false;
    for run in planned {
        let key = (&run.label[..], run.settings.set(), &run.settings.network[..]);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        // Each seed and split has a run for each task.
        let runs = |split: &str| -> Vec<&PlannedRun> {
            let same = |other: &&PlannedRun| {
                let s = &other.settings;
                (&other.label[..], s.set(), &s.network[..]) == key
                    && s.predict.iter().any(|evaluation| evaluation.name() == split)
            };
            planned.iter().filter(same).collect()
        };
        let done = |split: &str| {
            runs(split).iter().filter(|r| ran.finished.iter().any(|id| **id == *r.id)).count()
        };
        let finished = format!("{} of {}", done("test"), runs("test").len());
        let network = network.cell(key.2);
        write!(out, "{:<first$} {:<second$}{network} {finished:>8}", key.0, key.1)?;
        for &which in &there {
            let runs = runs(which.0);
            let values: Vec<f64> = rows
                .iter()
                .filter(|row| is(row, which) && runs.iter().any(|run| *run.id == *row.run))
                .filter_map(|row| row.score.value)
                .collect();
            match values.len() {
                0 => write!(out, " {:>14}", "—")?,
                n => {
                    // A run without a value is not left out of a mean in silence.
                    let mark = if n < runs.len() { "*" } else { "" };
                    let mean = values.iter().sum::<f64>() / n as f64;
                    write!(out, " {:>14}", format!("{mean:.4}{mark}"))?;
                    starred |= n < runs.len();
                }
            }
        }
        writeln!(out)?;
    }
    notes(&mut out, rows, starred)
}

/// Below the table: why a score was replaced, and what a star means.
fn notes(out: &mut impl Write, rows: &[RunScore], starred: bool) -> Result<()> {
    let calibrated = rows.iter().filter(|row| is(row, CALIBRATED));
    let undefined = calibrated.clone().filter(|row| row.score.value.is_none());
    if let Some(first) = undefined.clone().next() {
        let why = first.score.why.as_deref().unwrap_or_default();
        writeln!(
            out,
            "brier instead of calibrated.nll, which is undefined for {} of {} runs: {why}",
            undefined.count(),
            calibrated.count()
        )?;
    }
    if starred {
        writeln!(out, "* a run is missing or has no value there; `dubio score` says why")?;
    }
    Ok(())
}

fn is(row: &RunScore, (split, name): (&str, &str)) -> bool {
    row.split == split && row.score.name == name
}

/// The column of networks, which is there when there are several.
struct Network(Option<usize>);

impl Network {
    fn of(planned: &[PlannedRun]) -> Self {
        let all: BTreeSet<&str> = planned.iter().map(|run| &run.settings.network[..]).collect();
        let widest = all.iter().map(|name| name.chars().count()).max();
        Self(widest.filter(|_| all.len() > 1).map(|width| width.max("network".len())))
    }

    fn cell(&self, text: &str) -> String {
        self.0.map(|width| format!(" {text:<width$}")).unwrap_or_default()
    }
}
