//! What one network can learn from what another predicts.

/// A likelihood whose predictions can be taught.
pub trait Taught {
    /// Mean over the examples of `E -log p(y | student)` over `y ~ p(y | teacher)`, from the outputs of both; its
    /// gradient at the student's outputs replaces `gradient`. Over many teachers, the best student has the mean of
    /// their probabilities, or the mean and the variance of their mixture.
    fn cross_entropy(&self, teacher: &[f64], student: &[f64], gradient: &mut [f64]) -> f64;
    /// The entropy of `p(y | outputs)` for each example, in nats; the entropy of a density is that of standardised
    /// targets.
    fn entropies(&self, outputs: &[f64]) -> Vec<f64>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::{Categorical, Gaussian};

    fn wave(count: usize, k: f64) -> Vec<f64> {
        (0..count).map(|i| 2.0 * (k * (i + 1) as f64).sin()).collect()
    }

    fn of(taught: &dyn Taught, teacher: &[f64], student: &[f64]) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; student.len()];
        let loss = taught.cross_entropy(teacher, student, &mut gradient);
        (loss, gradient)
    }

    #[test]
    fn the_gradient_of_the_cross_entropy_is_that_of_differences() {
        let kinds: [(&dyn Taught, usize); 2] = [(&Categorical { classes: 3 }, 3), (&Gaussian, 2)];
        for (taught, width) in kinds {
            let (teacher, student) = (wave(4 * width, 0.7), wave(4 * width, 1.9));
            let (_, gradient) = of(taught, &teacher, &student);
            for i in 0..student.len() {
                let at = |step: f64| {
                    let mut moved = student.clone();
                    moved[i] += step;
                    of(taught, &teacher, &moved).0
                };
                let numeric = (at(1e-6) - at(-1e-6)) / 2e-6;
                let scale = 1.0 + numeric.abs();
                assert!((numeric - gradient[i]).abs() < 1e-7 * scale, "{i}: {numeric}");
            }
        }
    }

    /// `H(t, s) = H(t)` where both are the same, and more elsewhere.
    #[test]
    fn a_student_that_is_its_teacher_has_the_teachers_entropy_as_loss_and_no_gradient() {
        let kinds: [(&dyn Taught, usize); 2] = [(&Categorical { classes: 3 }, 3), (&Gaussian, 2)];
        for (taught, width) in kinds {
            let teacher = wave(5 * width, 0.7);
            let (loss, gradient) = of(taught, &teacher, &teacher);
            let entropy = taught.entropies(&teacher).iter().sum::<f64>() / 5.0;
            assert!((loss - entropy).abs() < 1e-12, "{loss} {entropy}");
            assert!(gradient.iter().all(|g| g.abs() < 1e-12), "{gradient:?}");
            assert!(of(taught, &teacher, &wave(5 * width, 1.9)).0 > loss);
        }
        // Of four equal probabilities, and of a standard normal number.
        let four = Categorical { classes: 4 }.entropies(&[1.0; 4])[0];
        assert!((four - 4_f64.ln()).abs() < 1e-12);
        let normal = Gaussian.entropies(&[0.3, 0.0])[0];
        assert!((normal - 1.418_938_533_204_672_7).abs() < 1e-12, "log(2 pi e) / 2: {normal}");
    }

    /// The mixture of Normal(0, 1) and Normal(2, 1/4) has mean 1 and variance (1 + 1/4) / 2 + 1.
    #[test]
    fn the_best_student_of_two_gaussian_teachers_has_the_moments_of_their_mixture() {
        let teachers = [[0.0, 0.0], [2.0, 0.5_f64.ln()]];
        let best = [1.0, 0.5 * 1.625_f64.ln()];
        let mut sum = [0.0; 2];
        for teacher in teachers {
            let (_, gradient) = of(&Gaussian, &teacher, &best);
            sum = [sum[0] + gradient[0], sum[1] + gradient[1]];
        }
        assert!(sum.iter().all(|g| g.abs() < 1e-12), "{sum:?}");
    }
}
