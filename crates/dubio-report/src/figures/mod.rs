//! One figure, one file.

mod cost;
mod coverage;
mod curves;
mod decomposition;
mod foreign;
mod members;
mod quantile_calibration;
mod rejection;
mod reliability;
mod risk_coverage;
mod roc;
mod scores;
mod shift;

pub(crate) use cost::{KINDS, amount, cost};
pub(crate) use coverage::coverage;
pub(crate) use decomposition::decomposition;
pub(crate) use foreign::foreign;
pub(crate) use members::members;
pub(crate) use quantile_calibration::quantile_calibration;
pub(crate) use rejection::rejection;
pub(crate) use reliability::reliability;
pub(crate) use risk_coverage::risk_coverage;
pub(crate) use roc::roc;
pub(crate) use scores::scores;
pub(crate) use shift::shift;
