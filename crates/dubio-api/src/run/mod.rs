//! `run`: does the planned runs of a suite that are not finished yet, and reports them.

mod execute;
mod only;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use dubio_bench::executor::{Ended, StudyProgress};
use dubio_bench::plan::{PlannedRun, plan};
use dubio_bench::search::Search;
use dubio_bench::slurm;
use dubio_bench::store::Store;
use dubio_bench::study::Study;
use dubio_bench::suite::Suite;
use dubio_progress::Progress;
use serde::{Deserialize, Serialize};

use crate::error::{guard, guard_in_pool, refuse};
use crate::report::study_of_plan;
use crate::score::RunScore;
use crate::scores::{Extent, asked, badness, scores};
use crate::suite::{Count, EngineChoice, Places, suite};
use crate::{Error, destination};
use execute::execute;
use only::chosen;

/// Resamples behind the intervals of the report.
const RESAMPLES: usize = 1000;

/// What to do about a folder that cannot be written.
const ROOM: &str = "free some space or choose another folder with --runs";

/// What to run, and where.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// A suite's name or file.
    pub suite: String,
    /// Runs at a time; as many as cores and memory allow, or as Slurm gives, when left out.
    pub jobs: Option<u16>,
    /// Only runs whose method, label, data, network or seed is this, `KEY=PATTERN`; `*` stands for anything.
    pub only: Vec<String>,
    /// Where the report will be written; beside the runs when left out.
    pub report: Option<PathBuf>,
    /// Whether more than a hundred thousand runs are meant.
    pub count: Count,
    /// Where networks run, instead of what the suite says.
    pub engine: EngineChoice,
    /// Where runs and data sets are.
    pub places: Places,
    /// What is asked of Slurm; `None` for this machine.
    #[serde(skip)]
    pub slurm: Option<slurm::Options>,
    /// The program whose command `work` does one run.
    pub program: PathBuf,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            suite: String::new(),
            jobs: None,
            only: Vec::new(),
            report: None,
            count: Count::Usual,
            engine: EngineChoice::default(),
            places: Places::default(),
            slurm: None,
            program: PathBuf::from("dubio"),
        }
    }
}

/// The results of a study.
#[derive(Clone, Debug, Serialize)]
pub struct Ran {
    /// The runs that were planned and asked for.
    pub planned: Vec<PlannedRun>,
    /// Ids of those that are finished.
    pub finished: Vec<String>,
    /// Scores of the finished ones, without intervals.
    pub scores: Vec<RunScore>,
    /// Runs that failed.
    pub failed: Vec<Failed>,
    /// Runs that another process is working on.
    pub taken: usize,
    /// Runs that were planned, and trials that were tried.
    pub all: usize,
    /// Where the report is to be written.
    pub report: PathBuf,
    /// The study, to be rendered.
    pub study: dubio_report::study::Study,
}

/// A run that failed.
#[derive(Clone, Debug, Serialize)]
pub struct Failed {
    /// The run.
    pub run: PlannedRun,
    /// What happened.
    pub why: String,
    /// Whether it will be tried again: a search goes on without a trial that failed by itself.
    pub again: bool,
}

/// Makes the receiver of reports on how runs go; called each time that some begin, with their number.
pub type Watching<'a> = &'a dyn Fn(usize) -> Box<dyn StudyProgress>;

/// Does the planned runs of a suite that are not finished yet. When `stop` is raised, runs stop where they can
/// resume later.
pub fn run(
    settings: &Settings,
    stop: &AtomicBool,
    watching: Watching<'_>,
    progress: &dyn Progress,
) -> Result<Ran, Error> {
    guard(|| {
        if settings.jobs == Some(0) {
            refuse!("jobs must be at least 1, got 0");
        }
        let suite = suite(&settings.suite, settings.count, settings.engine)?;
        if let Some(path) = &settings.report {
            destination::check(path)?;
            destination::keep(&[PathBuf::from(&settings.suite)], &[path])?;
        }
        let store = settings.places.store();
        let rounds = Rounds { settings, suite: &suite, store: &store };
        let (study, planned, ended) = rounds.go(stop, watching, progress)?;
        if stop.load(Ordering::Relaxed) {
            let (finished, all) = standing(&store, &study, &planned);
            return Err(Error::Stopped { finished, all });
        }
        rounds.result(Study { runs: planned.clone(), ..study }, planned, ended, progress)
    })
}

/// How many runs of the whole plan, trials of searches included, are finished, and how many there are.
fn standing(store: &Store, study: &Study, planned: &[PlannedRun]) -> (usize, usize) {
    let all = || planned.iter().chain(&study.trials);
    (all().filter(|run| store.is_finished(&run.id)).count(), all().count())
}

/// Runs that were done, and how each ended.
type Done = Vec<(PlannedRun, Ended)>;

/// Planning and running in turns: searches take several rounds, since what is tried next depends on the results
/// of the trials before.
struct Rounds<'a> {
    settings: &'a Settings,
    suite: &'a Suite,
    store: &'a Store,
}

impl Rounds<'_> {
    fn go(
        &self,
        stop: &AtomicBool,
        watching: Watching<'_>,
        progress: &dyn Progress,
    ) -> Result<(Study, Vec<PlannedRun>, Done), Error> {
        let (settings, store) = (self.settings, self.store);
        let data = settings.places.data_of(self.suite)?;
        let known = |run: &PlannedRun, search: &Search| badness(store, run, search);
        let mut ended: Done = Vec::new();
        loop {
            if let (true, Some(why)) = (ended.is_empty(), self.suite.device.passed_over()) {
                progress.note(&format!("networks run on the CPU: {why}"));
            }
            let plan = plan(self.suite, &data, &known)?;
            let searching = !plan.open.is_empty();
            let study = Study::new(self.suite, plan);
            let planned = chosen(&study.runs, &settings.only)?;
            let trials = chosen(&study.trials, &settings.only)?;
            if planned.is_empty() && trials.is_empty() {
                let name = &settings.suite;
                refuse!("--only matches no run of {name}; `dubio plan {name}` lists them all");
            }
            let runs = settings.places.runs.display();
            let cannot = |e| Error::Unfit(format!("cannot write in {runs}: {e}; {ROOM}"));
            study.save(store).map_err(cannot)?;
            let tried = ended.iter().map(|(run, _)| &run.id[..]).collect::<Vec<_>>();
            let to_do: Vec<&PlannedRun> = trials
                .iter()
                .filter(|run| known(run, &self.suite.search).is_none())
                .chain(planned.iter().filter(|run| !store.is_finished(&run.id)))
                .filter(|run| !tried.contains(&&run.id[..]))
                .collect();
            let there = planned.iter().filter(|run| store.is_finished(&run.id)).count();
            if ended.is_empty() && there > 0 {
                progress.note(&format!("{there} of {} runs are finished already", planned.len()));
            }
            let watch = watching(to_do.len());
            let how = execute(settings, &to_do, store, &data, stop, &*watch);
            let how = how.map_err(|error| match error {
                Error::Unwatched { jobs, .. } => {
                    let (finished, all) = standing(store, &study, &planned);
                    Error::Unwatched { finished, all, jobs }
                }
                other => other,
            })?;
            let nothing_new = to_do.is_empty();
            let done: Vec<_> = to_do.into_iter().cloned().zip(how).collect();
            ended.extend(done);
            if stop.load(Ordering::Relaxed) || !searching || nothing_new {
                return Ok((study, planned, ended));
            }
        }
    }

    fn result(
        &self,
        study: Study,
        planned: Vec<PlannedRun>,
        ended: Done,
        progress: &dyn Progress,
    ) -> Result<Ran, Error> {
        let (settings, store) = (self.settings, self.store);
        let beside = || settings.places.runs.join(format!("{}.html", self.suite.name));
        let trials = ended.iter().filter(|(run, _)| run.is_trial()).count();
        let taken = ended.iter().filter(|(_, how)| *how == Ended::Taken).count();
        let failed = |(run, how): (PlannedRun, Ended)| {
            let Ended::Failed(why) = how else { return None };
            let known = badness(store, &run, &self.suite.search);
            Some(Failed { again: !run.is_trial() || known.is_none(), run, why })
        };
        let reported = guard_in_pool(|| study_of_plan(&study, store, RESAMPLES, progress))?;
        let mut all = Vec::new();
        for run in planned.iter().filter(|run| store.is_finished(&run.id)) {
            let record = store.record(&run.id)?;
            // These were kept a moment ago, with their intervals.
            let rows = scores(store, &record, Extent::Reported, &asked(&study, run, store, 0))?;
            all.extend(rows.into_iter().map(|row| RunScore::of(&record, row)));
        }
        let finished = planned.iter().filter(|run| store.is_finished(&run.id));
        Ok(Ran {
            finished: finished.map(|run| run.id.to_string()).collect(),
            scores: all,
            failed: ended.into_iter().filter_map(failed).collect(),
            taken,
            all: planned.len() + trials,
            report: settings.report.clone().unwrap_or_else(beside),
            study: reported,
            planned,
        })
    }
}
