//! Random numbers by name, the same on every machine and for every number of threads.
//!
//! A [`stream::Stream`] has a path and gives a generator; [`numbered`] gives one for each of very many things,
//! [`generators`] many side by side. [`uniform`] and [`normal`] are the numbers that are drawn from any of them.
//! A seed's numbers are part of every stored result, so none of them may change.

pub mod generators;
pub mod normal;
pub mod numbered;
pub mod stream;
pub mod uniform;
