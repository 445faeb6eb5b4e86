//! A plain page of tables: mean and deviation over seeds, for every method.

use std::collections::BTreeMap;
use std::fmt::Write;

use dubio_metrics::card::Direction;

use crate::plan::PlannedRun;
use crate::score::Row;
use crate::store::{Record, Store};

/// Scores that a first look wants, where there are such.
const HEADLINE: [&str; 9] =
    ["accuracy", "nll", "calibrated.nll", "brier", "ece", "rmse", "crps", "picp", "interval_score"];

/// A page of a study: its planned runs, what is stored of them, and their scores.
pub fn page(
    title: &str,
    paper: &str,
    planned: &[PlannedRun],
    store: &Store,
    rows: &[Row],
) -> String {
    let records: BTreeMap<String, Record> = planned
        .iter()
        .filter_map(|run| Some((run.id.clone(), store.record(&run.id).ok()?)))
        .collect();
    let mut html = String::from(HEAD);
    let _ = write!(html, "<title>{0}</title><h1>{0}</h1>", escape(title));
    if !paper.is_empty() {
        let _ = write!(html, "<p>{}</p>", escape(paper));
    }
    let missing: Vec<&PlannedRun> =
        planned.iter().filter(|run| !records.contains_key(&run.id)).collect();
    if !missing.is_empty() {
        let _ = write!(
            html,
            "<p class=\"warning\" role=\"alert\">{} of {} runs are not finished; the means below are of the others.</p><ul>",
            missing.len(),
            planned.len()
        );
        for run in &missing {
            let why = store.failure(&run.id).map_or("not done yet".to_string(), |f| f.error);
            let _ = write!(
                html,
                "<li>{}, {}, {}, seed {}: {}</li>",
                escape(&run.label),
                escape(&run.settings.data),
                escape(&run.settings.network),
                run.settings.seed,
                escape(&why)
            );
        }
        html.push_str("</ul>");
    }
    for (data, network) in studies(planned) {
        let _ = write!(html, "<h2>{} &middot; {}</h2>", escape(&data), escape(&network));
        let here: Vec<&PlannedRun> = planned
            .iter()
            .filter(|run| run.settings.data == data && run.settings.network == network)
            .collect();
        let shown = |name: &str| {
            HEADLINE.contains(&name) || name.starts_with("ood.") && name.contains(".auroc.")
        };
        table(&mut html, "Test part", &here, &records, rows, "test", &shown);
        for split in splits(&here, rows) {
            let shown = |name: &str| ["accuracy", "nll", "ece"].contains(&name);
            table(&mut html, &split, &here, &records, rows, &split, &shown);
        }
    }
    html.push_str("</main></html>\n");
    html
}

fn studies(planned: &[PlannedRun]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for run in planned {
        let pair = (run.settings.data.clone(), run.settings.network.clone());
        if !all.contains(&pair) {
            all.push(pair);
        }
    }
    all
}

fn splits(here: &[&PlannedRun], rows: &[Row]) -> Vec<String> {
    let mut all = Vec::new();
    for row in rows.iter().filter(|row| row.split != "test") {
        if here.iter().any(|run| run.id == row.run) && !all.contains(&row.split) {
            all.push(row.split.clone());
        }
    }
    all
}

fn table(
    html: &mut String,
    caption: &str,
    here: &[&PlannedRun],
    records: &BTreeMap<String, Record>,
    rows: &[Row],
    split: &str,
    shown: &dyn Fn(&str) -> bool,
) {
    let mut names: Vec<(&str, Direction)> = Vec::new();
    for row in rows.iter().filter(|row| row.split == split && shown(&row.entry.name)) {
        if here.iter().any(|run| run.id == row.run)
            && !names.iter().any(|(n, _)| *n == row.entry.name)
        {
            names.push((&row.entry.name, row.entry.card.direction));
        }
    }
    let _ = write!(
        html,
        "<div class=\"wide\"><table><caption>{}</caption><thead><tr><th scope=\"col\">method<th scope=\"col\">seeds<th scope=\"col\">samples",
        escape(caption)
    );
    for (name, direction) in &names {
        let _ = write!(html, "<th scope=\"col\">{} {}", escape(name), direction.arrow());
    }
    html.push_str("<th scope=\"col\">s per sample</thead><tbody>");
    let mut labels: Vec<&str> = Vec::new();
    for run in here {
        if !labels.contains(&&run.label[..]) {
            labels.push(&run.label);
        }
    }
    for label in labels {
        let runs: Vec<&&PlannedRun> = here.iter().filter(|run| run.label == label).collect();
        let done: Vec<&Record> = runs.iter().filter_map(|run| records.get(&run.id)).collect();
        let _ = write!(
            html,
            "<tr><th scope=\"row\">{}<td>{} of {}",
            escape(label),
            done.len(),
            runs.len()
        );
        let samples = done.first().map_or("&mdash;".to_string(), |r| r.samples.to_string());
        let _ = write!(html, "<td>{samples}");
        for (name, _) in &names {
            let values: Vec<f64> = rows
                .iter()
                .filter(|row| row.split == split && row.entry.name == *name)
                .filter(|row| done.iter().any(|record| record.id == row.run))
                .filter_map(|row| row.entry.value.as_ref().ok().copied())
                .collect();
            let _ = write!(html, "<td>{}", mean_and_deviation(&values));
            // A run without a value is not left out of a mean in silence.
            if !values.is_empty() && values.len() < done.len() {
                let _ = write!(html, " ({} of {})", values.len(), done.len());
            }
        }
        let seconds: Vec<f64> = done.iter().map(|r| r.spent.sample_wall_secs).collect();
        let _ = write!(html, "<td>{}", mean_and_deviation(&seconds));
    }
    html.push_str("</tbody></table></div>");
}

/// `0.9832 ± 0.0004`, the deviation with n - 1; a dash where there is no value.
fn mean_and_deviation(values: &[f64]) -> String {
    if values.is_empty() {
        return "&mdash;".to_string();
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() == 1 {
        return format!("{mean:.4}");
    }
    let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    format!("{mean:.4} &plusmn; {deviation:.4}")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
<meta name=\"viewport\" content=\"width=device-width\"><style>\
:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;margin:0}\
main{max-width:75rem;margin:auto;padding:1rem}table{border-collapse:collapse;margin:1rem 0}\
caption{text-align:left;font-weight:600;padding:.25rem 0}.wide{overflow-x:auto}\
th,td{padding:.25rem .75rem;text-align:right;border-bottom:1px solid #8884;white-space:nowrap;\
font-variant-numeric:tabular-nums}th:first-child{text-align:left}.warning{border-left:.25rem solid \
#c50;padding-left:.75rem}</style><main>";
