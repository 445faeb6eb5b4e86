//! A progress bar on stderr for work of more than a second; nothing when that is no terminal.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dubio_progress::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::say;

/// How long work may take before it is worth a bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar that appears when its patience is over, and goes away when it is dropped.
pub(crate) struct Bar {
    began: Instant,
    visible: bool,
    bar: Mutex<ProgressBar>,
    stop: Option<&'static AtomicBool>,
}

impl Bar {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let template = "{msg:<12} {wide_bar} {percent:>3} % {eta:>4}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let visible = std::io::stderr().is_terminal();
        Self { began: Instant::now(), visible, bar: Mutex::new(bar), stop: None }
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
    }
}

impl Progress for Bar {
    fn start(&self, stage: &'static str, total: usize) {
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
        say!("{text}");
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
