//! The inner loops over rows of class values, written so that they vectorise.
//!
//! Sums run in eight lanes that are added in a fixed order at the end: the same bits on every
//! machine, whatever its registers.

use multiversion::multiversion;

use crate::members::{Form, SUM_TOLERANCE};
use crate::numeric::transcendental::{TINY, entropy_term, exp, ln, select};

const WIDE: usize = 8;

/// Products with this in place of -inf are 0 and not NaN, because its exponential is 0.
const FLOOR: f64 = -1e150;

/// `N` sums in lanes. The first, a row's normaliser, is kept with what rounding takes from it, so
/// that it does not depend on the order of the classes: rows that hold the same numbers in another
/// order must have the same confidence to the last bit, or their tie would be broken by chance.
struct Sums<const N: usize> {
    lanes: [[f64; WIDE]; N],
    lost: [f64; WIDE],
}

impl<const N: usize> Sums<N> {
    #[inline(always)]
    fn new() -> Self {
        Self { lanes: [[0.0; WIDE]; N], lost: [0.0; WIDE] }
    }

    #[inline(always)]
    fn add(&mut self, lane: usize, terms: [f64; N]) {
        for n in 0..N {
            let old = self.lanes[n][lane];
            let new = old + terms[n];
            if n == 0 {
                self.lost[lane] += rounded_away(old, terms[n], new);
            }
            self.lanes[n][lane] = new;
        }
    }

    #[inline(always)]
    fn total(self) -> [f64; N] {
        let mut totals = self.lanes.map(add_lanes);
        if N > 0 {
            let (mut sum, mut lost) = (0.0, self.lost.iter().sum::<f64>());
            for lane in self.lanes[0] {
                let new = sum + lane;
                lost += rounded_away(sum, lane, new);
                sum = new;
            }
            totals[0] = sum + lost;
        }
        totals
    }
}

/// What `sum`, the rounded `a + b`, lacks: Knuth's exact error of an addition.
#[inline(always)]
fn rounded_away(a: f64, b: f64, sum: f64) -> f64 {
    let part = sum - a;
    (a - (sum - part)) + (b - part)
}

/// Maps every element and sums the `N` numbers that each gives. What is left of the last chunk is
/// filled up with `pad`, whose numbers must be 0: one element takes as long as eight.
#[inline(always)]
fn map_sum<const N: usize>(
    row: &mut [f64],
    pad: f64,
    f: impl Fn(f64) -> (f64, [f64; N]),
) -> [f64; N] {
    let mut sums = Sums::new();
    let (chunks, rest) = row.as_chunks_mut::<WIDE>();
    for chunk in chunks {
        let input = *chunk;
        add_mapped(&input, chunk, &mut sums, &f);
    }
    if !rest.is_empty() {
        let mut mapped = [0.0; WIDE];
        add_mapped(&padded(rest, pad), &mut mapped, &mut sums, &f);
        rest.copy_from_slice(&mapped[..rest.len()]);
    }
    sums.total()
}

/// The same from one row into another.
#[inline(always)]
fn map_sum_into<const N: usize>(
    row: &[f64],
    out: &mut [f64],
    pad: f64,
    f: impl Fn(f64) -> (f64, [f64; N]),
) -> [f64; N] {
    let mut sums = Sums::new();
    let (chunks, rest) = row.as_chunks::<WIDE>();
    let (out_chunks, out_rest) = out.as_chunks_mut::<WIDE>();
    for (chunk, out) in chunks.iter().zip(out_chunks) {
        add_mapped(chunk, out, &mut sums, &f);
    }
    if !rest.is_empty() {
        let mut mapped = [0.0; WIDE];
        add_mapped(&padded(rest, pad), &mut mapped, &mut sums, &f);
        out_rest.copy_from_slice(&mapped[..rest.len()]);
    }
    sums.total()
}

#[inline(always)]
fn padded(rest: &[f64], pad: f64) -> [f64; WIDE] {
    let mut chunk = [pad; WIDE];
    chunk[..rest.len()].copy_from_slice(rest);
    chunk
}

#[inline(always)]
fn add_mapped<const N: usize>(
    input: &[f64; WIDE],
    out: &mut [f64; WIDE],
    sums: &mut Sums<N>,
    f: &impl Fn(f64) -> (f64, [f64; N]),
) {
    for lane in 0..WIDE {
        let (mapped, terms) = f(input[lane]);
        out[lane] = mapped;
        sums.add(lane, terms);
    }
}

/// Sums the `N` numbers that each pair of elements gives.
#[inline(always)]
fn zip_sum<const N: usize>(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> [f64; N]) -> [f64; N] {
    let mut lanes = [[0.0; WIDE]; N];
    let (a_chunks, b_chunks) = (a.chunks_exact(WIDE), b.chunks_exact(WIDE));
    let rest = a_chunks.remainder().iter().zip(b_chunks.remainder());
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..WIDE {
            let terms = f(a[lane], b[lane]);
            for n in 0..N {
                lanes[n][lane] += terms[n];
            }
        }
    }
    for (lane, (a, b)) in rest.enumerate() {
        let terms = f(*a, *b);
        for n in 0..N {
            lanes[n][lane] += terms[n];
        }
    }
    lanes.map(add_lanes)
}

#[inline(always)]
fn add_lanes(l: [f64; WIDE]) -> f64 {
    ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
}

/// Largest element; NaN elements are passed over.
#[inline(always)]
fn max(row: &[f64]) -> f64 {
    let mut lanes = [f64::NEG_INFINITY; WIDE];
    let chunks = row.chunks_exact(WIDE);
    let rest = chunks.remainder();
    for chunk in chunks {
        for lane in 0..WIDE {
            lanes[lane] = if chunk[lane] > lanes[lane] { chunk[lane] } else { lanes[lane] };
        }
    }
    lanes.iter().chain(rest).fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a })
}

/// Index of the largest element; the lowest index wins a tie.
#[multiversion(targets = "simd")]
pub(crate) fn argmax(row: &[f64]) -> usize {
    let top = max(row);
    row.iter().position(|&x| x == top).unwrap_or(0)
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
                // The largest logit's own probability gives the normaliser back without a pass.
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
    share: f64,
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
            *p *= share;
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
