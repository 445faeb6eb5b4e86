//! A residual block in one dimension, with its exact derivative: `x + g(x)` with `|g'| < 1`.

/// The largest slope that `g` can have in size.
pub(super) const LIPSCHITZ: f64 = 0.97;

/// `g(x) = c v . elu(M elu(w x + o) + b)`. The offsets `o` differ from example to example; all else is shared. `c` is 1,
/// or `LIPSCHITZ / (|w| |M| |v|)` where that is less, with the spectral norm of `M`: a bound on the slope, since that of
/// the ELU is at most 1. Chen et al. 2019, sec. 2, with the Jacobian itself in the place of its estimate.
pub(super) struct Block<'a> {
    w: &'a [f64],
    /// `[inputs, outputs]`.
    m: &'a [f64],
    b: &'a [f64],
    v: &'a [f64],
    scale: f64,
    /// Singular vectors of the largest singular value, and that value.
    left: Vec<f64>,
    right: Vec<f64>,
    spectral: f64,
}

/// What a forward pass leaves for the backward pass.
pub(super) struct Pass {
    /// `g(x)` and `g'(x)`, without the scale.
    value: f64,
    slope: f64,
    first: Vec<Unit>,
    second: Vec<Unit>,
}

/// A hidden unit.
#[derive(Clone, Copy, Default)]
struct Unit {
    /// `elu` of what comes in, and its first two derivatives.
    elu: [f64; 3],
    /// Derivative by `x` of what comes in.
    slope: f64,
}

impl Unit {
    fn of(x: f64, slope: f64) -> Self {
        let e = x.min(0.0).exp();
        Self { elu: if x > 0.0 { [x, 1.0, 0.0] } else { [e - 1.0, e, e] }, slope }
    }
    /// Derivative by `x` of what goes out.
    fn tangent(&self) -> f64 {
        self.elu[1] * self.slope
    }
    /// Gradients at what comes in and at its slope, from those at what goes out and at its tangent.
    fn back(&self, value: f64, tangent: f64) -> [f64; 2] {
        [value * self.elu[1] + tangent * self.slope * self.elu[2], tangent * self.elu[1]]
    }
}

/// Numbers of a block with this many hidden units, without the offsets.
pub(super) fn numbers(hidden: usize) -> usize {
    hidden * (hidden + 3)
}

impl<'a> Block<'a> {
    /// From numbers in the order `w`, `M`, `b`, `v`.
    pub(super) fn new(numbers: &'a [f64], hidden: usize) -> Self {
        let (w, rest) = numbers.split_at(hidden);
        let (m, rest) = rest.split_at(hidden * hidden);
        let (b, v) = rest.split_at(hidden);
        let (left, right, spectral) = spectral(m, hidden);
        let scale = (LIPSCHITZ / (length(w) * spectral * length(v))).min(1.0);
        Self { w, m, b, v, scale, left, right, spectral }
    }

    /// `x + g(x)` and its derivative.
    pub(super) fn at(&self, x: f64, offsets: &[f64]) -> (f64, f64) {
        let Pass { value, slope, .. } = self.forward(x, offsets);
        (x + self.scale * value, 1.0 + self.scale * slope)
    }

    pub(super) fn forward(&self, x: f64, offsets: &[f64]) -> Pass {
        let first: Vec<Unit> =
            self.w.iter().zip(offsets).map(|(w, o)| Unit::of(w * x + o, *w)).collect();
        let hidden = self.w.len();
        let (mut inputs, mut slopes) = (self.b.to_vec(), vec![0.0; hidden]);
        for (unit, row) in first.iter().zip(self.m.chunks_exact(hidden)) {
            let (value, tangent) = (unit.elu[0], unit.tangent());
            for ((input, slope), m) in inputs.iter_mut().zip(&mut slopes).zip(row) {
                *input += m * value;
                *slope += m * tangent;
            }
        }
        let second: Vec<Unit> =
            inputs.iter().zip(slopes).map(|(x, slope)| Unit::of(*x, slope)).collect();
        let sum = |of: &dyn Fn(&Unit) -> f64| {
            self.v.iter().zip(&second).map(|(v, unit)| v * of(unit)).sum()
        };
        Pass { value: sum(&|unit| unit.elu[0]), slope: sum(&Unit::tangent), first, second }
    }

    /// From the gradients at `x + g(x)` and at its derivative: adds the gradients at the block's numbers and at the
    /// offsets, and gives the one at `x`.
    pub(super) fn backward(
        &self,
        x: f64,
        pass: &Pass,
        [value, slope]: [f64; 2],
        gradient: &mut [f64],
        of_offsets: &mut [f64],
    ) -> f64 {
        let (hidden, c) = (self.w.len(), self.scale);
        let (of_w, rest) = gradient.split_at_mut(hidden);
        let (of_m, rest) = rest.split_at_mut(hidden * hidden);
        let (of_b, of_v) = rest.split_at_mut(hidden);
        let mut of_slopes = vec![0.0; hidden];
        let mut of_inputs = vec![0.0; hidden];
        for (k, unit) in pass.second.iter().enumerate() {
            of_v[k] += c * (value * unit.elu[0] + slope * unit.tangent());
            [of_inputs[k], of_slopes[k]] = unit.back(c * value * self.v[k], c * slope * self.v[k]);
            of_b[k] += of_inputs[k];
        }
        let mut of_x = value;
        let rows = self.m.chunks_exact(hidden).zip(of_m.chunks_exact_mut(hidden));
        for (k, (unit, (row, of_row))) in pass.first.iter().zip(rows).enumerate() {
            let (mut of_value, mut of_tangent) = (0.0, 0.0);
            let (out, tangent) = (unit.elu[0], unit.tangent());
            for j in 0..hidden {
                of_value += row[j] * of_inputs[j];
                of_tangent += row[j] * of_slopes[j];
                of_row[j] += of_inputs[j] * out + of_slopes[j] * tangent;
            }
            let [of_input, of_slope] = unit.back(of_value, of_tangent);
            of_w[k] += of_input * x + of_slope;
            of_offsets[k] += of_input;
            of_x += of_input * self.w[k];
        }
        of_x
    }

    /// Adds the gradient that reaches the numbers through the scale, whose own gradient is the sum over examples of
    /// [`of_scale`](Self::of_scale).
    pub(super) fn through_scale(&self, of_scale: f64, gradient: &mut [f64]) {
        if self.scale >= 1.0 {
            return;
        }
        let (hidden, factor) = (self.w.len(), -of_scale * self.scale);
        let (of_w, rest) = gradient.split_at_mut(hidden);
        let (of_m, rest) = rest.split_at_mut(hidden * hidden);
        let of_v = &mut rest[hidden..];
        let of_length = |to: &mut [f64], from: &[f64]| {
            let square = length(from).powi(2);
            to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from / square);
        };
        of_length(of_w, self.w);
        of_length(of_v, self.v);
        for (row, left) in of_m.chunks_exact_mut(hidden).zip(&self.left) {
            let along = factor * left / self.spectral;
            row.iter_mut().zip(&self.right).for_each(|(to, right)| *to += along * right);
        }
    }

    /// The gradient at the scale.
    pub(super) fn of_scale(&self, pass: &Pass, [value, slope]: [f64; 2]) -> f64 {
        value * pass.value + slope * pass.slope
    }

    /// `g'(x)`.
    pub(super) fn slope(&self, pass: &Pass) -> f64 {
        self.scale * pass.slope
    }

    /// `x + g(x)`.
    pub(super) fn value(&self, x: f64, pass: &Pass) -> f64 {
        x + self.scale * pass.value
    }

    /// The `x` with `x + g(x) = y`: Newton's method inside a bracket, from a first guess.
    pub(super) fn inverse(&self, y: f64, guess: f64, offsets: &[f64]) -> f64 {
        let (first, slope) = self.at(guess, offsets);
        // No slope is below 1 - LIPSCHITZ.
        let reach = (first - y).abs() / (1.0 - LIPSCHITZ);
        let (mut low, mut high) = (guess - reach, guess + reach);
        let mut x = guess - (first - y) / slope;
        for _ in 0..200 {
            let (value, slope) = self.at(x, offsets);
            let miss = value - y;
            if miss.abs() <= 1e-12 * (1.0 + y.abs()) {
                break;
            }
            if miss > 0.0 {
                high = x
            } else {
                low = x
            }
            let next = x - miss / slope;
            x = if next > low && next < high { next } else { 0.5 * (low + high) };
        }
        x
    }
}

fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The largest singular value of a square matrix, and its left and right singular vectors, by power iteration to a
/// relative 1e-13, so that the vectors have six digits.
fn spectral(m: &[f64], side: usize) -> (Vec<f64>, Vec<f64>, f64) {
    let normalised = |mut vector: Vec<f64>| {
        let size = length(&vector);
        vector.iter_mut().for_each(|x| *x /= size);
        (vector, size)
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    // Not orthogonal to any vector that training arrives at.
    let (mut left, mut last) = normalised((0..side).map(|i| 1.0 + (i as f64).sin()).collect());
    let mut right = Vec::new();
    for _ in 0..500 {
        let mut back = vec![0.0; side];
        for (row, l) in m.chunks_exact(side).zip(&left) {
            back.iter_mut().zip(row).for_each(|(to, m)| *to += m * l);
        }
        right = normalised(back).0;
        let (next, size) = normalised(m.chunks_exact(side).map(|row| dot(row, &right)).collect());
        left = next;
        let settled = (size - last).abs() <= 1e-13 * size;
        last = size;
        if settled {
            break;
        }
    }
    (left, right, last)
}
