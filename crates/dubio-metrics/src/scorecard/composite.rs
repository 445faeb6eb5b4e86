//! `composite.{robustness,uncertainty}`: means of detection scores (Vadera et al. 2020, app. C).

use super::Entry;
use crate::card::{Card, Direction, Facts, Ranked};
use crate::score::Undefined;

/// The card of `composite.robustness`.
pub static ROBUSTNESS: Card = Card {
    name: "composite.robustness",
    summary: "How well uncertainty separates out-of-distribution sets from the test set, on average.",
    formula: "mean of ood.NAME.auroc.total and ood.NAME.auroc.model over all OOD sets",
    range: (0.0, 1.0),
    direction: Direction::Higher,
    citation: "Vadera et al. 2020, URSABench, app. C",
    facts: Facts::NUMBERS,
};

/// The card of `composite.uncertainty`.
pub static UNCERTAINTY: Card = Card {
    name: "composite.uncertainty",
    summary: "How well uncertainty separates wrong predictions from right ones, on average. Each model's \
              mistakes are its own, so it cannot rank models (Ashukha et al. 2020, sec. 3.2).",
    formula: "mean of misclassification.auroc.{confidence,total,model}",
    range: (0.0, 1.0),
    direction: Direction::Higher,
    citation: "Vadera et al. 2020, URSABench, app. C",
    // It is made of scores that may not be compared.
    facts: Facts { ranked: Ranked::Never, ..Facts::NUMBERS },
};

/// Both cards.
pub static CARDS: [&Card; 2] = [&ROBUSTNESS, &UNCERTAINTY];

/// The composite that a score is part of.
pub fn part_of(name: &str) -> Option<&'static Card> {
    let ends = |end| name.ends_with(end);
    if name.starts_with("ood.") && (ends(".auroc.total") || ends(".auroc.model")) {
        return Some(&ROBUSTNESS);
    }
    name.starts_with("misclassification.auroc.").then_some(&UNCERTAINTY)
}

/// The composite scores of entries that hold what they are made of; none without OOD sets and
/// without detection of mistakes.
pub fn composite(entries: &[Entry]) -> Vec<Entry> {
    CARDS.into_iter().filter_map(|card| mean(card, entries)).collect()
}

/// The mean of some entries. Replicates with the same index are of the same resample, so their mean
/// is a replicate of the mean.
fn mean(card: &'static Card, entries: &[Entry]) -> Option<Entry> {
    let belongs =
        |entry: &&Entry| part_of(&entry.name).is_some_and(|whole| whole.name == card.name);
    let parts: Vec<&Entry> = entries.iter().filter(belongs).collect();
    let n = parts.iter().map(|part| part.n).max()?;
    let undefined = parts.iter().find_map(|part| Some((part, part.value.as_ref().err()?)));
    let count = parts.len() as f64;
    let value = match undefined {
        Some((part, why)) => Err(Undefined::because(format!("{}: {}", part.name, why.0))),
        None => Ok(parts.iter().flat_map(|part| &part.value).sum::<f64>() / count),
    };
    let resamples = parts.iter().map(|part| part.replicates.len()).min().unwrap_or(0);
    let replicate = |i: usize| parts.iter().map(|part| part.replicates[i]).sum::<f64>() / count;
    let replicates = (0..resamples).map(replicate).collect();
    Some(Entry::new(card.name.to_string(), card, n, value, replicates))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, value: Result<f64, Undefined>) -> Entry {
        Entry::new(name.into(), &ROBUSTNESS, 10, value, vec![])
    }

    #[test]
    fn the_published_composites_are_means_of_the_published_columns() {
        // Vadera et al. 2020, Tables 4 and 5: HMC; Table 1 says 0.9570 and 0.9734 (the second is
        // 0.9728 from the rounded columns, within the standard deviation of 0.0012 that it gives).
        let rows = [
            ("ood.fashion.auroc.model", 0.966),
            ("ood.fashion.auroc.total", 0.946),
            ("ood.kmnist.auroc.model", 0.968),
            ("ood.kmnist.auroc.total", 0.948),
            ("ood.kmnist.auroc.confidence", 0.1),
            ("misclassification.auroc.model", 0.9706),
            ("misclassification.auroc.total", 0.9734),
            ("misclassification.auroc.confidence", 0.9743),
            ("misclassification.aupr.total", 0.3888),
        ];
        let entries: Vec<Entry> = rows.iter().map(|(name, v)| entry(name, Ok(*v))).collect();
        let found = composite(&entries);
        assert!((found[0].value.clone().unwrap() - 0.9570).abs() < 1e-4);
        assert!((found[1].value.clone().unwrap() - 0.9734).abs() < 1.2e-3);
    }

    #[test]
    fn a_part_without_a_value_leaves_the_composite_without_one_and_says_which() {
        let why = Undefined::because("needs several members");
        let entries = [entry("ood.a.auroc.model", Err(why)), entry("ood.a.auroc.total", Ok(0.9))];
        let found = composite(&entries);
        assert_eq!(found.len(), 1);
        assert!(found[0].value.as_ref().unwrap_err().0.contains("ood.a.auroc.model"));
        assert!(composite(&[]).is_empty());
    }
}
