//! `distill`: one network that learns what the networks of a chain predict on average.

use dubio_nn::engine::{Point, Seed, Vector};
use serde::{Deserialize, Serialize};

use super::sghmc::{Flow, friction};
use super::sgld::{Pace, at_least_cold};
use super::{Card, Settings, at_least_one, positive};
use crate::clip;
use crate::likelihood::Taught;
use crate::memory::Memory;
use crate::optimisers::{Kind, Optimiser};
use crate::prior::Gaussian;
use crate::rule::{Gradient, Keep, MiniBatch, Rule, Step, Steps};
use crate::schedule::Schedule;
use crate::wrong::Wrong;

/// Settings of `distill`. The teacher is a chain of `sghmc`; with `friction = 1` it is one of `sgld`. After its burn-in every
/// step of the chain is a teacher, from which two networks of the same kind learn by Adam: the student its predictions, and
/// another one their entropy. The student alone predicts. Members of a predictions file have equal weights, and a few
/// members with a given mean cannot have an arbitrary mean entropy, so the expected entropy is not in that file: its
/// network is kept with the posterior, and the record says how good it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Distill {
    /// Epochs of the teacher before the student begins.
    pub burn_in: usize,
    /// Epochs in which the student learns.
    pub epochs: usize,
    /// First learning rate of the teacher, which multiplies the gradient of `U / N`.
    pub lr: f64,
    /// How it falls.
    pub schedule: Schedule,
    /// Fraction of the velocity that a step of the teacher loses; 1 for `sgld`.
    pub friction: f64,
    /// 1 for the posterior; below 1 for a cold posterior, `p^(1/T)`.
    pub temperature: f64,
    /// First learning rate of the student, which falls to 0 along half a cosine wave: later teachers move the student
    /// less and less, so that it is an average over them.
    pub student_lr: f64,
}

impl Default for Distill {
    fn default() -> Self {
        Self {
            burn_in: 50,
            epochs: 100,
            lr: 0.01,
            schedule: Schedule::Cosine { end: 0.5 },
            friction: 0.1,
            temperature: 1.0,
            student_lr: 3e-3,
        }
    }
}

impl Settings for Distill {
    const CARD: Card = Card {
        name: "distill",
        summary: "Bayesian dark knowledge: one network learns the mean prediction of a Markov chain while the chain runs.",
        rule: "sghmc moves the teacher t; Adam moves the student s by the mean of -sum_c p_c(t) log p_c(s), and a network h by that of (h - H(p(t)))^2",
        citation: "Balan et al. 2015; Vadera et al. 2020a",
    };
    const PRIOR_STD: Option<f64> = Some(1.0);

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("epochs", self.epochs)])?;
        positive(&[("lr", self.lr), ("student_lr", self.student_lr)])?;
        at_least_cold(self.temperature)?;
        friction(self.friction)
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let adam = || Optimiser::new(Kind::Adam, 0.9, like);
        Box::new(School {
            settings: self.clone(),
            teacher: Flow::new(self.clone(), self.friction, like),
            student: adam(),
            entropy: adam(),
            gradient: like.zeros(like.len()),
            seen: vec![0.0; 4],
            last: None,
        })
    }

    fn bears_batch_norm(&self) -> bool {
        false
    }

    fn is_taught(&self) -> bool {
        true
    }

    /// A forward pass of the teacher, and a gradient of each of two networks, besides the chain.
    fn passes(&self) -> f64 {
        self.burn_in as f64 + 3.5 * self.epochs as f64
    }

    /// Two more points, two optimisers' two, a gradient, and the last network of the entropy.
    fn vectors(&self) -> usize {
        8
    }
}

impl Pace for Distill {
    fn epochs(&self) -> usize {
        self.burn_in + self.epochs
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.lr * self.schedule.fraction(at, Pace::epochs(self))
    }
    fn temperature(&self, _: usize) -> f64 {
        self.temperature
    }
    fn keep(&self, _: usize) -> Keep {
        Keep::Nothing
    }
}

/// Indices of the points.
const STUDENT: usize = 1;
const ENTROPY: usize = 2;

struct School<V> {
    settings: Distill,
    teacher: Flow<Distill, V>,
    student: Optimiser<V>,
    entropy: Optimiser<V>,
    gradient: V,
    /// Sum and number of the teachers' entropies, and of those predicted in the last epoch.
    seen: Vec<f64>,
    /// The network of the entropy at the end of training.
    last: Option<V>,
}

/// The entropies that a network predicts, its first output for each example, and the gradient of their mean squared
/// error at all its outputs.
fn predicted(outputs: &[f64], entropies: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (n, width) = (entropies.len(), outputs.len() / entropies.len());
    let predicted: Vec<f64> = outputs.iter().step_by(width).copied().collect();
    let mut seed = vec![0.0; outputs.len()];
    for (i, (h, entropy)) in predicted.iter().zip(entropies).enumerate() {
        seed[i * width] = 2.0 * (h - entropy) / n as f64;
    }
    (predicted, seed)
}

impl<V: Vector> School<V> {
    fn student_rate(&self, at: &Step<'_>) -> f64 {
        let own = Step { epoch: at.epoch - self.settings.burn_in, ..*at };
        let fall = Schedule::Cosine { end: 0.0 }.fraction(&own, self.settings.epochs);
        self.settings.student_lr * fall
    }

    /// Both networks learn what the teacher predicts.
    fn teach(
        &mut self,
        points: &mut [Point<V>],
        batch: &mut MiniBatch<'_, V>,
        taught: &dyn Taught,
        at: &Step<'_>,
    ) {
        let teacher = batch.outputs(&points[0]);
        let student = batch.outputs(&points[STUDENT]);
        let mut of_student = vec![0.0; student.len()];
        taught.cross_entropy(&teacher, &student, &mut of_student);
        let entropies = taught.entropies(&teacher);
        let (found, of_entropy) = predicted(&batch.outputs(&points[ENTROPY]), &entropies);
        self.count(0, &entropies);
        if at.epoch + 1 == Pace::epochs(&self.settings) {
            self.count(2, &found);
        }
        let rate = self.student_rate(at);
        for (place, seed, optimiser) in
            [(STUDENT, &of_student, &mut self.student), (ENTROPY, &of_entropy, &mut self.entropy)]
        {
            batch.seeded_gradient(&mut points[place], Seed::Factors(seed), &mut self.gradient);
            // As in every descent whose gradients can be arbitrarily large; elsewhere this does Adam no harm.
            self.gradient.clip(clip::longest(false));
            let flat = Gaussian { precision: 0.0 };
            let gradient = Gradient::new(&mut self.gradient, &flat, at.examples);
            optimiser.step(&mut points[place].theta, gradient, rate);
        }
    }

    fn count(&mut self, place: usize, entropies: &[f64]) {
        self.seen[place] += entropies.iter().sum::<f64>();
        self.seen[place + 1] += entropies.len() as f64;
    }
}

impl<V: Vector> Rule<V> for School<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        self.teacher
            .memory()
            .and(self.student.memory().of(STUDENT))
            .and(self.entropy.memory().of(ENTROPY))
            .numbers("seen", &mut self.seen)
            .optional("entropy", &mut self.last)
    }
    /// Means over the training data of the entropies of all teachers, and of the entropies predicted in the last epoch.
    /// They agree if the network of the entropy has learnt them.
    fn report(&self) -> Vec<(&'static str, f64)> {
        let [teachers, count, predicted, last] = [0, 1, 2, 3].map(|i| self.seen[i]);
        if last == 0.0 {
            return Vec::new();
        }
        vec![("teacher_entropy", teachers / count), ("expected_entropy", predicted / last)]
    }
    /// The network whose first output is the expected entropy, in nats.
    fn factors(&mut self) -> Vec<V> {
        self.last.clone().into_iter().collect()
    }
}

impl<V: Vector> Steps<V> for School<V> {
    fn epochs(&self) -> usize {
        Pace::epochs(&self.settings)
    }
    fn points(&self) -> usize {
        3
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        Pace::rate(&self.settings, at)
    }
    fn is_noisy(&self, at: &Step<'_>) -> bool {
        self.teacher.is_noisy(at)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        self.teacher.step(&mut points[..STUDENT], batch, at);
        let likelihood = batch.likelihood();
        let taught = likelihood.as_deref().and_then(|likelihood| likelihood.taught());
        if let Some(taught) = taught.filter(|_| at.epoch >= self.settings.burn_in) {
            self.teach(points, batch, taught, at);
        }
    }
    fn after_epoch(&mut self, epoch: usize, points: &[Point<V>]) -> Keep {
        if epoch + 1 < Pace::epochs(&self.settings) {
            return Keep::Nothing;
        }
        self.last = Some(points[ENTROPY].theta.clone());
        Keep::Only(STUDENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_of_the_squared_error_is_that_of_differences() {
        let (outputs, entropies) = ([0.3, 9.0, -0.2, 4.0, 1.1, -7.0], [0.5, 0.1, 0.9]);
        let loss = |outputs: &[f64]| {
            let each = outputs.chunks(2).zip(entropies).map(|(row, h)| (row[0] - h).powi(2));
            each.sum::<f64>() / 3.0
        };
        let (found, seed) = predicted(&outputs, &entropies);
        assert_eq!(found, [0.3, -0.2, 1.1]);
        for i in 0..6 {
            let at = |step: f64| {
                let mut moved = outputs;
                moved[i] += step;
                loss(&moved)
            };
            let numeric = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((numeric - seed[i]).abs() < 1e-8, "{i}: {numeric} {}", seed[i]);
        }
    }
}
