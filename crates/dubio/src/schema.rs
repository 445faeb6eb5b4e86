//! `dubio schema`: the JSON schema of suites, for editors.

use std::io::Write;

use anyhow::Result;
use dubio_bench::schema::schema;

use crate::terminal;

/// Print the JSON schema of suites, for editors that complete and validate.
#[derive(clap::Args)]
#[command(after_help = "Example:
  dubio schema > suite.schema.json    with `#:schema suite.schema.json` in the first line of a suite")]
pub(crate) struct Args {}

pub(crate) fn run() -> Result<()> {
    Ok(writeln!(terminal::stdout(), "{}", serde_json::to_string_pretty(&schema())?)?)
}
