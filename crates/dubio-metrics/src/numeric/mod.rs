//! Arithmetic that the scores share and that no dependency offers in the form needed.

pub(crate) mod lanes;
pub mod lbfgs;
pub mod normal;
pub mod transcendental;
