//! `dubio plan` and `dubio run`: studies from a suite.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow, bail};
use dubio_bench::executor::Ended;
use dubio_bench::local;
use dubio_bench::page;
use dubio_bench::plan::{Plan, PlannedRun, plan};
use dubio_bench::score::Row;
use dubio_bench::search::Search;
use dubio_bench::store::{State, Store};
use dubio_bench::study::{Study, badness};
use dubio_bench::suite::Suite;
use dubio_data::folder::data_folder;

use crate::names::nearest;
use crate::on_slurm::{On, SlurmArgs};
use crate::runs::duration;
use crate::study_bars::Bars;
use crate::worker::stopper;

/// Suites that are part of the program.
const SUITES: [(&str, &str); 2] = [
    ("quick", include_str!("../../../suites/quick.toml")),
    ("ursabench-small", include_str!("../../../suites/ursabench-small.toml")),
];

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
  dubio run quick --only 'method=sg*' --only seed=0
  dubio run suites/quick.toml --on slurm --partition long --time 4:00:00")]
pub(crate) struct RunArgs {
    /// A suite's name or file.
    suite: String,
    /// Runs at a time; as many as there are cores, or as Slurm gives, when left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Only runs whose method, label, data, network or seed is this; `*` stands for anything.
    #[arg(long, value_name = "KEY=PATTERN")]
    only: Vec<String>,
    /// Where to write the page of tables; beside the runs when left out.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Where to run, if not on this machine.
    #[arg(long, value_name = "CLUSTER")]
    on: Option<On>,
    #[command(flatten)]
    slurm: SlurmArgs,
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
    let known = |run: &PlannedRun, search: &Search| badness(&store, run, search);
    let Plan { runs, trials, open } = plan(&suite, &args.places.data()?, &known)?;
    let runs = [trials, runs].concat();
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
    for (label, left) in open {
        writeln!(out, "{label} runs when its search is done: {left} trials are left.")?;
    }
    Ok(())
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
    let stop = stopper()?;
    let known = |run: &PlannedRun, search: &Search| badness(&store, run, search);
    let mut ended: Vec<(PlannedRun, Ended)> = Vec::new();
    // Searches take several rounds: what is tried next depends on what came of the trials before.
    let (mut study, planned) = loop {
        let plan = plan(&suite, &data, &known)?;
        let searching = !plan.open.is_empty();
        let study = Study::new(&suite, plan);
        let cannot = || format!("cannot write in {}", args.places.runs.display());
        let planned = chosen(&study.runs, &args.only)?;
        let trials = chosen(&study.trials, &args.only)?;
        if planned.is_empty() && trials.is_empty() {
            let name = &args.suite;
            bail!("--only leaves no run of {name}; `dubio plan {name}` shows them all");
        }
        study.save(&store).with_context(cannot)?;
        let tried = ended.iter().map(|(run, _)| &run.id[..]).collect::<Vec<_>>();
        let to_do: Vec<&PlannedRun> = trials
            .iter()
            .filter(|run| known(run, &suite.search).is_none())
            .chain(planned.iter().filter(|run| !store.is_finished(&run.id)))
            .filter(|run| !tried.contains(&&run.id[..]))
            .collect();
        let there = planned.iter().filter(|run| store.is_finished(&run.id)).count();
        if ended.is_empty() && there > 0 {
            eprintln!("{there} of {} runs are there already", planned.len());
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
    let rows = study.rows(&store, 0, &|split, name| split == "test" || !name.contains('.'))?;
    let html = page::page(&study.title, &study.paper, &planned, &store, &rows);
    std::fs::write(&report, html).with_context(|| format!("cannot write {}", report.display()))?;
    summary(&planned, &store, &rows)?;
    let failed: Vec<(&PlannedRun, &String)> = ended
        .iter()
        .filter_map(|(run, how)| match how {
            Ended::Failed(why) => Some((run, why)),
            _ => None,
        })
        .collect();
    for (run, why) in &failed {
        eprintln!("{}, {}, seed {} failed: {why}", run.label, run.settings.data, run.settings.seed);
    }
    let taken = ended.iter().filter(|(_, how)| *how == Ended::Taken).count();
    if taken > 0 {
        eprintln!("{taken} runs are another process's at the moment");
    }
    println!("{}", report.display());
    // A search goes on without a trial that failed.
    let failed: Vec<_> = failed.into_iter().filter(|(run, _)| !run.is_trial()).collect();
    if failed.is_empty() {
        return Ok(());
    }
    bail!("{} of {} runs failed; the same command tries them again", failed.len(), planned.len())
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

fn execute(
    args: &RunArgs,
    to_do: &[&PlannedRun],
    store: &Store,
    data: &Path,
    stop: &AtomicBool,
) -> Result<Vec<Ended>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.map_or(cores, usize::from);
    let bars = Bars::new(to_do.len());
    if let Some(On::Slurm) = args.on {
        return args.slurm.run(to_do, store, data, args.jobs, stop, &bars);
    }
    let arguments = ["--runs", path_text(&args.places.runs)?, "--dir", path_text(data)?];
    let program = std::env::current_exe()?;
    local::run_all(to_do, store, &program, &arguments, jobs, stop, &bars)
        .with_context(|| format!("cannot run in {}", args.places.runs.display()))
}

/// The command that is running, to be typed again.
pub(crate) fn same_command() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@".contains(c);
    let words = std::env::args().skip(1).map(|word| match word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    });
    words.fold("dubio".to_string(), |line, word| line + " " + &word)
}

fn path_text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| anyhow!("{}: the name is not valid text", path.display()))
}

/// Scores of a first look: of which split, and which.
const FIRST: [(&str, &str); 7] = [
    ("test", "accuracy"),
    ("test", "nll"),
    ("test", "calibrated.nll"),
    ("test", "ece"),
    ("test", "rmse"),
    ("test", "crps"),
    ("decision", "decision_cost"),
];

/// The first scores of every method, mean over seeds.
fn summary(planned: &[PlannedRun], store: &Store, rows: &[Row]) -> Result<()> {
    let is = |row: &Row, (split, name): (&str, &str)| row.split == split && row.entry.name == name;
    let there: Vec<(&str, &str)> =
        FIRST.into_iter().filter(|&which| rows.iter().any(|row| is(row, which))).collect();
    let mut out = io::stdout().lock();
    write!(out, "{:<24} {:<12} {:>7}", "method", "data", "seeds")?;
    there.iter().try_for_each(|(_, name)| write!(out, " {name:>14}"))?;
    writeln!(out)?;
    let mut seen: Vec<(&str, &str, &str)> = Vec::new();
    let mut starred = false;
    for run in planned {
        let key = (&run.label[..], &run.settings.data[..], &run.settings.network[..]);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        // Each seed has a run for each task.
        let runs = |split: &str| -> Vec<&PlannedRun> {
            let same = |other: &&PlannedRun| {
                let s = &other.settings;
                (&other.label[..], &s.data[..], &s.network[..]) == key
                    && s.predict.iter().any(|evaluation| evaluation.name() == split)
            };
            planned.iter().filter(same).collect()
        };
        let done = |split: &str| runs(split).iter().filter(|r| store.is_finished(&r.id)).count();
        let seeds = format!("{} of {}", done("test"), runs("test").len());
        write!(out, "{:<24} {:<12} {seeds:>7}", key.0, key.1)?;
        for &which in &there {
            let runs = runs(which.0);
            let values: Vec<f64> = rows
                .iter()
                .filter(|row| is(row, which) && runs.iter().any(|run| run.id == row.run))
                .filter_map(|row| row.entry.value.as_ref().ok().copied())
                .collect();
            match values.len() {
                0 => write!(out, " {:>14}", "—")?,
                n => {
                    // A run without a value is not left out of a mean in silence.
                    let mark = if n < runs.len() { "*" } else { "" };
                    let mean = values.iter().sum::<f64>() / n as f64;
                    write!(out, " {:>14}", format!("{mean:.4}{mark}"))?;
                    starred |= n < runs.len();
                }
            }
        }
        writeln!(out)?;
    }
    if starred {
        writeln!(out, "* a seed is missing or has no value there; `dubio score` says why")?;
    }
    Ok(())
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
