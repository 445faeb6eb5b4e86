//! `dubio calibrate`: fit a temperature on one file and apply it to another.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use dubio_api::calibrate::{Settings, calibrate};
use serde_json::json;

use crate::terminal;

/// Fit a temperature on validation predictions and apply it to others.
///
/// By default one temperature is fitted to the ensemble's mean probabilities, and the result has
/// one member: pool, then calibrate. With --per-member each member gets its own temperature and
/// stays a member: calibrate, then pool. The two give different numbers.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio calibrate val.npz                                      print the temperature
  dubio calibrate val.npz --apply test.npz -o calibrated.npz   and use it
  dubio calibrate val.npz --per-member --apply test.npz -o calibrated.npz")]
pub(crate) struct Args {
    /// Validation predictions with labels, to fit on; never those that will be scored.
    file: PathBuf,
    /// Predictions to apply the temperature to.
    #[arg(long, value_name = "FILE", requires = "output")]
    apply: Option<PathBuf>,
    /// Where to write the calibrated predictions, as `log_probs`: .npz, .safetensors or a folder.
    #[arg(short, long, value_name = "FILE", requires = "apply")]
    output: Option<PathBuf>,
    /// A temperature for each member instead of one for their mean.
    #[arg(long)]
    per_member: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let settings = Settings {
        file: args.file.clone(),
        apply: args.apply.clone().zip(args.output.clone()),
        per_member: args.per_member,
    };
    report(args, &calibrate(&settings)?.temperatures)
}

fn report(args: &Args, temperatures: &[f64]) -> Result<()> {
    let mut out = terminal::stdout();
    if args.json {
        let value = if args.per_member { json!(temperatures) } else { json!(temperatures[0]) };
        writeln!(out, "{}", json!({ "temperature": value }))?;
    } else {
        let all: Vec<String> = temperatures.iter().map(|t| format!("{t:.5}")).collect();
        writeln!(out, "temperature {}", all.join(" "))?;
    }
    if let Some(output) = &args.output
        && !args.json
    {
        writeln!(out, "wrote {}", output.display())?;
    }
    Ok(())
}
