//! What the energies of a Hamiltonian chain tell about it.

use crate::memory::Memory;

/// An error of the energy beyond which a trajectory has left the one that it should follow; Stan's value.
pub(super) const DIVERGENT: f64 = 1000.0;

/// E-BFMI below which energies change too slowly for the chain to reach the tails: Betancourt 2016.
const LOW_BFMI: f64 = 0.3;

/// The draws of a chain since burn-in: how many diverged, and the energy `U / T + |p|^2 / 2` of each.
#[derive(Default)]
pub(super) struct Energies {
    each: Vec<f64>,
    divergent: u64,
}

impl Energies {
    pub(super) fn add(&mut self, energy: f64, divergent: bool) {
        self.each.push(energy);
        self.divergent += u64::from(divergent);
    }

    pub(super) fn draws(&self) -> usize {
        self.each.len()
    }

    pub(super) fn report(&self) -> Vec<(&'static str, f64)> {
        let fraction = bfmi(&self.each).map(|fraction| ("e_bfmi", fraction));
        [("divergent_draws", self.divergent as f64)].into_iter().chain(fraction).collect()
    }

    /// What a user must know before trusting the chain, and what to do about it.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.divergent > 0 {
            all.push(format!(
                "{} of {} draws diverged, so parts of the posterior were not explored; raise \
                 `target_acceptance` or take a narrower prior (`prior_std`)",
                self.divergent,
                self.draws()
            ));
        }
        if let Some(fraction) = bfmi(&self.each).filter(|fraction| *fraction < LOW_BFMI) {
            all.push(format!(
                "E-BFMI is {fraction:.2}, below {LOW_BFMI}: the chain moves slowly between \
                 energies and may not have reached the tails; run it longer (`samples`) or take a \
                 narrower prior (`prior_std`)"
            ));
        }
        all
    }

    pub(super) fn memory<V>(&mut self) -> Memory<'_, V> {
        Memory::none().numbers("energies", &mut self.each).count("divergent", &mut self.divergent)
    }
}

/// The estimated Bayesian fraction of missing information,
/// `sum_i (E_i - E_{i-1})^2 / sum_i (E_i - mean)^2` (Betancourt 2016): near 1 where a new momentum reaches every
/// energy, near 0 where it does not. None for fewer than two draws, or where the energies are all the same.
fn bfmi(energies: &[f64]) -> Option<f64> {
    let mean = energies.iter().sum::<f64>() / energies.len() as f64;
    let spread: f64 = energies.iter().map(|energy| (energy - mean).powi(2)).sum();
    let steps: f64 = energies.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    (energies.len() > 1 && spread > 0.0 && spread.is_finite()).then_some(steps / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// import numpy as np, arviz as az
    /// e = np.array([3.1, 2.7, 4.4, 3.9, 5.2, 2.2, 3.3, 4.1])
    /// print(repr(az.bfmi(e)))
    #[test]
    fn bfmi_is_that_of_arviz() {
        let energies = [3.1, 2.7, 4.4, 3.9, 5.2, 2.2, 3.3, 4.1];
        assert!((bfmi(&energies).unwrap() - 2.382_402_707_275_804).abs() < 1e-12);
        assert_eq!((bfmi(&[1.0]), bfmi(&[1.0, 1.0])), (None, None));
    }

    #[test]
    fn a_chain_that_is_unwell_says_so_in_words() {
        let mut well = Energies::default();
        (0..100).for_each(|i| well.add(f64::from(i * 37 % 101), false));
        assert!(well.warnings().is_empty());
        let mut slow = Energies::default();
        (0..100).for_each(|i| slow.add(f64::from(i), i % 50 == 0));
        let said = slow.warnings();
        assert!(said[0].starts_with("2 of 100 draws diverged"), "{said:?}");
        assert!(said[1].contains("E-BFMI is 0.00, below 0.3"), "{said:?}");
    }
}
