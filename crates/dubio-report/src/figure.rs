//! A figure: a Vega-Lite specification with its data, and what to say around it. The page draws it in
//! the browser, files are drawn from it by the program; neither knows what it shows.

use serde_json::{Map, Value, json};

use crate::chapter::Chapter;
use crate::number::significant;
use crate::palette::Style;
use crate::text::drawn;

/// One figure of a chapter.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name in addresses and file names.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// How to read it, in a plain sentence or two.
    pub how: String,
    /// Vega-Lite, data included, colours by name.
    pub spec: Value,
    /// How it uses the room it is given.
    pub layout: Layout,
    /// What the reader may choose.
    pub choices: Vec<Choice>,
    /// Fields of the data with their headings, for reading the figure as a table.
    pub columns: Vec<(&'static str, &'static str)>,
}

/// How a figure uses the room it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One plot as wide as there is room.
    Wide,
    /// Panels of this width, as many in a row as there is room for.
    Panels(u32),
    /// As large as it comes out.
    Fixed,
}

/// A parameter of the specification that the reader may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its name in the specification; figures with the same one change together.
    pub parameter: &'static str,
    /// What it is called.
    pub label: &'static str,
    /// Possible values; the first is chosen at first.
    pub options: Vec<String>,
}

impl Choice {
    pub(crate) fn new<T: ToString>(
        parameter: &'static str,
        label: &'static str,
        options: impl IntoIterator<Item = T>,
    ) -> Self {
        let options = options.into_iter().map(|option| option.to_string()).collect();
        Self { parameter, label, options }
    }
}

/// Rows of data that become a CSV text inside a specification: a third of the size of objects.
pub(crate) struct Data<const N: usize> {
    columns: [(&'static str, Kind); N],
    rows: csv::Writer<Vec<u8>>,
    count: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
}

/// A field of a row.
pub(crate) enum Field<'a> {
    Text(&'a str),
    Number(f64),
    Missing,
}

impl From<f64> for Field<'_> {
    fn from(value: f64) -> Self {
        if value.is_finite() { Self::Number(value) } else { Self::Missing }
    }
}

impl From<usize> for Field<'_> {
    fn from(value: usize) -> Self {
        Self::Number(value as f64)
    }
}

impl From<Option<f64>> for Field<'_> {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::Missing, Self::from)
    }
}

impl<'a> From<&'a str> for Field<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<const N: usize> Data<N> {
    /// With these columns; names of number columns begin with `#`.
    pub(crate) fn new(columns: [&'static str; N]) -> Self {
        let kind = |name: &'static str| match name.strip_prefix('#') {
            Some(name) => (name, Kind::Number),
            None => (name, Kind::Text),
        };
        let columns = columns.map(kind);
        let mut rows = csv::Writer::from_writer(Vec::new());
        rows.write_record(columns.iter().map(|(name, _)| name)).expect("memory takes it");
        Self { columns, rows, count: 0 }
    }

    pub(crate) fn push(&mut self, fields: [Field<'_>; N]) {
        let texts = fields.map(|field| match field {
            Field::Text(text) => drawn(text).into_owned(),
            Field::Number(value) => significant(value),
            Field::Missing => String::new(),
        });
        self.rows.write_record(texts).expect("memory takes it");
        self.count += 1;
    }

    /// Itself if it has a row, else `None`.
    pub(crate) fn unless_empty(self) -> Option<Self> {
        (self.count > 0).then_some(self)
    }

    /// As a specification's `data`.
    pub(crate) fn into_value(self) -> Value {
        let numbers = self.columns.iter().filter(|(_, kind)| *kind == Kind::Number);
        let parse: Map<String, Value> =
            numbers.map(|(name, _)| ((*name).to_string(), json!("number"))).collect();
        let text = String::from_utf8(self.rows.into_inner().expect("memory takes it"));
        let text = text.expect("made of texts");
        json!({"name": "points", "values": text, "format": {"type": "csv", "parse": parse}})
    }
}

/// A panel for each method, as many in a row as there is room for; one method alone has the whole width.
pub(crate) fn panels(
    chapter: &Chapter<'_>,
    data: Value,
    mut inner: Value,
    size: u32,
) -> (Value, Layout) {
    if chapter.present().count() < 2 {
        inner["params"] = parameters(&[]);
        inner["data"] = data;
        (inner["width"], inner["height"]) = (json!(460), json!(290));
        return (inner, Layout::Wide);
    }
    (inner["width"], inner["height"]) = (json!(size), json!(size));
    let spec = json!({
        "params": parameters(&[]),
        "data": data,
        "facet": {"field": "method", "type": "nominal", "title": null, "sort": names(chapter)},
        "columns": 5,
        "spacing": {"row": 14, "column": 18},
        "spec": inner,
    });
    (spec, Layout::Panels(size))
}

/// Colour by method.
pub(crate) fn colour(chapter: &Chapter<'_>) -> Value {
    by_method(chapter, |style| json!(style.colour()))
}

/// Marker by method.
pub(crate) fn marker(chapter: &Chapter<'_>) -> Value {
    by_method(chapter, |style| json!(style.marker()))
}

/// Dash by method.
pub(crate) fn dash(chapter: &Chapter<'_>) -> Value {
    by_method(chapter, |style| json!(style.dash()))
}

/// The same without a place in a legend, where markers have one: a legend of both would be left out.
pub(crate) fn dash_unexplained(chapter: &Chapter<'_>) -> Value {
    let mut patterns: Vec<(&[u8], Vec<String>)> = Vec::new();
    for (method, name) in chapter.methods.iter().zip(names(chapter)) {
        let dash = Style::of(method.style).dash();
        match patterns.iter_mut().find(|(pattern, _)| *pattern == dash) {
            Some((_, names)) => names.push(name),
            None => patterns.push((dash, vec![name])),
        }
    }
    let condition = |(pattern, names): &(&[u8], Vec<String>)| json!({"test": format!("indexof({}, datum.method) >= 0", json!(names)), "value": pattern});
    let conditions: Vec<Value> = patterns.iter().map(condition).collect();
    json!({"condition": conditions, "value": [1, 0]})
}

/// The methods as the data call them.
pub(crate) fn names(chapter: &Chapter<'_>) -> Vec<String> {
    chapter.methods.iter().map(|method| drawn(method.name).into_owned()).collect()
}

fn by_method(chapter: &Chapter<'_>, of: impl Fn(Style) -> Value) -> Value {
    let names = names(chapter);
    let range: Vec<Value> = chapter.methods.iter().map(|m| of(Style::of(m.style))).collect();
    json!({
        "field": "method", "type": "nominal", "title": "method",
        "scale": {"domain": names, "range": range},
    })
}

/// `of` for a method, unless the choice of another one sets it aside; then 0.07 times that.
pub(crate) fn opacity(of: f64) -> Value {
    json!({
        "condition": {"test": "isolated === '' || datum.method === isolated", "value": of},
        "value": 0.07 * of,
    })
}

/// What a tooltip shows when pointing at a mark: field, heading, format (empty for a text).
pub(crate) fn tooltip(fields: &[(&str, &str, &str)]) -> Value {
    let one = |(field, title, format): &(&str, &str, &str)| match *format {
        "" => json!({"field": field, "title": title, "type": "nominal"}),
        _ => json!({"field": field, "title": title, "type": "quantitative", "format": format}),
    };
    Value::Array(fields.iter().map(one).collect())
}

/// The parameters that every figure has, and those of its choices.
pub(crate) fn parameters(choices: &[Choice]) -> Value {
    let mut all = vec![json!({"name": "isolated", "value": ""})];
    all.extend(choices.iter().map(|choice| {
        let first = choice.options.first().map_or("", |option| option);
        json!({"name": choice.parameter, "value": drawn(first)})
    }));
    Value::Array(all)
}
