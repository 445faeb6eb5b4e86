//! Curves behind the scores.

pub mod reliability;
pub mod risk_coverage;
