//! Which examples are for training and which for testing.

use std::collections::BTreeMap;

use dubio_random::stream::Stream;
use rand::seq::SliceRandom;

use super::options::Own;
use crate::dataset::Answers;

/// Whether an example is in the training or in the test set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Training set.
    Train,
    /// Test set.
    Test,
}

/// How examples were divided, in words and one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// The side of each example.
    pub(crate) sides: Vec<Side>,
    /// How, for the record.
    pub(crate) how: String,
}

impl Split {
    /// No split: every example is there to be predicted.
    pub(crate) fn all_test(examples: usize) -> Self {
        Self { sides: vec![Side::Test; examples], how: "no split".to_string() }
    }

    /// The rows of a side, in order.
    pub(crate) fn rows(&self, side: Side) -> Vec<u32> {
        (0..).zip(&self.sides).filter(|(_, s)| **s == side).map(|(row, _)| row).collect()
    }
}

/// Draws a split where none is given: a fraction or a fold, at random from the seed. Every class gives
/// the same fraction (stratified); groups, where they are named, stay whole.
pub(crate) fn draw(own: &Own, answers: &Answers, groups: Option<&[i64]>) -> Split {
    let seed = own.number("seed").unwrap_or(0);
    let parts = match (own.number("folds"), own.number("fold")) {
        (Some(folds), fold) => Parts::Folds { folds, fold: fold.unwrap_or(0) },
        _ => Parts::Fraction(own.get("test").and_then(|f| f.parse().ok()).unwrap_or(0.2)),
    };
    let stream = Stream::root(seed).child("split");
    let (sides, kind) = match groups {
        Some(groups) => (whole_groups(parts, groups, &stream), ", whole groups"),
        None => match answers {
            Answers::Classes { labels, .. } => {
                (in_turn(parts, labels.len(), &|row| labels[row], &stream), ", stratified by class")
            }
            Answers::Targets(targets) => (in_turn(parts, targets.len(), &|_| 0, &stream), ""),
            Answers::Unlabelled(examples) => (in_turn(parts, *examples, &|_| 0, &stream), ""),
        },
    };
    Split { sides, how: format!("{}{kind}, seed {seed}", parts.words()) }
}

#[derive(Clone, Copy)]
enum Parts {
    Fraction(f64),
    Folds { folds: u64, fold: u64 },
}

impl Parts {
    fn words(self) -> String {
        match self {
            Self::Fraction(fraction) => {
                format!("a random {fraction} of the examples is the test set")
            }
            Self::Folds { folds, fold } => format!("fold {fold} of {folds} is the test set"),
        }
    }

    /// Whether the example at this place of a shuffled list is for testing; such places are evenly spaced.
    fn is_test(self, place: usize) -> bool {
        match self {
            Self::Fraction(f) => ((place + 1) as f64 * f).floor() > (place as f64 * f).floor(),
            Self::Folds { folds, fold } => place as u64 % folds == fold,
        }
    }
}

/// Shuffles the examples, sorts them by class and deals them in turn, so that every class is divided in
/// the same way.
fn in_turn(parts: Parts, count: usize, class: &dyn Fn(usize) -> u32, stream: &Stream) -> Vec<Side> {
    let mut rows: Vec<usize> = (0..count).collect();
    rows.shuffle(&mut stream.generator());
    rows.sort_by_key(|&row| class(row));
    let mut sides = vec![Side::Train; count];
    for (place, &row) in rows.iter().enumerate() {
        if parts.is_test(place) {
            sides[row] = Side::Test;
        }
    }
    sides
}

/// Groups in random order; each goes to the fold that has fewest examples, or to the test set while that
/// brings it nearer to its fraction.
fn whole_groups(parts: Parts, groups: &[i64], stream: &Stream) -> Vec<Side> {
    let mut sizes: BTreeMap<i64, usize> = BTreeMap::new();
    groups.iter().for_each(|&group| *sizes.entry(group).or_default() += 1);
    let mut order: Vec<(i64, usize)> = sizes.into_iter().collect();
    order.shuffle(&mut stream.generator());
    let test: Vec<i64> = match parts {
        Parts::Fraction(fraction) => {
            let (wanted, mut have) = (fraction * groups.len() as f64, 0.0);
            let taken = order.into_iter().filter(|&(_, size)| {
                let nearer = have + size as f64 / 2.0 <= wanted;
                have += if nearer { size as f64 } else { 0.0 };
                nearer
            });
            taken.map(|(group, _)| group).collect()
        }
        Parts::Folds { folds, fold } => {
            let mut filled = vec![0; folds as usize];
            let mut test = Vec::new();
            for (group, size) in order {
                let least = (0..filled.len()).min_by_key(|&i| filled[i]).unwrap_or(0);
                filled[least] += size;
                if least as u64 == fold {
                    test.push(group);
                }
            }
            test
        }
    };
    groups.iter().map(|g| if test.contains(g) { Side::Test } else { Side::Train }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(options: &str, answers: &Answers, groups: Option<&[i64]>) -> Vec<Side> {
        draw(&Own::parse(&format!("x.csv:{options}")).unwrap(), answers, groups).sides
    }

    fn tests(sides: &[Side]) -> usize {
        sides.iter().filter(|side| **side == Side::Test).count()
    }

    #[test]
    fn a_fraction_is_exact_and_the_same_in_every_class() {
        let labels: Vec<u32> = (0..100).map(|i| u32::from(i % 10 == 0)).collect();
        let answers = Answers::Classes { classes: 2, labels: labels.clone() };
        let sides = sides("test=0.2", &answers, None);
        assert_eq!(tests(&sides), 20);
        let rare = (0..100).filter(|&i| labels[i] == 1 && sides[i] == Side::Test).count();
        assert_eq!(rare, 2);
    }

    #[test]
    fn folds_cover_everything_once_and_seeds_differ() {
        let answers = Answers::Targets(vec![0.0; 53]);
        let mut covered = [0; 53];
        for fold in 0..5 {
            let sides = sides(&format!("folds=5,fold={fold}"), &answers, None);
            assert!((10..=11).contains(&tests(&sides)));
            (0..53).for_each(|row| covered[row] += usize::from(sides[row] == Side::Test));
        }
        assert_eq!(covered, [1; 53]);
        assert_ne!(sides("seed=1", &answers, None), sides("seed=2", &answers, None));
        assert_eq!(sides("seed=1", &answers, None), sides("seed=1", &answers, None));
    }

    #[test]
    fn a_group_is_never_divided() {
        let groups: Vec<i64> = (0..200).map(|i| i * i % 17).collect();
        let answers = Answers::Targets(vec![0.0; 200]);
        for options in ["test=0.3", "folds=4,fold=2", "folds=4,fold=3"] {
            let sides = sides(options, &answers, Some(&groups));
            assert!(tests(&sides) > 0 && tests(&sides) < 120, "{options}: {}", tests(&sides));
            for (i, j) in (0..200).flat_map(|i| (0..200).map(move |j| (i, j))) {
                assert!(groups[i] != groups[j] || sides[i] == sides[j], "{options}");
            }
        }
    }
}
