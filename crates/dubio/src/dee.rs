//! `dubio dee`: deep ensemble equivalents, from prediction files or from a table of scores.

mod files;
mod table;

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::ValueEnum;
use dubio_metrics::card::Direction;
use dubio_metrics::dee::{Equivalent, Falling, Point, Worth, equivalents};
use dubio_words::{nearest, unknown_of_many};
use serde_json::{Map, Value, json};

use crate::Outcome;
use crate::render::value;
use crate::terminal::{self, say};
use dubio_api::names::{base, known};

/// Deep ensemble equivalents: how many independently trained networks a method is worth.
///
/// With k samples, the least number of networks whose ensemble scores as well (Ashukha et al. 2020,
/// sec. 4.1), linear between whole numbers, with bounds from the spread of the deep ensembles' own
/// score. What is worse than the smallest ensemble is 1, what is better than the largest is `> L`, never
/// extrapolated.
///
/// A method is a predictions file whose members are its samples, or a folder of such files, which are
/// independent runs. The baseline's members are independently trained networks, and are put together
/// from all its files. Subsets of members are drawn several times for each number of samples.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio dee --baseline ensembles/ swag/ csgld/
  dubio dee --baseline ensemble.npz swag.npz --score accuracy --samples 1,5,10
  dubio dee --table curves.csv --baseline deepens --score cll --json

A table has the columns dataset, model, method, n_samples, metric and value, and std where it is
known; rows that repeat all but the value are runs, and mean and deviation are over them. JSON: a list
of rows with dataset, model, method, n_samples, metric, value, std, dee, lower and upper; what is better
than the largest ensemble has \"dee\": \"> 100\".

Exit codes: 0 done; 1 a row has no equivalent; 2 could not run.")]
pub(crate) struct Args {
    /// Predictions of the methods: a file each, or a folder of files, each an independent run.
    methods: Vec<PathBuf>,
    /// Deep ensembles: a file or folder; with --table, the name of a method.
    #[arg(long, value_name = "PATH OR NAME")]
    baseline: String,
    /// Scores instead of predictions, as CSV with a head.
    #[arg(long, value_name = "FILE", conflicts_with = "methods")]
    table: Option<PathBuf>,
    /// The scores to compare by; calibrated.nll when left out (nll for a regression), or all metrics
    /// of a table.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    score: Vec<String>,
    /// Which values are better, for metrics of a table that dubio does not know.
    #[arg(long, value_enum)]
    better: Option<Better>,
    /// Numbers of samples to report; all when left out.
    #[arg(long, value_delimiter = ',', value_name = "N")]
    samples: Vec<usize>,
    /// Subsets drawn of each run for each number of samples.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    draws: u16,
    /// Never let a method fall below a whole number that fewer samples have passed, as the published
    /// tables do.
    #[arg(long)]
    as_published: bool,
    /// Names of the methods, in their order; those of the files when left out.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    names: Vec<String>,
    /// Seed of the subsets and of the cross-validation's splits.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Number of threads; all cores when left out. The results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Better {
    Higher,
    Lower,
}

/// A method's score against its number of samples.
struct Curve {
    dataset: Option<String>,
    model: Option<String>,
    method: String,
    metric: String,
    points: Vec<Point>,
}

impl Curve {
    /// Whether another curve is of the same score on the same data and model.
    fn beside(&self, other: &Self) -> bool {
        (&self.dataset, &self.model, &self.metric) == (&other.dataset, &other.model, &other.metric)
    }
}

/// What a method is worth, row by row; or why it has no equivalent.
type Rows<'a> = (&'a Curve, Result<Vec<Worth>, String>);

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let (curves, baseline) = match &args.table {
        Some(table) => (table::curves(args, table)?, args.baseline.clone()),
        None if args.methods.is_empty() => {
            bail!("no method to compare: name prediction files, or --table FILE")
        }
        None => files::curves(args)?,
    };
    let rows: Vec<Rows<'_>> = curves
        .iter()
        .map(|curve| Ok((curve, worth(args, curve, &curves, &baseline)?)))
        .collect::<Result<_>>()?;
    note_smallest(&curves, &baseline);
    if args.json {
        print_json(args, &rows)?
    } else {
        print_table(args, &rows)?
    }
    let missing = rows.iter().any(|(_, worth)| worth.is_err());
    Ok(if missing { Outcome::Undefined } else { Outcome::Done })
}

/// Says so where 1 means no more than "fewer than the smallest ensemble".
fn note_smallest(curves: &[Curve], baseline: &str) {
    let deep = curves.iter().filter(|curve| curve.method == baseline);
    let smallest = deep.filter_map(|curve| Some(curve.points.first()?.n_samples)).max();
    if let Some(n) = smallest.filter(|n| *n > 1) {
        say!(
            "note: {baseline} has no score of one network; what is worse than its {n} networks counts as 1"
        );
    }
}

fn worth(
    args: &Args,
    curve: &Curve,
    all: &[Curve],
    baseline: &str,
) -> Result<Result<Vec<Worth>, String>> {
    let direction = direction(args, &curve.metric)?;
    let falling = if args.as_published { Falling::AsPublished } else { Falling::Allowed };
    let Some(deep) = all.iter().find(|other| other.method == baseline && other.beside(curve))
    else {
        return Ok(Err(format!("there are no scores of {baseline} to compare with")));
    };
    let Some(rows) = equivalents(&deep.points, &curve.points, direction, falling) else {
        bail!("`{}` has no better direction, so nothing is equivalent by it", curve.metric);
    };
    Ok(Ok(rows.into_iter().filter(|row| args.wants(row.n_samples)).collect()))
}

impl Args {
    fn wants(&self, n_samples: usize) -> bool {
        self.samples.is_empty() || self.samples.contains(&n_samples)
    }

    /// That some method has each number of samples that is asked for.
    fn check_samples(&self, has: impl Fn(usize) -> bool, largest: usize) -> Result<()> {
        match self.samples.iter().find(|&&n| !has(n)) {
            Some(n) => bail!("--samples: nothing has {n} samples; the most are {largest}"),
            None => Ok(()),
        }
    }
}

/// Which values of a score are better.
fn direction(args: &Args, metric: &str) -> Result<Direction> {
    match args.better {
        Some(Better::Higher) => return Ok(Direction::Higher),
        Some(Better::Lower) => return Ok(Direction::Lower),
        None => {}
    }
    // Short names that tables in the literature use.
    match metric {
        "ll" | "cll" | "acc" => return Ok(Direction::Higher),
        "err" => return Ok(Direction::Lower),
        _ => {}
    }
    let names = known();
    if let Some(score) = names.iter().find(|score| score.name == base(metric)) {
        return Ok(score.card.direction);
    }
    let near = nearest(metric, names.iter().map(|score| &score.name[..]));
    bail!(
        "{}. Or say with --better which values of it are better, or leave it out with --score",
        unknown_of_many("score", metric, near, "dubio list scores")
    )
}

fn print_json(args: &Args, all: &[Rows<'_>]) -> Result<()> {
    let rows: Vec<Value> =
        all.iter().flat_map(|(curve, worth)| json_rows(args, curve, worth)).collect();
    let mut out = terminal::stdout();
    serde_json::to_writer_pretty(&mut out, &rows).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

fn json_rows(args: &Args, curve: &Curve, worth: &Result<Vec<Worth>, String>) -> Vec<Value> {
    let points = curve.points.iter().filter(|point| args.wants(point.n_samples));
    let row = |(i, point): (usize, &Point)| {
        let mut row = Map::new();
        row.insert("dataset".into(), json!(curve.dataset));
        row.insert("model".into(), json!(curve.model));
        row.insert("method".into(), json!(curve.method));
        row.insert("n_samples".into(), json!(point.n_samples));
        row.insert("metric".into(), json!(curve.metric));
        row.insert("value".into(), value(point.mean));
        row.insert("std".into(), json!(point.std));
        let worth = worth.as_ref().map(|rows| rows[i]);
        row.insert("dee".into(), json!(worth.as_ref().ok().map(|worth| worth.dee)));
        row.insert("lower".into(), json!(worth.as_ref().ok().and_then(|worth| worth.lower)));
        row.insert("upper".into(), json!(worth.as_ref().ok().and_then(|worth| worth.upper)));
        if let Err(why) = worth {
            row.insert("why".into(), json!(why));
        }
        Value::Object(row)
    };
    points.enumerate().map(row).collect()
}

/// Columns of the table: what was asked for, or round numbers and the last.
fn columns(args: &Args, all: &[Rows<'_>]) -> Vec<usize> {
    let points = all.iter().flat_map(|(curve, _)| &curve.points);
    let mut there: Vec<usize> = points.map(|point| point.n_samples).collect();
    there.sort_unstable();
    there.dedup();
    there.retain(|&n| args.wants(n));
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

fn print_table(args: &Args, all: &[Rows<'_>]) -> Result<()> {
    let columns = columns(args, all);
    let names = |curve: &Curve| {
        let place = [&curve.dataset, &curve.model].into_iter().flatten().cloned();
        let mut names: Vec<String> = place.collect();
        names.extend([curve.metric.clone(), curve.method.clone()]);
        terminal::one_line(&names.join("  ")).into_owned()
    };
    let widest = all.iter().map(|(curve, _)| names(curve).chars().count()).max().unwrap_or(0);
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
    for (curve, worth) in all {
        let cells = match worth {
            Err(why) => format!("  — {why}"),
            Ok(rows) => columns.iter().map(|n| cell(rows, *n)).collect(),
        };
        writeln!(out, "{:<widest$}{cells}", names(curve), widest = widest.max(24))?;
    }
    Ok(())
}

fn cell(rows: &[Worth], n_samples: usize) -> String {
    let Some(row) = rows.iter().find(|row| row.n_samples == n_samples) else {
        return format!("{:>18}", "");
    };
    let shown = |bound: Option<Equivalent>| bound.map_or("—".to_string(), |b| b.to_string());
    let bounds = match (row.lower, row.upper) {
        (None, None) => String::new(),
        (lower, upper) => format!(" [{}, {}]", shown(lower), shown(upper)),
    };
    format!("{:>18}", format!("{}{bounds}", row.dee))
}
