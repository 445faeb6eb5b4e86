//! `dubio plan`: what a suite says, before anything runs.

use std::io::Write;

use anyhow::Result;
use dubio_api::plan::{Settings, Standing, plan};
use dubio_bench::plan::PlannedRun;
use dubio_bench::store::State;
use dubio_bench::{gpu_memory, memory};
use dubio_nn::Device;
use dubio_words::counted;
use serde_json::Value;

use crate::device::EngineArgs;
use crate::folders::{Folders, count};
use crate::runs::duration;
use crate::terminal;

/// Show what a suite would run, with every default; nothing is run.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio plan quick
  dubio plan suites/quick.toml --json")]
pub(crate) struct Args {
    /// A suite's name or file.
    suite: String,
    /// Print every setting of every run as JSON.
    #[arg(long)]
    json: bool,
    /// Allow more than 100,000 runs.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    folders: Folders,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let plan = plan(&Settings {
        suite: args.suite.clone(),
        count: count(args.yes),
        engine: args.engine.choice(),
        places: args.folders.plain(),
    })?;
    let mut out = terminal::stdout();
    if args.json {
        let runs = plan.runs.iter().map(|standing| as_json(&standing.run));
        writeln!(out, "{}", serde_json::to_string_pretty(&runs.collect::<Result<Vec<_>>>()?)?)?;
        return Ok(());
    }
    let with_gpu = plan.runs.iter().any(|standing| on_gpu(&standing.run));
    let gpu = if with_gpu { format!(" {:>9}", "GPU MB") } else { String::new() };
    out.heading(&format!(
        "{:<16}  {:<24} {:<14} {:<16} {:>4} {:>9} {:>9}{gpu}  state",
        "id", "method", "data", "network", "seed", "epochs", "about"
    ))?;
    for Standing { run, state } in &plan.runs {
        let state = match state {
            State::Finished => "finished",
            State::Failed => "failed",
            State::Begun => "begun",
            State::Missing => "to do",
        };
        let s = &run.settings;
        let gpu = match gpu_memory::estimate(run).div_ceil(1_000_000) {
            _ if !with_gpu => String::new(),
            0 => format!(" {:>9}", "—"),
            megabytes => format!(" {megabytes:>9}"),
        };
        writeln!(
            out,
            "{:<16}  {:<24} {:<14} {:<16} {:>4} {:>9.0} {:>9}{gpu}  {state}",
            run.id,
            run.label,
            s.data,
            s.network,
            s.seed,
            run.cost.epochs,
            if on_gpu(run) { "—".to_string() } else { duration(run.cost.seconds) }
        )?;
    }
    let to_do = plan.runs.iter().filter(|standing| standing.state != State::Finished);
    let to_do = to_do.map(|standing| &standing.run);
    let on_cpu = to_do.clone().filter(|run| !on_gpu(run));
    let seconds = on_cpu.clone().fold(0.0, |sum, run| sum + run.cost.seconds);
    let largest = |bytes: fn(&PlannedRun) -> u64| {
        to_do.clone().map(bytes).max().unwrap_or(0).div_ceil(1_000_000)
    };
    let gpu_bytes = match largest(gpu_memory::estimate) {
        0 => String::new(),
        megabytes => format!(" and {megabytes} MB of GPU memory"),
    };
    let time = match (to_do.clone().count(), on_cpu.count()) {
        (all, 0) if all > 0 => "the time on a GPU is not estimated".to_string(),
        (all, cpu) if cpu < all => {
            format!("about {} of one core besides the GPU's time", duration(seconds))
        }
        _ => format!("about {} of one core", duration(seconds)),
    };
    writeln!(
        out,
        "\n{}, {} to do: {time}, up to {} MB{gpu_bytes} each. --json shows every setting.",
        counted(plan.runs.len(), "run"),
        to_do.clone().count(),
        largest(memory::estimate)
    )?;
    for (label, left) in &plan.open {
        writeln!(out, "{label} runs when its search is done: {} left.", counted(*left, "trial"))?;
    }
    Ok(())
}

/// A run as JSON, with estimates of the memory that it takes; on a CPU it takes none of a GPU's.
fn as_json(run: &PlannedRun) -> Result<Value> {
    let mut row = serde_json::to_value(run)?;
    row["memory_bytes"] = memory::estimate(run).into();
    row["gpu_memory_bytes"] = gpu_memory::estimate(run).into();
    Ok(row)
}

/// Estimated seconds are those of a core, and say nothing about a GPU.
fn on_gpu(run: &PlannedRun) -> bool {
    run.settings.device != Device::Cpu
}
