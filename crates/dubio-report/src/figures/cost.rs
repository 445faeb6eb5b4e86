//! What quality costs.

use dubio_metrics::card::Direction;
use serde_json::{Value, json};

use super::labels::{Named, sides};
use crate::chapter::{Chapter, Method};
use crate::figure::{Choice, Data, Figure, Layout, colour, marker, opacity, parameters, tooltip};
use crate::study::Cost;
use crate::summary::mean;

/// A kind of cost: what it is called, and how it is read off.
pub(crate) struct Kind {
    pub(crate) label: &'static str,
    pub(crate) of: fn(&Cost, usize) -> Option<f64>,
}

/// Every kind of cost.
pub(crate) const KINDS: [Kind; 7] = [
    Kind { label: "processor seconds of training", of: |c, _| c.train_cpu_secs },
    Kind { label: "training seconds", of: |c, _| Some(c.train_secs) },
    Kind { label: "milliseconds per prediction", of: |c, _| Some(1e3 * c.predict_secs) },
    Kind { label: "peak memory (MB)", of: |c, _| c.peak_bytes.map(|b| b as f64 / 1e6) },
    Kind { label: "stored parameters (MB)", of: |c, _| Some(c.stored_bytes as f64 / 1e6) },
    Kind { label: "parameters of a member", of: |c, _| Some(c.parameters as f64) },
    Kind {
        label: "multiply-accumulates per prediction",
        of: |c, members| Some(c.macs as f64 * members as f64),
    },
];

/// The mean of a cost over a method's runs.
pub(crate) fn amount(method: &Method<'_>, kind: &Kind) -> Option<f64> {
    let amounts: Vec<f64> = method
        .finished()
        .filter_map(|(_, finished)| (kind.of)(finished.cost.as_ref()?, finished.members))
        .collect();
    (!amounts.is_empty()).then(|| mean(&amounts))
}

/// A method at its price.
struct Offer<'a> {
    method: &'a str,
    amount: f64,
    value: f64,
    /// Whether no method of the same or a lower cost is better.
    unbeaten: bool,
}

fn offers<'a>(chapter: &Chapter<'a>, kind: &Kind, score: &str) -> Vec<Offer<'a>> {
    let offer = |method: &Method<'a>| {
        let amount = amount(method, kind).filter(|amount| *amount > 0.0)?;
        let value = method.mean("test", score)?;
        Some(Offer { method: method.name, amount, value, unbeaten: true })
    };
    let mut all: Vec<Offer<'a>> = chapter.methods.iter().filter_map(offer).collect();
    let direction = chapter.card(score).map_or(Direction::Lower, |card| card.direction);
    let badness = |offer: &Offer<'_>| direction.badness(offer.value).unwrap_or(f64::INFINITY);
    for own in 0..all.len() {
        let beats = |other: &Offer<'_>| {
            other.amount <= all[own].amount && badness(other) < badness(&all[own])
        };
        let beaten = all.iter().any(beats);
        all[own].unbeaten = !beaten;
    }
    all
}

/// Scores that are worth paying for, those of them that some method has.
fn wanted<'n>(chapter: &Chapter<'_>, first: &'n str) -> Vec<&'n str> {
    let all = [first, "nll", "accuracy", "ece", "brier", "rmse", "crps"];
    let mut scores: Vec<&str> = Vec::new();
    for name in all {
        let there = chapter.methods.iter().any(|m| m.mean("test", name).is_some());
        if there && !scores.contains(&name) {
            scores.push(name);
        }
    }
    scores
}

/// A score against a cost.
pub(crate) fn cost(chapter: &Chapter<'_>, first: &str) -> Option<Figure> {
    let scores = wanted(chapter, first);
    let data = points(chapter, &scores).unless_empty()?;
    let known = KINDS
        .iter()
        .filter(|kind| chapter.methods.iter().any(|method| amount(method, kind).is_some()));
    let choices = vec![
        Choice::new("score", "Score", &scores),
        Choice::new("cost", "Cost", known.map(|kind| kind.label)),
    ];
    Some(Figure {
        id: "cost",
        title: "Quality against cost".into(),
        how: "Choose a score and a cost. Of two methods at the same height the one further to the left is cheaper. \
              Labelled methods are Pareto-optimal: no other is both better and no more expensive."
            .into(),
        spec: spec(chapter, data, &choices),
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("cost", "cost"),
            ("amount", "amount"),
            ("score", "score"),
            ("value", "value"),
        ],
    })
}

/// Where the name of each Pareto-optimal method stands; nowhere for the others and for names that would overlap.
fn labels(offers: &[Offer<'_>]) -> Vec<&'static str> {
    let finite = |v: &f64| v.is_finite();
    let ends = |of: fn(&Offer<'_>) -> f64| {
        let values: Vec<f64> = offers.iter().map(of).filter(finite).collect();
        let lo = values.iter().copied().fold(f64::INFINITY, f64::min);
        (lo, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let unit = |v: f64, (lo, hi): (f64, f64)| if hi > lo { (v - lo) / (hi - lo) } else { 0.5 };
    let (across, up) = (ends(|offer| offer.amount.ln()), ends(|offer| offer.value));
    let best: Vec<&Offer<'_>> = offers.iter().filter(|offer| offer.unbeaten).collect();
    let named: Vec<Named<'_>> = best
        .iter()
        .map(|offer| Named {
            x: unit(offer.amount.ln(), across),
            y: unit(offer.value, up),
            name: offer.method,
        })
        .collect();
    let mut sides = sides(&named).into_iter();
    let side = |offer: &Offer<'_>| match offer.unbeaten {
        true => sides.next().unwrap_or_default(),
        false => "",
    };
    offers.iter().map(side).collect()
}

fn points(chapter: &Chapter<'_>, scores: &[&str]) -> Data<7> {
    let mut data = Data::new(["method", "score", "cost", "#amount", "#value", "label", "side"]);
    for kind in &KINDS {
        for score in scores {
            let offers = offers(chapter, kind, score);
            for (offer, side) in offers.iter().zip(labels(&offers)) {
                data.push([
                    offer.method.into(),
                    (*score).into(),
                    kind.label.into(),
                    offer.amount.into(),
                    offer.value.into(),
                    if side.is_empty() { "" } else { offer.method }.into(),
                    side.into(),
                ]);
            }
        }
    }
    data
}

fn spec(chapter: &Chapter<'_>, data: Data<7>, choices: &[Choice]) -> Value {
    let tip = tooltip(&[
        ("method", "method", ""),
        ("cost", "cost", ""),
        ("amount", "amount", ".4g"),
        ("score", "score", ""),
        ("value", "value", ".4g"),
    ]);
    json!({
        "params": parameters(choices),
        "data": data.into_value(),
        "transform": [{"filter": "datum.score === score && datum.cost === cost && isValid(datum.value)"}],
        "title": {"text": {"expr": "score + ' against ' + cost"}},
        "width": 460, "height": 290,
        "encoding": {
            "x": {"field": "amount", "type": "quantitative", "title": null, "scale": {"type": "log", "nice": false, "padding": 30},
                  "axis": {"format": ",.2~r", "tickCount": 5}},
            "y": {"field": "value", "type": "quantitative", "title": null, "scale": {"zero": false, "nice": true, "padding": 10}, "axis": {"format": ".4~g", "tickCount": 6}},
            "color": colour(chapter),
            "opacity": opacity(1.0),
        },
        "layer": [
            {"mark": {"type": "point", "filled": true, "size": 90},
             "encoding": {"shape": marker(chapter), "tooltip": tip}},
            {"mark": {"type": "text", "align": "left", "dx": 8, "dy": -6, "fontSize": 10},
             "transform": [{"filter": "datum.side === 'above'"}],
             "encoding": {"text": {"field": "label"}}},
            {"mark": {"type": "text", "align": "left", "dx": 8, "dy": 10, "fontSize": 10},
             "transform": [{"filter": "datum.side === 'below'"}],
             "encoding": {"text": {"field": "label"}}},
        ],
    })
}
