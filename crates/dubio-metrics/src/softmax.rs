//! The inner loops over rows of class values, written so that they vectorise.

use multiversion::multiversion;

use crate::members::{Form, SUM_TOLERANCE};
use crate::numeric::lanes::{map_sum, map_sum_into, max, zip_sum};
use crate::numeric::transcendental::{TINY, entropy_term, exp, ln, select};

/// Products with this in place of -inf are 0 and not NaN, because its exponential is 0.
const FLOOR: f64 = -1e150;

/// Index of the largest element; the lowest index wins a tie.
#[multiversion(targets = "simd")]
pub(crate) fn argmax(row: &[f64]) -> usize {
    let top = max(row);
    let (chunks, _) = row.as_chunks::<8>();
    let holds_top = |chunk: &[f64; 8]| chunk.iter().fold(false, |any, &x| any | (x == top));
    let before = 8 * chunks.iter().position(holds_top).unwrap_or(chunks.len());
    row[before..].iter().position(|&x| x == top).map_or(0, |place| before + place)
}

/// Adds a member's probabilities to `sum` and its rows' entropies to `entropy`; `rows` is
/// overwritten. False when a number is at fault ([`crate::members::first_fault`] says which).
#[multiversion(targets = "simd")]
pub(crate) fn add_member(
    form: Form,
    rows: &mut [f64],
    classes: usize,
    sum: &mut [f64],
    entropy: &mut [f64],
) -> bool {
    let mut clean = true;
    for ((row, sum), entropy) in
        rows.chunks_exact_mut(classes).zip(sum.chunks_exact_mut(classes)).zip(entropy)
    {
        let scale = match form {
            Form::Logits => {
                let top = max(row);
                let [z, moment] = map_sum(row, f64::NEG_INFINITY, |x| {
                    let shifted = x - top;
                    let e = exp(shifted);
                    (e, [e, e * select(shifted < FLOOR, FLOOR, shifted)])
                });
                clean &= z.is_finite();
                *entropy += z.ln() - moment / z;
                1.0 / z
            }
            Form::LogProbs => {
                clean &= max(row) <= SUM_TOLERANCE;
                let [z, h] = map_sum(row, f64::NEG_INFINITY, |x| {
                    let e = exp(x);
                    (e, [e, entropy_term(e, x)])
                });
                clean &= (z - 1.0).abs() <= SUM_TOLERANCE;
                *entropy += h;
                1.0
            }
            Form::Probs => {
                let [z, outside, h] = map_sum(row, 0.0, |x| {
                    let outside = f64::from(u8::from(!(0.0..=1.0).contains(&x)));
                    (x, [x, outside, entropy_term(x, ln(x))])
                });
                clean &= (outside == 0.0) & ((z - 1.0).abs() <= SUM_TOLERANCE);
                *entropy += h;
                1.0
            }
        };
        for (sum, e) in sum.iter_mut().zip(row) {
            *sum += *e * scale;
        }
    }
    clean
}

/// Whether all rows are probabilities that sum to 1 ([`crate::members::first_fault`] says which are not). Negative
/// zeros become zeros.
#[multiversion(targets = "simd")]
pub(crate) fn are_probabilities(rows: &mut [f64], classes: usize) -> bool {
    let mut clean = true;
    for row in rows.chunks_exact_mut(classes) {
        let outside = |x: f64| f64::from(u8::from(!(0.0..=1.0).contains(&x)));
        let [z, outside] = zip_sum(row, row, |x, _| [x, outside(x)]);
        // Where rounding could decide, the sum is taken again without it, as for several members.
        const NEAR: f64 = 1e-6;
        let mut off = (z - 1.0).abs();
        if (off - SUM_TOLERANCE).abs() < NEAR {
            let [z] = map_sum(row, 0.0, |x| (x, [x]));
            off = (z - 1.0).abs();
        }
        clean &= (outside == 0.0) & (off <= SUM_TOLERANCE);
        row.iter_mut().for_each(|x| *x += 0.0);
    }
    clean
}

/// The logarithm of each number.
#[multiversion(targets = "simd")]
pub(crate) fn logarithms(p: &[f64], out: &mut [f64]) {
    map_sum_into::<0>(p, out, 0.0, |p| (ln(p), []));
}

/// The entropy of a row of probabilities, to the bit as [`log_of_single`] gives it.
#[multiversion(targets = "simd")]
pub(crate) fn entropy(p: &[f64]) -> f64 {
    zip_sum(p, p, |p, _| [entropy_term(p, ln(p))])[0]
}

/// Turns a row into probabilities up to a factor, and gives their sum.
#[multiversion(targets = "simd")]
pub(crate) fn weights(form: Form, row: &mut [f64]) -> f64 {
    let [sum] = match form {
        Form::Logits => {
            let top = max(row);
            map_sum(row, f64::NEG_INFINITY, |x| {
                let e = exp(x - top);
                (e, [e])
            })
        }
        Form::LogProbs => map_sum(row, f64::NEG_INFINITY, |x| {
            let e = exp(x);
            (e, [e])
        }),
        Form::Probs => map_sum(row, 0.0, |x| (x, [x])),
    };
    sum
}

/// For an ensemble of one: turns its values into log probabilities and gives the entropies.
#[multiversion(targets = "simd")]
pub(crate) fn log_of_single(
    form: Form,
    rows: &mut [f64],
    classes: usize,
    p: &[f64],
    entropy: &mut [f64],
) {
    for ((row, p), entropy) in
        rows.chunks_exact_mut(classes).zip(p.chunks_exact(classes)).zip(entropy)
    {
        match form {
            Form::Logits => {
                // The largest logit's own probability gives the normaliser back without another pass.
                let (top, log_top) = (max(row), ln(max(p)));
                map_sum::<0>(row, 0.0, |x| ((x - top) + log_top, []));
            }
            Form::LogProbs => {}
            Form::Probs => {
                map_sum::<0>(row, 0.0, |x| (ln(x), []));
            }
        }
        [*entropy] = zip_sum(p, row, |p, log_p| [entropy_term(p, log_p)]);
    }
}

/// Turns sums over members into means; gives their logarithms and the rows' entropies. True when
/// a probability is below [`TINY`], so that its logarithm has to be taken another way.
#[multiversion(targets = "simd")]
pub(crate) fn finish_mean(
    weight: f64,
    classes: usize,
    p: &mut [f64],
    log_p: &mut [f64],
    entropy: &mut [f64],
) -> bool {
    let mut underflow = 0.0;
    for ((p, log_p), entropy) in
        p.chunks_exact_mut(classes).zip(log_p.chunks_exact_mut(classes)).zip(entropy)
    {
        for (p, log_p) in p.iter_mut().zip(log_p.iter_mut()) {
            *p *= weight;
            *log_p = ln(*p);
        }
        let [h, tiny] = zip_sum(p, log_p, |p, log_p| {
            [entropy_term(p, log_p), if p < TINY { 1.0 } else { 0.0 }]
        });
        *entropy = h;
        underflow += tiny;
    }
    underflow > 0.0
}

/// What one row gives at an inverse temperature `beta`: the moments of `log p` under
/// `softmax(beta log p)`, with `log p` taken relative to its largest value `top`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tempered {
    /// `1 / sum exp(beta (log p - top))`.
    pub one_by_z: f64,
    /// `ln sum exp(beta (log p - top))`.
    pub log_z: f64,
    /// Mean of `log p - top`.
    pub mean: f64,
    /// Variance of `log p`.
    pub variance: f64,
    /// Sum of squared probabilities.
    pub square: f64,
}

/// The moments of a row of log probabilities at `beta`. Leaves `exp(beta (log p - top))` in
/// `scratch`.
#[multiversion(targets = "simd")]
pub(crate) fn temper(beta: f64, log_p: &[f64], top: f64, scratch: &mut [f64]) -> Tempered {
    if let (&[a, b], [out_a, out_b]) = (log_p, &mut *scratch) {
        return temper_pair(beta, [a - top, b - top], [out_a, out_b]);
    }
    let [z, first, second, square] = map_sum_into(log_p, scratch, f64::NEG_INFINITY, |x| {
        let shifted = x - top;
        let shifted = select(shifted < FLOOR, FLOOR, shifted);
        let e = exp(beta * shifted);
        (e, [e, e * shifted, e * shifted * shifted, e * e])
    });
    let mean = first / z;
    Tempered {
        one_by_z: 1.0 / z,
        log_z: z.ln(),
        mean,
        variance: (second / z - mean * mean).max(0.0),
        square: square / (z * z),
    }
}

/// The same for two classes, which would leave most of a vector register empty.
#[inline(always)]
fn temper_pair(beta: f64, shifted: [f64; 2], out: [&mut f64; 2]) -> Tempered {
    let shifted = shifted.map(|shifted| select(shifted < FLOOR, FLOOR, shifted));
    let e = shifted.map(|shifted| exp(beta * shifted));
    for (out, e) in out.into_iter().zip(e) {
        *out = e;
    }
    let z = e[0] + e[1];
    let one_by_z = 1.0 / z;
    let [first, second] = [e[0] * one_by_z, e[1] * one_by_z];
    let mean = first * shifted[0] + second * shifted[1];
    let gap = shifted[0] - shifted[1];
    Tempered {
        one_by_z,
        log_z: z.ln(),
        mean,
        variance: first * second * gap * gap,
        square: first * first + second * second,
    }
}

/// `exp(beta (log p - top)) * one_by_z`, to the bit as [`temper`] and [`scale`] give it.
#[multiversion(targets = "simd")]
pub(crate) fn raise(beta: f64, top: f64, one_by_z: f64, log_p: &[f64], out: &mut [f64]) {
    if let (&[a, b], [out_a, out_b]) = (log_p, &mut *out) {
        let power = |x: f64| {
            let shifted = x - top;
            exp(beta * select(shifted < FLOOR, FLOOR, shifted)) * one_by_z
        };
        (*out_a, *out_b) = (power(a), power(b));
        return;
    }
    map_sum_into::<0>(log_p, out, 0.0, |x| {
        let shifted = x - top;
        (exp(beta * select(shifted < FLOOR, FLOOR, shifted)) * one_by_z, [])
    });
}

/// Multiplies a row.
#[multiversion(targets = "simd")]
pub(crate) fn scale(row: &mut [f64], by: f64) {
    row.iter_mut().for_each(|x| *x *= by);
}

/// `sum_c (p_c - [label = c])^2`.
#[multiversion(targets = "simd")]
pub(crate) fn brier(p: &[f64], label: usize) -> f64 {
    brier_from_square(square(p), p[label])
}

/// `sum_c p_c^2`.
#[multiversion(targets = "simd")]
pub(crate) fn square(p: &[f64]) -> f64 {
    zip_sum(p, p, |p, _| [p * p])[0]
}

/// The same from the sum of squared probabilities and the label's probability.
#[inline(always)]
pub(crate) fn brier_from_square(square: f64, label: f64) -> f64 {
    // Kept from falling below 0 by rounding when the label has nearly all the mass.
    (square - label * label).max(0.0) + (1.0 - label) * (1.0 - label)
}

/// `1/2 sum_c |p_c - q_c|`.
#[multiversion(targets = "simd")]
pub(crate) fn total_variation(p: &[f64], q: &[f64]) -> f64 {
    let [sum] = zip_sum(p, q, |p, q| [(p - q).abs()]);
    0.5 * sum
}

/// `sum_c p_c k_c`.
#[multiversion(targets = "simd")]
pub(crate) fn dot(p: &[f64], k: &[f64]) -> f64 {
    zip_sum(p, k, |p, k| [p * k])[0]
}
