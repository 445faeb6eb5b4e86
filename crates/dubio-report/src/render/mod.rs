//! A report as a page, or as files for a paper.

mod csv;
mod engine;
mod files;
mod html;
mod latex;
mod markdown;
mod pdf;
mod svg;

pub use self::csv::{methods_csv, no_formula, runs_csv};
pub use self::engine::DrawingError;
pub use self::files::{Format, files};
pub use self::html::html;
pub use self::latex::latex;
pub use self::markdown::markdown;
pub use self::pdf::pdf;
pub use self::svg::svg;
