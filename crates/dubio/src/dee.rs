//! `dubio dee`: deep ensemble equivalents, from prediction files or from a table of scores.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;
use dubio_api::dee::{Equivalents, Row, Settings, dee};
use dubio_metrics::card::Direction;
use dubio_metrics::dee::{Equivalent, Falling};
use serde_json::{Map, Value, json};

use crate::Outcome;
use crate::progress::Bar;
use crate::render::value;
use crate::terminal;

/// Deep ensemble equivalents: how many independently trained networks a method is worth.
///
/// With k samples, the smallest number of networks whose ensemble scores as well (Ashukha et al. 2020,
/// sec. 4.1), linear between whole numbers, with bounds from the standard deviation of the deep ensembles' own
/// score. A method that is worse than the smallest ensemble gets 1, one that is better than the largest gets
/// `> L`; nothing is extrapolated.
///
/// A method is a predictions file whose members are its samples, or a folder of such files, which are
/// independent runs. The baseline's members are independently trained networks, and are put together
/// from all its files. Subsets of members are drawn several times for each number of samples.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio dee --baseline ensembles/ swag/ csgld/
  dubio dee --baseline ensemble.npz swag.npz --score accuracy --samples 1,5,10
  dubio dee --table curves.csv --baseline deepens --score cll --json

A table has the columns dataset, model, method, n_samples, metric and value, and std if it is known. \
Rows that differ only in value are runs, which are averaged.

JSON: a list of rows with dataset, model, method, n_samples, metric, value, std, dee, lower and upper; \
a method better than the largest ensemble has \"dee\": \"> 100\".

Exit codes: 0 done; 1 a row has no equivalent; 2 could not run.")]
pub(crate) struct Args {
    /// Predictions of the methods: a file each, or a folder of files, each an independent run.
    methods: Vec<PathBuf>,
    /// Deep ensembles: a file or folder; with --table, the name of a method.
    #[arg(long, value_name = "PATH OR NAME")]
    baseline: String,
    /// Scores instead of predictions, as CSV with a header.
    #[arg(long, value_name = "FILE", conflicts_with = "methods")]
    table: Option<PathBuf>,
    /// The scores to compare by [default: calibrated.nll, for a regression nll, for a table all its
    /// metrics].
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    score: Vec<String>,
    /// Which values are better, for metrics of a table that dubio does not know.
    #[arg(long, value_enum)]
    better: Option<Better>,
    /// Numbers of samples to report [default: all].
    #[arg(long, value_delimiter = ',', value_name = "N")]
    samples: Vec<usize>,
    /// Subsets drawn of each run for each number of samples.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    draws: u16,
    /// Never let a method fall below a whole number that it reached with fewer samples, as in the
    /// published tables.
    #[arg(long)]
    as_published: bool,
    /// Names of the methods, in their order [default: the file names].
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    names: Vec<String>,
    /// Seed of the subsets and of the cross-validation splits.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Number of threads [default: all cores]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Better {
    Higher,
    Lower,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let all = dee(&args.settings(), &Bar::new())?;
    if args.json {
        print_json(&all)?
    } else {
        print_table(args, &all)?
    }
    Ok(if all.iter().any(|one| one.why.is_some()) { Outcome::Undefined } else { Outcome::Done })
}

impl Args {
    fn settings(&self) -> Settings {
        Settings {
            methods: self.methods.clone(),
            baseline: self.baseline.clone(),
            baseline_name: None,
            table: self.table.clone(),
            scores: self.score.clone(),
            better: self.better.map(|better| match better {
                Better::Higher => Direction::Higher,
                Better::Lower => Direction::Lower,
            }),
            samples: self.samples.clone(),
            draws: self.draws.into(),
            falling: if self.as_published { Falling::AsPublished } else { Falling::Allowed },
            names: self.names.clone(),
            seed: self.seed,
        }
    }
}

fn print_json(all: &[Equivalents]) -> Result<()> {
    let rows: Vec<Value> = all.iter().flat_map(json_rows).collect();
    let mut out = terminal::stdout();
    serde_json::to_writer_pretty(&mut out, &rows).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

fn json_rows(one: &Equivalents) -> Vec<Value> {
    let fields = |row: &Row| {
        let mut fields = Map::new();
        fields.insert("dataset".into(), json!(one.dataset));
        fields.insert("model".into(), json!(one.model));
        fields.insert("method".into(), json!(one.method));
        fields.insert("n_samples".into(), json!(row.n_samples));
        fields.insert("metric".into(), json!(one.metric));
        fields.insert("value".into(), row.value.map_or(Value::Null, value));
        fields.insert("std".into(), json!(row.std));
        fields.insert("dee".into(), json!(row.dee));
        fields.insert("lower".into(), json!(row.lower));
        fields.insert("upper".into(), json!(row.upper));
        if let Some(why) = &one.why {
            fields.insert("why".into(), json!(why));
        }
        Value::Object(fields)
    };
    one.rows.iter().map(fields).collect()
}

/// Columns of the table: what was asked for, or round numbers and the last.
fn columns(args: &Args, all: &[Equivalents]) -> Vec<usize> {
    let rows = all.iter().flat_map(|one| &one.rows);
    let mut there: Vec<usize> = rows.map(|row| row.n_samples).collect();
    there.sort_unstable();
    there.dedup();
    let last = there.last().copied();
    let round = |n: usize| {
        matches!(n / 10_usize.pow(n.ilog10()), 1 | 2 | 5)
            && n.is_multiple_of(10_usize.pow(n.ilog10()))
    };
    if there.len() > 6 && args.samples.is_empty() {
        there.retain(|&n| Some(n) == last || (n > 0 && round(n)));
    }
    there
}

fn print_table(args: &Args, all: &[Equivalents]) -> Result<()> {
    let columns = columns(args, all);
    let names = |one: &Equivalents| {
        let data = [&one.dataset, &one.model].into_iter().flatten().cloned();
        let mut names: Vec<String> = data.collect();
        names.extend([one.metric.clone(), one.method.clone()]);
        terminal::one_line(&names.join("  ")).into_owned()
    };
    let widest = all.iter().map(|one| names(one).chars().count()).max().unwrap_or(0);
    let mut out = terminal::stdout();
    let head: Vec<String> = columns
        .iter()
        .map(|n| format!("{:>18}", format!("{n} sample{}", if *n == 1 { "" } else { "s" })))
        .collect();
    writeln!(
        out,
        "{:<widest$}{}",
        "deep ensemble equivalent",
        head.join(""),
        widest = widest.max(24)
    )?;
    for one in all {
        let cells = match &one.why {
            Some(why) => format!("  — {why}"),
            None => columns.iter().map(|n| cell(&one.rows, *n)).collect(),
        };
        writeln!(out, "{:<widest$}{cells}", names(one), widest = widest.max(24))?;
    }
    Ok(())
}

fn cell(rows: &[Row], n_samples: usize) -> String {
    let Some(row) = rows.iter().find(|row| row.n_samples == n_samples) else {
        return format!("{:>18}", "");
    };
    let shown = |bound: Option<Equivalent>| bound.map_or("—".to_string(), |b| b.to_string());
    let bounds = match (row.lower, row.upper) {
        (None, None) => String::new(),
        (lower, upper) => format!(" [{}, {}]", shown(lower), shown(upper)),
    };
    format!("{:>18}", format!("{}{bounds}", shown(row.dee)))
}
