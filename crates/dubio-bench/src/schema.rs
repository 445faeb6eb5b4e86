//! A JSON schema of suites, for editors that complete and check while one writes.
//!
//! It follows from what there is: methods and their settings, networks, sets, shifts, scores.

use dubio_data::sets::{self, own};
use dubio_data::shifts;
use dubio_infer::Error;
use dubio_infer::attack::Rule;
use dubio_infer::methods::CARDS;
use dubio_infer::recipe::Recipe;
use dubio_infer::wrong::Kind;
use dubio_nn::{Device, Precision};
use serde_json::{Map, Value, json};

use crate::entries::{known_settings, takes_lists};
use crate::search;
use crate::seeds::MOST_SEEDS;

/// The schema, draft 2020-12.
pub fn schema() -> Value {
    let methods: Vec<Value> = CARDS.iter().map(|card| method(card.name, card.summary)).collect();
    let names: Vec<&str> = CARDS.iter().map(|card| card.name).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A suite of dubio",
        "type": "object",
        "required": ["data", "networks", "methods"],
        "additionalProperties": false,
        "properties": {
            "name": file_name("Name of the study; the file's when left out."),
            "title": text("One sentence."),
            "paper": text("The paper it comes from."),
            "data": several("Data sets, splits of tables (yacht:standard/3), or your own data (mine.csv:target=price).", &sets_known()),
            "networks": several("Networks: mlp-50, lenet5, resnet20-cifar.", &[]),
            "device": one_of("Where networks are trained and run.", &Device::NAMES),
            "precision": one_of("How precisely a GPU multiplies.", &Precision::NAMES),
            "seeds": seeds(),
            "evaluate": evaluate(),
            "decision": decision(),
            "search": searching(),
            "methods": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "required": ["method"],
                    "properties": { "method": { "enum": names } },
                    "oneOf": methods
                }
            }
        },
        "$defs": definitions()
    })
}

/// The settings of a method and those that all have, with their defaults.
pub fn settings_of(method: &str) -> Map<String, Value> {
    Recipe::named(method).map(|recipe| known_settings(&recipe)).unwrap_or_default()
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn one_of(description: &str, names: &[&str]) -> Value {
    json!({ "enum": names, "description": description })
}

/// A text that may stand in a file name.
fn file_name(description: &str) -> Value {
    let mut name = text(description);
    name["pattern"] = json!(r"^[^./\\\s\x00-\x1f]([^/\\\x00-\x1f]*[^/\\\s\x00-\x1f])?$");
    name
}

/// A text or a list of them, of which some may be known.
fn several(description: &str, known: &[String]) -> Value {
    let one = match known {
        [] => json!({ "type": "string" }),
        // Parts and splits have names of their own behind a colon; your own data are paths.
        known => {
            json!({ "anyOf": [{ "enum": known }, { "type": "string", "pattern": "[:./]" }, own_data()] })
        }
    };
    json!({ "description": description, "anyOf": [one, { "type": "array", "items": one }] })
}

/// A user's own data: a path and how to read it.
fn own_data() -> Value {
    let mut properties = Map::new();
    properties.insert("path".into(), text("File or folder."));
    for (name, about) in own::OPTIONS {
        let types = json!(["string", "number", "boolean", "array"]);
        properties.insert(name.into(), json!({ "type": types, "description": about }));
    }
    let mut table = closed(Value::Object(properties));
    table["required"] = json!(["path"]);
    table
}

fn sets_known() -> Vec<String> {
    sets::list().iter().map(|set| set.name.to_string()).collect()
}

fn seeds() -> Value {
    let seed = json!({ "type": "integer", "minimum": 0 });
    json!({
        "description": "How many seeds, or which.",
        "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": MOST_SEEDS },
            { "type": "array", "minItems": 1, "uniqueItems": true, "items": seed }
        ]
    })
}

fn one_or_many(one: &Value) -> Value {
    json!({ "anyOf": [one, { "type": "array", "items": one }] })
}

fn closed(properties: Value) -> Value {
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

fn evaluate() -> Value {
    let mut shifts: Vec<&str> = shifts::list().iter().map(|shift| shift.card().name).collect();
    shifts.push("cifar-10-c");
    let rules: Vec<&str> = Rule::ALL.into_iter().map(Rule::name).collect();
    let fraction = json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 });
    let count = json!({ "type": "integer", "minimum": 1 });
    closed(json!({
        "ood": several("Out-of-distribution sets.", &sets_known()),
        "shifts": one_or_many(&json!({ "enum": shifts })),
        "severities": one_or_many(&json!({ "type": "integer", "minimum": 1, "maximum": 5 })),
        "attacks": one_or_many(&json!({ "enum": rules })),
        "epsilons": one_or_many(&fraction),
        "attack_examples": count,
        "augment": one_or_many(&json!({ "enum": ["crop", "flip"] })),
        "looks": count,
        "reference": text("A method's label, or a file of predictions, to compare with."),
        "groups": text("Name of the groups to score each on its own.")
    }))
}

fn decision() -> Value {
    let cost = json!({ "type": "number", "minimum": 0 });
    let mut decision = closed(json!({
        "critical": one_or_many(&json!({ "type": "integer", "minimum": 0 })),
        "dropped": { "type": "number", "minimum": 0, "exclusiveMaximum": 1 },
        "miss": cost,
        "other": cost
    }));
    decision["required"] = json!(["critical"]);
    decision
}

fn searching() -> Value {
    let kinds: Vec<&str> = search::Kind::ALL.into_iter().map(|(name, _)| name).collect();
    closed(json!({
        "kind": { "enum": kinds },
        "budget": { "type": "integer", "minimum": 1 },
        "score": { "enum": search::scores() },
        "validation": { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 },
        "seed": { "type": "integer", "minimum": 0 }
    }))
}

/// The table of one method.
fn method(name: &str, summary: &str) -> Value {
    let mut properties = Map::new();
    properties.insert("method".into(), json!({ "const": name }));
    properties.insert("label".into(), file_name("What tables call it."));
    properties.insert("seeds".into(), seeds());
    let recipe = Recipe::named(name).expect("a method of the list");
    for (key, default) in known_settings(&recipe) {
        properties.insert(key.clone(), setting(name, &key, &default));
    }
    let mut table = closed(Value::Object(properties));
    table["description"] = json!(summary);
    table
}

/// A setting: a value, a list of values for a grid, or a table for a search.
fn setting(method: &str, key: &str, default: &Value) -> Value {
    let types = types(method, key);
    let lists = if takes_lists(key) { "_or_list" } else { "" };
    let mut setting = match key {
        "warm_up" => json!({ "type": "object", "required": ["method"] }),
        _ => json!({ "$ref": format!("#/$defs/{}{lists}", types.join("_or_")) }),
    };
    if !default.is_null() {
        setting["default"] = default.clone();
    }
    setting
}

/// The definitions that settings refer to: values of some types, alone, in a list, or searched.
fn definitions() -> Value {
    let mut all = Map::new();
    for types in [&["number"][..], &["integer"], &["string"], &["number", "string"]] {
        let one = json!({ "type": types });
        let list = json!({ "type": "array", "items": one });
        let name = types.join("_or_");
        all.insert(format!("{name}_or_list"), json!({ "anyOf": [one, list] }));
        all.insert(name, json!({ "anyOf": [one, list, { "type": "object" }] }));
    }
    Value::Object(all)
}

/// The types of JSON that a setting takes: those whose example it does not refuse for its type.
fn types(method: &str, key: &str) -> Vec<&'static str> {
    let examples = [
        ("integer", json!(2)),
        ("number", json!(0.5)),
        ("string", json!("?")),
        ("boolean", json!(true)),
    ];
    let taken = |example: &Value| {
        let alone = Map::from_iter([(key.to_string(), example.clone())]);
        // A value that is refused as none of the choices is of the right type.
        match Recipe::read(method, alone) {
            Err(Error::Setting { wrong, .. }) => wrong.kind == Kind::Value,
            other => other.is_ok(),
        }
    };
    let mut types: Vec<&str> =
        examples.iter().filter(|(_, example)| taken(example)).map(|(name, _)| *name).collect();
    if types.contains(&"number") {
        types.retain(|name| *name != "integer");
    }
    types
}
