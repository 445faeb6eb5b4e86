//! Progress on stderr: a bar for work of more than a second, or a line once in a while where that is no
//! terminal.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dubio_progress::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::{Verbosity, note, say, verbosity};

/// How long work may take before it is worth a bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar that appears when its patience is over, and goes away when it is dropped.
pub(crate) struct Bar {
    began: Instant,
    visible: bool,
    bar: Mutex<ProgressBar>,
    lines: Lines,
    stop: Option<&'static AtomicBool>,
}

impl Bar {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let template = "{msg:<12} {wide_bar} {percent:>3} % {eta:>4}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let visible = std::io::stderr().is_terminal() && verbosity() != Verbosity::Quiet;
        let (began, lines) = (Instant::now(), Lines::new());
        Self { began, visible, bar: Mutex::new(bar), lines, stop: None }
    }

    /// A bar of work that stops when this is set.
    pub(crate) fn stopped_by(stop: &'static AtomicBool) -> Self {
        let mut bar = Self::new();
        bar.stop = Some(stop);
        bar
    }

    fn with(&self, f: impl FnOnce(&ProgressBar)) {
        let Ok(bar) = self.bar.lock() else { return };
        f(&bar);
        if self.visible && bar.is_hidden() && self.began.elapsed() > PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        self.lines.once_in_a_while(|| {
            let length = bar.length().filter(|&length| length > 0)?;
            Some(format!("{}: {} %", bar.message(), 100 * bar.position().min(length) / length))
        });
    }
}

impl Progress for Bar {
    fn start(&self, stage: &'static str, total: usize) {
        if verbosity() == Verbosity::Verbose {
            say!("{:>7.2} s  {stage} ({total})", self.began.elapsed().as_secs_f64());
        }
        self.with(|bar| {
            bar.set_length(total as u64);
            bar.reset();
            bar.set_message(stage);
        });
    }
    fn advance(&self, pieces: usize) {
        self.with(|bar| bar.inc(pieces as u64));
    }
    fn note(&self, text: &str) {
        note(text);
    }
    fn should_stop(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.with(|bar| bar.finish_and_clear());
    }
}

/// Lines of progress for a log: none on a terminal, which has bars.
pub(crate) struct Lines {
    every: Duration,
    last: Mutex<Instant>,
    wanted: bool,
}

impl Lines {
    /// A line every half minute, or as often as `DUBIO_PROGRESS_SECONDS` says.
    pub(crate) fn new() -> Self {
        let seconds = std::env::var("DUBIO_PROGRESS_SECONDS").ok();
        let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(30.0_f64);
        let every = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(30));
        let wanted = !std::io::stderr().is_terminal() && verbosity() != Verbosity::Quiet;
        Self { every, last: Mutex::new(Instant::now()), wanted }
    }

    /// Says how far the work is, if the last line was long enough ago.
    pub(crate) fn once_in_a_while(&self, line: impl FnOnce() -> Option<String>) {
        let Ok(mut last) = self.last.lock() else { return };
        if self.wanted && last.elapsed() >= self.every {
            *last = Instant::now();
            line().iter().for_each(|line| say!("{line}"));
        }
    }
}
