//! The next point of a Bayesian optimisation, where the program was built with it.

use super::Tried;

/// Whether the program was built with it.
pub(super) const IS_THERE: bool = cfg!(feature = "bayesian");

/// The point of the unit cube with the largest expected improvement over what was tried. A trial that
/// failed counts as somewhat worse than the worst that did not.
#[cfg(feature = "bayesian")]
pub(super) fn next(tried: &[Tried], axes: usize, seed: u64) -> Vec<f64> {
    use egobox_ego::EgorServiceBuilder;
    use ndarray::Array2;

    let finite = || tried.iter().filter_map(|(_, badness)| *badness).filter(|b| b.is_finite());
    let best = finite().fold(f64::INFINITY, f64::min);
    let worst = finite().fold(f64::NEG_INFINITY, f64::max);
    let failed = if best.is_finite() { worst + (worst - best).max(1e-3) } else { 0.0 };
    let known = |(_, badness): &Tried| badness.filter(|b| b.is_finite()).unwrap_or(failed);
    let points: Vec<f64> = tried.iter().flat_map(|(point, _)| point.iter().copied()).collect();
    let x = Array2::from_shape_vec((tried.len(), axes), points).expect("points of one length");
    let y = Array2::from_shape_vec((tried.len(), 1), tried.iter().map(known).collect());
    let limits = Array2::from_shape_fn((axes, 2), |(_, end)| end as f64);
    let service = EgorServiceBuilder::optimize()
        .configure(|config| config.seed(seed))
        .min_within(&limits)
        .expect("limits of the unit cube");
    let next = service.suggest(&x, &y.expect("a value for each point"));
    next.iter().take(axes).map(|fraction| fraction.clamp(0.0, 1.0)).collect()
}

#[cfg(not(feature = "bayesian"))]
pub(super) fn next(_: &[Tried], _: usize, _: u64) -> Vec<f64> {
    unreachable!("suites that ask for it are refused")
}
