//! Data sets of a suite: names, or tables for a user's own data.
//!
//! ```toml
//! data = ["digits", "mine.csv:target=price", { path = "mine.csv", target = "price", test = 0.2 }]
//! ```

use dubio_data::sets::own::Own;
use serde_json::Value;
use toml::Spanned;
use toml::de::DeValue;

use crate::mistakes::Collector;
use crate::reader::{Located, Section, text};

/// The names of a list, tables written as names. A single one is a list of one.
pub(crate) fn data_names(
    key: &'static str,
    section: &mut Section<'_>,
    mistakes: &mut Collector<'_>,
) -> Vec<Located<String>> {
    let Some(value) = section.value(key) else { return Vec::new() };
    match value.get_ref() {
        DeValue::Array(all) => all.iter().filter_map(|v| name(key, v, mistakes)).collect(),
        _ => name(key, value, mistakes).into_iter().collect(),
    }
}

fn name(
    key: &str,
    value: &Spanned<DeValue<'_>>,
    mistakes: &mut Collector<'_>,
) -> Option<Located<String>> {
    let DeValue::Table(table) = value.get_ref() else { return text(key, value, mistakes) };
    let mut section = Section::new(table, value.span());
    let before = mistakes.len();
    let path = section.text("path", mistakes);
    if path.is_none() && mistakes.len() == before {
        mistakes.add(value.span(), "`path` is missing; give the file or folder of the data");
    }
    let mut own = Own::default();
    own.path = path.map(|path| path.value).unwrap_or_default().into();
    for (name, value) in section.rest(mistakes) {
        let (place, text) = (value.span.clone(), option(&value.value));
        match text {
            None => {
                let what = format!(
                    "`{}` must be text, a number, yes or no, or a list of texts",
                    name.value
                );
                mistakes.add(place, what);
            }
            Some(text) => {
                if let Err(message) = own.set(&name.value, text) {
                    mistakes.add(name.span, message);
                }
            }
        }
    }
    let whole = mistakes.len() == before;
    whole.then(|| Located { value: own.to_string(), span: value.span() })
}

/// The text of an option's value.
fn option(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(yes) => Some(if *yes { "yes" } else { "no" }.to_string()),
        Value::Array(all) => {
            let texts: Option<Vec<&str>> = all.iter().map(Value::as_str).collect();
            texts.map(|texts| texts.join("+"))
        }
        _ => None,
    }
}
