//! A method that begins where another ended: for chains that would take days to find the posterior by themselves.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::Recipe;

/// What runs first; its last sample is the start. Written like a method's table:
/// `warm_up = { method = "sghmc", burn_in = 20 }`.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmUp(pub Box<Recipe>);

impl Serialize for WarmUp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut table = Map::new();
        for part in [serde_json::to_value(&self.0.method), serde_json::to_value(&self.0.setup)] {
            let part = part.map_err(serde::ser::Error::custom)?;
            table.extend(part.as_object().cloned().unwrap_or_default());
        }
        table.serialize(to)
    }
}

impl<'a> Deserialize<'a> for WarmUp {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        let mut table = Map::deserialize(from)?;
        // Checked before the table is read: settings are read one at a time to report errors, so each level of nesting
        // doubles how often a table is read.
        if depth(&table) > DEEPEST {
            let what = format!("a warm-up may have {} inside it, not more", DEEPEST - 1);
            return Err(D::Error::custom(what));
        }
        let Some(Value::String(name)) = table.remove("method") else {
            return Err(D::Error::custom("`method` is missing, as in { method = \"sgd\" }"));
        };
        let recipe = Recipe::parse(&name, table).map_err(D::Error::custom)?;
        if recipe.members() > 1 {
            return Err(D::Error::custom("a start is one network; set members = 1"));
        }
        Ok(Self(Box::new(recipe)))
    }
}

/// The most warm-ups inside one another.
const DEEPEST: usize = 3;

/// How many warm-ups there are inside one another, this one counted.
fn depth(table: &Map<String, Value>) -> usize {
    match table.get("warm_up") {
        Some(Value::Object(inner)) => 1 + depth(inner),
        _ => 1,
    }
}
