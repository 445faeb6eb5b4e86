//! `dubio man`: manual pages.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::Cli;

/// Write manual pages, one for each command, to a folder.
#[derive(clap::Args)]
#[command(after_help = "Example:
  dubio man ~/.local/share/man/man1 && man dubio-evaluate")]
pub(crate) struct Args {
    /// The folder; it is made if it does not exist.
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let failed = || format!("cannot write manual pages to {}", args.folder.display());
    std::fs::create_dir_all(&args.folder).with_context(failed)?;
    clap_mangen::generate_to(Cli::command(), &args.folder).with_context(failed)
}
