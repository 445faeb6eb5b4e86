//! Commands by name: settings as JSON in, results as JSON out. Arrays stand in for files.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use dubio_api::{Error, calibrate, check, compare, dee, diagnose, evaluate, report, run};
use dubio_bench::executor::{Ended, StudyProgress};
use dubio_bench::plan::PlannedRun;
use dubio_predictions::memory::Held;
use dubio_progress::Progress;
use dubio_report::render::{self, Format};
use dubio_report::report::Report;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use serde_path_to_error::Segment;

use crate::work::Told;

/// An error, with the name of its Python exception.
pub(crate) struct Failure {
    pub(crate) kind: &'static str,
    pub(crate) words: String,
}

impl Failure {
    pub(crate) fn new(kind: &'static str, words: impl ToString) -> Self {
        Self { kind, words: words.to_string() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Predictions(_) => "PredictionError",
            Error::Data(_) => "DataError",
            Error::Suite(_) | Error::Plan(_) => "SuiteError",
            Error::Stopped { .. } | Error::Unwatched { .. } => "KeyboardInterrupt",
            Error::Unfit(_) | Error::Gpu(_) => "SettingError",
            Error::Slurm(_) | Error::File { .. } | Error::Store(_) => "FileError",
        };
        Self::new(kind, error)
    }
}

/// A command's result: JSON, and perhaps numbers.
pub(crate) struct Answer {
    pub(crate) json: String,
    pub(crate) numbers: Option<(Vec<f32>, Vec<usize>)>,
}

fn plain(results: &impl Serialize) -> Result<Answer, Failure> {
    let json = serde_json::to_string(results).map_err(|e| Failure::new("SettingError", e))?;
    Ok(Answer { json, numbers: None })
}

/// Runs a command. `{"arrays": 0}` in the settings stands for the first of the held files.
pub(crate) fn call(
    command: &str,
    settings: &str,
    files: &[Held],
    told: &Arc<Told>,
) -> Result<Answer, Failure> {
    let mut value: Value =
        serde_json::from_str(settings).map_err(|e| Failure::new("SettingError", e))?;
    name_files(&mut value, files);
    match command {
        "evaluate" => plain(&evaluate::evaluate(&read(value)?, &**told)?),
        "check" => plain(&check::check(&read(value)?, &**told)?),
        "compare" => plain(&compare::compare(&read(value)?, &**told)?),
        "dee" => plain(&dee::dee(&read(value)?, &**told)?),
        "diagnose" => plain(&diagnose::diagnose(&read(value)?)?),
        "calibrate" => plain(&calibrate::calibrate(&read(value)?)?),
        "apply" => applied(value),
        "report" => reported(value, told),
        "run" => ran(value, told),
        other => Err(Failure::new("SettingError", format!("no command is called `{other}`"))),
    }
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, Failure> {
    serde_path_to_error::deserialize(&value)
        .map_err(|error| Failure::new("SettingError", in_words(&error, &value)))
}

/// Describes an unknown setting, or one that could not be read: its name, what it takes and what it was given.
fn in_words(error: &serde_path_to_error::Error<serde_json::Error>, settings: &Value) -> String {
    let text = error.inner().to_string();
    if text.starts_with("unknown field") {
        // Names are in backticks: the unknown one, then all known ones.
        let mut names = text.split('`').skip(1).step_by(2);
        return dubio_words::unknown("setting", names.next().unwrap_or_default(), names);
    }
    let (mut name, mut given) = (None, settings);
    for segment in error.path() {
        if let Segment::Map { key } = segment {
            name = Some(key);
            given = &given[key.as_str()];
        }
    }
    let Some(name) = name else { return text };
    match text.split_once(", expected ") {
        Some((_, expected)) => {
            let expected = match expected {
                "usize" | "u64" | "u32" => "a whole number from 0",
                "f64" => "a number",
                "a boolean" => "True or False",
                other => other,
            };
            let given = if given.is_null() { "None".to_string() } else { given.to_string() };
            format!("{name}: expected {expected}, got {given}")
        }
        None => format!("{name}: {text}"),
    }
}

fn name_files(value: &mut Value, files: &[Held]) {
    let index = value.get("arrays").and_then(Value::as_u64).map(|index| index as usize);
    match (index.and_then(|index| files.get(index)), value) {
        (Some(held), value) => *value = json!(held.path()),
        (None, Value::Object(all)) => all.values_mut().for_each(|v| name_files(v, files)),
        (None, Value::Array(all)) => all.iter_mut().for_each(|v| name_files(v, files)),
        _ => {}
    }
}

fn applied(value: Value) -> Result<Answer, Failure> {
    let application: calibrate::Application = read(value)?;
    let (log_probs, shape) = calibrate::apply(&application)?;
    Ok(Answer { json: "null".to_string(), numbers: Some((log_probs, shape.to_vec())) })
}

/// Writes the files of a report to `folder` and returns their names.
fn reported(mut value: Value, told: &Arc<Told>) -> Result<Answer, Failure> {
    let mut take = |name: &str| -> Option<String> {
        let found = value.as_object_mut()?.remove(name)?;
        Some(found.as_str()?.to_string())
    };
    let (name, folder) = (take("format").unwrap_or_default(), take("folder").unwrap_or_default());
    let format = Format::find(&name).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|(name, _)| *name).collect();
        let what = format!("format must be one of {}, got {name}", known.join(", "));
        Failure::new("SettingError", what)
    })?;
    let study = report::report(&read(value)?, &**told)?;
    let drawn = render::files(&Report::of(&study), format);
    let files = drawn.map_err(|error| Failure::new("FileError", error))?;
    for (name, bytes) in &files {
        let path = std::path::Path::new(&folder).join(name);
        let failed = |e| Failure::new("FileError", format!("cannot write {}: {e}", path.display()));
        std::fs::write(&path, bytes).map_err(failed)?;
    }
    plain(&files.iter().map(|(name, _)| name).collect::<Vec<_>>())
}

/// The runs of a study as one stage, a thousand pieces each.
struct Runs {
    told: Arc<Told>,
    /// Pieces that each run has reached.
    at: Mutex<BTreeMap<String, usize>>,
}

const PIECES: usize = 1000;

impl Progress for Runs {
    fn note(&self, text: &str) {
        self.told.note(text);
    }
}

impl StudyProgress for Runs {
    fn progressed(&self, run: &PlannedRun, fraction: f64) {
        self.reach(run, (fraction.clamp(0.0, 1.0) * PIECES as f64) as usize);
    }
    fn ended(&self, run: &PlannedRun, _: &Ended) {
        self.reach(run, PIECES);
    }
}

impl Runs {
    fn reach(&self, run: &PlannedRun, piece: usize) {
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        let before = at.insert(run.id.to_string(), piece).unwrap_or(0);
        self.told.advance(piece.saturating_sub(before));
    }
}

fn ran(value: Value, told: &Arc<Told>) -> Result<Answer, Failure> {
    let settings: run::Settings = read(value)?;
    let watching = |count: usize| -> Box<dyn StudyProgress> {
        told.start("runs", count * PIECES);
        Box::new(Runs { told: Arc::clone(told), at: Mutex::default() })
    };
    let done = run::run(&settings, &told.stop, &watching, &**told)?;
    let html = render::html(&Report::of(&done.study));
    std::fs::write(&done.report, html).map_err(|e| Failure::new("FileError", e))?;
    plain(&json!({
        "finished": done.finished,
        "planned": done.planned,
        "scores": done.scores,
        "failed": done.failed,
        "report": done.report,
    }))
}
