//! Convergence of what chains predict, and of their loss.

use serde::{Deserialize, Serialize};

use super::{Convergence, convergence, infinite};
use crate::members::{Form, Members, each_row};
use crate::numeric::normal::{log_density, quantile};
use crate::numeric::transcendental::logsumexp;

/// Convergence of the samples of a posterior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Chains, each from its own start.
    pub chains: usize,
    /// Draws per chain.
    pub draws: usize,
    /// R-hat above which there is a warning: 1.1, or more where chains are so short that independent draws
    /// would often exceed it.
    #[serde(with = "infinite")]
    pub rhat_limit: f64,
    /// Convergence over examples, of the probability of the label or of the predicted mean; `None` where
    /// nothing varies, or chains are too short.
    pub predictions: Option<Spread>,
    /// Convergence of the mean negative log-likelihood of the examples.
    pub loss: Option<Convergence>,
}

/// Convergence of many quantities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many.
    pub quantities: usize,
    /// Median of R-hat.
    #[serde(with = "infinite")]
    pub rhat_median: f64,
    /// Largest R-hat.
    #[serde(with = "infinite")]
    pub rhat_max: f64,
    /// Fraction of R-hat above 1.01, the largest that Vehtari et al. allow.
    pub above_101: f64,
    /// Fraction of R-hat above the limit, where chains plainly disagree.
    pub above_limit: f64,
    /// Median effective sample size in the bulk.
    pub ess_bulk_median: f64,
    /// The smallest.
    pub ess_bulk_min: f64,
    /// Median effective sample size in the tails.
    pub ess_tail_median: f64,
    /// The smallest.
    pub ess_tail_min: f64,
}

/// R-hat above which long chains plainly disagree.
const PLAINLY: f64 = 1.1;
/// Fraction of predictions that may be above the limit by chance.
const CHANCE: f64 = 0.05;
/// Maximum number of examples that are looked at, evenly spaced.
const EXAMPLES: usize = 1000;

impl Diagnosis {
    /// What a user must know before trusting the samples, and what to do about it.
    pub fn warnings(&self) -> Vec<String> {
        let apart = self.predictions.as_ref().filter(|all| all.above_limit > CHANCE);
        let loss = self.loss.filter(|loss| loss.rhat > self.rhat_limit);
        let mut found = Vec::new();
        if let Some(all) = apart {
            found.push(format!(
                "R-hat is above {:.2} for {:.0} % of the predictions (up to {:.2})",
                self.rhat_limit,
                100.0 * all.above_limit,
                all.rhat_max
            ));
        }
        if let Some(loss) = loss {
            found.push(format!("R-hat of the loss is {:.2}", loss.rhat));
        }
        if found.is_empty() {
            return Vec::new();
        }
        let chains = if self.chains == 1 { "the chain has" } else { "the chains have" };
        vec![format!(
            "{chains} not converged: {}; run longer chains, or begin at trained weights (`warm_up`)",
            found.join(", and ")
        )]
    }
}

/// Diagnosis of a classification, from the probability of the label.
pub fn of_classes(members: &dyn Members, form: Form, labels: &[u32], chains: usize) -> Diagnosis {
    let log_p = |row: &mut [f64], example: usize| {
        let of_label = row[labels[example] as usize];
        match form {
            Form::Logits => of_label - logsumexp(row),
            Form::LogProbs => of_label,
            Form::Probs => of_label.ln(),
        }
    };
    diagnosis(members, chains, |member, each| {
        each_row(members, member, |example, row| {
            let log_p = log_p(row, example);
            each(example, log_p.exp(), -log_p);
        });
    })
}

/// Diagnosis of a regression by Gaussians, from their mean.
pub fn of_gaussians(
    means: &dyn Members,
    stds: &dyn Members,
    targets: &[f64],
    chains: usize,
) -> Diagnosis {
    diagnosis(means, chains, |member, each| {
        let mut std = vec![0.0; targets.len()];
        stds.read(member, 0..targets.len(), &mut std);
        each_row(means, member, |example, row| {
            each(
                example,
                row[0],
                -log_density(targets[example], row[0], std[example], std[example].ln()),
            );
        });
    })
}

/// `read(member, each)` calls `each(example, prediction, loss)` for every example of a member.
fn diagnosis(
    members: &dyn Members,
    chains: usize,
    read: impl Fn(usize, &mut dyn FnMut(usize, f64, f64)),
) -> Diagnosis {
    let (count, examples) = (members.members(), members.examples());
    let every = examples.div_ceil(EXAMPLES).max(1);
    let mut predicted = vec![vec![0.0; count]; examples.div_ceil(every)];
    let mut losses = vec![0.0; count];
    for (member, sum) in losses.iter_mut().enumerate() {
        read(member, &mut |example, prediction, loss| {
            if example.is_multiple_of(every) {
                predicted[example / every][member] = prediction;
            }
            *sum += loss / examples as f64;
        });
    }
    let all: Vec<Convergence> =
        predicted.iter().filter_map(|draws| convergence(draws, chains)).collect();
    let draws = count / chains.max(1);
    let rhat_limit = PLAINLY.max(by_chance(chains, draws));
    let predictions = spread(&all, rhat_limit);
    Diagnosis { chains, draws, rhat_limit, predictions, loss: convergence(&losses, chains) }
}

/// R-hat that independent normal draws exceed with a probability of about 0.01.
///
/// For m half-chains of h draws R-hat^2 is (h - 1)/h + F/h, where F has the F distribution with m - 1 and
/// m (h - 1) degrees of freedom. R-hat is the larger of two such values, so F is taken at 0.995, by the
/// approximation of Wilson and Hilferty (Paulson 1942).
fn by_chance(chains: usize, draws: usize) -> f64 {
    let (halves, half) = (2.0 * chains as f64, (draws / 2) as f64);
    if half < 2.0 {
        return PLAINLY;
    }
    let z = quantile(0.995);
    let (over, under) = (2.0 / (9.0 * (halves - 1.0)), 2.0 / (9.0 * halves * (half - 1.0)));
    // ((1 - under) u - (1 - over))^2 = z^2 (under u^2 + over), where F = u^3.
    let a = (1.0 - under).powi(2) - z * z * under;
    let b = (1.0 - under) * (1.0 - over);
    let c = (1.0 - over).powi(2) - z * z * over;
    if a <= 0.0 {
        return f64::INFINITY; // a handful of draws: any R-hat may be chance
    }
    let u = (b + (b * b - a * c).sqrt()) / a;
    ((half - 1.0 + u.powi(3)) / half).sqrt()
}

fn spread(all: &[Convergence], limit: f64) -> Option<Spread> {
    let sorted = |of: fn(&Convergence) -> f64| {
        let mut values: Vec<f64> = all.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (rhat, bulk, tail) = (sorted(|c| c.rhat), sorted(|c| c.ess_bulk), sorted(|c| c.ess_tail));
    let above = |limit: f64| rhat.iter().filter(|r| **r > limit).count() as f64 / all.len() as f64;
    let middle = |values: &[f64]| values[values.len() / 2];
    (!all.is_empty()).then(|| Spread {
        quantities: all.len(),
        rhat_median: middle(&rhat),
        rhat_max: rhat[rhat.len() - 1],
        above_101: above(1.01),
        above_limit: above(limit),
        ess_bulk_median: middle(&bulk),
        ess_bulk_min: bulk[0],
        ess_tail_median: middle(&tail),
        ess_tail_min: tail[0],
    })
}
