//! Curves behind the scores.

pub mod mixing;
pub mod reliability;
pub mod risk_coverage;
