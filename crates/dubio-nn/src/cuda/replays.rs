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

/// The steps that were recorded, as graphs.
pub(super) struct Replays<G = Graph> {
    recorded: Vec<(Key, G)>,
    /// Steps that were seen but not recorded, and how often.
    seen: Vec<(Key, usize)>,
}

/// What to do with a step.
pub(super) enum Next<'a, G> {
    /// It was recorded.
    Replay(&'a G),
    /// It comes again and again.
    Record,
    /// It may never come again.
    Run,
}

/// Times that a step is seen before it is recorded, which costs as much as several of them.
const WORTH_RECORDING: usize = 3;
/// Steps that are kept; the oldest goes first. Particles that move together have one each, and one more for a last
/// batch that is smaller.
const KEPT: usize = 64;

impl<G> Default for Replays<G> {
    fn default() -> Self {
        Self { recorded: Vec::new(), seen: Vec::new() }
    }
}

impl<G> Replays<G> {
    pub(super) fn next(&mut self, key: &Key) -> Next<'_, G> {
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

    pub(super) fn keep(&mut self, key: Key, graph: G) {
        self.seen.retain(|(known, _)| *known != key);
        if self.recorded.len() == KEPT {
            self.recorded.remove(0);
        }
        self.recorded.push((key, graph));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_take_turns_are_recorded_when_they_come_for_the_third_time() {
        let key = |batch: usize| {
            let (places, order) = ([Place::NOWHERE; 3], Place::NOWHERE);
            Key { places, batch, noisy: false, moved: false, order }
        };
        let mut replays = Replays::<usize>::default();
        for round in 1..=5 {
            for batch in 0..30 {
                match replays.next(&key(batch)) {
                    Next::Run => assert!(round < WORTH_RECORDING),
                    Next::Record => {
                        assert_eq!(round, WORTH_RECORDING);
                        replays.keep(key(batch), batch);
                    }
                    Next::Replay(&graph) => assert!(round > WORTH_RECORDING && graph == batch),
                }
            }
        }
    }
}
