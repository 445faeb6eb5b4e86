//! The report as one page that needs nothing else.

mod figures;
mod ranking;
mod runs;
mod tables;

use std::fmt::Write;

use super::engine::{THEME, VEGA, VEGA_LITE};
use crate::palette::{Style, definitions};
use crate::report::{Part, Report};
use crate::text::{drawn, visible};

const PAGE: &str = include_str!("../../../page/page.html");
const STYLE: &str = include_str!("../../../page/style.css");
const LICENCES: [&str; 2] = [
    include_str!("../../../vendor/LICENSE-vega"),
    include_str!("../../../vendor/LICENSE-vega-lite"),
];
const SCRIPTS: [&str; 6] = [
    include_str!("../../../page/theme.js"),
    include_str!("../../../page/figures.js"),
    include_str!("../../../page/save.js"),
    include_str!("../../../page/methods.js"),
    include_str!("../../../page/tables.js"),
    include_str!("../../../page/runs.js"),
];

/// The page.
pub fn html(report: &Report<'_>) -> String {
    let study = report.study;
    let title = escaped(&study.title);
    let about = if study.about.is_empty() {
        String::new()
    } else {
        format!("<p>{}</p>", escaped(&study.about))
    };
    let style = definitions() + STYLE;
    let scripts = SCRIPTS.join("\n");
    let licences = LICENCES.join("\n").replace("--", "- -");
    let fills = [
        ("title", title),
        ("about", about),
        ("style", style),
        ("version", env!("CARGO_PKG_VERSION").to_string()),
        ("methods", methods(report)),
        ("contents", contents(report)),
        ("main", body(report)),
        ("licences", licences),
        ("figures", for_script(&figures::data(report).to_string())),
        ("runs", for_script(&runs::data(report).to_string())),
        ("theme", for_script(THEME)),
        ("vega", VEGA.to_string()),
        ("vega-lite", VEGA_LITE.to_string()),
        ("scripts", scripts),
    ];
    fill(PAGE, &fills)
}

/// The template with every `{{name}}` replaced once; what is put in is not looked at again.
fn fill(template: &str, fills: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("a closed name");
        let text = fills.iter().find(|(own, _)| *own == name).map(|(_, text)| &text[..]);
        out += before;
        out += text.unwrap_or_else(|| panic!("the template asks for {name}"));
        rest = after;
    }
    out + rest
}

fn body(report: &Report<'_>) -> String {
    let mut out = String::new();
    if let Some(table) = &report.overview {
        out.push_str("<section class=\"part\" id=\"overview\"><h2>All data sets</h2>");
        if let Some(conclusion) = &report.conclusion {
            let _ = write!(out, "<p class=\"lead\">{}</p>", escaped(conclusion));
        }
        tables::write(&mut out, report.parts.len(), table);
        out.push_str("</section>");
    }
    let parts = report.parts.iter().enumerate();
    out + &parts.map(|(index, part)| self::part(report, index, part)).collect::<String>()
}

/// A button for each method, which sets the others aside.
fn methods(report: &Report<'_>) -> String {
    let mut out = String::new();
    for (index, name) in report.methods.iter().enumerate().filter(|_| report.methods.len() > 1) {
        let _ = write!(
            out,
            "<button type=\"button\" class=\"method\" aria-pressed=\"false\" data-method=\"{}\">{}{}</button>",
            key(name),
            mark(index),
            escaped(name)
        );
    }
    out
}

/// A method's marker in its colour.
fn mark(index: usize) -> String {
    let style = Style::of(index);
    format!(
        "<span class=\"mark {}\" style=\"--c:{}\" aria-hidden=\"true\"></span>",
        style.marker(),
        style.colour()
    )
}

fn contents(report: &Report<'_>) -> String {
    let mut out = String::new();
    if report.overview.is_some() {
        out.push_str("<li><a href=\"#overview\">All data sets</a></li>");
    }
    for (index, part) in report.parts.iter().enumerate() {
        let name = part_name(report, part);
        let _ = write!(out, "<li><a href=\"#c{index}\">{}</a><ol>", escaped(&name));
        for section in &part.sections {
            let _ = write!(
                out,
                "<li><a href=\"#c{index}-{}\">{}</a>",
                section.id,
                escaped(section.title)
            );
        }
        let _ = write!(out, "<li><a href=\"#c{index}-runs\">Runs</a></ol>");
    }
    out
}

fn part_name(report: &Report<'_>, part: &Part<'_>) -> String {
    match part.chapter.name() {
        name if name.is_empty() || report.parts.len() == 1 => {
            ranking::first_heading(part).to_string()
        }
        name => name,
    }
}

fn part(report: &Report<'_>, index: usize, part: &Part<'_>) -> String {
    let mut out =
        format!("<section class=\"part\" id=\"c{index}\" aria-labelledby=\"c{index}-name\">");
    ranking::write(&mut out, report, index, part);
    for section in &part.sections {
        let id = format!("c{index}-{}", section.id);
        let _ = write!(
            out,
            "<section class=\"question\" id=\"{id}\" aria-labelledby=\"{id}-name\"><h3 id=\"{id}-name\">{}</h3>",
            escaped(section.title)
        );
        if !section.figures.is_empty() {
            out.push_str("<div class=\"plots\">");
            section.figures.iter().for_each(|figure| figures::write(&mut out, index, figure));
            out.push_str("</div>");
        }
        for table in &section.tables {
            tables::write(&mut out, index, table);
        }
        out.push_str("</section>");
    }
    runs::write(&mut out, index, part);
    out + "</section>"
}

/// A text as HTML.
fn escaped(text: &str) -> String {
    let text = visible(text).replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// A name as an attribute by which the page finds it, in figures too.
fn key(name: &str) -> String {
    escaped(&drawn(name))
}

/// JSON that may stand inside a script element: special characters are written as JSON escapes.
fn for_script(json: &str) -> String {
    visible(json).replace('<', "\\u003c")
}
