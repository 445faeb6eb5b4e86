//! Data sets: formats, sets, transforms and shifts.
//!
//! [`sets`] knows them by name and loads a part of one as a [`dataset::Dataset`]; [`formats`] reads
//! the files, believing no size that they claim; [`sets::own`] reads a user's own data. [`fetch`]
//! downloads the published files into the folder that [`folder`] names, and [`check`] verifies
//! them. Loading never downloads.
//!
//! ```
//! use dubio_data::sets;
//!
//! let name = sets::parse("digits:train")?;
//! let digits = name.set.load("".as_ref(), name.part.unwrap())?;
//! assert_eq!(digits.len(), 901);
//! # Ok::<(), dubio_data::Error>(())
//! ```

pub mod check;
pub mod dataset;
mod error;
pub mod fetch;
pub mod folder;
pub mod formats;
pub mod sets;
pub mod shifts;
pub mod transforms;

pub use error::Error;
