//! Reproducible random numbers: the same on every machine and for every number of threads.
//!
//! A [`stream::Stream`] has a path and gives a generator; [`numbered`] gives one for each of very many things,
//! [`generators`] many side by side. [`uniform`] and [`normal`] are the numbers that are drawn from any of them.
//! A seed's numbers are part of every stored result, so none of them may change.
//!
//! ```
//! use dubio_random::normal::ziggurat;
//! use dubio_random::stream::Stream;
//!
//! // The same name and seed give the same number, whatever else was drawn before.
//! let noise = Stream::root(7).child("member").nth(3).child("noise");
//! let again = Stream::root(7).child("member").nth(3).child("noise");
//! assert_eq!(ziggurat(&mut noise.generator()), ziggurat(&mut again.generator()));
//! ```

pub mod generators;
pub mod normal;
pub mod numbered;
pub mod stream;
pub mod uniform;
