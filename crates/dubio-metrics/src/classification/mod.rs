//! Scores of classification, one file each.

pub mod accuracy;
pub mod ace;
pub mod agreement;
pub mod au_arc;
pub mod aurc;
pub mod brier;
pub mod brier_per_class;
pub mod classwise_uce;
pub mod debiased_ece;
pub mod decision_cost;
pub mod decision_cost_mean;
pub mod e_aurc;
pub mod ece;
pub mod error;
pub mod ks;
pub mod macro_f1;
pub mod mce;
pub mod mmce;
pub mod mmce_weighted;
pub mod nll;
pub mod sce;
pub mod sece;
pub mod tace;
pub mod temperature;
pub mod top5_accuracy;
pub mod total_variation;
pub mod uce;
pub mod uncertainty;

use crate::detection::misclassification::Misclassification;
use crate::detection::{Measure, Signal};
use crate::examples::Examples;
use crate::score::Score;

/// Every score of classification, in the order of the tables.
pub fn scores() -> Vec<Box<dyn Score<Examples>>> {
    let mut scores: Vec<Box<dyn Score<Examples>>> = vec![
        Box::new(accuracy::Accuracy),
        Box::new(error::Error),
        Box::new(top5_accuracy::Top5Accuracy),
        Box::new(macro_f1::MacroF1),
        Box::new(nll::Nll),
        Box::new(brier::Brier),
        Box::new(brier_per_class::BrierPerClass),
        Box::new(ece::Ece),
        Box::new(sece::Sece),
        Box::new(mce::Mce),
        Box::new(sce::Sce),
        Box::new(ace::Ace),
        Box::new(tace::Tace),
        Box::new(uce::Uce),
        Box::new(classwise_uce::ClasswiseUce),
        Box::new(mmce::Mmce),
        Box::new(mmce_weighted::MmceWeighted),
        Box::new(ks::Ks),
        Box::new(debiased_ece::DebiasedEce),
        Box::new(aurc::Aurc),
        Box::new(au_arc::AuArc),
        Box::new(e_aurc::EAurc),
        Box::new(temperature::Temperature),
        Box::new(decision_cost::DecisionCost),
        Box::new(decision_cost_mean::DecisionCostMean),
        Box::new(agreement::Agreement),
        Box::new(total_variation::TotalVariation),
    ];
    for signal in Signal::ALL {
        for measure in Measure::ALL {
            scores.push(Box::new(Misclassification(measure, signal)));
        }
    }
    scores.push(Box::new(uncertainty::Uncertainty::Total));
    scores.push(Box::new(uncertainty::Uncertainty::Data));
    scores.push(Box::new(uncertainty::Uncertainty::Knowledge));
    scores
}
