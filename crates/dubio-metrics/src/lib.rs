//! Scores of predictive uncertainty: predictions in, numbers out.
//!
//! Predictions enter as [`members::Members`], are averaged by [`pool::pool`], meet their labels in
//! [`examples::Examples`] (or their targets in [`regression::Outcomes`]) and are scored by
//! [`scorecard`]. No files, no clock, and no random number that was not handed over.

pub mod binning;
pub mod bootstrap;
pub mod calibrate;
pub mod card;
pub mod check;
pub mod classification;
mod classwise;
pub mod columns;
pub mod compare;
mod confidence;
pub mod costs;
pub mod curves;
pub mod dee;
pub mod detection;
pub mod diagnostics;
pub mod distributions;
pub mod examples;
pub mod given;
mod known;
pub mod members;
pub mod numeric;
mod passes;
pub mod pool;
pub mod ranking;
pub mod regression;
mod remember;
mod resample;
pub mod score;
pub mod scorecard;
mod softmax;
mod transposed;
pub mod views;
pub mod weights;
