//! `dubio completions`: what a shell needs to complete commands.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::{Cli, terminal};

/// Print a script that lets a shell complete commands and options.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio completions bash > ~/.local/share/bash-completion/completions/dubio
  dubio completions zsh > \"${fpath[1]}/_dubio\"
  dubio completions fish > ~/.config/fish/completions/dubio.fish")]
pub(crate) struct Args {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "dubio", &mut script);
    Ok(std::io::Write::write_all(&mut terminal::stdout(), &script)?)
}
