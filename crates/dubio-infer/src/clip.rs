//! Gradients that are cut to a length, so that no step leaps out of where it can return from.

use dubio_nn::engine::Vector;

/// Longest gradient of a step that descends.
const DESCENT: f64 = 1.0;
/// Longest gradient of a step that samples: shorter ones would not hold against its noise, whose length grows with
/// the root of the number of parameters.
const SAMPLING: f64 = 30.0;

/// Scales a gradient of the mean loss to length 1, or 30 where noise is added to the step, if it is longer
/// (Pascanu et al. 2013). With the methods' default rates every regression of the data sets here then trains; where
/// gradients are shorter nothing changes, and `hmc` and `nuts`, which refuse what leaps too far, need none of it.
pub(crate) fn clip(gradient: &mut impl Vector, is_noisy: bool) {
    let longest = if is_noisy { SAMPLING } else { DESCENT };
    let length = gradient.dot(gradient).sqrt();
    if length > longest {
        gradient.scale(longest / length);
    }
}

#[cfg(test)]
mod tests {
    use dubio_nn::cpu::Flat;

    use super::*;

    #[test]
    fn a_long_gradient_keeps_its_direction_and_a_short_one_all() {
        let clipped = |x: f64, y: f64, is_noisy: bool| {
            let mut gradient = Flat(vec![x, y]);
            clip(&mut gradient, is_noisy);
            (gradient.0[0], gradient.0[1])
        };
        let near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1) < 1e-12;
        assert!(near(clipped(300.0, 400.0, false), (0.6, 0.8)));
        assert!(near(clipped(300.0, 400.0, true), (18.0, 24.0)));
        assert_eq!(clipped(0.3, 0.4, false), (0.3, 0.4));
        assert_eq!(clipped(3.0, 4.0, true), (3.0, 4.0));
    }
}
