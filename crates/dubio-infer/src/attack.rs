//! Attacks on the posterior predictive: images changed, within a bound, to make it err.
//!
//! The attack is on the mean of the samples' probabilities, not on any one of them: the gradient of
//! `-log (1/S sum_s p_s[y])` is `sum_s w_s grad(-log p_s[y])` with `w_s = p_s[y] / sum_t p_t[y]`.

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_nn::engine::{Engine, Seed};
use dubio_nn::loss::log_sum;
use dubio_nn::real::Real;
use dubio_progress::{Progress, Silent};
use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fitted::Fitted;
use crate::posterior::{Predictive, Sample};
use crate::predict::{Predicted, TestTime};
use crate::room::networks_at_once;
use crate::side_by_side::side_by_side;

/// How images are changed. No pixel moves by more than `epsilon`, a fraction of the brightest pixel of the set, and
/// none leaves the range from 0 to that brightest pixel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attack {
    /// The rule.
    pub rule: Rule,
    /// The most that a pixel moves, above 0 and at most 1.
    pub epsilon: f64,
}

/// The rule of an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// One step of `epsilon` along the sign of the gradient: Goodfellow et al. 2015.
    Fgsm,
    /// Ten steps of `epsilon / 4` from a random point, each followed by a projection: Madry et al. 2018.
    Pgd,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 2] = [Self::Fgsm, Self::Pgd];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fgsm => "fgsm",
            Self::Pgd => "pgd",
        }
    }
}

const PGD_STEPS: usize = 10;

/// Examples at a time.
const CHUNK: usize = 250;

impl<E: Engine> Fitted<E> {
    /// Predicts a set of images after an attack on each.
    pub fn predict_attacked(
        &self,
        data: &Dataset,
        attack: &Attack,
        stream: &Stream,
    ) -> Result<Predicted, Error> {
        self.predict_attacked_watched(data, attack, stream, &Silent)
    }

    /// As [`Self::predict_attacked`]. Progress counts the pieces of the predictions; a stop gives [`Error::Stopped`].
    #[inline(never)]
    pub fn predict_attacked_watched(
        &self,
        data: &Dataset,
        attack: &Attack,
        stream: &Stream,
        progress: &dyn Progress,
    ) -> Result<Predicted, Error> {
        let inputs = self.attacked(data, attack, &stream.child("attack"), progress)?;
        self.predict_inputs(&inputs, data, &TestTime::default(), stream, progress)
    }

    /// The attacked images, as the network reads them.
    pub(crate) fn attacked(
        &self,
        data: &Dataset,
        attack: &Attack,
        stream: &Stream,
        progress: &dyn Progress,
    ) -> Result<Vec<E::Number>, Error> {
        let (Inputs::Images(images), Answers::Classes { labels, .. }) =
            (&data.inputs, &data.answers)
        else {
            return Err(Error::Unsuited("attacks are on images of classes".into()));
        };
        let plain = self.training.scaling().inputs::<E::Number>(data)?;
        let size = self.training.scaling().shape().size();
        let brightest = f64::from(images.white) / 255.0;
        let bounds = self.bounds(brightest, attack.epsilon * brightest);
        let count = labels.len().div_ceil(CHUNK);
        let network = self.recipe.network(&self.network, &self.training)?;
        let at_once = networks_at_once(&network, CHUNK, self.engine.free_bytes());
        let chunks = side_by_side(count, at_once, |chunk| -> Result<Vec<E::Number>, Error> {
            if progress.should_stop() {
                return Err(Error::Stopped);
            }
            let rows = chunk * CHUNK..labels.len().min((chunk + 1) * CHUNK);
            let inputs = &plain[rows.start * size..rows.end * size];
            let stream = stream.nth(chunk);
            let mut sight = Sight::new(self, inputs.len() / size, &stream.child("layers"))?;
            Ok(attack.run(inputs, &labels[rows], &bounds, &mut sight, &stream.child("start")))
        });
        let mut attacked = Vec::with_capacity(plain.len());
        for chunk in chunks {
            attacked.extend(chunk?);
        }
        Ok(attacked)
    }

    /// For each colour: the darkest and the brightest value, and how far a pixel may move.
    fn bounds(&self, brightest: f64, reach: f64) -> Vec<[E::Number; 3]> {
        let scaling = self.training.scaling();
        let each = (0..scaling.shape().channels).map(|channel| {
            let at = |value| scaling.pixel(channel, value).expect("of images");
            [at(0.0), at(brightest), at(reach) - at(0.0)].map(E::Number::of)
        });
        each.collect()
    }
}

impl Attack {
    fn run<T: Real, E: Engine<Number = T>>(
        &self,
        plain: &[T],
        labels: &[u32],
        bounds: &[[T; 3]],
        sight: &mut Sight<'_, E>,
        stream: &Stream,
    ) -> Vec<T> {
        // Channels are last: the colour of a number is its index modulo the colours.
        let moved = |i: usize, value: T| {
            let [dark, bright, reach] = bounds[i % bounds.len()];
            value.max(plain[i] - reach).min(plain[i] + reach).max(dark).min(bright)
        };
        let mut now = plain.to_vec();
        let (steps, fraction) = match self.rule {
            Rule::Fgsm => (1, 1.0),
            Rule::Pgd => (PGD_STEPS, 2.5 / PGD_STEPS as f64),
        };
        if self.rule == Rule::Pgd {
            let mut generator = stream.generator();
            for (i, value) in now.iter_mut().enumerate() {
                let reach = bounds[i % bounds.len()][2];
                *value = moved(i, *value + reach * T::of(2.0 * uniform(&mut generator) - 1.0));
            }
        }
        for _ in 0..steps {
            let gradient = sight.gradient(&now, labels);
            for (i, (value, g)) in now.iter_mut().zip(gradient).enumerate() {
                let way = if g == T::zero() { g } else { g.signum() };
                let step = bounds[i % bounds.len()][2] * T::of(fraction);
                *value = moved(i, *value + step * way);
            }
        }
        now
    }
}

/// What an attacker sees of a fitted recipe: the gradient of its predictive distribution.
struct Sight<'a, E: Engine> {
    predictive: Box<dyn Predictive<E> + 'a>,
    model: E::Model,
    /// The noise is the same in every evaluation, since the attack is on the mean of the samples.
    noise: Stream,
}

impl<'a, E: Engine> Sight<'a, E> {
    fn new(fitted: &'a Fitted<E>, examples: usize, stream: &Stream) -> Result<Self, Error> {
        let (predictive, model) = (fitted.predictive(), fitted.model(examples)?);
        Ok(Self { predictive, model, noise: stream.clone() })
    }

    fn samples(&self) -> Vec<(Sample, Stream)> {
        let of_part = |part| {
            (0..self.predictive.samples_of_part())
                .map(move |of_part| (Sample { part, of_part }, self.noise.nth(of_part)))
        };
        (0..self.predictive.parts()).flat_map(of_part).collect()
    }

    /// `log p_s[y]` of each example, sample after sample.
    fn log_probabilities(&mut self, inputs: &[E::Number], labels: &[u32]) -> Vec<f64> {
        let mut logs = Vec::new();
        let mut outputs = Vec::new();
        for (sample, noise) in self.samples() {
            outputs.clear();
            self.predictive.outputs(sample, &mut self.model, inputs, &noise, &mut outputs);
            let classes = outputs.len() / labels.len();
            let rows = outputs.chunks_exact(classes).zip(labels);
            logs.extend(rows.map(|(row, &y)| row[y as usize].wide() - log_sum(row)));
        }
        logs
    }

    /// Gradient of `-log p[y]` of each example with respect to its input.
    fn gradient(&mut self, inputs: &[E::Number], labels: &[u32]) -> Vec<E::Number> {
        let weights = weights(&self.log_probabilities(inputs, labels), labels.len());
        let mut sum = vec![E::Number::of(0.0); inputs.len()];
        let mut part = sum.clone();
        let samples = self.samples();
        for ((sample, noise), weights) in samples.iter().zip(weights.chunks_exact(labels.len())) {
            let seed = Seed::CrossEntropy { labels, weights };
            let (predictive, model) = (&self.predictive, &mut self.model);
            predictive.input_gradient(*sample, model, inputs, noise, seed, &mut part);
            sum.iter_mut().zip(&part).for_each(|(s, p)| *s = *s + *p);
        }
        sum
    }
}

/// `exp(log_s) / sum_t exp(log_t)` for each example; `logs` lies sample after sample.
fn weights(logs: &[f64], examples: usize) -> Vec<f64> {
    let mut weights = vec![0.0; logs.len()];
    for example in 0..examples {
        let own = || (example..logs.len()).step_by(examples);
        let all: Vec<f64> = own().map(|i| logs[i]).collect();
        let total = log_sum(&all);
        own().for_each(|i| weights[i] = (logs[i] - total).exp());
    }
    weights
}

#[cfg(test)]
mod tests {
    use dubio_data::sets;
    use dubio_nn::Double;
    use serde_json::json;

    use super::*;
    use crate::fit::Options;
    use crate::recipe::Recipe;

    fn digits(rows: std::ops::Range<u32>) -> Dataset {
        let name = sets::parse("digits:train").expect("embedded");
        let all = name.set.load("".as_ref(), name.part.expect("named")).expect("embedded");
        all.subset(&rows.collect::<Vec<u32>>())
    }

    fn fitted(method: &str, settings: serde_json::Value) -> Fitted<Double> {
        let recipe = Recipe::parse(method, settings.as_object().expect("a table").clone());
        let (engine, data, stream) = (Double::default(), digits(0..600), Stream::root(1));
        recipe.unwrap().fit(&engine, "mlp-12", &data, &stream, &Options::default()).unwrap()
    }

    /// `-log` of the mean probability of each label.
    fn nll(fitted: &Fitted<Double>, inputs: &[f64], labels: &[u32], noise: &Stream) -> Vec<f64> {
        let logs =
            Sight::new(fitted, labels.len(), noise).unwrap().log_probabilities(inputs, labels);
        let samples = logs.len() / labels.len();
        let mean =
            |i: usize| logs[i..].iter().step_by(labels.len()).map(|log| log.exp()).sum::<f64>();
        (0..labels.len()).map(|i| -(mean(i) / samples as f64).ln()).collect()
    }

    #[test]
    fn the_gradient_is_that_of_the_mean_of_the_samples() {
        let cases = [
            ("deep-ensemble", json!({"epochs": 5, "members": 3})),
            ("mc-dropout", json!({"epochs": 5, "samples": 4, "rate": 0.3})),
        ];
        for (method, settings) in cases {
            let fitted = fitted(method, settings);
            let data = digits(600..605);
            let Answers::Classes { labels, .. } = &data.answers else { unreachable!() };
            let mut inputs = fitted.training.scaling().inputs::<f64>(&data).unwrap();
            let noise = Stream::root(2);
            let gradient =
                Sight::new(&fitted, labels.len(), &noise).unwrap().gradient(&inputs, labels);
            for place in [3, 70, 150, 213, 300] {
                let (example, h) = (place / 64, 1e-6);
                inputs[place] += h;
                let above = nll(&fitted, &inputs, labels, &noise)[example];
                inputs[place] -= 2.0 * h;
                let below = nll(&fitted, &inputs, labels, &noise)[example];
                inputs[place] += h;
                let numeric = (above - below) / (2.0 * h);
                let exact = gradient[place];
                assert!((numeric - exact).abs() < 1e-5 * (1.0 + exact.abs()), "{method} {place}");
            }
        }
    }

    #[test]
    fn attacks_stay_within_their_bounds_and_ten_steps_do_more_harm_than_one() {
        let fitted = fitted("deep-ensemble", json!({"epochs": 30, "members": 2}));
        let data = digits(600..900);
        let Answers::Classes { labels, .. } = &data.answers else { unreachable!() };
        let scaling = fitted.training.scaling();
        let plain = scaling.inputs::<f64>(&data).unwrap();
        let mean = |inputs: &[f64]| {
            nll(&fitted, inputs, labels, &Stream::root(0)).iter().sum::<f64>() / 300.0
        };
        let (dark, bright) =
            (scaling.pixel(0, 0.0).unwrap(), scaling.pixel(0, 16.0 / 255.0).unwrap());
        let mut before = mean(&plain);
        for rule in Rule::ALL {
            let attack = Attack { rule, epsilon: 0.1 };
            let attacked = fitted.attacked(&data, &attack, &Stream::root(3), &Silent).unwrap();
            let reach = 0.1 * (bright - dark) + 1e-12;
            assert!(attacked.iter().zip(&plain).all(|(a, b)| (a - b).abs() <= reach));
            assert!(attacked.iter().all(|v| (dark..=bright).contains(v)));
            let after = mean(&attacked);
            assert!(after > before, "{rule:?}: {before} {after}");
            before = after;
        }
    }
}
