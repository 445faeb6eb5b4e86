//! The curves of `dubio evaluate --curves`.

use std::path::Path;

use anyhow::{Context, Result};
use dubio_metrics::curves::{reliability::reliability, risk_coverage::RiskCoverage};
use dubio_metrics::examples::Examples;

/// Writes the reliability diagram and the risk-coverage curve as JSON.
pub(crate) fn write_curves(path: &Path, examples: &Examples, bins: usize) -> Result<()> {
    let bins: Vec<serde_json::Value> = reliability(examples, bins)
        .iter()
        .map(|bin| {
            serde_json::json!({
                "count": bin.count, "confidence": bin.confidence, "accuracy": bin.accuracy,
            })
        })
        .collect();
    let points: Vec<[f64; 2]> =
        RiskCoverage::of(examples).points().into_iter().map(|(c, r)| [c, r]).collect();
    let text = serde_json::json!({ "reliability": bins, "risk_coverage": points }).to_string();
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
