//! Accuracy against confidence, bin by bin.

use crate::binning::edges::right_closed;
use crate::examples::Examples;
use serde::{Deserialize, Serialize};

/// One bin of a reliability diagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Number of examples.
    pub count: usize,
    /// Mean confidence; 0 for an empty bin.
    pub confidence: f64,
    /// Fraction of correct predictions; 0 for an empty bin.
    pub accuracy: f64,
}

/// Bins `(l, u]` of equal width on the confidence, as in `ece`; empty bins are kept.
pub fn reliability(examples: &Examples, bins: usize) -> Vec<ReliabilityBin> {
    let mut diagram = vec![ReliabilityBin::default(); bins];
    for (i, &confidence) in examples.confidence.iter().enumerate() {
        let bin = &mut diagram[right_closed(confidence, bins)];
        bin.count += 1;
        bin.confidence += confidence;
        bin.accuracy += examples.correct(i);
    }
    for bin in diagram.iter_mut().filter(|bin| bin.count > 0) {
        bin.confidence /= bin.count as f64;
        bin.accuracy /= bin.count as f64;
    }
    diagram
}
