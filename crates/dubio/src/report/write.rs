//! Puts a report where it was asked for.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dubio_report::render::{self, Format};
use dubio_report::report::Report;
use dubio_report::study::Study;

use crate::terminal;

/// The page of a study.
pub(crate) fn page(study: &Study) -> String {
    render::html(&Report::of(study))
}

pub(super) fn write(study: &Study, format: Format, output: Option<&Path>) -> Result<()> {
    let files = render::files(&Report::of(study), format)?;
    if let (Format::Html, [(_, page)]) = (format, &files[..]) {
        return put(output.unwrap_or(Path::new("report.html")), page);
    }
    let folder = output.map_or(PathBuf::from("report"), Path::to_path_buf);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    files.iter().try_for_each(|(name, text)| put(&folder.join(name), text))
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(writeln!(terminal::stdout(), "{}", path.display())?)
}
