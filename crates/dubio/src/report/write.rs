//! Puts a report where it was asked for.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dubio_report::render;
use dubio_report::report::Report;
use dubio_report::study::Study;

use super::Format;
use crate::terminal;

/// The page of a study.
pub(crate) fn page(study: &Study) -> String {
    render::html(&Report::of(study))
}

pub(super) fn write(study: &Study, format: Format, output: Option<&Path>) -> Result<()> {
    let report = Report::of(study);
    let file = |name: &str, text: String| vec![(name.to_string(), text.into_bytes())];
    let files: Vec<(String, Vec<u8>)> = match format {
        Format::Html => {
            let path = output.map_or(PathBuf::from("report.html"), Path::to_path_buf);
            return put(&path, render::html(&report).as_bytes());
        }
        Format::Markdown => file("report.md", render::markdown(&report)),
        Format::Latex => file("tables.tex", render::latex(&report)),
        Format::Csv => [
            file("runs.csv", render::runs_csv(&report)),
            file("methods.csv", render::methods_csv(&report)),
        ]
        .concat(),
        Format::Svg => {
            let drawn = render::svg(&report)?;
            drawn.into_iter().map(|(name, svg)| (format!("{name}.svg"), svg.into_bytes())).collect()
        }
        Format::Pdf => {
            let drawn = render::pdf(&report)?;
            drawn.into_iter().map(|(name, pdf)| (format!("{name}.pdf"), pdf)).collect()
        }
    };
    let folder = output.map_or(PathBuf::from("report"), Path::to_path_buf);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    files.iter().try_for_each(|(name, text)| put(&folder.join(name), text))
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(writeln!(terminal::stdout(), "{}", path.display())?)
}
