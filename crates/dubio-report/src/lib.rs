//! Reports: from the numbers of a study to an answer.
//!
//! A [`Study`](study::Study) is plain data: runs, their scores, and what their predictions look like.
//! [`Report::of`](report::Report::of) orders it into chapters with a ranking, conclusions, warnings,
//! figures and tables; [`render`] turns that into one HTML page, or into files for a paper. Nothing here
//! trains, reads a clock or touches a network.
//!
//! ```
//! use dubio_report::render;
//! use dubio_report::report::Report;
//! use dubio_report::study::Study;
//!
//! let study = Study { title: "Nothing yet".to_string(), ..Study::default() };
//! assert!(render::html(&Report::of(&study)).contains("Nothing yet"));
//! ```

mod calibration;
pub mod chapter;
pub mod conclude;
pub mod figure;
mod figures;
pub mod headline;
mod number;
pub mod palette;
mod proportion;
pub mod ranking;
mod refused;
pub mod render;
pub mod report;
mod stability;
pub mod study;
pub mod summary;
pub mod table;
mod tables;
pub mod text;
pub mod view;
pub mod warnings;
mod words;
