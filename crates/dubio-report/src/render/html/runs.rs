//! The runs and their full records.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::{escaped, key, mark};
use crate::number::significant;
use crate::report::{Part, Report};
use crate::study::{Finished, Outcome, Run};
use crate::text::drawn;

/// What the page shows of a run when it is opened, by the id of the run.
pub(super) fn data(report: &Report<'_>) -> Value {
    let known = report.study.runs.iter().filter_map(|run| Some((run, run.finished()?)));
    Value::Object(
        known.map(|(run, finished)| (drawn(&run.id).into_owned(), record(finished))).collect(),
    )
}

fn record(finished: &Finished) -> Value {
    let mut scores: Map<String, Value> = Map::new();
    for row in finished.rows.iter().filter(|row| row.split == "test") {
        let value = match &row.entry.value {
            Ok(value) => json!(significant(*value)),
            Err(why) => json!(format!("— {}", why.0)),
        };
        scores.insert(row.entry.name.clone(), value);
    }
    json!({"record": finished.record, "scores": scores})
}

pub(super) fn write(out: &mut String, index: usize, part: &Part<'_>) {
    let id = format!("c{index}-runs");
    let _ = write!(
        out,
        "<section class=\"question\" id=\"{id}\" aria-labelledby=\"{id}-name\"><h3 id=\"{id}-name\">Runs</h3>\
         <p>Every run with its full record: settings, costs, and all its scores of the test set.</p>"
    );
    for method in &part.chapter.methods {
        for run in &method.runs {
            write_run(out, method.style, run);
        }
    }
    out.push_str("</section>");
}

fn write_run(out: &mut String, style: usize, run: &Run) {
    let seed = run.seed.map_or(String::new(), |seed| format!(", seed {seed}"));
    let (id, name, of) = (escaped(&run.id), escaped(&run.method), key(&run.method));
    let run_key = key(&run.id);
    match &run.outcome {
        Outcome::Finished(_) => {
            let _ = write!(
                out,
                "<details class=\"run\" data-of=\"{of}\" data-run=\"{run_key}\"><summary>{}{name}{seed} \
                 <code>{id}</code></summary><div></div></details>",
                mark(style)
            );
        }
        Outcome::Failed(why) => {
            let _ = write!(
                out,
                "<p class=\"run failed\" data-of=\"{of}\">{}{name}{seed} <code>{id}</code> failed: {}</p>",
                mark(style),
                escaped(why)
            );
        }
        Outcome::Missing => {
            let _ = write!(
                out,
                "<p class=\"run failed\" data-of=\"{of}\">{}{name}{seed} <code>{id}</code> is not there</p>",
                mark(style)
            );
        }
    }
}
