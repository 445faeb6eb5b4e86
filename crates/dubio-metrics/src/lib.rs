//! Scores of predictive uncertainty: predictions in, numbers out.
//!
//! Predictions enter as [`members::Members`], are averaged by [`pool::pool`], meet their labels in
//! [`examples::Examples`] (or their targets in [`regression::Outcomes`]) and are scored by
//! [`scorecard`]. No files, no clock, and no random number that was not handed over.
//!
//! ```
//! use dubio_metrics::classification;
//! use dubio_metrics::examples::Examples;
//! use dubio_metrics::members::{Form, InMemory};
//! use dubio_metrics::pool::pool;
//! use dubio_metrics::scorecard::{Scoring, plain};
//! use dubio_metrics::score::Options;
//! use dubio_progress::Silent;
//! use dubio_random::stream::Stream;
//!
//! // One member, two examples, two classes.
//! let probs = InMemory::new(vec![0.9, 0.1, 0.4, 0.6], [1, 2, 2]).unwrap();
//! let examples = Examples::new(pool(&probs, Form::Probs, &|_| {}).unwrap(), vec![0, 0]);
//! let scoring = Scoring {
//!     options: Options::default(),
//!     bootstrap: None,
//!     splits: Stream::root(0),
//!     wanted: &|name| name == "accuracy",
//!     progress: &Silent,
//! };
//! let scores = plain(&examples, &classification::scores(), &scoring);
//! assert_eq!(scores[0].value.as_ref().ok(), Some(&0.5));
//! ```

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
