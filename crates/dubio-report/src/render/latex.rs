//! Tables as LaTeX, for `booktabs`.

use std::fmt::Write;

use super::svg::file_name;
use crate::number::shown;
use crate::report::Report;
use crate::table::{Field, Number, Table};
use crate::text::visible;
use dubio_metrics::card::Direction;

/// Every table of a report as a `table` of its own; needs `\usepackage{booktabs}`.
pub fn latex(report: &Report<'_>) -> String {
    let mut out = String::from(
        "% Needs \\usepackage{booktabs}. Bold: better than every other by more than chance.\n",
    );
    if let Some(table) = &report.overview {
        write_table(&mut out, table, &table.id, "");
    }
    for part in &report.parts {
        // Where there are several parts, the label says which.
        let several = report.parts.len() > 1;
        let prefix = if several { file_name(&part.chapter.name()) + "-" } else { String::new() };
        for table in part.sections.iter().flat_map(|section| &section.tables) {
            let label = prefix.clone() + &table.id;
            write_table(&mut out, table, &label, &part.chapter.name());
        }
    }
    out
}

fn write_table(out: &mut String, table: &Table, label: &str, chapter: &str) {
    let caption = match chapter {
        "" => table.caption.clone(),
        name => format!("{}: {name}", table.caption),
    };
    let heads: Vec<String> = table
        .columns
        .iter()
        .map(|c| format!("{}{}", escaped(&c.name), arrow(c.direction)))
        .collect();
    let _ = write!(
        out,
        "\n\\begin{{table}}\n  \\centering\n  \\caption{{{}}}\n  \\label{{tab:{}}}\n  \\begin{{tabular}}{{l{}}}\n    \\toprule\n",
        escaped(&caption),
        file_name(label),
        "r".repeat(heads.len())
    );
    let _ =
        writeln!(out, "    {} & {} \\\\\n    \\midrule", escaped(table.corner), heads.join(" & "));
    for row in &table.rows {
        let cells: Vec<String> = row.cells.iter().map(field).collect();
        let _ = writeln!(out, "    {} & {} \\\\", escaped(&row.name), cells.join(" & "));
    }
    out.push_str("    \\bottomrule\n  \\end{tabular}\n\\end{table}\n");
}

fn arrow(direction: Direction) -> &'static str {
    match direction {
        Direction::Higher => " $\\uparrow$",
        Direction::Lower => " $\\downarrow$",
        Direction::Zero => " $\\to 0$",
        Direction::Neither => "",
    }
}

fn field(field: &Field) -> String {
    match field {
        Field::Missing(_) => "---".to_string(),
        Field::Text(text) => escaped(text),
        Field::Number(number) => figure(number),
    }
}

/// `\textbf{0.9876} $\pm$ 0.0012`.
fn figure(number: &Number) -> String {
    let plain = |value: f64| {
        let text = shown(value, number.places);
        text.replace("−∞", "$-\\infty$").replace('∞', "$\\infty$").replace('−', "$-$")
    };
    let mut text = plain(number.value);
    if number.best {
        text = format!("\\textbf{{{text}}}");
    }
    if let Some(std) = number.std {
        text += &format!(" $\\pm$ {}", plain(std));
    }
    if let Some((some, all)) = number.of {
        text += &format!(" ({some} of {all})");
    }
    text
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in visible(text).chars() {
        match c {
            // An empty line would end the paragraph, and with it the table.
            '\n' => out.push(' '),
            // After the end of a row these would be read as part of its command.
            '[' | ']' | '*' | '`' => {
                let _ = write!(out, "{{{c}}}");
            }
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '%' | '&' | '_' | '#' | '$' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '—' => out.push_str("---"),
            c => out.push(c),
        }
    }
    out
}
