//! Sums of what a row's elements give, written so that they vectorise.
//!
//! They run in eight lanes that are added in a fixed order at the end: the same bits on every
//! machine, whatever its registers.

const WIDE: usize = 8;

/// `N` sums in lanes. The first, a row's normaliser, is kept together with its rounding error, so
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

/// Maps every element and sums the `N` numbers that each gives. A last chunk that is not full is
/// filled up with `pad`, whose numbers must be 0: one element takes as long as eight.
#[inline(always)]
pub(crate) fn map_sum<const N: usize>(
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
pub(crate) fn map_sum_into<const N: usize>(
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
pub(crate) fn zip_sum<const N: usize>(
    a: &[f64],
    b: &[f64],
    f: impl Fn(f64, f64) -> [f64; N],
) -> [f64; N] {
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
pub(crate) fn max(row: &[f64]) -> f64 {
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
