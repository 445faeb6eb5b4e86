//! The members' temperatures that maximise the likelihood of their mean.
//!
//! `argmax_T sum_i log 1/M sum_m softmax(log p_mi / T_m)[y_i]`: Gopal 2021, app. G.1, where the
//! formula as printed divides probabilities and not their logarithms. The members' temperatures are
//! fitted together, because it is the mean that has to suit the labels.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::members::{Form, Members, each_row};
use crate::numeric::lbfgs::minimise;
use crate::numeric::transcendental::logsumexp;
use crate::score::Undefined;
use crate::softmax;
use crate::views::into_logits;

/// How many temperatures there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Each member has its own.
    PerMember,
    /// All members have the same.
    One,
}

/// Largest absolute value of the logarithms of inverse temperatures that are tried: `T` from 1e-4 to 1e4.
const REACH: f64 = 9.21;

/// The temperature of each member.
pub fn fit(
    source: &dyn Members,
    form: Form,
    labels: &[u32],
    sharing: Sharing,
) -> Result<Vec<f64>, Undefined> {
    let members = source.members();
    let ensemble = Ensemble { source, form, labels };
    let start = ensemble.at(&vec![0.0; members]);
    if !start.0.is_finite() {
        return Err(Undefined::because(
            "some label has probability 0 under every member, at every temperature",
        ));
    }
    let spread = |theta: &[f64]| match sharing {
        Sharing::PerMember => theta.to_vec(),
        Sharing::One => vec![theta[0]; members],
    };
    let gathered = |gradient: Vec<f64>| match sharing {
        Sharing::PerMember => gradient,
        Sharing::One => vec![gradient.iter().sum()],
    };
    let unknowns = if sharing == Sharing::One { 1 } else { members };
    let best = minimise(&vec![0.0; unknowns], 1e-8, |theta| {
        if theta.iter().any(|t| t.abs() > REACH) {
            return (f64::INFINITY, vec![0.0; unknowns]);
        }
        let (value, gradient) = ensemble.at(&spread(theta));
        (value, gathered(gradient))
    });
    Ok(spread(&best).iter().map(|theta| (-theta).exp()).collect())
}

struct Ensemble<'a> {
    source: &'a dyn Members,
    form: Form,
    labels: &'a [u32],
}

impl Ensemble<'_> {
    /// The negative mean log-likelihood of the labels at `T_m = exp(-theta_m)`, and its gradient.
    fn at(&self, theta: &[f64]) -> (f64, Vec<f64>) {
        let (members, n) = (theta.len(), self.labels.len());
        let of_members: Vec<Vec<(f64, f64)>> = (0..members)
            .into_par_iter()
            .map(|member| self.member_at(member, theta[member].exp()))
            .collect();
        let mut sum = 0.0;
        let mut gradient = vec![0.0; members];
        let mut logs = vec![0.0; members];
        for i in 0..n {
            for (log, of_member) in logs.iter_mut().zip(&of_members) {
                *log = of_member[i].0;
            }
            let whole = logsumexp(&logs);
            sum += whole - (members as f64).ln();
            for ((gradient, log), of_member) in gradient.iter_mut().zip(&logs).zip(&of_members) {
                let weight = (log - whole).exp();
                // A label that is impossible for a member stays so at every temperature.
                *gradient += if weight > 0.0 { weight * of_member[i].1 } else { 0.0 };
            }
        }
        let scale = -1.0 / n as f64;
        (scale * sum, gradient.iter().map(|g| scale * g).collect())
    }

    /// A member's log-likelihood of each label at `beta`, and its derivative in `log beta`.
    fn member_at(&self, member: usize, beta: f64) -> Vec<(f64, f64)> {
        let mut powers = vec![0.0; self.source.width()];
        let mut all = vec![(0.0, 0.0); self.labels.len()];
        each_row(self.source, member, |i, row| {
            into_logits(self.form, row);
            let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let tempered = softmax::temper(beta, row, top, &mut powers);
            let own = row[self.labels[i] as usize] - top;
            all[i] = (beta * own - tempered.log_z, beta * (own - tempered.mean));
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::InMemory;

    /// Logits of three members for four examples of three classes.
    fn logits() -> InMemory<f64> {
        let values = (0..36).map(|i| ((i * 7 % 11) as f64 - 5.0) / 3.0).collect();
        InMemory::new(values, [3, 4, 3]).expect("fits")
    }

    #[test]
    fn the_objective_is_the_nll_of_the_mean_and_its_gradient_that_of_finite_differences() {
        let (source, labels) = (logits(), [0, 2, 1, 1]);
        let ensemble = Ensemble { source: &source, form: Form::Logits, labels: &labels };
        let theta = [0.3, -0.4, 0.1];
        let (value, gradient) = ensemble.at(&theta);
        let likelihood = |i: usize| {
            let member = |m: usize| {
                let mut row = [0.0; 3];
                source.read(m, i..i + 1, &mut row);
                let powers = row.map(|x| (x * theta[m].exp()).exp());
                powers[labels[i] as usize] / powers.iter().sum::<f64>()
            };
            (0..3).map(member).sum::<f64>() / 3.0
        };
        let nll = -(0..4).map(|i| likelihood(i).ln()).sum::<f64>() / 4.0;
        assert!((value - nll).abs() < 1e-12, "{value} and {nll}");
        for (m, gradient) in gradient.into_iter().enumerate() {
            let moved = |by: f64| {
                let mut theta = theta;
                theta[m] += by;
                ensemble.at(&theta).0
            };
            let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((gradient - difference).abs() < 1e-8, "{m}: {gradient} and {difference}");
        }
    }
}
