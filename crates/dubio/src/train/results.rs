//! What `dubio train` leaves behind besides predictions: weights, the record, a summary.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dubio_data::sets::own;
use dubio_infer::fitted::Fitted;
use dubio_infer::recipe::Recipe;
use dubio_metrics::diagnostics::Diagnosis;
use dubio_nn::Single;
use dubio_words::counted;
use serde_json::{Map, Value, json};

use super::Args;
use crate::terminal::{self, say};

pub(super) fn unfinished_name(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match path.extension() {
        None => path.with_file_name(format!("{stem}.unfinished")),
        Some(e) => path.with_file_name(format!("{stem}.unfinished.{}", e.to_string_lossy())),
    }
}

pub(super) fn write_weights(fitted: &Fitted<Single>, folder: &Path) -> Result<()> {
    let failed = || format!("{}", folder.display());
    std::fs::create_dir_all(folder).with_context(failed)?;
    for (index, bytes) in fitted.weights()?.iter().enumerate() {
        std::fs::write(folder.join(format!("{index}.safetensors")), bytes).with_context(failed)?;
    }
    Ok(())
}

pub(super) fn record(
    args: &Args,
    recipe: &Recipe,
    fitted: &Fitted<Single>,
    convergence: Option<&Diagnosis>,
) -> Value {
    let members: Vec<Value> = fitted
        .posterior
        .records
        .iter()
        .map(|record| {
            let report: Map<String, Value> =
                record.report.iter().map(|(name, v)| (name.to_string(), json!(v))).collect();
            json!({"wall_secs": record.seconds.wall, "cpu_secs": record.seconds.cpu(), "losses": record.losses, "report": report, "warnings": record.warnings})
        })
        .collect();
    let facts = own::facts(&args.data).unwrap_or_default();
    let facts: Map<String, Value> =
        facts.into_iter().map(|(name, text)| (name.to_string(), text.into())).collect();
    json!({
        "data": args.data,
        "data_read": facts,
        "network": args.network,
        "seed": args.seed,
        "recipe": recipe,
        "samples": fitted.samples(),
        "members": members,
        "convergence": convergence,
    })
}

pub(super) fn tell(fitted: &Fitted<Single>, convergence: Option<&Diagnosis>) -> Result<()> {
    let mut out = terminal::stdout();
    let records = &fitted.posterior.records;
    let seconds: f64 = records.iter().map(|r| r.seconds.wall).sum();
    let samples = fitted.samples();
    let each = seconds / samples as f64;
    let samples = counted(samples, "sample");
    writeln!(out, "{samples} in {seconds:.1} s, {each:.3} s each")?;
    for (name, value) in records.iter().flat_map(|r| &r.report) {
        writeln!(out, "{name}: {value:.4}")?;
    }
    if let Some(loss) = convergence.and_then(|found| found.loss) {
        writeln!(out, "rhat of the loss: {:.4}", loss.rhat)?;
    }
    let of_predictions = convergence.map(Diagnosis::warnings).unwrap_or_default();
    for warning in of_predictions.iter().chain(records.iter().flat_map(|r| &r.warnings)) {
        say!("warning: {warning}");
    }
    Ok(())
}
