//! Bins of equal width on `[0, 1]`, and the other conventions that go by the name of ECE.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// Which bin a value on an edge belongs to. Five conventions are in use and give five numbers;
/// all but the first are here to reproduce published figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edges {
    /// `(l, u]`, with 0 in the first bin: Guo et al. 2017, and the default here.
    RightClosed,
    /// `[l, u)`, with 1 in the last bin: netcal, numpy.histogram.
    LeftClosed,
    /// `[l, u)`, with a further bin for exactly 1: torchmetrics.
    Torchmetrics,
    /// `[l, u)`, with examples at exactly 1 left out altogether: OpenOOD.
    DropOne,
    /// Edges at every `ceil(n / bins)`-th sorted value and at the largest; bins open at both
    /// ends, so values on an edge are in none: the SWAG code's reliability curves.
    QuantileStrict,
}

impl Edges {
    /// All conventions, the default first.
    pub const ALL: [Self; 5] = [
        Self::RightClosed,
        Self::LeftClosed,
        Self::Torchmetrics,
        Self::DropOne,
        Self::QuantileStrict,
    ];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::RightClosed => "right-closed",
            Self::LeftClosed => "left-closed",
            Self::Torchmetrics => "torchmetrics",
            Self::DropOne => "drop-one",
            Self::QuantileStrict => "quantile-strict",
        }
    }

    /// The bin of a value, and the number of bins; a value in no bin gets that number. Some
    /// conventions look at all values first.
    pub(crate) fn cells(self, values: &[f64], bins: usize) -> (Box<CellOf>, usize) {
        let last = bins - 1;
        match self {
            Self::RightClosed => (Box::new(move |v| right_closed(v, bins) as u32), bins),
            Self::LeftClosed => (Box::new(move |v| left_closed(v, bins).min(last) as u32), bins),
            Self::Torchmetrics => (Box::new(move |v| left_closed(v, bins) as u32), bins + 1),
            Self::DropOne => (Box::new(move |v| left_closed(v, bins) as u32), bins),
            Self::QuantileStrict => quantile_strict(values, bins),
        }
    }
}

/// The bin of a value.
pub(crate) type CellOf = dyn Fn(f64) -> u32 + Sync;

impl fmt::Display for Edges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Edges {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|e| e.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|e| e.name()).collect();
            format!("no bin edges are called `{name}`; there are {}", names.join(", "))
        })
    }
}

/// Edge `k` of `bins` bins.
pub(crate) fn edge(k: usize, bins: usize) -> f64 {
    k as f64 / bins as f64
}

/// Bin `(l, u]` of a value: 0 goes into the first, anything above 1 into the last.
pub(crate) fn right_closed(value: f64, bins: usize) -> usize {
    let mut bin = ((value * bins as f64) as usize).min(bins - 1);
    // The product rounds; the comparison with the edge itself decides.
    if bin > 0 && value <= edge(bin, bins) {
        bin -= 1;
    } else if bin + 1 < bins && value > edge(bin + 1, bins) {
        bin += 1;
    }
    bin
}

/// Bin `[l, u)` of a value; `bins` for 1 and above.
fn left_closed(value: f64, bins: usize) -> usize {
    let mut bin = ((value * bins as f64) as usize).min(bins);
    if value < edge(bin, bins) {
        bin -= 1;
    } else if bin < bins && value >= edge(bin + 1, bins) {
        bin += 1;
    }
    bin
}

fn quantile_strict(values: &[f64], bins: usize) -> (Box<CellOf>, usize) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let step = values.len().div_ceil(bins);
    let mut edges: Vec<f64> = sorted.iter().copied().step_by(step).collect();
    if values.len() % step != 1 {
        edges.extend(sorted.last());
    }
    let cells = edges.len().saturating_sub(1);
    let cell = move |v: f64| {
        let above = edges.partition_point(|&e| e < v);
        let inside = above > 0 && above < edges.len() && v < edges[above];
        (if inside { above - 1 } else { cells }) as u32
    };
    (Box::new(cell), cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edge_belongs_to_the_side_that_the_convention_says() {
        for bins in 1..60 {
            for k in 0..=bins {
                let e = edge(k, bins);
                assert_eq!(right_closed(e, bins), k.saturating_sub(1), "edge {k} of {bins}");
                assert_eq!(left_closed(e, bins), k, "edge {k} of {bins}");
                if k < bins {
                    assert_eq!(right_closed(e.next_up(), bins), k);
                    assert_eq!(left_closed(e.next_up(), bins), k);
                }
            }
        }
    }

    #[test]
    fn names_are_read_back() {
        for edges in Edges::ALL {
            assert_eq!(edges.name().parse(), Ok(edges));
        }
        assert!("closed".parse::<Edges>().unwrap_err().contains("right-closed, left-closed"));
    }
}
