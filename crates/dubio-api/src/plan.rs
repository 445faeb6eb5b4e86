//! `plan`: what a suite would run, all defaults written out.

use dubio_bench::plan::{PlannedRun, plan as planned};
use dubio_bench::search::Search;
use dubio_bench::store::State;
use serde::Serialize;

use crate::Error;
use crate::error::guard;
use crate::scores::badness;
use crate::suite::{Count, EngineChoice, Places, suite};

/// What to plan.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// A suite's name or file.
    pub suite: String,
    /// Whether more than a hundred thousand runs are meant.
    pub count: Count,
    /// Where networks run, instead of what the suite says.
    pub engine: EngineChoice,
    /// Where runs and data sets are.
    pub places: Places,
}

/// What a suite would run.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// Every run, trials of searches first.
    pub runs: Vec<Standing>,
    /// Labels of methods whose search is not done, and the number of trials that are left.
    pub open: Vec<(String, usize)>,
}

/// A planned run and its state.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    /// The run.
    pub run: PlannedRun,
    /// Its state.
    pub state: State,
}

/// Plans a suite; runs nothing.
pub fn plan(settings: &Settings) -> Result<Plan, Error> {
    guard(|| {
        let suite = suite(&settings.suite, settings.count, settings.engine)?;
        let store = settings.places.store();
        let known = |run: &PlannedRun, search: &Search| badness(&store, run, search);
        let plan = planned(&suite, &settings.places.data_of(&suite)?, &known)?;
        let runs = [plan.trials, plan.runs].concat();
        let standing = |run: PlannedRun| Standing { state: store.state(&run), run };
        Ok(Plan { runs: runs.into_iter().map(standing).collect(), open: plan.open })
    })
}
