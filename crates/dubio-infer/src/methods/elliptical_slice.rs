//! Elliptical slice sampling: moves without a step size under a Gaussian prior.

use std::f64::consts::TAU;

use dubio_random::normal::normals;
use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;

use crate::error::Error;

/// A position under the prior `Normal(0, prior_std^2)` on every coordinate, and its log-likelihood.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Position {
    pub(super) coordinates: Vec<f64>,
    pub(super) log_likelihood: f64,
}

impl Position {
    /// One move: a point on the ellipse through this position and a draw from the prior, from a bracket
    /// of angles that shrinks towards the position until the likelihood is high enough. The prior enters through the
    /// ellipse alone. Murray et al. 2010, figure 2. If no other point has a usable likelihood, the position stays where
    /// it is.
    pub(super) fn slice(
        &mut self,
        prior_std: f64,
        stream: &Stream,
        mut log_likelihood: impl FnMut(&[f64]) -> Result<f64, Error>,
    ) -> Result<(), Error> {
        let mut generator = stream.child("slice").generator();
        let other = normals(self.coordinates.len(), &stream.child("ellipse"));
        let threshold = self.log_likelihood + (1.0 - uniform(&mut generator)).ln();
        let mut angle = TAU * uniform(&mut generator);
        let (mut low, mut high) = (angle - TAU, angle);
        // The bracket shrinks to about half each time; when it is empty, only the position itself is left.
        while high - low > 1e-12 {
            let (sin, cos) = angle.sin_cos();
            let pairs = self.coordinates.iter().zip(&other);
            let coordinates: Vec<f64> = pairs.map(|(z, w)| z * cos + prior_std * w * sin).collect();
            let here = log_likelihood(&coordinates)?;
            // A likelihood of NaN is not above the threshold.
            if here > threshold {
                *self = Self { coordinates, log_likelihood: here };
                break;
            }
            *(if angle < 0.0 { &mut low } else { &mut high }) = angle;
            angle = low + (high - low) * uniform(&mut generator);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of a coordinate over many moves, with standard errors from 100 batches.
    fn moments(values: &[f64]) -> [(f64, f64); 2] {
        let of = |values: Vec<f64>| {
            let batches: Vec<f64> = values
                .chunks(values.len() / 100)
                .map(|batch| batch.iter().sum::<f64>() / batch.len() as f64)
                .collect();
            let mean = batches.iter().sum::<f64>() / 100.0;
            let spread = batches.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / 99.0;
            (mean, (spread / 100.0).sqrt())
        };
        let mean = of(values.to_vec());
        [mean, of(values.iter().map(|v| (v - mean.0).powi(2)).collect())]
    }

    fn run(prior_std: f64, moves: usize, likelihood: impl Fn(&[f64]) -> f64) -> Vec<Vec<f64>> {
        let begin = vec![0.5, -0.5];
        let mut position = Position { log_likelihood: likelihood(&begin), coordinates: begin };
        let stream = Stream::root(11);
        let mut all = vec![Vec::new(), Vec::new()];
        for index in 0..moves {
            let moved = position.slice(prior_std, &stream.nth(index), |z| Ok(likelihood(z)));
            moved.expect("a likelihood");
            all[0].push(position.coordinates[0]);
            all[1].push(position.coordinates[1]);
        }
        all
    }

    #[test]
    fn without_data_it_samples_the_prior_around_0() {
        for coordinate in run(3.0, 50_000, |_| 0.0) {
            let [(mean, error), (variance, spread)] = moments(&coordinate);
            assert!(mean.abs() < 5.0 * error, "{mean} {error}");
            assert!((variance - 9.0).abs() < 5.0 * spread, "{variance} {spread}");
        }
    }

    #[test]
    fn under_a_gaussian_likelihood_it_samples_the_closed_form() {
        // Prior variance 4, one observation of the first coordinate, 3 with variance 1: the posterior
        // has precision 1/4 + 1, so variance 4/5, and mean 4/5 * 3. The second stays the prior's.
        let all = run(2.0, 100_000, |z| -0.5 * (z[0] - 3.0).powi(2));
        let [(mean, error), (variance, spread)] = moments(&all[0]);
        assert!((mean - 2.4).abs() < 5.0 * error, "{mean} {error}");
        assert!((variance - 0.8).abs() < 5.0 * spread, "{variance} {spread}");
        let [(mean, error), (variance, spread)] = moments(&all[1]);
        assert!(mean.abs() < 5.0 * error && (variance - 4.0).abs() < 5.0 * spread);
    }

    #[test]
    fn where_the_likelihood_is_no_number_it_never_goes() {
        let all = run(1.0, 2_000, |z| if z[0] > 0.0 { -z[0] } else { f64::NAN });
        assert!(all[0].iter().all(|&z| z > 0.0));
    }
}
