//! Rankings, warnings and tables as Markdown.

use std::fmt::Write;

use crate::number::shown;
use crate::report::{Part, Report};
use crate::study::Warning;
use crate::table::{Field, Table};
use crate::text::visible;

/// The report's words and tables.
pub fn markdown(report: &Report<'_>) -> String {
    let mut out = format!("# {}\n", escaped(&report.study.title));
    if !report.study.about.is_empty() {
        let _ = write!(out, "\n{}\n", escaped(&report.study.about));
    }
    for warning in &report.study.warnings {
        let _ = write!(out, "\n> {}\n", told(warning));
    }
    if let Some(conclusion) = &report.conclusion {
        let _ = write!(out, "\n{}\n", escaped(conclusion));
    }
    if let Some(table) = &report.overview {
        write_table(&mut out, table);
    }
    for part in &report.parts {
        write_part(&mut out, part);
    }
    out
}

fn write_part(out: &mut String, part: &Part<'_>) {
    let name = part.chapter.name();
    if !name.is_empty() {
        let _ = write!(out, "\n## {}\n", escaped(&name));
    }
    let _ = write!(out, "\n{}\n", escaped(&part.headline));
    if !part.warnings.is_empty() {
        let list: Vec<String> =
            part.warnings.iter().map(|warning| format!("- {}", told(warning))).collect();
        let _ = write!(out, "\nWarnings:\n\n{}\n", list.join("\n"));
    }
    if let Some(ranking) = part.ranking.as_ref().filter(|_| part.chapter.methods.len() > 1) {
        let _ = write!(
            out,
            "\n| | method | {} | 95 % interval | |\n| ---: | --- | ---: | --- | --- |\n",
            escaped(ranking.score)
        );
        for (index, standing) in ranking.standings.iter().enumerate() {
            let summary = &standing.summary;
            let interval = summary
                .interval
                .map_or("—".into(), |(lo, hi)| format!("{} to {}", shown(lo, 4), shown(hi, 4)));
            let _ = writeln!(
                out,
                "| {} | {} | {} | {interval} | {} |",
                index + 1,
                escaped(standing.method.name),
                shown(summary.mean, 4),
                escaped(&part.conclusions[index])
            );
        }
    }
    for table in part.sections.iter().flat_map(|section| &section.tables) {
        write_table(out, table);
    }
}

fn write_table(out: &mut String, table: &Table) {
    let _ = write!(out, "\n### {}\n\n", escaped(&table.caption));
    let heads =
        table.columns.iter().map(|c| format!("{} {}", escaped(&c.name), c.direction.arrow()));
    let heads: Vec<String> = heads.map(|head| head.trim_end().to_string()).collect();
    let _ = writeln!(out, "| {} | {} |", table.corner, heads.join(" | "));
    let _ = writeln!(out, "| --- | {} |", vec!["---:"; heads.len()].join(" | "));
    for row in &table.rows {
        let cells: Vec<String> = row.cells.iter().map(field).collect();
        let _ = writeln!(out, "| {} | {} |", escaped(&row.name), cells.join(" | "));
    }
    if !table.note.is_empty() {
        let _ = write!(out, "\n{}\n", escaped(&table.note));
    }
}

fn field(field: &Field) -> String {
    match field {
        Field::Missing(_) => "—".to_string(),
        Field::Text(text) => escaped(text),
        Field::Number(number) => {
            let mut text = shown(number.value, number.places);
            if number.best {
                text = format!("**{text}**");
            }
            if let Some(std) = number.std {
                text += &format!(" ± {}", shown(std, number.places));
            }
            if let Some((some, all)) = number.of {
                text += &format!(" ({some} of {all})");
            }
            text
        }
    }
}

fn told(warning: &Warning) -> String {
    format!("**{}.** {}", escaped(&warning.what), escaped(&warning.why))
}

/// A text that is shown as it is: no markup, no HTML, no link, not even one made of a bare address.
fn escaped(text: &str) -> String {
    let text = visible(text.trim()).replace('\n', " ");
    let mut out = String::new();
    for (at, c) in text.char_indices() {
        let (before, after) = (&text[..at], &text[at + c.len_utf8()..]);
        let marks = match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '&' | '~' | '$' | '@' => true,
            '#' | '+' | '-' | '=' => before.is_empty(),
            ':' => after.starts_with("//"),
            '.' if before.to_ascii_lowercase().ends_with("www") => true,
            '.' | ')' => {
                let list = !before.is_empty() && before.bytes().all(|b| b.is_ascii_digit());
                list && (after.is_empty() || after.starts_with(' '))
            }
            _ => false,
        };
        if marks {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
