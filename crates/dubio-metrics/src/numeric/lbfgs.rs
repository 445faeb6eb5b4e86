//! The minimum of a smooth function by L-BFGS: Nocedal and Wright 2006, algorithms 7.4 and 7.5.

/// Pairs of steps and changes of gradient that represent the curvature.
const MEMORY: usize = 10;

/// Steps, at most.
const MOST_STEPS: usize = 500;

/// Halvings of a step, at most.
const MOST_HALVINGS: usize = 60;

/// A step must gain this fraction of what the slope promises.
const ARMIJO: f64 = 1e-4;

/// A minimum near `start` of `f`, which gives value and gradient: steps downhill until no component of the gradient
/// is above `tolerance`, or rounding leaves nothing to gain. Places where `f` is not finite are not entered.
pub fn minimise(
    start: &[f64],
    tolerance: f64,
    mut f: impl FnMut(&[f64]) -> (f64, Vec<f64>),
) -> Vec<f64> {
    let mut x = start.to_vec();
    let (mut value, mut gradient) = f(&x);
    let mut pairs: Vec<Pair> = Vec::new();
    for _ in 0..MOST_STEPS {
        if gradient.iter().all(|g| g.abs() <= tolerance) {
            break;
        }
        let mut direction = downhill(&pairs, &gradient);
        let mut slope = dot(&direction, &gradient);
        if slope >= 0.0 {
            pairs.clear();
            direction = gradient.iter().map(|g| -g).collect();
            slope = -dot(&gradient, &gradient);
        }
        // Without knowledge of the curvature the first step must not be long.
        let mut step = if pairs.is_empty() { 1.0 / (-slope).sqrt().max(1.0) } else { 1.0 };
        let mut found = None;
        for _ in 0..MOST_HALVINGS {
            let next: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + step * d).collect();
            let (next_value, next_gradient) = f(&next);
            if next_value <= value + ARMIJO * step * slope {
                found = Some((next, next_value, next_gradient));
                break;
            }
            step *= 0.5;
        }
        let Some((next, next_value, next_gradient)) = found else { break };
        let pair = Pair::new(&x, &next, &gradient, &next_gradient);
        // Only where the function curves upwards does the pair describe a minimum.
        if pair.curvature > 1e-14 * dot(&pair.change, &pair.change) {
            pairs.push(pair);
            let surplus = pairs.len().saturating_sub(MEMORY);
            pairs.drain(..surplus);
        }
        let gained = value - next_value;
        (x, value, gradient) = (next, next_value, next_gradient);
        if gained <= 1e-15 * value.abs() {
            break;
        }
    }
    x
}

/// A step, the change of the gradient along it, and their product.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    curvature: f64,
}

impl Pair {
    fn new(x: &[f64], next: &[f64], gradient: &[f64], next_gradient: &[f64]) -> Self {
        let difference = |a: &[f64], b: &[f64]| b.iter().zip(a).map(|(b, a)| b - a).collect();
        let step: Vec<f64> = difference(x, next);
        let change: Vec<f64> = difference(gradient, next_gradient);
        let curvature = dot(&step, &change);
        Self { step, change, curvature }
    }
}

/// Minus the gradient, turned and stretched by what the pairs know of the curvature.
fn downhill(pairs: &[Pair], gradient: &[f64]) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut coefficients = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let coefficient = dot(&pair.step, &q) / pair.curvature;
        add(&mut q, -coefficient, &pair.change);
        coefficients.push(coefficient);
    }
    if let Some(last) = pairs.last() {
        let scale = last.curvature / dot(&last.change, &last.change);
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for (pair, coefficient) in pairs.iter().zip(coefficients.iter().rev()) {
        let back = dot(&pair.change, &q) / pair.curvature;
        add(&mut q, coefficient - back, &pair.step);
    }
    q
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], factor: f64, what: &[f64]) {
    to.iter_mut().zip(what).for_each(|(to, what)| *to += factor * what);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bottom_of_rosenbrocks_valley_is_found() {
        let valley = |x: &[f64]| {
            let (mut value, mut gradient) = (0.0, vec![0.0; x.len()]);
            for i in 0..x.len() - 1 {
                let (along, across) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
                value += along * along + 100.0 * across * across;
                gradient[i] += -2.0 * along - 400.0 * across * x[i];
                gradient[i + 1] += 200.0 * across;
            }
            (value, gradient)
        };
        let bottom = minimise(&[-1.2, 1.0, -0.5, 2.0, 0.3], 1e-9, valley);
        assert!(bottom.iter().all(|x| (x - 1.0).abs() < 1e-7), "{bottom:?}");
    }

    #[test]
    fn a_place_without_a_value_is_not_entered() {
        let f = |x: &[f64]| {
            let inside = x[0] > 0.0;
            let value = if inside { x[0] - x[0].ln() } else { f64::INFINITY };
            (value, vec![1.0 - 1.0 / x[0]])
        };
        let bottom = minimise(&[30.0], 1e-10, f);
        assert!((bottom[0] - 1.0).abs() < 1e-8, "{bottom:?}");
    }
}
