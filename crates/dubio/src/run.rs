//! `dubio run`: studies from a suite.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use dubio_api::Error;
use dubio_api::run::{Ran, Settings, run as run_suite};
use dubio_predictions::write_whole;
use dubio_words::counted;

use crate::device::EngineArgs;
use crate::first_look::first_look;
use crate::folders::{Folders, count};
use crate::interrupt::{Stopped, same_command, stopper};
use crate::on_slurm::{On, SlurmArgs};
use crate::progress::Bar;
use crate::report::page;
use crate::study_bars::Bars;
use crate::terminal::{self, say};

/// Run a suite's unfinished runs, several at a time.
///
/// Ctrl-C stops cleanly; the same command resumes. Finished runs are kept in runs/ID/, where the ID
/// is a hash of everything that the result depends on.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio run quick                             no data to fetch
  dubio run suites/quick.toml --jobs 4
  dubio run quick --only 'method=sg*' --only seed=0
  dubio run suites/quick.toml --on slurm --partition long --time 4:00:00")]
pub(crate) struct Args {
    /// A suite's name or file.
    suite: String,
    /// Runs at a time [default: as many as cores and memory allow, or as Slurm gives].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Only runs whose method, label, data, network or seed matches; `*` matches anything. Given twice for one of these,
    /// runs that match either.
    #[arg(long, value_name = "KEY=PATTERN")]
    only: Vec<String>,
    /// Where to write the report [default: SUITE.html in the folder of runs].
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Where to run, if not on this machine.
    #[arg(long, value_name = "CLUSTER")]
    on: Option<On>,
    /// Allow more than 100,000 runs.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    folders: Folders,
    #[command(flatten)]
    slurm: SlurmArgs,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let settings = args.settings()?;
    let stop = stopper()?;
    let ran = run_suite(&settings, stop, &|runs| Box::new(Bars::new(runs)), &Bar::new());
    let ran = ran.map_err(|error| match error {
        Error::Stopped { finished, all } => {
            let again = same_command();
            let so_far = format!("stopped with {finished} of {all} runs finished");
            anyhow!(Stopped(format!("{so_far}; resume with: {again}")))
        }
        Error::Unwatched { finished, all, jobs } => anyhow!(Stopped(format!(
            "no longer watching, with {finished} of {all} runs finished; the jobs continue. Watch \
             again with: {}; cancel them with: scancel {jobs}",
            same_command()
        ))),
        other => other.into(),
    })?;
    show(&ran)
}

impl Args {
    fn settings(&self) -> Result<Settings> {
        Ok(Settings {
            suite: self.suite.clone(),
            jobs: self.jobs,
            only: self.only.clone(),
            report: self.report.clone(),
            count: count(self.yes),
            engine: self.engine.choice(),
            places: self.folders.plain(),
            slurm: self.on.map(|On::Slurm| self.slurm.options()),
            program: std::env::current_exe()?,
        })
    }
}

/// Writes the report, and tells what came of the runs.
fn show(ran: &Ran) -> Result<()> {
    let html = page(&ran.study);
    let written = write_whole(&ran.report, |file| file.write_all(html.as_bytes()));
    first_look(ran)?;
    for failed in &ran.failed {
        let (run, why) = (&failed.run, &failed.why);
        say!("{}, {}, seed {} failed: {why}", run.label, run.settings.data, run.settings.seed);
    }
    if ran.taken > 0 {
        say!("left out, because another process is working on it: {}", counted(ran.taken, "run"));
    }
    let (report, advice) =
        (ran.report.display(), "free some space or choose another file with --report");
    written.map_err(|e| anyhow!("cannot write {report}: {e}; {advice}"))?;
    writeln!(terminal::stdout(), "{report}")?;
    match ran.failed.iter().filter(|failed| failed.again).count() {
        0 => Ok(()),
        failed => bail!("{failed} of {} runs failed; the same command tries them again", ran.all),
    }
}
