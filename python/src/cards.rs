//! The cards of scores, methods and networks, from which functions, docstrings and stubs are made.

use dubio_api::names::known;
use dubio_bench::schema::settings_of;
use dubio_infer::methods;
use dubio_nn::networks;
use pyo3::pyfunction;
use serde_json::{Value, json};

/// Scores, methods and networks as JSON.
#[pyfunction]
pub(crate) fn cards() -> String {
    let scores: Vec<Value> = known()
        .iter()
        .map(|known| {
            let card = known.card;
            let facts = &card.facts;
            json!({
                "name": known.name,
                "task": known.task,
                "summary": card.summary,
                "formula": card.formula,
                "range": [card.range.0.to_string(), card.range.1.to_string()],
                "direction": format!("{:?}", card.direction).to_lowercase(),
                "arrow": card.direction.arrow(),
                "citation": card.citation,
                "settings": facts.settings.iter().map(|setting| setting.name()).collect::<Vec<_>>(),
                "calibrated": facts.calibrated,
                "requires": format!("{:?}", facts.requires).to_lowercase(),
            })
        })
        .collect();
    let methods: Vec<Value> = methods::CARDS
        .iter()
        .map(|card| {
            let settings = settings_of(card.name);
            json!({"name": card.name, "summary": card.summary, "citation": card.citation, "settings": settings})
        })
        .collect();
    let networks: Vec<Value> = networks::CARDS
        .iter()
        .map(|card| json!({"name": card.name, "summary": card.summary, "citation": card.citation}))
        .collect();
    json!({"scores": scores, "methods": methods, "networks": networks}).to_string()
}
