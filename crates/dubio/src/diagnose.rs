//! `dubio diagnose`: whether the chains behind predictions have converged.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use dubio_api::diagnose::{Diagnosed, Settings, diagnose};

use crate::terminal::{self, say};

/// Find out whether the chains behind predictions have converged.
///
/// Rank-normalised split R-hat and effective sample sizes in the bulk and in the tails (Vehtari et al. 2021), of the
/// predictions for up to 1000 examples and of the loss. R-hat should be below 1.01; with one chain it compares its
/// halves. For a run, the sampler's own diagnostics are shown too: acceptance, divergent draws, E-BFMI.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio diagnose runs/ID                a run of a study, chain by chain
  dubio diagnose preds.npz --chains 4   members are the draws of four chains, chain after chain
  dubio diagnose preds.npz --json")]
pub(crate) struct Args {
    /// A file of predictions whose members are draws, or the folder of a run.
    path: PathBuf,
    /// Number of chains; members are their draws, chain after chain [default: that of the run, or 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    chains: Option<u16>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let settings = Settings { path: args.path.clone(), chains: args.chains.map(usize::from) };
    let found = diagnose(&settings)?;
    if args.json {
        writeln!(terminal::stdout(), "{}", serde_json::to_string_pretty(&found)?)?;
        return Ok(());
    }
    table(&found)?;
    found.warnings.iter().for_each(|warning| say!("warning: {warning}"));
    Ok(())
}

fn table(found: &Diagnosed) -> Result<()> {
    let mut out = terminal::stdout();
    let diagnosis = &found.diagnosis;
    let (chains, draws) = (diagnosis.chains, diagnosis.draws);
    let plural = if chains == 1 { "chain" } else { "chains" };
    writeln!(out, "{}: {chains} {plural} of {draws} draws\n", found.file.display())?;
    if diagnosis.predictions.is_none() && diagnosis.loss.is_none() {
        writeln!(out, "too few draws, or draws that are all the same: nothing can be said")?;
    } else {
        writeln!(out, "{:<24}{:>10}{:>10}{:>10}", "", "R-hat", "ESS bulk", "ESS tail")?;
    }
    if let Some(all) = &diagnosis.predictions {
        let rows = [
            ("predictions, median", all.rhat_median, all.ess_bulk_median, all.ess_tail_median),
            ("predictions, worst", all.rhat_max, all.ess_bulk_min, all.ess_tail_min),
        ];
        for (name, rhat, bulk, tail) in rows {
            writeln!(out, "{name:<24}{rhat:>10.3}{bulk:>10.1}{tail:>10.1}")?;
        }
    }
    if let Some(loss) = &diagnosis.loss {
        let (rhat, bulk, tail) = (loss.rhat, loss.ess_bulk, loss.ess_tail);
        writeln!(out, "{:<24}{rhat:>10.3}{bulk:>10.1}{tail:>10.1}", "loss")?;
    }
    if let Some(all) = &diagnosis.predictions {
        let (percent, count) = (100.0 * all.above_101, all.quantities);
        writeln!(out, "\nR-hat is above 1.01 for {percent:.1} % of {count} predictions")?;
    }
    for (chain, told) in found.sampler.iter().enumerate().filter(|(_, told)| !told.is_empty()) {
        let each: Vec<String> = told
            .iter()
            .map(|(name, value)| match value.as_f64() {
                Some(number) => format!("{name} {number:.4}"),
                None => format!("{name} {value}"),
            })
            .collect();
        writeln!(out, "chain {chain}: {}", each.join(", "))?;
    }
    Ok(())
}
