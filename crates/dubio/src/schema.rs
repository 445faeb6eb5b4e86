//! `dubio schema`: what may stand in a suite, for editors.

use std::io::Write;

use anyhow::Result;
use dubio_bench::schema::schema;

use crate::terminal;

/// Print the JSON schema of suites, for editors that complete and check.
#[derive(clap::Args)]
#[command(after_help = "Example:
  dubio schema > suite.schema.json    with `#:schema suite.schema.json` at the head of a suite")]
pub(crate) struct Args {}

pub(crate) fn run() -> Result<()> {
    Ok(writeln!(terminal::stdout(), "{}", serde_json::to_string_pretty(&schema())?)?)
}
