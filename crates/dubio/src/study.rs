//! `dubio run`: studies from a suite.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::progress::Bar;
use anyhow::{Result, anyhow, bail};
use dubio_api::report::study_of_plan;
use dubio_api::scores::{badness, scores_of_study};
use dubio_bench::executor::Ended;
use dubio_bench::local::Local;
use dubio_bench::memory;
use dubio_bench::plan::{PlannedRun, plan};
use dubio_bench::search::Search;
use dubio_bench::store::Store;
use dubio_bench::study::Study;
use dubio_data::folder::data_folder;
use dubio_predictions::write_whole;

use crate::first_look::first_look;
use crate::interrupt::{same_command, stopper};
use crate::on_slurm::{On, SlurmArgs};
use crate::plan::{not_too_many, suite};
use crate::report::page;
use crate::study_bars::Bars;
use crate::terminal::{self, say};
use dubio_api::destination;

/// Resamples behind the intervals of the report.
const RESAMPLES: usize = 1000;

/// What to do about a folder that cannot be written.
const ROOM: &str = "make room or name another folder with --runs";

/// Where runs and data sets are.
#[derive(clap::Args)]
pub(crate) struct Places {
    /// Folder of the runs.
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    runs: PathBuf,
    /// Folder of the data sets, instead of $DUBIO_DATA.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

impl Places {
    pub(crate) fn store(&self) -> Store {
        Store::new(&self.runs)
    }

    pub(crate) fn data(&self) -> Result<PathBuf> {
        Ok(match &self.dir {
            Some(folder) => folder.clone(),
            None => data_folder()?,
        })
    }
}

/// Run a suite: what is not there yet, several runs at a time.
///
/// Ctrl-C stops cleanly; the same command goes on where it stopped. Finished runs are kept in
/// runs/ID/, where the id says all that the result depends on.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio run quick                             no data to fetch, about a minute
  dubio run suites/quick.toml --jobs 4
  dubio run quick --only 'method=sg*' --only seed=0
  dubio run suites/quick.toml --on slurm --partition long --time 4:00:00")]
pub(crate) struct RunArgs {
    /// A suite's name or file.
    suite: String,
    /// Runs at a time; as many as cores and memory allow, or as Slurm gives, when left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Only runs whose method, label, data, network or seed is this; `*` stands for anything.
    #[arg(long, value_name = "KEY=PATTERN")]
    only: Vec<String>,
    /// Where to write the report; beside the runs when left out.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Where to run, if not on this machine.
    #[arg(long, value_name = "CLUSTER")]
    on: Option<On>,
    /// Go on with more than 100,000 runs.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    places: Places,
    #[command(flatten)]
    slurm: SlurmArgs,
}

/// `KEY=PATTERN` against a run.
fn matches(run: &PlannedRun, only: &[String]) -> Result<bool> {
    for text in only {
        let Some((key, pattern)) = text.split_once('=') else {
            bail!("--only {text}: give a key and a pattern, as in --only 'method=sgld*'");
        };
        let s = &run.settings;
        let value = match key {
            "method" => s.recipe.method.card().name.to_string(),
            "label" => run.label.clone(),
            "data" => s.data.clone(),
            "network" => s.network.clone(),
            "seed" => s.seed.to_string(),
            _ => bail!("--only {text}: the keys are method, label, data, network and seed"),
        };
        if !like(pattern, &value) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a text is like a pattern, in which `*` stands for anything.
fn like(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => {
            let Some(tail) = text.strip_prefix(head) else { return false };
            (0..=tail.len()).filter(|&i| tail.is_char_boundary(i)).any(|i| like(rest, &tail[i..]))
        }
    }
}

pub(crate) fn run(args: &RunArgs) -> Result<()> {
    let suite = suite(&args.suite)?;
    not_too_many(&suite, args.yes)?;
    if let Some(path) = &args.report {
        destination::check(path)?;
        destination::keep(&[PathBuf::from(&args.suite)], &[path])?;
    }
    let (store, data) = (args.places.store(), args.places.data()?);
    let stop = stopper()?;
    let known = |run: &PlannedRun, search: &Search| badness(&store, run, search);
    let mut ended: Vec<(PlannedRun, Ended)> = Vec::new();
    // Searches take several rounds: what is tried next depends on what came of the trials before.
    let (mut study, planned) = loop {
        let plan = plan(&suite, &data, &known)?;
        let searching = !plan.open.is_empty();
        let study = Study::new(&suite, plan);
        let cannot = |e| anyhow!("cannot write in {}: {e}; {ROOM}", args.places.runs.display());
        let planned = chosen(&study.runs, &args.only)?;
        let trials = chosen(&study.trials, &args.only)?;
        if planned.is_empty() && trials.is_empty() {
            let name = &args.suite;
            bail!("--only leaves no run of {name}; `dubio plan {name}` shows them all");
        }
        study.save(&store).map_err(cannot)?;
        let tried = ended.iter().map(|(run, _)| &run.id[..]).collect::<Vec<_>>();
        let to_do: Vec<&PlannedRun> = trials
            .iter()
            .filter(|run| known(run, &suite.search).is_none())
            .chain(planned.iter().filter(|run| !store.is_finished(&run.id)))
            .filter(|run| !tried.contains(&&run.id[..]))
            .collect();
        let there = planned.iter().filter(|run| store.is_finished(&run.id)).count();
        if ended.is_empty() && there > 0 {
            say!("{there} of {} runs are there already", planned.len());
        }
        let how = execute(args, &to_do, &store, &data, stop)?;
        let nothing_new = to_do.is_empty();
        let done: Vec<_> = to_do.into_iter().cloned().zip(how).collect();
        ended.extend(done);
        if stop.load(Ordering::Relaxed) || !searching || nothing_new {
            break (study, planned);
        }
    };
    if stop.load(Ordering::Relaxed) {
        let finished = planned.iter().filter(|run| store.is_finished(&run.id)).count();
        let (all, again) = (planned.len(), same_command());
        bail!("stopped with {finished} of {all} runs finished; go on with: {again}");
    }
    let report = match &args.report {
        Some(path) => path.clone(),
        None => args.places.runs.join(format!("{}.html", suite.name)),
    };
    study.runs = planned.clone();
    let html = page(&study_of_plan(&study, &store, RESAMPLES, &Bar::new())?);
    let rows = scores_of_study(&study, &store)?;
    let written = write_whole(&report, |file| file.write_all(html.as_bytes()));
    first_look(&planned, &store, &rows)?;
    let failed: Vec<(&PlannedRun, &String)> = ended
        .iter()
        .filter_map(|(run, how)| match how {
            Ended::Failed(why) => Some((run, why)),
            _ => None,
        })
        .collect();
    for (run, why) in &failed {
        say!("{}, {}, seed {} failed: {why}", run.label, run.settings.data, run.settings.seed);
    }
    let taken = ended.iter().filter(|(_, how)| *how == Ended::Taken).count();
    if taken > 0 {
        say!("{taken} runs are another process's at the moment");
    }
    let advice = "make room or name another file with --report";
    written.map_err(|e| anyhow!("cannot write {}: {e}; {advice}", report.display()))?;
    writeln!(terminal::stdout(), "{}", report.display())?;
    // A search goes on without a trial that failed by itself.
    let again = |run: &PlannedRun| !run.is_trial() || known(run, &suite.search).is_none();
    let failed = failed.iter().filter(|(run, _)| again(run)).count();
    if failed == 0 {
        return Ok(());
    }
    let all = planned.len() + ended.iter().filter(|(run, _)| run.is_trial()).count();
    bail!("{failed} of {all} runs failed; the same command tries them again")
}

/// The runs that `--only` leaves.
fn chosen(runs: &[PlannedRun], only: &[String]) -> Result<Vec<PlannedRun>> {
    let mut left = Vec::new();
    for run in runs {
        if matches(run, only)? {
            left.push(run.clone());
        }
    }
    Ok(left)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Memory for runs: a tenth stays free, because what a run takes is an estimate.
fn room() -> Option<u64> {
    memory::available_bytes().map(|bytes| bytes / 10 * 9)
}

fn execute(
    args: &RunArgs,
    to_do: &[&PlannedRun],
    store: &Store,
    data: &Path,
    stop: &AtomicBool,
) -> Result<Vec<Ended>> {
    let bars = Bars::new(to_do.len());
    if let Some(On::Slurm) = args.on {
        return args.slurm.run(to_do, store, data, args.jobs, stop, &bars);
    }
    let arguments = ["--runs", path_text(&args.places.runs)?, "--dir", path_text(data)?];
    let program = std::env::current_exe()?;
    let local = Local {
        store,
        program: &program,
        arguments: &arguments,
        jobs: args.jobs.map_or_else(cores, usize::from),
        // Whoever says how many knows how much they take.
        room: if args.jobs.is_some() { None } else { room() },
    };
    local
        .run_all(to_do, stop, &bars)
        .map_err(|e| anyhow!("cannot run in {}: {e}; {ROOM}", args.places.runs.display()))
}

fn path_text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| anyhow!("{}: the name is not valid text", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, expected) in [
            ("sg*", "sgld", true),
            ("*ld", "sgld", true),
            ("s*l*", "sgld", true),
            ("sgld", "csgld", false),
            ("*", "", true),
            ("a*b", "ab", true),
            ("a*b", "ac", false),
        ] {
            assert_eq!(like(pattern, text), expected, "{pattern} {text}");
        }
    }
}
