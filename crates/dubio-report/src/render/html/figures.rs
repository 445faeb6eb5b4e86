//! Figures: a place for the drawing, what to say around it, and the data as JSON.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::{escaped, key};
use crate::figure::{Choice, Figure, Layout};
use crate::report::Report;

/// Everything that the page needs to draw the figures, by the id of their place.
pub(super) fn data(report: &Report<'_>) -> Value {
    let mut all = Map::new();
    for (index, part) in report.parts.iter().enumerate() {
        for figure in part.sections.iter().flat_map(|section| &section.figures) {
            let layout = match figure.layout {
                Layout::Wide => json!("wide"),
                Layout::Panels(width) => json!(width),
                Layout::Fixed => json!("fixed"),
            };
            let value = json!({"spec": figure.spec, "layout": layout, "columns": figure.columns});
            all.insert(format!("c{index}-{}", figure.id), value);
        }
    }
    Value::Object(all)
}

pub(super) fn write(out: &mut String, index: usize, figure: &Figure) {
    let id = format!("c{index}-{}", figure.id);
    let class = match figure.layout {
        Layout::Panels(_) | Layout::Fixed => "panels",
        Layout::Wide => "single",
    };
    let (title, how) = (escaped(&figure.title), escaped(&figure.how));
    let _ = write!(
        out,
        "<figure class=\"plot {class}\" data-figure=\"{id}\"><figcaption><h4>{title}</h4><p>{how}</p></figcaption>"
    );
    let offered: Vec<&Choice> = figure.choices.iter().filter(|c| c.options.len() > 1).collect();
    if !offered.is_empty() {
        out.push_str("<div class=\"choices\">");
        for choice in offered {
            write_choice(out, &id, choice);
        }
        out.push_str("</div>");
    }
    let _ = write!(
        out,
        "<div class=\"drawing\" role=\"img\" aria-label=\"{title}. {how}\"></div>\
         <div class=\"save\"><span>Save</span><button type=\"button\" data-save=\"svg\" aria-label=\"Save {title} as SVG\">SVG</button>\
         <button type=\"button\" data-save=\"png\" aria-label=\"Save {title} as PNG\">PNG</button>\
         <details class=\"data\"><summary>Show the data as a table</summary><div class=\"wide\" tabindex=\"0\" \
         role=\"region\" aria-label=\"Data of {title}\"></div></details></div></figure>"
    );
}

fn write_choice(out: &mut String, id: &str, choice: &Choice) {
    let _ = write!(
        out,
        "<label>{} <select data-parameter=\"{}\" data-for=\"{id}\">",
        escaped(choice.label),
        choice.parameter
    );
    for option in &choice.options {
        let _ = write!(out, "<option value=\"{}\">{}", key(option), escaped(option));
    }
    out.push_str("</select></label>");
}
