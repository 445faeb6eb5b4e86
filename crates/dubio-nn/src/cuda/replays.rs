//! Steps that are recorded once and then replayed: an empty kernel costs 3.3 us launched, 0.5 us in a graph.

use super::device::{Graph, Place};

/// What a recorded step depends on. All else that differs from step to step lies on the device.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    /// Parameters, running statistics, gradient.
    pub places: [Place; 3],
    /// Examples.
    pub batch: usize,
    /// Whether layers draw random numbers.
    pub noisy: bool,
    /// Whether inputs are moved on the device.
    pub moved: bool,
    /// The epoch's order, or nowhere.
    pub order: Place,
}

/// The steps that were recorded.
#[derive(Default)]
pub(super) struct Replays {
    recorded: Vec<(Key, Graph)>,
    /// Steps that were seen but not recorded, and how often.
    seen: Vec<(Key, usize)>,
}

/// What to do with a step.
pub(super) enum Next<'a> {
    /// It was recorded.
    Replay(&'a Graph),
    /// It comes again and again.
    Record,
    /// It may never come again.
    Run,
}

/// Times that a step is seen before it is recorded, which costs as much as several of them.
const WORTH_RECORDING: usize = 3;
/// Steps that are kept; the oldest goes first.
const KEPT: usize = 8;

impl Replays {
    pub(super) fn next(&mut self, key: &Key) -> Next<'_> {
        if let Some(at) = self.recorded.iter().position(|(known, _)| known == key) {
            return Next::Replay(&self.recorded[at].1);
        }
        match self.seen.iter_mut().find(|(known, _)| known == key) {
            Some((_, times)) => {
                *times += 1;
                if *times >= WORTH_RECORDING { Next::Record } else { Next::Run }
            }
            None => {
                if self.seen.len() == KEPT {
                    self.seen.remove(0);
                }
                self.seen.push((key.clone(), 1));
                Next::Run
            }
        }
    }

    pub(super) fn keep(&mut self, key: Key, graph: Graph) {
        self.seen.retain(|(known, _)| *known != key);
        if self.recorded.len() == KEPT {
            self.recorded.remove(0);
        }
        self.recorded.push((key, graph));
    }
}
