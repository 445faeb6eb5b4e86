//! The numbers that a network is made of: f32 for speed, f64 for checks and for exact samplers.

use dubio_random::normal::Normal;
use num_traits::Float;

/// f32 or f64.
pub trait Real:
    Float + Normal + Send + Sync + Default + std::fmt::Debug + std::iter::Sum + 'static
{
    /// The nearest number of this type.
    fn of(x: f64) -> Self;
    /// As f64, exactly.
    fn wide(self) -> f64;
}

impl Real for f32 {
    fn of(x: f64) -> Self {
        x as Self
    }
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    fn of(x: f64) -> Self {
        x
    }
    fn wide(self) -> f64 {
        self
    }
}
