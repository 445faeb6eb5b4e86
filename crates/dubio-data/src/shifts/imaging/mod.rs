//! The operations on images that corruptions are made of, each with the conventions of the
//! library the published code calls.

pub mod border;
pub mod canny;
pub mod canvas;
pub mod distance;
pub mod draws;
pub mod gaussian;
pub mod histogram;
pub mod hsv;
pub mod jpeg;
pub mod kernel;
pub mod motion;
pub mod plasma;
pub mod sampling;
