//! Figures as standalone SVG.

use serde_json::{Value, json};

use super::engine::{DrawingError, Engine, THEME};
use crate::figure::Figure;
use crate::palette::light;
use crate::report::Report;

/// Every figure of a report: the name of its file without an ending, and the drawing.
pub fn svg(report: &Report<'_>) -> Result<Vec<(String, String)>, DrawingError> {
    let engine = Engine::new()?;
    named(report)
        .into_iter()
        .map(|(name, figure)| {
            let drawn = engine.call("toSVG", &specification(figure));
            let drawn = drawn.map_err(|why| DrawingError { figure: name.clone(), why })?;
            Ok((name, drawn))
        })
        .collect()
}

/// All figures, under names that differ: `reliability`, or `digits-mlp-50-reliability` where there are
/// several data sets or networks.
pub(crate) fn named<'r>(report: &'r Report<'_>) -> Vec<(String, &'r Figure)> {
    let several = report.parts.len() > 1;
    let mut all = Vec::new();
    for part in &report.parts {
        for figure in part.sections.iter().flat_map(|section| &section.figures) {
            let name = match several {
                true => format!("{}-{}", file_name(&part.chapter.name()), figure.id),
                false => figure.id.to_string(),
            };
            all.push((name, figure));
        }
    }
    all
}

/// A text as part of a file's name.
pub(crate) fn file_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let dashes: String = text.chars().map(plain).collect();
    let words: Vec<&str> = dashes.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-")
}

/// What the engine is given: on white paper, without what only a pointer needs.
pub(crate) fn specification(figure: &Figure) -> String {
    let mut config: Value = serde_json::from_str(THEME).expect("the theme is JSON");
    config["font"] = json!("Helvetica, Arial, sans-serif");
    let mut spec = figure.spec.clone();
    if let Some(layers) = spec.get_mut("layer").and_then(Value::as_array_mut) {
        // Nothing hovers over a file.
        layers.retain(|layer| layer["name"] != "hover");
    }
    light(&json!({"spec": spec, "config": config}).to_string())
}
