//! `dubio check`: posterior predictive checks of a predictions file.

mod render;

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;
use dubio_api::check::{Settings, check};
use dubio_metrics::calibrate::joint::Sharing;
use dubio_metrics::check::{Mode, Rule};

use crate::Outcome;
use crate::progress::Bar;

/// Posterior predictive check: could these labels have come from the model itself?
///
/// The ensemble generates labels of its own, many times over, and each replicate is scored as the true
/// labels are. If the observed score lies outside the range of the simulated ones, the model's uncertainty
/// does not match its errors. A large `ece` alone does not show that: with few examples, or members that
/// disagree, the model may well expect it (Gopal 2021).
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio check preds.npz
  dubio check preds.npz --statistic ece --statistic accuracy --json
  dubio check preds.npz --mode independent --recalibrate per-member
  dubio check shifted.npz --recalibrate per-member --recalibrate-on test.npz
  dubio check gaussians.npz --statistic picp --replicates 10000

p_value is the fraction of replicates strictly below the observed value, as published. p_two_sided is \
the two-sided p-value by rank: 2 min(1 + below, 1 + above) / (replicates + 1), at most 1, ties counted \
half. sharpness is the 95th minus the 5th percentile of the replicates.

JSON: {\"rule\": ..., \"statistics\": {\"ece\": {\"observed\": ..., \"p_value\": ..., \"p_two_sided\": ..., \
\"sharpness\": ..., \"passes\": ..., \"lo\": ..., \"hi\": ..., \"box\": [...]}}, ...}; lo and hi are the 2.5th and \
the 97.5th percentile of the replicates, box their 5th, 25th, 50th, 75th and 95th.

Exit codes: 0 done, whether checks pass or not; 1 a statistic asked for by name has no value; 2 could \
not run.")]
pub(crate) struct Args {
    /// The predictions.
    file: PathBuf,
    /// A score to check, by name, family or pattern; may be given several times. accuracy and ece
    /// when left out, picp and quantile_calibration for a regression.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    statistic: Vec<String>,
    /// How the ensemble generates labels.
    #[arg(long, value_enum, default_value_t = ModeName::Bayesian)]
    mode: ModeName,
    /// Fit temperatures on the leading fifth of the examples, and check the rest.
    #[arg(long, value_enum, value_name = "HOW")]
    recalibrate: Option<SharingName>,
    /// Fit them on the leading fifth of this file instead: the same members' predictions for the same
    /// examples before a shift.
    #[arg(long, value_name = "FILE", requires = "recalibrate")]
    recalibrate_on: Option<PathBuf>,
    /// When a check passes.
    #[arg(long, value_enum, default_value_t = RuleName::Interval)]
    rule: RuleName,
    /// Number of replicates.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(20..=1_000_000))]
    replicates: u32,
    /// Number of bins in every binned score.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    bins: u16,
    /// Cost matrix as CSV without a header, for decision_cost.
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    /// Seed of the replicates.
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
enum ModeName {
    /// One member generates all labels of a replicate (Gopal 2021, algorithm 2).
    Bayesian,
    /// Each label is drawn from a member of its own (algorithm 4).
    Independent,
}

#[derive(Clone, Copy, ValueEnum)]
enum SharingName {
    /// A temperature for each member, fitted together.
    PerMember,
    /// The same temperature for all members.
    One,
}

#[derive(Clone, Copy, ValueEnum)]
enum RuleName {
    /// The observed value is between the 2.5th and the 97.5th percentile of the replicates.
    Interval,
    /// p_value is neither 0 nor 1: the rule of Gopal's tables, which depends on the number of replicates.
    Range,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let checks = check(&args.settings(), &Bar::new())?;
    if args.json {
        render::json(&checks)?
    } else {
        render::table(&checks)?
    }
    Ok(if checks.undefined.is_empty() { Outcome::Done } else { Outcome::Undefined })
}

impl Args {
    fn settings(&self) -> Settings {
        Settings {
            file: self.file.clone(),
            statistics: self.statistic.clone(),
            mode: match self.mode {
                ModeName::Bayesian => Mode::Bayesian,
                ModeName::Independent => Mode::Independent,
            },
            recalibrate: self.recalibrate.map(|how| match how {
                SharingName::PerMember => Sharing::PerMember,
                SharingName::One => Sharing::One,
            }),
            recalibrate_on: self.recalibrate_on.clone(),
            rule: match self.rule {
                RuleName::Range => Rule::Range,
                RuleName::Interval => Rule::Interval,
            },
            replicates: self.replicates as usize,
            bins: self.bins.into(),
            costs: self.costs.clone(),
            seed: self.seed,
        }
    }
}
