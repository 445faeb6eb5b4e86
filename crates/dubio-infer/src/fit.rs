//! Runs a method on a target: who is told of progress, where checkpoints go, and the result. The loop is in `chain`.

mod chain;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use chain::Chain;
use dubio_progress::{Progress, Silent};
use dubio_random::stream::Stream;

use crate::checkpoint::Position;
use crate::error::Error;
use crate::posterior::{Posterior, Record};
use crate::rule::Rule;
use crate::target::Target;

/// Where and how often to write checkpoints.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    /// Folder for them.
    pub folder: PathBuf,
    /// Least time between two checkpoints.
    pub every: Duration,
    /// What is computed, in words that differ whenever the result would differ: data, network, settings.
    pub identity: String,
}

/// Who is told of a fit's progress, and where its checkpoints go.
pub struct Options<'a> {
    /// Is told how far the fit is, and may ask it to stop.
    pub progress: &'a dyn Progress,
    /// Where checkpoints go, if anywhere.
    pub checkpoints: Option<Checkpoints>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { progress: &Silent, checkpoints: None }
    }
}

/// A fit that could not be finished, and what it had by then.
pub struct Unfinished<P> {
    /// Why.
    pub error: Error,
    /// What was done so far.
    pub so_far: P,
}

impl<P> fmt::Debug for Unfinished<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unfinished").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<P> fmt::Display for Unfinished<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<P> std::error::Error for Unfinished<P> {}

/// The result of a fit: complete, or what there was when it had to end.
pub type Outcome<P, Q> = Result<P, Box<Unfinished<Q>>>;

/// A warning if the last epoch was worse than the first and hardly better than guessing: numbers stay finite long after
/// training has diverged.
fn diverged(losses: &[f64], guessing: Option<f64>) -> Option<String> {
    let (first, last) = (*losses.first()?, *losses.last()?);
    let guessing = guessing.filter(|guessing| last > first && last > 0.95 * guessing)?;
    let last = if last < 1e4 { format!("{last:.3}") } else { format!("{last:.2e}") };
    Some(format!(
        "training diverged: its loss was {first:.3} in the first epoch and {last} in the last, and guessing has \
         {guessing:.3}; lower the learning rate (`lr`)"
    ))
}

/// Runs a method on a target, with noise from `stream`. With checkpoints, a fit that was killed continues where it was
/// and ends with the same bytes.
pub fn fit<T: Target>(
    rule: Box<dyn Rule<T::Vector>>,
    target: &mut T,
    stream: &Stream,
    member: usize,
    options: &Options<'_>,
) -> Outcome<Posterior<T::Vector>, Posterior<T::Vector>> {
    let guessing = target.likelihood().and_then(|likelihood| likelihood.guessing());
    let mut chain = Chain::new(rule, target, stream, member, options);
    let result = chain.run();
    let (report, mut warnings) = (chain.rule.report(), chain.rule.warnings());
    let factors = if result.is_ok() { chain.rule.factors() } else { Vec::new() };
    let Position { seconds, losses, .. } = chain.position;
    // A fit that ended in an error has already said so.
    warnings.extend(diverged(&losses, guessing).filter(|_| result.is_ok()));
    let record = Record { seconds, losses, report, warnings };
    let posterior =
        Posterior { points: chain.samples, factors: vec![factors], records: vec![record] };
    match result {
        Ok(()) => Ok(posterior),
        Err(error) => Err(Box::new(Unfinished { error, so_far: posterior })),
    }
}

#[cfg(test)]
mod tests {
    use super::diverged;

    #[test]
    fn a_loss_above_its_first_and_that_of_guessing_is_told() {
        let said = diverged(&[0.4, 0.1, 7.25], Some(2.3)).expect("a warning");
        assert!(
            said.contains("0.400") && said.contains("7.250") && said.contains("2.300"),
            "{said}"
        );
        assert_eq!(diverged(&[0.4, 0.1, 2.0], Some(2.3)), None, "noise of a sampler may raise it");
        assert!(diverged(&[0.24, 2.29], Some(2.3)).is_some(), "what is left may guess");
        assert_eq!(diverged(&[9.0, 8.0], Some(2.3)), None, "slow is not diverged");
        assert_eq!(diverged(&[0.4, 7.25], None), None);
        assert_eq!(diverged(&[], Some(1.0)), None);
    }
}
