//! What several scores need of the same examples, made for the first of them.

use std::sync::{Arc, OnceLock};

use crate::binning::ranked::Gaps;
use crate::calibrate::temperature::Fit;
use crate::classification::ece::ConfidenceGaps;
use crate::classification::mmce::KernelSweep;
use crate::classification::uce::EntropyGaps;
use crate::classwise::{LabelGaps, Sweep};
use crate::curves::risk_coverage::RiskCoverage;
use crate::detection::{Detection, Signal};
use crate::ranking::Ranking;
use crate::score::Undefined;

/// What is known of the predictions, whatever the labels.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfPredictions {
    /// An order that is likely to be that of the confidences.
    pub likely: Option<Arc<Vec<u32>>>,
    pub by_doubt: OnceLock<Arc<Ranking>>,
    pub by_total: OnceLock<Arc<Ranking>>,
    pub sweep: OnceLock<Arc<Sweep>>,
}

/// What is known of the predictions and these labels.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfLabels {
    pub rank: OnceLock<Vec<u32>>,
    /// Which predictions are wrong.
    pub wrong_rows: OnceLock<Arc<Vec<bool>>>,
    pub gaps: OnceLock<Arc<Gaps>>,
    pub fit: OnceLock<Result<Fit, Undefined>>,
    /// The wrong predictions, ranked by each signal.
    pub wrong: [OnceLock<Arc<Detection>>; Signal::ALL.len()],
    pub risk_coverage: OnceLock<Arc<RiskCoverage>>,
    pub kernel: OnceLock<Arc<KernelSweep>>,
    pub confidence_gaps: OnceLock<Arc<ConfidenceGaps>>,
    pub entropy_gaps: OnceLock<Arc<EntropyGaps>>,
    pub label_gaps: OnceLock<Arc<LabelGaps>>,
}

impl OfLabels {
    /// Nothing but the labels' ranks.
    pub(crate) fn ranked(ranks: Vec<u32>) -> Self {
        Self { rank: ranks.into(), ..Self::default() }
    }
}
