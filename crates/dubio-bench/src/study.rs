//! A study: what a suite planned and how it is to be scored, kept beside the runs so that whoever looks
//! at them later knows what belongs together and what is missing.

use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

use crate::name::Name;
use crate::plan::{Plan, PlannedRun};
use crate::store::{Store, read, write_pretty};
use crate::suite::Suite;

/// Folder of studies inside the folder of runs.
const FOLDER: &str = ".studies";

/// What belongs together, in `runs/.studies/NAME.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// The suite's name.
    pub name: Name,
    /// One sentence.
    pub title: String,
    /// The paper it comes from.
    pub paper: String,
    /// A method's label or a file: what predictions are compared with.
    pub reference: Option<String>,
    /// The array of groups that are scored each on its own.
    pub groups: Option<String>,
    /// Every planned run of a method whose settings are known.
    pub runs: Vec<PlannedRun>,
    /// Trials of searches.
    pub trials: Vec<PlannedRun>,
}

impl Study {
    /// The study of a suite and its plan.
    pub fn new(suite: &Suite, plan: Plan) -> Self {
        Self {
            name: suite.name.clone(),
            title: if suite.title.is_empty() {
                suite.name.to_string()
            } else {
                suite.title.clone()
            },
            paper: suite.paper.clone(),
            reference: suite.evaluate.reference.clone(),
            groups: suite.evaluate.groups.clone(),
            runs: plan.runs,
            trials: plan.trials,
        }
    }

    /// Writes it beside the runs.
    pub fn save(&self, store: &Store) -> io::Result<()> {
        let folder = store.inside(FOLDER)?;
        write_pretty(&folder.join(format!("{}.json", self.name)), self)
    }

    /// Every study of a folder of runs, by name. What another version wrote and this one cannot
    /// read is left out: its runs are there all the same.
    pub fn all(store: &Store) -> io::Result<Vec<Self>> {
        let mut studies: Vec<Self> = match fs::read_dir(store.folder().join(FOLDER)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
            Ok(entries) => entries
                .filter_map(|entry| serde_json::from_slice(&read(&entry.ok()?.path()).ok()?).ok())
                .collect(),
        };
        studies.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(studies)
    }
}
