//! Tables as LaTeX, for `booktabs`.

use std::fmt::Write;

use super::svg::file_name;
use crate::number::shown;
use crate::report::Report;
use crate::table::{Field, Number, Table};
use crate::text::visible;
use crate::words::{capital, heading};
use dubio_metrics::card::Direction;

/// Every table of a report as a `table` of its own, at most as wide as a column: one with many columns becomes
/// several, and one that is still too wide is shrunken. Needs `booktabs` and `graphicx`.
pub fn latex(report: &Report<'_>) -> String {
    let mut out = String::from(
        "% Needs \\usepackage{booktabs,graphicx}. Bold: better than every other by more than chance.\n",
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

/// Columns that a table may have: numbers with a standard deviation are twice as wide.
fn most_columns(table: &Table) -> usize {
    let wide = |field: &Field| match field {
        Field::Number(number) => number.std.is_some(),
        Field::Text(text) => text.chars().count() > 16,
        Field::Missing(_) => false,
    };
    if table.rows.iter().flat_map(|row| &row.cells).any(wide) { 4 } else { 7 }
}

fn write_table(out: &mut String, table: &Table, label: &str, chapter: &str) {
    let most = most_columns(table);
    let count = table.columns.len().div_ceil(most).max(1);
    let size = table.columns.len().div_ceil(count).max(1);
    for (part, start) in (0..table.columns.len()).step_by(size).enumerate() {
        let columns = start..(start + size).min(table.columns.len());
        let suffix = if part == 0 { String::new() } else { format!("-{}", part + 1) };
        let mut caption = table.caption.clone();
        if !chapter.is_empty() {
            caption += &format!(": {chapter}");
        }
        if count > 1 {
            caption += &format!(" ({} of {count})", part + 1);
        }
        write_part(out, table, &(label.to_string() + &suffix), &caption, columns);
    }
}

/// Some columns of a table.
fn write_part(
    out: &mut String,
    table: &Table,
    label: &str,
    caption: &str,
    columns: std::ops::Range<usize>,
) {
    let heads: Vec<String> = table.columns[columns.clone()]
        .iter()
        .map(|c| format!("{}{}", escaped(&head(&c.name)), arrow(c.direction)))
        .collect();
    let _ = write!(
        out,
        "\n\\begin{{table}}\n  \\centering\n  \\caption{{{}}}\n  \\label{{tab:{}}}\n  {FIT}{{%\n  \\begin{{tabular}}{{l{}}}\n    \\toprule\n",
        escaped(caption),
        file_name(label),
        "r".repeat(heads.len())
    );
    let corner = escaped(&capital(table.corner));
    let _ = writeln!(out, "    {corner} & {} \\\\\n    \\midrule", heads.join(" & "));
    for row in &table.rows {
        let cells: Vec<String> = row.cells[columns.clone()].iter().map(field).collect();
        let _ = writeln!(out, "    {} & {} \\\\", row_name(table, &row.name), cells.join(" & "));
    }
    out.push_str("    \\bottomrule\n  \\end{tabular}}\n\\end{table}\n");
}

/// A column's heading: scores as papers print them, single words with a capital.
fn head(name: &str) -> String {
    let one_word = name.len() > 2 && name.bytes().all(|b| b.is_ascii_lowercase());
    if one_word { capital(&heading(name)) } else { heading(name) }
}

/// Shrinks what is wider than a column, and leaves the rest as it is.
const FIT: &str = "\\resizebox{\\ifdim\\width>\\columnwidth\\columnwidth\\else\\width\\fi}{!}";

/// A method as it is called; a score, which has its arrow with it, as papers print it.
fn row_name(table: &Table, name: &str) -> String {
    if table.corner != "score" {
        return escaped(name);
    }
    let (score, sign) = name.split_once(' ').unwrap_or((name, ""));
    let directions = [Direction::Higher, Direction::Lower, Direction::Zero];
    let direction = directions.into_iter().find(|direction| direction.arrow() == sign);
    escaped(&heading(score)) + direction.map_or("", arrow)
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
