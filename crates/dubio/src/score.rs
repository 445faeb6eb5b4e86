//! `dubio score`: the scores of the finished runs of a folder, as CSV.

use std::path::PathBuf;

use anyhow::Result;
use dubio_api::score::{Settings, score};
use dubio_report::render::no_formula;

use crate::terminal;

/// Print the scores of all finished runs as tidy CSV, one row per score.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio score runs > scores.csv
  dubio score runs --scores accuracy,calibrated.nll")]
pub(crate) struct Args {
    /// Folder of the runs.
    #[arg(default_value = "runs")]
    runs: PathBuf,
    /// Only these scores: names, families or patterns.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    scores: Vec<String>,
    /// Bootstrap resamples behind the intervals of the test set; 0 for none.
    #[arg(long, default_value_t = 1000)]
    resamples: u32,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let settings = Settings {
        runs: args.runs.clone(),
        scores: args.scores.clone(),
        resamples: args.resamples as usize,
    };
    let rows = score(&settings)?;
    let mut out = csv::Writer::from_writer(terminal::stdout());
    out.write_record([
        "run", "data", "network", "method", "seed", "samples", "split", "score", "value", "lo",
        "hi", "n", "why",
    ])?;
    for row in &rows {
        let number = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
        let score = &row.score;
        // What is said of a value that is there is no reason why there is none.
        let why = score.why.as_deref().filter(|_| score.value.is_none()).unwrap_or_default();
        out.write_record([
            &row.run,
            &*no_formula(&row.data),
            &no_formula(&row.network),
            &no_formula(&row.method),
            &row.seed.to_string(),
            &row.samples.to_string(),
            &no_formula(&row.split),
            &no_formula(&score.name),
            &number(score.value),
            &number(score.lo),
            &number(score.hi),
            &score.n.to_string(),
            &no_formula(why),
        ])?;
    }
    Ok(out.flush()?)
}
