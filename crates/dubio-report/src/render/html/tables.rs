//! Tables that can be sorted.

use std::fmt::Write;

use super::{escaped, key, mark};
use crate::number::shown;
use crate::render::svg::file_name;
use crate::table::{Field, Line, Number, Rank, Table};

pub(super) fn write(out: &mut String, index: usize, table: &Table) {
    let id = format!("c{index}-table-{}", file_name(&table.id));
    let caption = escaped(&table.caption);
    if table.rank == Rank::Second {
        let _ = write!(out, "<details class=\"folded\"><summary>{caption}</summary>");
    }
    let _ = write!(
        out,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{id}\"><table class=\"sortable\">\
         <caption id=\"{id}\">{caption}</caption><thead><tr>"
    );
    write_head(out, "", table.corner, "", "");
    for (index, column) in table.columns.iter().enumerate() {
        let words = table.rows.iter().any(|row| is_words(&row.cells[index]));
        let class = match words {
            true => " class=\"words\"",
            false if is_long(&column.name) => " class=\"long\"",
            false => "",
        };
        write_head(out, class, &column.name, column.direction.arrow(), &column.summary);
    }
    out.push_str("</tr></thead><tbody>");
    for row in &table.rows {
        write_row(out, row);
    }
    out.push_str("</tbody></table></div>");
    if !table.note.is_empty() {
        let _ = write!(out, "<p class=\"note\">{}</p>", escaped(&table.note));
    }
    if table.rank == Rank::Second {
        out.push_str("</details>");
    }
}

/// Whether a cell holds a sentence.
fn is_words(field: &Field) -> bool {
    matches!(field, Field::Text(text) if text.len() > 30)
}

fn write_head(out: &mut String, class: &str, name: &str, arrow: &str, summary: &str) {
    let spoken = match arrow {
        "↑" => ", higher is better",
        "↓" => ", lower is better",
        "→0" => ", closer to 0 is better",
        _ => "",
    };
    let title =
        if summary.is_empty() { String::new() } else { format!(" title=\"{}\"", escaped(summary)) };
    let _ = write!(
        out,
        "<th scope=\"col\"{class} aria-sort=\"none\"><button type=\"button\"{title}>{}\
         <span aria-hidden=\"true\"> {arrow}</span><span class=\"unseen\">{spoken}</span></button></th>",
        breakable(name)
    );
}

/// Whether a heading may be broken inside a word where paper is too narrow for it.
fn is_long(name: &str) -> bool {
    name.split(['.', '_', '-', ' ']).any(|part| part.len() > 8)
}

/// A name that a narrow column may break after its dots, underscores and hyphens.
fn breakable(name: &str) -> String {
    let mut out = escaped(name);
    for mark in [".", "_", "-"] {
        out = out.replace(mark, &format!("{mark}<wbr>"));
    }
    out
}

fn write_row(out: &mut String, row: &Line) {
    let mark = row.style.map_or(String::new(), mark);
    let name = escaped(&row.name);
    let method = row.style.map_or(String::new(), |_| format!(" data-of=\"{}\"", key(&row.name)));
    let _ = write!(out, "<tr{method}><th scope=\"row\">{mark}{name}</th>");
    for cell in &row.cells {
        write_cell(out, cell);
    }
    out.push_str("</tr>");
}

fn write_cell(out: &mut String, field: &Field) {
    let _ = match field {
        Field::Missing(why) if why.is_empty() => write!(out, "<td>—</td>"),
        Field::Missing(why) => {
            let why = escaped(why);
            write!(out, "<td title=\"{why}\">—<span class=\"unseen\"> {why}</span></td>")
        }
        Field::Text(text) => {
            let class = if is_words(field) { " class=\"words\"" } else { "" };
            write!(out, "<td{class}>{}</td>", escaped(text))
        }
        Field::Number(number) => write_number(out, number),
    };
}

fn write_number(out: &mut String, number: &Number) -> std::fmt::Result {
    let text = shown(number.value, number.places);
    let title = number.interval.map_or(String::new(), |(lo, hi)| {
        format!(
            " title=\"95 % interval {} to {}\"",
            shown(lo, number.places),
            shown(hi, number.places)
        )
    });
    let text = if number.best { format!("<strong>{text}</strong>") } else { text };
    write!(out, "<td data-value=\"{}\"{title}>{text}", number.value)?;
    if let Some(std) = number.std {
        write!(out, "<small> ± {}</small>", shown(std, number.places))?;
    }
    if let Some((some, all)) = number.of {
        write!(out, "<small> ({some} of {all})</small>")?;
    }
    write!(out, "</td>")
}
