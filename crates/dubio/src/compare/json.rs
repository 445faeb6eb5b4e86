//! A comparison as JSON.

use std::io::{self, Write};

use anyhow::Result;
use dubio_metrics::compare::{Comparison, Difference, Ranking, Stability};
use serde_json::{Map, Value, json};

use crate::terminal;

/// One object; methods go by their names.
pub(crate) fn json(comparison: &Comparison) -> Result<()> {
    let names: Vec<&str> = comparison.methods.iter().map(|method| &method.name[..]).collect();
    let mut object = Map::new();
    object.insert("methods".into(), json!(comparison.methods));
    object.insert(
        "ranking".into(),
        comparison.ranking.as_ref().map_or(Value::Null, |r| {
            let mut value = ranking(r, &names);
            if let Some(why) = &comparison.instead_of {
                value["instead_of"] = json!(why);
            }
            value
        }),
    );
    let scores: Map<String, Value> = comparison
        .scores
        .iter()
        .map(|scored| {
            let each = names.iter().enumerate().map(|(m, name)| {
                let interval = scored.intervals[m];
                let mut fields = Map::new();
                fields.insert("value".into(), finite(scored.values[m]));
                fields.insert("lo".into(), json!(interval.map(|(lo, _)| lo)));
                fields.insert("hi".into(), json!(interval.map(|(_, hi)| hi)));
                if let Some(why) = &scored.why[m] {
                    fields.insert("why".into(), json!(why));
                }
                (name.to_string(), Value::Object(fields))
            });
            (scored.score.clone(), Value::Object(each.collect()))
        })
        .collect();
    object.insert("scores".into(), Value::Object(scores));
    let differences: Vec<Value> =
        comparison.differences.iter().map(|d| difference(d, &names)).collect();
    object.insert("differences".into(), json!(differences));
    object.insert("correlations".into(), json!(comparison.correlations));
    for (key, all) in
        [("over_bins", &comparison.over_bins), ("over_temperatures", &comparison.over_temperatures)]
    {
        let all: Vec<Value> = all.iter().map(|own| stability(own, &names)).collect();
        object.insert(key.into(), json!(all));
    }
    object.insert("may_not_be_compared".into(), json!(comparison.cautions));
    let mut out = terminal::stdout();
    serde_json::to_writer_pretty(&mut out, &object).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

/// JSON has no number for infinity.
fn finite(value: Option<f64>) -> Value {
    match value {
        Some(v) if v.is_infinite() => json!(if v > 0.0 { "inf" } else { "-inf" }),
        value => json!(value),
    }
}

fn ranking(ranking: &Ranking, names: &[&str]) -> Value {
    let ranked = ranking.ranked.iter().map(|one| {
        json!({
            "method": names[one.method], "rank": one.rank, "value": finite(Some(one.value)),
            "lo": one.lo, "hi": one.hi,
        })
    });
    let group = |group: &Vec<usize>| group.iter().map(|&m| names[m]).collect::<Vec<&str>>();
    json!({
        "score": ranking.score,
        "ranks": ranked.collect::<Vec<_>>(),
        "cannot_be_told_apart": ranking.groups.iter().map(group).collect::<Vec<_>>(),
        "differences":
            ranking.differences.iter().map(|d| difference(d, names)).collect::<Vec<_>>(),
    })
}

fn difference(d: &Difference, names: &[&str]) -> Value {
    json!({
        "score": d.score, "a": names[d.a], "b": names[d.b], "value": finite(d.value), "lo": d.lo,
        "hi": d.hi, "p_holm": d.p_holm, "told_apart": d.told_apart,
    })
}

fn stability(own: &Stability, names: &[&str]) -> Value {
    let values: Map<String, Value> =
        names.iter().zip(&own.values).map(|(name, v)| (name.to_string(), json!(v))).collect();
    let ranges: Map<String, Value> =
        names.iter().zip(&own.ranges).map(|(name, r)| (name.to_string(), json!(r))).collect();
    let flips = own.flips.iter().map(|flip| {
        json!({
            "a": names[flip.a], "b": names[flip.b], "a_better_at": flip.a_at,
            "b_better_at": flip.b_at,
        })
    });
    let mut object = json!({
        "score": own.score, "stable": own.stable(), "settings": own.settings, "values": values,
        "ranges": ranges, "flips": flips.collect::<Vec<_>>(),
    });
    if let Some(examples) = own.thinned_to {
        object["examples"] = json!(examples);
    }
    object
}
