//! Temperature scaling, and scores at the temperature that suits the predictions best.

pub mod cross_validation;
pub mod joint;
pub mod temperature;
