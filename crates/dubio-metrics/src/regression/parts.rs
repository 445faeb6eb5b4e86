//! Parts of a predictive distribution that may be worked out or not.

/// What is worked out of Gaussians beside their means: only what is asked for, since the rest may take much longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Log densities at the targets.
    pub density: bool,
    /// Distribution functions at the targets.
    pub distribution: bool,
    /// The continuous ranked probability score.
    pub crps: bool,
    /// Central intervals.
    pub interval: bool,
}

impl Parts {
    /// Everything.
    pub const ALL: Self = Self { density: true, distribution: true, crps: true, interval: true };
}
