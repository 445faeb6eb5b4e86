//! Scores of regression, one file each.

mod at_targets;
pub mod crps;
pub mod interval_score;
pub mod lml;
pub mod mae;
pub mod mpiw;
pub mod mse;
pub mod nll;
mod outcomes;
mod parts;
pub mod pearson;
pub mod picp;
pub mod pinball;
mod predictive;
pub mod pslml;
pub mod qce;
pub mod quantile_calibration;
pub mod rmse;
pub mod sqce;

pub(crate) use at_targets::AtTargets;
pub use outcomes::{BadNumber, Outcomes};
pub use parts::Parts;

use crate::card::Setting;
use crate::score::{Needs, Score};

/// Every score of regression, in the order of the tables.
pub fn scores() -> Vec<Box<dyn Score<Outcomes>>> {
    vec![
        Box::new(mse::Mse),
        Box::new(rmse::Rmse),
        Box::new(mae::Mae),
        Box::new(pearson::Pearson),
        Box::new(nll::Nll),
        Box::new(pslml::Pslml),
        Box::new(lml::Lml),
        Box::new(crps::Crps),
        Box::new(pinball::Pinball),
        Box::new(picp::Picp),
        Box::new(mpiw::Mpiw),
        Box::new(interval_score::IntervalScore),
        Box::new(qce::Qce),
        Box::new(sqce::Sqce),
        Box::new(quantile_calibration::QuantileCalibration),
    ]
}

impl Parts {
    /// What the wanted scores look at.
    pub fn of(wanted: impl Fn(&str) -> bool) -> Self {
        let scores = scores();
        let wanted = || scores.iter().filter(|score| wanted(&score.name()));
        let needed = |part| wanted().any(|score| [part, Needs::Truth].contains(&score.needs()));
        Self {
            density: needed(Needs::Density),
            distribution: needed(Needs::Distribution),
            crps: needed(Needs::Truth),
            interval: wanted().any(|score| score.card().facts.settings.contains(&Setting::Level)),
        }
    }
}
