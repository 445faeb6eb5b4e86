//! The files that a report is written to, by format.

use super::csv::{methods_csv, runs_csv};
use super::engine::DrawingError;
use super::html::html;
use super::latex::latex;
use super::markdown::markdown;
use super::pdf::pdf;
use super::svg::svg;
use crate::report::Report;

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One page that needs nothing else.
    Html,
    /// Text and tables.
    Markdown,
    /// Tables.
    Latex,
    /// Scores of every run, and of every method.
    Csv,
    /// A drawing for each figure.
    Svg,
    /// The same as PDF.
    Pdf,
}

impl Format {
    /// Every format with its name.
    pub const ALL: [(&str, Self); 6] = [
        ("html", Self::Html),
        ("markdown", Self::Markdown),
        ("latex", Self::Latex),
        ("csv", Self::Csv),
        ("svg", Self::Svg),
        ("pdf", Self::Pdf),
    ];

    /// The format with this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, format)| format)
    }
}

/// Name and bytes of every file of a report.
pub fn files(report: &Report<'_>, format: Format) -> Result<Vec<(String, Vec<u8>)>, DrawingError> {
    let one = |name: &str, text: String| (name.to_string(), text.into_bytes());
    Ok(match format {
        Format::Html => vec![one("report.html", html(report))],
        Format::Markdown => vec![one("report.md", markdown(report))],
        Format::Latex => vec![one("tables.tex", latex(report))],
        Format::Csv => {
            vec![one("runs.csv", runs_csv(report)), one("methods.csv", methods_csv(report))]
        }
        Format::Svg => {
            svg(report)?.into_iter().map(|(name, svg)| one(&format!("{name}.svg"), svg)).collect()
        }
        Format::Pdf => {
            pdf(report)?.into_iter().map(|(name, pdf)| (format!("{name}.pdf"), pdf)).collect()
        }
    })
}
