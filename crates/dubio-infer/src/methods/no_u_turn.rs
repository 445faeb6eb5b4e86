//! The no-U-turn sampler of nuts-rs, in a thread that asks for potentials and hands over draws.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use dubio_random::stream::Stream;
use nuts_rs::{
    Chain as _, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError,
    Settings as _,
};

use crate::error::Error;

/// How long a chain is, and what it is tuned to.
pub(super) struct Tuning {
    pub(super) burn_in: usize,
    pub(super) samples: usize,
    pub(super) max_depth: usize,
    pub(super) target_acceptance: f64,
}

/// A draw.
pub(super) struct Turn {
    pub(super) position: Vec<f64>,
    pub(super) diverging: bool,
    pub(super) leaps: u64,
    pub(super) step: f64,
    /// `U / T + |p|^2 / 2`.
    pub(super) energy: f64,
    /// Mean probability of accepting the points of the trajectory.
    pub(super) acceptance: f64,
    /// Whether it had not turned back when it reached the most steps that it may take.
    pub(super) cut_short: bool,
}

/// What the library's thread says.
enum Said {
    /// It wants to know the potential at a position.
    At(Vec<f64>),
    Drawn(Turn),
    Failed(String),
}

/// `-U / T` and its gradient; `None` where it is not finite.
pub(super) type Answer = Option<(f64, Vec<f64>)>;

/// The library in a thread of its own: the library calls the target, but here the target is lent for one draw at a
/// time. Asking costs some thirty microseconds per leapfrog step. The thread ends with its last draw, or when nobody
/// answers any more.
pub(super) struct Library {
    said: Receiver<Said>,
    answers: Sender<Answer>,
}

impl Library {
    /// The next draw; `at` answers what the library asks on the way. After an error there are no more draws.
    pub(super) fn next(
        &self,
        mut at: impl FnMut(&[f64]) -> Result<Answer, Error>,
    ) -> Result<Turn, Error> {
        let failed = |what: &dyn Display| Error::Chain(format!("nuts: {what}"));
        loop {
            match self.said.recv().map_err(|e| failed(&e))? {
                Said::At(position) => self.answers.send(at(&position)?).map_err(|e| failed(&e))?,
                Said::Drawn(turn) => return Ok(turn),
                Said::Failed(what) => return Err(failed(&what)),
            }
        }
    }

    pub(super) fn start(tuning: Tuning, begin: Vec<f64>, stream: Stream) -> Result<Self, Error> {
        let Tuning { burn_in, samples, max_depth, target_acceptance } = tuning;
        let mut settings = DiagNutsSettings {
            num_tune: burn_in as u64,
            num_draws: samples as u64,
            maxdepth: max_depth as u64,
            ..DiagNutsSettings::default()
        };
        settings.adapt_options.step_size_settings.target_accept = target_acceptance;
        let ((says, said), (answers, answered)) = (channel(), channel());
        let density = Density { says: says.clone(), answered, dimension: begin.len() };
        let tells = says.clone();
        let work = move || -> Result<(), String> {
            let failed = |e: &dyn Display| e.to_string();
            let mut chain = settings
                .new_chain(0, CpuMath::new(density), &mut stream.generator())
                .map_err(|e| failed(&e))?;
            chain.set_position(&begin).map_err(|e| failed(&e))?;
            for _ in 0..burn_in + samples {
                let (position, _, stats, progress) =
                    chain.expanded_draw().map_err(|e| failed(&e))?;
                let turn = Turn {
                    position: position.to_vec(),
                    diverging: progress.diverging,
                    leaps: progress.num_steps,
                    step: progress.step_size,
                    energy: stats.point.energy,
                    acceptance: stats.adapt.step_size.mean_tree_accept,
                    cut_short: stats.maxdepth_reached,
                };
                tells.send(Said::Drawn(turn)).map_err(|e| failed(&e))?;
            }
            Ok(())
        };
        let all = move || {
            if let Err(what) = work() {
                // Nobody receives this if the chain was stopped.
                let _ = says.send(Said::Failed(what));
            }
        };
        let spawned = thread::Builder::new().name("nuts".to_string()).spawn(all);
        spawned.map_err(|e| Error::Chain(format!("nuts: no thread: {e}")))?;
        Ok(Self { said, answers })
    }
}

/// The potential as the library asks for it.
struct Density {
    says: Sender<Said>,
    answered: Receiver<Answer>,
    dimension: usize,
}

#[derive(Debug, thiserror::Error)]
enum NoValue {
    #[error("the potential is not finite here")]
    NoNumber,
    #[error("the chain was stopped")]
    Stopped,
}

impl LogpError for NoValue {
    fn is_recoverable(&self) -> bool {
        matches!(self, Self::NoNumber)
    }
}

impl HasDims for Density {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_string(), self.dimension as u64)])
    }
}

impl CpuLogpFunc for Density {
    type LogpError = NoValue;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.dimension
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, NoValue> {
        self.says.send(Said::At(position.to_vec())).map_err(|_| NoValue::Stopped)?;
        let answer = self.answered.recv().map_err(|_| NoValue::Stopped)?;
        let (value, slope) = answer.ok_or(NoValue::NoNumber)?;
        gradient.copy_from_slice(&slope);
        Ok(value)
    }

    fn expand_vector<R: rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        array: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(array.to_vec())
    }
}
