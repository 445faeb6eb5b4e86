//! Vectors.

use std::ops::Range;

use dubio_nn::cpu::Cpu;
use dubio_nn::engine::{Descent, Engine, Vector};
use dubio_nn::matrix::{Matrix, Reads, Side};
use dubio_random::stream::Stream;

use crate::asked::numbers;

/// Every operation on vectors, on both engines.
pub(crate) fn vectors<G: Engine<Number = f32>>(gpu: &G) {
    fn moved<E: Engine<Number = f32>>(engine: &E) -> Vec<f64> {
        let vector = |name: &str| engine.vector(&numbers::<f32>(10_000, name));
        let (mut v, x) = (vector("v"), vector("x"));
        let mut square = x.zeros(x.len());
        square.add_product(1.0, &x, &x);
        v.scale(0.5);
        v.axpy(0.25, &x);
        v.combine(1.5, -2.0, &x);
        v.add_over_root(0.1, &x, &square, 1e-3);
        v.add_times_root(0.2, &x, &square);
        square.axpy(1.0, &engine.vector(&vec![0.1; 10_000]));
        v.add_quotient(0.3, &x, &square);
        v.add_times_exp(0.1, &x, &x);
        v.put(10, &x.part(20..40));
        for decay in [0.0, 0.3] {
            let (mut velocity, mut gradient) = (x.clone(), square.clone());
            v.descend(&mut velocity, &mut gradient, Descent { decay, momentum: 0.9, rate: 0.1 });
            v.axpy(0.01, &velocity);
        }
        // A convolution's kernels and a linear layer's weights, with factors on both sides.
        let matrix = |range: Range<usize>, rows, columns| {
            let (inputs, bias, reads) = (Side::Rows, 0..0, Reads::Hidden);
            Matrix { range, rows, columns, inputs, bias, reads }
        };
        let matrices = [matrix(100..100 + 9 * 30 * 20, 30, 20), matrix(6000..9500, 7, 500)];
        let factors = x.part(0..557);
        v.scale_sides(&matrices, &factors);
        let mut sums = factors.clone();
        sums.add_side_gradients(0.1, &matrices, &x, &v, &factors);
        v.put(9500, &sums.part(57..557));
        v.put(0, &sums.part(0..57));
        v.write(50, &[1.0, 2.0]);
        let mut found = v.read(0..v.len());
        found.extend([v.dot(&x), v.dot(&v)]);
        v.clip(1.0);
        found.extend(v.read(5..500));
        v.fill(3.0);
        let mut other = x.clone();
        other.copy_from(&v);
        found.extend(other.read(0..3));
        found
    }
    let (expected, found) = (moved(&Cpu::<f32>::default()), moved(gpu));
    for (i, (a, b)) in expected.iter().zip(&found).enumerate() {
        assert!((a - b).abs() <= 2e-6 * (1.0 + a.abs()), "{i}: {a} and {b}");
    }
}

pub(crate) fn noise<G: Engine<Number = f32>>(gpu: &G) {
    fn drawn<E: Engine<Number = f32>>(engine: &E) -> Vec<f64> {
        let mut v = engine.vector(&vec![0.5; 10_001]);
        v.add_noise(0.7, &Stream::root(4));
        v.read(0..v.len())
    }
    assert_eq!(drawn(&Cpu::<f32>::default()), drawn(gpu));
}
