//! Regularisers: terms that are added to the mean negative log-likelihood of a mini-batch, with every method.

use std::str::FromStr;
use std::sync::Arc;

use dubio_data::dataset::Answers;
use dubio_nn::loss::{Loss, Truth, log_sum};
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::likelihood::{Array, Curved, Likelihood, Taught};
use crate::scaling::Scaling;

/// A term and its weight, written `uce:10`. Of an example, `p` is the softmax, `H(p)` its entropy, `c` the largest
/// probability and `correct` whether its class is the label.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Regulariser {
    /// `w UCE`, `UCE = sum_m |sum_{i in m} (wrong_i - u_i)| / n` over 15 bins of `u = H(p) / log C`: the UCE paper,
    /// eq. 18. The gradient goes through `u` alone: neither bins nor errors change with a small step.
    Uce(f64),
    /// `w` times the mean of `UCE` among the examples of each predicted class: the UCE paper, sec. 7.3.
    ClasswiseUce(f64),
    /// `w MMCE`, `MMCE = sqrt(sum_ij d_i d_j exp(-|c_i - c_j| / 0.4)) / n`, `d = correct - c`: Kumar et al. 2018.
    Mmce(f64),
    /// `-w` times the mean of `H(p)`: the confidence penalty of Pereyra et al. 2017.
    Entropy(f64),
    /// `-(1 - p_y)^g log p_y` in the place of `-log p_y`: Lin et al. 2017.
    Focal(f64),
    /// Labels that are, with probability `e`, uniform over the classes: Szegedy et al. 2016.
    LabelSmoothing(f64),
}

const BINS: usize = 15;
const KERNEL_WIDTH: f64 = 0.4;
const NAMES: &str = "uce, classwise-uce, mmce, entropy, focal and label-smoothing";

impl FromStr for Regulariser {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice =
            || format!("`{text}` must be a name and a weight, as in uce:10; names are {NAMES}");
        let (name, weight) = text.split_once(':').ok_or_else(advice)?;
        let weight: f64 = weight.parse().map_err(|_| advice())?;
        if !(weight > 0.0 && weight <= 1e6) {
            return Err(format!("the weight of `{text}` must be above 0 and at most 1e6"));
        }
        match name {
            "uce" => Ok(Self::Uce(weight)),
            "classwise-uce" => Ok(Self::ClasswiseUce(weight)),
            "mmce" => Ok(Self::Mmce(weight)),
            "entropy" => Ok(Self::Entropy(weight)),
            "focal" => Ok(Self::Focal(weight)),
            "label-smoothing" if weight < 1.0 => Ok(Self::LabelSmoothing(weight)),
            "label-smoothing" => Err(format!("`{text}`: labels can be smoothed by less than 1")),
            _ => Err(advice()),
        }
    }
}

impl TryFrom<String> for Regulariser {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Regulariser> for String {
    fn from(regulariser: Regulariser) -> Self {
        match regulariser {
            Regulariser::Uce(w) => format!("uce:{w}"),
            Regulariser::ClasswiseUce(w) => format!("classwise-uce:{w}"),
            Regulariser::Mmce(w) => format!("mmce:{w}"),
            Regulariser::Entropy(w) => format!("entropy:{w}"),
            Regulariser::Focal(g) => format!("focal:{g}"),
            Regulariser::LabelSmoothing(e) => format!("label-smoothing:{e}"),
        }
    }
}

/// Checks that these answers can be regularised.
pub fn check(answers: &Answers, regularisers: &[Regulariser]) -> Result<(), Error> {
    if regularisers.is_empty() || matches!(answers, Answers::Classes { .. }) {
        return Ok(());
    }
    Err(Error::Unsuited(
        "`regularise` is for classification; leave it out of a regression".to_string(),
    ))
}

/// A softmax, and what the terms need of it.
struct Softmax {
    p: Vec<f64>,
    log_p: Vec<f64>,
    entropy: f64,
    /// The most probable class.
    top: usize,
    label: usize,
}

impl Softmax {
    fn of(row: &[f64], label: u32) -> Self {
        let log_sum = log_sum(row);
        let log_p: Vec<f64> = row.iter().map(|z| z - log_sum).collect();
        let p: Vec<f64> = log_p.iter().map(|l| l.exp()).collect();
        let entropy = -p.iter().zip(&log_p).map(|(p, l)| p * l).sum::<f64>();
        let top = (0..p.len()).fold(0, |top, k| if p[k] > p[top] { k } else { top });
        Self { p, log_p, entropy, top, label: label as usize }
    }

    /// Normalised entropy.
    fn uncertainty(&self) -> f64 {
        self.entropy / (self.p.len() as f64).ln()
    }

    fn is_wrong(&self) -> bool {
        self.top != self.label
    }

    /// `gradient += a dH / dz`, with `dH / dz_k = -p_k (log p_k + H)`.
    fn add_entropy(&self, a: f64, gradient: &mut [f64]) {
        for ((g, p), l) in gradient.iter_mut().zip(&self.p).zip(&self.log_p) {
            *g -= a * p * (l + self.entropy);
        }
    }

    /// `gradient += a d log p_k / dz`.
    fn add_log(&self, a: f64, k: usize, gradient: &mut [f64]) {
        gradient.iter_mut().zip(&self.p).for_each(|(g, p)| *g -= a * p);
        gradient[k] += a;
    }
}

impl Regulariser {
    /// The term of a batch; adds its gradient at the outputs.
    fn add(self, batch: &[Softmax], gradient: &mut [f64]) -> f64 {
        let (n, classes) = (batch.len() as f64, batch[0].p.len());
        let rows = batch.iter().zip(gradient.chunks_exact_mut(classes));
        match self {
            Self::Uce(w) => uce(batch, w, &|_| (0, n), gradient),
            Self::ClasswiseUce(w) => {
                let size = |class: usize| batch.iter().filter(|s| s.top == class).count() as f64;
                let sizes: Vec<f64> = (0..classes).map(size).collect();
                let predicted = sizes.iter().filter(|size| **size > 0.0).count() as f64;
                uce(batch, w, &|class| (class, predicted * sizes[class]), gradient)
            }
            Self::Mmce(w) => mmce(batch, w, gradient),
            Self::Entropy(w) => rows.fold(0.0, |sum, (softmax, gradient)| {
                softmax.add_entropy(-w / n, gradient);
                sum - w / n * softmax.entropy
            }),
            Self::Focal(g) => rows.fold(0.0, |sum, (softmax, gradient)| {
                // What is added to -log p: (1 - (1 - p)^g) log p.
                let (p, log_p) = (softmax.p[softmax.label], softmax.log_p[softmax.label]);
                let left = 1.0 - p;
                let by_log = (1.0 - left.powf(g)) + g * left.powf(g - 1.0) * p * log_p;
                softmax.add_log(by_log / n, softmax.label, gradient);
                sum + (1.0 - left.powf(g)) * log_p / n
            }),
            Self::LabelSmoothing(e) => rows.fold(0.0, |sum, (softmax, gradient)| {
                let share = e / (n * classes as f64);
                softmax.add_log(e / n, softmax.label, gradient);
                (0..classes).for_each(|k| softmax.add_log(-share, k, gradient));
                let mean = softmax.log_p.iter().sum::<f64>();
                sum + e / n * softmax.log_p[softmax.label] - share * mean
            }),
        }
    }
}

/// `w sum_m |sum_{i in m} (wrong_i - u_i)| / size` over bins of `u` inside each group; `group` gives the group of a
/// predicted class, and its size.
fn uce(
    batch: &[Softmax],
    w: f64,
    group: &dyn Fn(usize) -> (usize, f64),
    gradient: &mut [f64],
) -> f64 {
    let classes = batch[0].p.len();
    let cell = |softmax: &Softmax| {
        // Bins are closed on the right; the first also has 0.
        let bin = ((softmax.uncertainty() * BINS as f64).ceil() as usize).clamp(1, BINS) - 1;
        let (group, size) = group(softmax.top);
        (group * BINS + bin, size)
    };
    let mut sums = vec![0.0; classes * BINS];
    for softmax in batch {
        let (at, size) = cell(softmax);
        sums[at] += (f64::from(u8::from(softmax.is_wrong())) - softmax.uncertainty()) / size;
    }
    for (softmax, gradient) in batch.iter().zip(gradient.chunks_exact_mut(classes)) {
        let (at, size) = cell(softmax);
        let sign = if sums[at] == 0.0 { 0.0 } else { sums[at].signum() };
        softmax.add_entropy(-w * sign / (size * (classes as f64).ln()), gradient);
    }
    w * sums.iter().map(|sum| sum.abs()).sum::<f64>()
}

fn mmce(batch: &[Softmax], w: f64, gradient: &mut [f64]) -> f64 {
    let confidence: Vec<f64> = batch.iter().map(|s| s.p[s.top]).collect();
    let gap = |i: usize| f64::from(u8::from(!batch[i].is_wrong())) - confidence[i];
    // For each example sum_j d_j k_ij, and its derivative by c_i.
    let each: Vec<[f64; 2]> = (0..batch.len())
        .map(|i| {
            (0..batch.len()).fold([0.0; 2], |[sum, slope], j| {
                let away = confidence[i] - confidence[j];
                let term = gap(j) * (-away.abs() / KERNEL_WIDTH).exp();
                let sign = if away == 0.0 { 0.0 } else { away.signum() };
                [sum + term, slope - term * sign / KERNEL_WIDTH]
            })
        })
        .collect();
    let form: f64 = each.iter().enumerate().map(|(i, [sum, _])| gap(i) * sum).sum();
    if form <= 0.0 {
        return 0.0;
    }
    let (n, classes) = (batch.len() as f64, batch[0].p.len());
    for (i, gradient) in gradient.chunks_exact_mut(classes).enumerate() {
        let [sum, slope] = each[i];
        let of_confidence = w / (n * form.sqrt()) * (gap(i) * slope - sum);
        batch[i].add_log(of_confidence * confidence[i], batch[i].top, gradient);
    }
    w * form.sqrt() / n
}

/// A likelihood whose loss has further terms.
#[derive(Debug)]
pub(crate) struct Regularised {
    likelihood: Arc<dyn Likelihood>,
    terms: Vec<Regulariser>,
}

/// A likelihood with these terms; the likelihood itself where there are none.
pub fn regularised(likelihood: Arc<dyn Likelihood>, terms: &[Regulariser]) -> Arc<dyn Likelihood> {
    match terms {
        [] => likelihood,
        terms => Arc::new(Regularised { likelihood, terms: terms.to_vec() }),
    }
}

impl Loss for Regularised {
    fn outputs(&self) -> usize {
        self.likelihood.outputs()
    }
    fn mean(&self, outputs: &[f64], truth: Truth<'_>, rows: &[u32], gradient: &mut [f64]) -> f64 {
        let mut loss = self.likelihood.mean(outputs, truth, rows, gradient);
        let Truth::Labels(labels) = truth else { unreachable!("checked to be classes") };
        let each = outputs.chunks_exact(self.outputs()).zip(labels);
        let batch: Vec<Softmax> = each.map(|(row, label)| Softmax::of(row, *label)).collect();
        for term in &self.terms {
            loss += term.add(&batch, gradient);
        }
        loss
    }
}

impl Likelihood for Regularised {
    fn is_steep(&self) -> bool {
        self.likelihood.is_steep()
    }
    fn network(&self, name: &str, input: Shape) -> Result<Network, String> {
        self.likelihood.network(name, input)
    }
    fn curved(&self) -> Option<&dyn Curved> {
        self.likelihood.curved()
    }
    fn taught(&self) -> Option<&dyn Taught> {
        self.likelihood.taught()
    }
    fn predictions(&self, outputs: Vec<f32>, scaling: &Scaling) -> Vec<f32> {
        self.likelihood.predictions(outputs, scaling)
    }
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>> {
        self.likelihood.arrays(values, shape)
    }
}
