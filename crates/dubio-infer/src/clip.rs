//! Gradient clipping, so that no step leaps to where it cannot return from.

/// Longest gradient of a step that descends.
const DESCENT: f64 = 1.0;
/// Longest gradient of a step that samples. A shorter one could not counteract the step's noise, whose length grows
/// with the root of the number of parameters.
const SAMPLING: f64 = 30.0;

/// The longest gradient of the mean loss that a step takes: 1, or 30 where noise is added to the step; longer ones are
/// scaled down to it (Pascanu et al. 2013). With it, every regression on the data sets here trains at the methods'
/// default rates. Shorter gradients are not changed. `hmc` and `nuts` need no clipping, since they reject steps that
/// leap too far.
pub(crate) fn longest(is_noisy: bool) -> f64 {
    if is_noisy { SAMPLING } else { DESCENT }
}
