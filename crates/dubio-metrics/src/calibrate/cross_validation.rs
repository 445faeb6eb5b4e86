//! Test-time cross-validation: scores at a temperature that was fitted on other examples.
//!
//! The examples are split at random into two halves, and the temperature fitted on one is used to
//! score the other. This is done five times and averaged. Ashukha et al. 2020, sec. 3.1.

use dubio_random::stream::Stream;
use dubio_random::uniform::{below, shuffle};

use super::temperature::Fit;
use crate::examples::Examples;
use crate::score::Undefined;

/// Number of random splits.
pub const REPEATS: usize = 5;

/// A split into two halves, each with the inverse temperature fitted on the other.
pub struct Split {
    rows: [Vec<u32>; 2],
    beta: [f64; 2],
}

impl Split {
    /// The `repeat`-th split.
    pub fn new(
        examples: &Examples,
        whole: &Fit,
        stream: &Stream,
        repeat: usize,
    ) -> Result<Self, Undefined> {
        if examples.len() < 2 {
            return Err(Undefined::because("cross-validation needs two examples"));
        }
        let rows = halves(examples.len(), &stream.nth(repeat));
        let beta = |half: usize| {
            whole
                .refit(examples, &rows[half])
                .map_err(|why| Undefined(format!("in one fold, {}", why.0)))
        };
        let beta = [beta(1)?, beta(0)?];
        Ok(Self { rows, beta })
    }

    /// One of its halves, at the temperature of the other.
    pub fn half(&self, examples: &Examples, half: usize) -> Examples {
        examples.tempered(Some(&self.rows[half]), self.beta[half])
    }
}

/// A random half of `0..n`, and the other, each ascending so that rows are read in order.
fn halves(n: usize, stream: &Stream) -> [Vec<u32>; 2] {
    let mut generator = stream.generator();
    let mut rows: Vec<u32> = (0..n as u32).collect();
    shuffle(&mut rows, |n| below(&mut generator, n));
    let mut first = vec![false; n];
    rows[..n / 2].iter().for_each(|&row| first[row as usize] = true);
    let half = |side: bool| (0..n as u32).filter(|&row| first[row as usize] == side).collect();
    [half(true), half(false)]
}
