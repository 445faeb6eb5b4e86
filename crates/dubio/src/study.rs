//! `dubio plan`, `dubio run`, `dubio runs`, `dubio score`: studies from a suite.

use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow, bail};
use dubio_bench::local::{self, Ended, Listener, exit};
use dubio_bench::plan::{PlannedRun, plan};
use dubio_bench::score::{Row, score};
use dubio_bench::store::{Failure, State, Store};
use dubio_bench::suite::Suite;
use dubio_bench::{page, work};
use dubio_data::folder::data_folder;
use dubio_infer::fit::{Now, Watch};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::names::nearest;

/// Suites that are part of the program.
const SUITES: [(&str, &str); 1] = [("quick", include_str!("../../../suites/quick.toml"))];

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
    fn store(&self) -> Store {
        Store::new(&self.runs)
    }

    fn data(&self) -> Result<PathBuf> {
        Ok(match &self.dir {
            Some(folder) => folder.clone(),
            None => data_folder()?,
        })
    }
}

/// Show what a suite would run, all defaults written out; runs nothing.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio plan quick
  dubio plan suites/quick.toml --json")]
pub(crate) struct PlanArgs {
    /// A suite's name or file.
    suite: String,
    /// Print every setting of every run as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    places: Places,
}

/// Run a suite: what is not there yet, several runs at a time.
///
/// Ctrl-C stops cleanly; the same command goes on where it stopped. Finished runs are kept in
/// runs/ID/, where the id says all that the result depends on.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio run quick                             no data to fetch, about a minute
  dubio run suites/quick.toml --jobs 4
  dubio run quick --only 'method=sg*' --only seed=0")]
pub(crate) struct RunArgs {
    /// A suite's name or file.
    suite: String,
    /// Runs at a time; as many as there are cores when left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Only runs whose method, label, data, network or seed is this; `*` stands for anything.
    #[arg(long, value_name = "KEY=PATTERN")]
    only: Vec<String>,
    /// Where to write the page of tables; beside the runs when left out.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    places: Places,
}

/// Score the finished runs of a folder, long and tidy, as CSV.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio score runs > scores.csv
  dubio score runs --scores accuracy,calibrated.nll")]
pub(crate) struct ScoreArgs {
    /// Folder of the runs.
    #[arg(default_value = "runs")]
    runs: PathBuf,
    /// Only these scores, by name, family or pattern.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    scores: Vec<String>,
    /// Bootstrap resamples behind the intervals of the test part; 0 for none.
    #[arg(long, default_value_t = 1000)]
    resamples: u32,
}

/// List, show or remove runs.
#[derive(clap::Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    command: RunsCommand,
}

#[derive(clap::Subcommand)]
enum RunsCommand {
    /// The finished runs.
    List {
        /// Folder of the runs.
        #[arg(long, value_name = "FOLDER", default_value = "runs")]
        runs: PathBuf,
    },
    /// The record of a run.
    Show {
        /// Its id, or the beginning of it.
        id: String,
        /// Folder of the runs.
        #[arg(long, value_name = "FOLDER", default_value = "runs")]
        runs: PathBuf,
    },
    /// Remove runs and all that belongs to them.
    Rm {
        /// Their ids, or the beginnings of them.
        #[arg(required = true)]
        ids: Vec<String>,
        /// Folder of the runs.
        #[arg(long, value_name = "FOLDER", default_value = "runs")]
        runs: PathBuf,
    },
}

/// Do one planned run, read from standard input.
#[derive(clap::Args)]
pub(crate) struct WorkArgs {
    #[command(flatten)]
    places: Places,
}

fn suite(name: &str) -> Result<Suite> {
    if let Some((_, text)) = SUITES.iter().find(|(known, _)| *known == name) {
        return Ok(Suite::parse(&format!("suites/{name}.toml"), text)?);
    }
    let path = Path::new(name);
    let looks_like_file = path.extension().is_some() || name.contains(['/', '\\']);
    if !looks_like_file && !path.exists() {
        let names: Vec<String> = SUITES.iter().map(|(known, _)| (*known).to_string()).collect();
        bail!(
            "no suite is called `{name}`; did you mean {}? A file's name ends in .toml",
            nearest(name, &names)
        );
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    Ok(Suite::parse(name, &text)?)
}

pub(crate) fn show_plan(args: &PlanArgs) -> Result<()> {
    let suite = suite(&args.suite)?;
    let store = args.places.store();
    let runs = plan(&suite, &args.places.data()?)?;
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&runs)?)?;
        return Ok(());
    }
    writeln!(
        out,
        "{:<16}  {:<24} {:<14} {:<16} {:>4} {:>9} {:>9}  state",
        "id", "method", "data", "network", "seed", "epochs", "about"
    )?;
    for run in &runs {
        let state = match store.state(run) {
            State::Finished => "finished",
            State::Failed => "failed",
            State::Begun => "begun",
            State::Missing => "to do",
        };
        let s = &run.settings;
        writeln!(
            out,
            "{:<16}  {:<24} {:<14} {:<16} {:>4} {:>9.0} {:>9}  {state}",
            run.id,
            run.label,
            s.data,
            s.network,
            s.seed,
            run.cost.epochs,
            duration(run.cost.seconds)
        )?;
    }
    let to_do = runs.iter().filter(|run| store.state(run) != State::Finished);
    let seconds: f64 = to_do.clone().map(|run| run.cost.seconds).sum();
    writeln!(
        out,
        "\n{} runs, {} to do: about {} of one core. --json shows every setting.",
        runs.len(),
        to_do.count(),
        duration(seconds)
    )?;
    Ok(())
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
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
    let (store, data) = (args.places.store(), args.places.data()?);
    let mut planned = Vec::new();
    for run in plan(&suite, &data)? {
        if matches(&run, &args.only)? {
            planned.push(run);
        }
    }
    if planned.is_empty() {
        bail!("--only leaves no run of {}; `dubio plan {}` shows them all", args.suite, args.suite);
    }
    let to_do: Vec<&PlannedRun> =
        planned.iter().filter(|run| !store.is_finished(&run.id)).collect();
    let done = planned.len() - to_do.len();
    if done > 0 {
        eprintln!("{done} of {} runs are there already", planned.len());
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.map_or(cores, usize::from);
    let stop = stopper()?;
    let bars = Bars::new(to_do.len());
    let (runs_folder, data_folder) = (path_text(&args.places.runs)?, path_text(&data)?);
    let arguments = ["--runs", runs_folder, "--dir", data_folder];
    let program = std::env::current_exe()?;
    let ended = local::run_all(&to_do, &store, &program, &arguments, jobs, stop, &bars)
        .with_context(|| format!("cannot run in {}", args.places.runs.display()))?;
    drop(bars);
    if stop.load(Ordering::Relaxed) {
        let finished = planned.iter().filter(|run| store.is_finished(&run.id)).count();
        let again = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
        bail!(
            "stopped with {finished} of {} runs finished; go on with: dubio {again}",
            planned.len()
        );
    }
    let report = match &args.report {
        Some(path) => path.clone(),
        None => args.places.runs.join(format!("{}.html", suite.name)),
    };
    let rows = rows(&store, &planned, 0, &|split, name| split == "test" || !name.contains('.'))?;
    let title = if suite.title.is_empty() { &suite.name } else { &suite.title };
    let html = page::page(title, &suite.paper, &planned, &store, &rows);
    std::fs::write(&report, html).with_context(|| format!("cannot write {}", report.display()))?;
    summary(&planned, &store, &rows)?;
    let failed: Vec<(&PlannedRun, &String)> = to_do
        .iter()
        .zip(&ended)
        .filter_map(|(run, how)| match how {
            Ended::Failed(why) => Some((*run, why)),
            _ => None,
        })
        .collect();
    for (run, why) in &failed {
        eprintln!("{}, {}, seed {} failed: {why}", run.label, run.settings.data, run.settings.seed);
    }
    let taken = ended.iter().filter(|how| **how == Ended::Taken).count();
    if taken > 0 {
        eprintln!("{taken} runs are another process's at the moment");
    }
    println!("{}", report.display());
    if failed.is_empty() {
        return Ok(());
    }
    bail!("{} of {} runs failed; the same command tries them again", failed.len(), planned.len())
}

fn path_text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| anyhow!("{}: the name is not valid text", path.display()))
}

fn rows(
    store: &Store,
    planned: &[PlannedRun],
    resamples: usize,
    wanted: dubio_bench::score::Wanted<'_>,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for run in planned.iter().filter(|run| store.is_finished(&run.id)) {
        rows.extend(score(store, &store.record(&run.id)?, resamples, wanted)?);
    }
    Ok(rows)
}

/// The first scores of every method, mean over seeds.
fn summary(planned: &[PlannedRun], store: &Store, rows: &[Row]) -> Result<()> {
    let names = ["accuracy", "nll", "calibrated.nll", "ece", "rmse", "crps"];
    let there: Vec<&str> =
        names.into_iter().filter(|name| rows.iter().any(|row| row.entry.name == *name)).collect();
    let mut out = io::stdout().lock();
    write!(out, "{:<24} {:<12} {:>7}", "method", "data", "seeds")?;
    there.iter().try_for_each(|name| write!(out, " {name:>14}"))?;
    writeln!(out)?;
    let mut seen: Vec<(&str, &str, &str)> = Vec::new();
    for run in planned {
        let key = (&run.label[..], &run.settings.data[..], &run.settings.network[..]);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let same = |other: &&PlannedRun| {
            (&other.label[..], &other.settings.data[..], &other.settings.network[..]) == key
        };
        let runs: Vec<&PlannedRun> = planned.iter().filter(same).collect();
        let done = runs.iter().filter(|run| store.is_finished(&run.id)).count();
        write!(out, "{:<24} {:<12} {:>7}", key.0, key.1, format!("{done} of {}", runs.len()))?;
        for name in &there {
            let values: Vec<f64> = rows
                .iter()
                .filter(|row| row.split == "test" && row.entry.name == *name)
                .filter(|row| runs.iter().any(|run| run.id == row.run))
                .filter_map(|row| row.entry.value.as_ref().ok().copied())
                .collect();
            match values.len() {
                0 => write!(out, " {:>14}", "—")?,
                n => write!(out, " {:>14.4}", values.iter().sum::<f64>() / n as f64)?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

pub(crate) fn score_runs(args: &ScoreArgs) -> Result<()> {
    let selection = crate::names::Selection::new(&args.scores)?;
    let store = Store::new(&args.runs);
    let mut out = csv::Writer::from_writer(io::stdout().lock());
    out.write_record([
        "run", "data", "network", "method", "seed", "samples", "split", "score", "value", "lo",
        "hi", "n", "why",
    ])?;
    let records = store.finished()?;
    if records.is_empty() {
        bail!("{}: no finished runs; `dubio run quick` makes some", args.runs.display());
    }
    for record in records {
        let wanted = |_: &str, name: &str| selection.wants(name);
        for row in score(&store, &record, args.resamples as usize, &wanted)? {
            let s = &record.settings;
            let number = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
            let (value, why) = match &row.entry.value {
                Ok(value) => (value.to_string(), String::new()),
                Err(why) => (String::new(), why.0.clone()),
            };
            out.write_record([
                &row.run,
                &s.data,
                &s.network,
                &record.label,
                &s.seed.to_string(),
                &record.samples.to_string(),
                &row.split,
                &row.entry.name,
                &value,
                &number(row.entry.interval.map(|(lo, _)| lo)),
                &number(row.entry.interval.map(|(_, hi)| hi)),
                &row.entry.n.to_string(),
                &why,
            ])?;
        }
    }
    Ok(out.flush()?)
}

pub(crate) fn manage_runs(args: &RunsArgs) -> Result<()> {
    let mut out = io::stdout().lock();
    match &args.command {
        RunsCommand::List { runs } => {
            for record in Store::new(runs).finished()? {
                let s = &record.settings;
                let (label, seconds) = (&record.label, duration(record.spent.train_wall_secs));
                writeln!(
                    out,
                    "{}  {label:<24} {:<14} {:<16} seed {:<4} {seconds:>8}",
                    record.id, s.data, s.network, s.seed
                )?;
            }
        }
        RunsCommand::Show { id, runs } => {
            let store = Store::new(runs);
            let record = store.record(&only_one(&store, id)?)?;
            writeln!(out, "{}", serde_json::to_string_pretty(&json!(record))?)?;
        }
        RunsCommand::Rm { ids, runs } => {
            let store = Store::new(runs);
            for id in ids {
                let id = only_one(&store, id)?;
                store.remove(&id)?;
                writeln!(out, "removed {id}")?;
            }
        }
    }
    Ok(())
}

/// The one run whose id begins like this.
fn only_one(store: &Store, start: &str) -> Result<String> {
    let all = store.finished()?.into_iter().map(|record| record.id);
    let found: Vec<String> = all.filter(|id| id.starts_with(start)).collect();
    match &found[..] {
        [one] => Ok(one.clone()),
        [] => bail!("no run's id begins with `{start}`; `dubio runs list` shows them"),
        several => {
            bail!("{} runs' ids begin with `{start}`: {}", several.len(), several.join(", "))
        }
    }
}

/// A flag that Ctrl-C raises. A second one ends the program at once.
fn stopper() -> Result<&'static AtomicBool> {
    static STOP: AtomicBool = AtomicBool::new(false);
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    Ok(&STOP)
}

pub(crate) fn do_work(args: &WorkArgs) -> Result<ExitCode> {
    let code = |code: i32| Ok(ExitCode::from(code as u8));
    let stop = stopper()?;
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text)?;
    let run: PlannedRun = serde_json::from_slice(&text).context("a planned run, as JSON")?;
    let store = args.places.store();
    let Some(_claim) = store.claim(&run.id)? else { return code(exit::TAKEN) };
    if store.is_finished(&run.id) {
        return code(exit::FINISHED);
    }
    let watch = Worker { stop, done: Mutex::new(vec![0.0; run.settings.recipe.members()]) };
    match work::work(&run, &store, &args.places.data()?, &watch) {
        Ok(()) => code(exit::FINISHED),
        Err(work::Error::Stopped) => code(exit::STOPPED),
        Err(error) => {
            let failure = Failure {
                id: run.id.clone(),
                label: run.label.clone(),
                settings: run.settings.clone(),
                error: error.to_string(),
            };
            // Where even this cannot be written, the message is all there is.
            if let Err(second) = store.fail(&failure) {
                eprintln!("{error}; {second}");
            }
            code(exit::FAILED)
        }
    }
}

/// Tells progress on standard output.
struct Worker {
    stop: &'static AtomicBool,
    done: Mutex<Vec<f64>>,
}

impl Watch for Worker {
    fn seen(&self, now: &Now) {
        let Ok(mut done) = self.done.lock() else { return };
        done[now.member] = now.done as f64 / now.total as f64;
        let share = done.iter().sum::<f64>() / done.len() as f64;
        // Nobody listens any more when the parent is gone; the run goes on.
        let _ = writeln!(io::stdout(), "{share:.4}");
    }
    fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A bar for all runs and one for each that is under way.
struct Bars {
    all: MultiProgress,
    total: ProgressBar,
    under_way: Mutex<Vec<(String, ProgressBar)>>,
}

impl Bars {
    fn new(runs: usize) -> Self {
        let target = if io::stderr().is_terminal() {
            ProgressDrawTarget::stderr_with_hz(5)
        } else {
            ProgressDrawTarget::hidden()
        };
        let all = MultiProgress::with_draw_target(target);
        let total = all.add(ProgressBar::new(runs as u64));
        if let Ok(style) = ProgressStyle::with_template(
            "{pos} of {len} runs {wide_bar} {elapsed} gone, {eta} left",
        ) {
            total.set_style(style);
        }
        Self { all, total, under_way: Mutex::new(Vec::new()) }
    }

    fn with(&self, id: &str, f: impl FnOnce(&ProgressBar)) {
        let Ok(bars) = self.under_way.lock() else { return };
        if let Some((_, bar)) = bars.iter().find(|(known, _)| known == id) {
            f(bar);
        }
    }
}

impl Listener for Bars {
    fn began(&self, run: &PlannedRun) {
        let bar = self.all.add(ProgressBar::new(1000));
        if let Ok(style) =
            ProgressStyle::with_template("  {msg:<40} {wide_bar} {percent:>3} % {eta:>5}")
        {
            bar.set_style(style);
        }
        bar.set_message(format!(
            "{}, {}, seed {}",
            run.label, run.settings.data, run.settings.seed
        ));
        if let Ok(mut bars) = self.under_way.lock() {
            bars.push((run.id.clone(), bar));
        }
    }
    fn progressed(&self, run: &PlannedRun, share: f64) {
        self.with(&run.id, |bar| bar.set_position((1000.0 * share) as u64));
    }
    fn ended(&self, run: &PlannedRun, _: &Ended) {
        self.with(&run.id, ProgressBar::finish_and_clear);
        if let Ok(mut bars) = self.under_way.lock() {
            bars.retain(|(id, _)| *id != run.id);
        }
        self.total.inc(1);
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        let _ = self.all.clear();
    }
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

    #[test]
    fn the_suites_that_are_part_of_the_program_have_no_mistakes() {
        for (name, _) in SUITES {
            suite(name).unwrap_or_else(|e| panic!("{e}"));
        }
    }
}
