//! `dubio compare`: several methods on the same examples.

mod json;
mod render;

use std::path::PathBuf;

use anyhow::Result;
use dubio_api::compare::{Settings, compare};

use crate::Outcome;
use crate::progress::Bar;

/// Compare methods on the same examples: paired differences with intervals, a ranking, and which
/// comparisons would mislead.
///
/// Every difference has a 95 % interval from resamples that both methods share, so that the difficulty of
/// the examples cancels. Two methods differ by more than chance if the interval excludes 0 and the p-value,
/// corrected for all pairs (Holm 1979), is at most 0.05. Methods are ranked by calibrated.nll; regressions
/// by nll, or by the best score that all files have. Comparisons that the literature has shown to mislead are
/// refused, with the reason and the reference.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio compare a.npz b.npz c.npz --names A,B,C
  dubio compare sgd.npz swag.npz --scores accuracy,brier --json
  dubio compare ensemble.npz swag.npz --members 5      with equal numbers of forward passes

JSON: {\"methods\": [...], \"ranking\": {\"score\": ..., \"ranks\": [...], \"cannot_be_told_apart\": [...], \
\"differences\": [...]}, \"scores\": {...}, \"differences\": [{\"score\": ..., \"a\": ..., \"b\": ..., \"value\": ..., \
\"lo\": ..., \"hi\": ..., \"p_holm\": ..., \"told_apart\": ...}], ...}.

Exit codes: 0 done; 1 the score to rank by has no value or is refused; 2 could not run.")]
pub(crate) struct Args {
    /// One predictions file per method, all of the same examples in the same order.
    #[arg(required = true, num_args = 2..)]
    files: Vec<PathBuf>,
    /// Names of the methods, in the order of the files [default: the file names].
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    names: Vec<String>,
    /// The score to rank by [default: the first of calibrated.nll and brier that every file has; for a
    /// regression of nll, crps, pinball, interval_score and mae].
    #[arg(long, value_name = "NAME")]
    score: Option<String>,
    /// Further scores to compare, by name, family or pattern.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    scores: Vec<String>,
    /// Use only the first N members of every file.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    members: Option<u32>,
    /// Number of bins in every binned score.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    bins: u16,
    /// Bootstrap resamples behind the 95 % intervals.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(20..=1_000_000))]
    resamples: u32,
    /// Seed of the resamples and of the cross-validation splits.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// Number of threads [default: all cores]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let settings = Settings {
        files: args.files.clone(),
        names: args.names.clone(),
        score: args.score.clone(),
        scores: args.scores.clone(),
        members: args.members.map(|members| members as usize),
        bins: args.bins.into(),
        resamples: args.resamples as usize,
        seed: args.seed,
    };
    let comparison = compare(&settings, &Bar::new())?;
    if args.json {
        json::json(&comparison)?
    } else {
        render::table(&comparison)?
    }
    Ok(if comparison.ranking.is_some() { Outcome::Done } else { Outcome::Undefined })
}
