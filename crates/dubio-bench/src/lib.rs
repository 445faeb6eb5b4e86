//! Studies: plans the runs of a suite, runs them and stores their results.
//!
//! [`suite::Suite`] is the file as written, with every mistake in it reported at once; [`plan::PlannedRun`] has all
//! defaults written out and the grid of runs with their ids; [`work`] does one run; [`store::Store`] is
//! the folder of finished ones. A stage reads what the stage above wrote and nothing else.
//!
//! ```
//! use dubio_bench::plan::plan;
//! use dubio_bench::suite::Suite;
//!
//! let text = "data = [\"digits\"]\nnetworks = [\"mlp-20\"]\nseeds = 3\n[[methods]]\nmethod = \"sgd\"";
//! let suite = Suite::parse("mine.toml", text)?;
//! let plan = plan(&suite, "".as_ref(), &|_, _| None)?;
//! assert_eq!(plan.runs.len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use dubio_nn::{Device, Precision};

mod checked;
mod data_names;
pub mod decision;
pub mod diagnosis;
mod distinct;
mod entries;
pub mod entry;
pub mod evaluate;
pub mod evaluation;
pub mod executor;
pub mod gpu_memory;
pub mod learn;
pub mod local;
pub mod memory;
pub mod mistakes;
pub mod name;
pub mod plan;
mod reader;
pub mod run_id;
pub mod schema;
pub mod search;
mod seeds;
pub mod slurm;
pub mod store;
pub mod study;
pub mod suite;
pub mod work;
