//! Gradients that are cut to a length, so that no step leaps out of where it can return from.

/// Longest gradient of a step that descends.
const DESCENT: f64 = 1.0;
/// Longest gradient of a step that samples: shorter ones would not hold against its noise, whose length grows with
/// the root of the number of parameters.
const SAMPLING: f64 = 30.0;

/// The longest gradient of the mean loss that a step takes: 1, or 30 where noise is added to the step; longer
/// ones are scaled to that (Pascanu et al. 2013). With the methods' default rates every regression of the data
/// sets here then trains; where gradients are shorter nothing changes, and `hmc` and `nuts`, which refuse what
/// leaps too far, need none of it.
pub(crate) fn longest(is_noisy: bool) -> f64 {
    if is_noisy { SAMPLING } else { DESCENT }
}
