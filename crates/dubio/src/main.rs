//! `dubio`: does a model know what it does not know?

mod calibrate;
mod check;
mod compare;
mod completions;
mod data;
mod dee;
mod device;
mod diagnose;
mod evaluate;
mod explain;
mod first_look;
mod folders;
#[cfg(target_os = "linux")]
mod huge_pages;
mod interrupt;
mod list;
mod man;
mod on_slurm;
mod plan;
mod predict;
mod progress;
mod render;
mod report;
mod run;
mod runs;
mod schema;
mod score;
#[cfg(target_os = "linux")]
mod spare_blocks;
mod study_bars;
mod terminal;
mod threads;
mod train;
mod work;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use dubio_nn::cuda;
use dubio_predictions::guarded;

use crate::interrupt::Stopped;
use crate::terminal::{Verbosity, say};

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: huge_pages::HugePages = huge_pages::HugePages;

/// The version, and what the program was built with.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nbuilt with ",
    env!("DUBIO_RUSTC"),
    "\nfor ",
    env!("DUBIO_TARGET"),
    "\nfeatures: ",
    env!("DUBIO_FEATURES")
);

/// Does a model know what it does not know?
///
/// dubio reads the predictions of any model, from any framework, and computes every score of
/// predictive uncertainty in common use, with confidence intervals.
#[derive(Parser)]
#[command(version, long_version = LONG_VERSION, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Examples:
  dubio evaluate preds.npz                       every score, as a table
  dubio evaluate preds.npz --json > scores.json  the same for machines
  dubio check preds.npz                          could these labels have come from the model?
  dubio compare a.npz b.npz                      differences with intervals, and a ranking
  dubio explain ece                              what a score is
  dubio report preds.npz                         figures, tables and conclusions, one page
  dubio run quick                                a study of every method, on handwritten digits
  dubio train sgld --data digits -o preds.npz    train, sample, predict
  dubio list                                     what else there is: scores, methods, data sets, ...

A file may be `-` for standard input. NO_COLOR=1 switches colours off. When standard error is not a \
terminal, progress is a line every 30 seconds, or every DUBIO_PROGRESS_SECONDS.

Exit codes: 0 done; 1 done, but a score asked for by name has no value, or a data set is incomplete \
or altered; 2 could not run; 130 stopped by Ctrl-C.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Print errors and warnings only: no notes, no progress.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Also print each step, with the time since the start.
    #[arg(short, long, global = true)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    Evaluate(evaluate::Args),
    Calibrate(calibrate::Args),
    Check(check::Args),
    Compare(compare::Args),
    Dee(dee::Args),
    Diagnose(diagnose::Args),
    List(list::Args),
    Explain(explain::Args),
    Data(data::Args),
    Predict(predict::Args),
    Train(train::Args),
    Plan(plan::Args),
    Schema(schema::Args),
    Run(run::Args),
    Report(report::Args),
    Score(score::Args),
    Runs(runs::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[command(hide = true)]
    Work(work::Args),
}

/// How a command ended, short of an error.
enum Outcome {
    Done,
    /// A score asked for by name has no value.
    Undefined,
    /// A data set that was checked is not whole.
    NotWhole,
    /// As a worker tells its parent.
    Code(ExitCode),
}

impl Command {
    /// The threads that it asks for, if it needs any; `None` of them is a choice of ours.
    fn threads(&self) -> Option<Option<u16>> {
        match self {
            Self::Evaluate(args) => Some(args.threads),
            Self::Check(args) => Some(args.threads),
            Self::Compare(args) => Some(args.threads),
            Self::Dee(args) => Some(args.threads),
            Self::List(_) | Self::Explain(_) | Self::Schema(_) | Self::Runs(_) => None,
            Self::Completions(_) | Self::Man(_) => None,
            _ => Some(None),
        }
    }
}

fn carry_out(command: &Command) -> Result<Outcome> {
    if let Some(threads) = command.threads() {
        threads::start(threads)?;
    }
    match command {
        Command::Evaluate(args) => evaluate::run(args),
        Command::Calibrate(args) => calibrate::run(args).map(|()| Outcome::Done),
        Command::Check(args) => check::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Dee(args) => dee::run(args),
        Command::Diagnose(args) => diagnose::run(args).map(|()| Outcome::Done),
        Command::List(args) => list::run(args).map(|()| Outcome::Done),
        Command::Explain(args) => explain::run(args).map(|()| Outcome::Done),
        Command::Data(args) => data::run(args),
        Command::Predict(args) => predict::run(args).map(|()| Outcome::Done),
        Command::Train(args) => train::run(args).map(|()| Outcome::Done),
        Command::Plan(args) => plan::run(args).map(|()| Outcome::Done),
        Command::Schema(_) => schema::run().map(|()| Outcome::Done),
        Command::Run(args) => run::run(args).map(|()| Outcome::Done),
        Command::Report(args) => report::run(args).map(|()| Outcome::Done),
        Command::Score(args) => score::run(args).map(|()| Outcome::Done),
        Command::Runs(args) => runs::run(args).map(|()| Outcome::Done),
        Command::Completions(args) => completions::run(args).map(|()| Outcome::Done),
        Command::Man(args) => man::run(args).map(|()| Outcome::Done),
        Command::Work(args) => work::run(args).map(Outcome::Code),
    }
}

fn main() -> ExitCode {
    let Cli { command, quiet, verbose } = parsed();
    terminal::set_verbosity(match (quiet, verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Usual,
    });
    // A predictions file that fails while it is read, or a GPU that fails in a step, gives up the whole command.
    let with_files = || guarded(|| carry_out(&command)).unwrap_or_else(|failed| Err(failed.into()));
    match cuda::guarded(with_files).unwrap_or_else(|failed| Err(failed.into())) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Undefined | Outcome::NotWhole) => ExitCode::from(1),
        Ok(Outcome::Code(code)) => code,
        // Whoever reads our output may stop early, as `head` does; that is no failure of ours.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say!("error: {error:#}");
            ExitCode::from(if error.is::<Stopped>() { 130 } else { 2 })
        }
    }
}

/// The command line. What is wrong with it is told in colours, unless it could tell the terminal more.
fn parsed() -> Cli {
    Cli::try_parse().unwrap_or_else(|wrong| {
        let told = wrong.render().to_string();
        if terminal::visible(&told) == told {
            wrong.exit()
        }
        say!("{}", told.trim_end());
        std::process::exit(wrong.exit_code())
    })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |e: &std::io::Error| e.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(broken))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    /// Help is wrapped to the width of the terminal, 100 at most. A paragraph with line breaks of its own, or an example
    /// that is longer, would be broken a second time, in the middle of a sentence.
    #[test]
    fn help_has_no_line_breaks_of_its_own() {
        fn look(command: &clap::Command, checked: &mut usize) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for paragraph in help.split("\n\n") {
                let flush = paragraph.lines().filter(|line| !line.starts_with(' ')).count();
                assert!(flush <= 1, "{}: {paragraph}", command.get_name());
                for line in paragraph.lines().filter(|line| line.starts_with(' ')) {
                    assert!(line.chars().count() <= 100, "{}: {line}", command.get_name());
                }
                *checked += 1;
            }
            command.get_subcommands().for_each(|inner| look(inner, checked));
        }
        let mut checked = 0;
        look(&Cli::command(), &mut checked);
        assert!(checked > 30, "only {checked} paragraphs were found");
    }
}
