//! Progress of a study on stderr: a bar for all runs, and one for each that is under way.

use std::io::{self, IsTerminal};
use std::sync::Mutex;

use dubio_bench::executor::{Ended, StudyProgress};
use dubio_bench::plan::PlannedRun;
use dubio_progress::Progress;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::progress::Lines;
use crate::runs::duration;
use crate::terminal::{Verbosity, note, one_line, verbosity, visible};

/// A bar for all runs and one for each that is under way.
pub(crate) struct Bars {
    all: MultiProgress,
    total: ProgressBar,
    under_way: Mutex<Vec<(String, ProgressBar)>>,
    lines: Lines,
}

impl Bars {
    pub(crate) fn new(runs: usize) -> Self {
        let shown = io::stderr().is_terminal() && verbosity() != Verbosity::Quiet;
        let target = if shown {
            ProgressDrawTarget::stderr_with_hz(5)
        } else {
            ProgressDrawTarget::hidden()
        };
        let all = MultiProgress::with_draw_target(target);
        let total = all.add(ProgressBar::new(runs as u64));
        if let Ok(style) = ProgressStyle::with_template(
            "{pos} of {len} runs {wide_bar} {elapsed} elapsed, {eta} left",
        ) {
            total.set_style(style);
        }
        Self { all, total, under_way: Mutex::new(Vec::new()), lines: Lines::new() }
    }

    /// How many runs are done, once in a while.
    fn line(&self) {
        self.lines.once_in_a_while(|| {
            let (done, all) = (self.total.position(), self.total.length()?);
            let seconds = duration(self.total.elapsed().as_secs_f64());
            Some(format!("{done} of {all} runs done after {seconds}"))
        });
    }

    fn with(&self, id: &str, f: impl FnOnce(&ProgressBar)) {
        let Ok(bars) = self.under_way.lock() else { return };
        if let Some((_, bar)) = bars.iter().find(|(known, _)| known == id) {
            f(bar);
        }
    }
}

impl Progress for Bars {
    fn note(&self, text: &str) {
        if self.all.is_hidden() || self.all.println(visible(text)).is_err() {
            note(text);
        }
    }
}

impl StudyProgress for Bars {
    fn began(&self, run: &PlannedRun) {
        let bar = self.all.add(ProgressBar::new(1000));
        if let Ok(style) =
            ProgressStyle::with_template("  {msg:<40} {wide_bar} {percent:>3} % {eta:>5}")
        {
            bar.set_style(style);
        }
        let name = format!("{}, {}, seed {}", run.label, run.settings.data, run.settings.seed);
        bar.set_message(one_line(&name).into_owned());
        if let Ok(mut bars) = self.under_way.lock() {
            bars.push((run.id.to_string(), bar));
        }
    }
    fn progressed(&self, run: &PlannedRun, fraction: f64) {
        self.with(&run.id, |bar| bar.set_position((1000.0 * fraction) as u64));
        self.line();
    }
    fn ended(&self, run: &PlannedRun, _: &Ended) {
        self.with(&run.id, ProgressBar::finish_and_clear);
        if let Ok(mut bars) = self.under_way.lock() {
            bars.retain(|(id, _)| *id != *run.id);
        }
        self.total.inc(1);
        self.line();
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        let _ = self.all.clear();
    }
}
