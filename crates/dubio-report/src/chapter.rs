//! A chapter: the runs of one data set and network, which is what may be compared, by method.

use crate::study::{Finished, Growth, Run, Study};
use crate::summary::{Cell, Unit, summarise};
use dubio_metrics::card::{Card, Direction};

/// The methods of one data set and network.
#[derive(Clone, Debug)]
pub struct Chapter<'a> {
    /// Name of the data set, without the number of a split; empty when not given.
    pub data: &'a str,
    /// Name of the network; empty when not given.
    pub network: &'a str,
    /// In the order of the study.
    pub methods: Vec<Method<'a>>,
    /// Scores of these methods against their number of members.
    pub growth: Vec<&'a Growth>,
    /// The method that others are measured against in deep ensemble equivalents.
    pub baseline: Option<&'a str>,
    /// Level of the central intervals of a regression.
    pub level: f64,
}

/// A method's runs: its seeds, or its splits of a table.
#[derive(Clone, Debug)]
pub struct Method<'a> {
    /// What tables call it.
    pub name: &'a str,
    /// Its position among all methods of the study: the same colour and marker in every chapter.
    pub style: usize,
    /// All runs, whether they finished or not.
    pub runs: Vec<&'a Run>,
}

/// The name of a data set without the number of its split: `yacht:standard/3` is `yacht:standard`, and
/// `mine.csv:folds=5,fold=3` is `mine.csv:folds=5`.
pub fn family(data: &str) -> &str {
    match data.rsplit_once(",fold=").or_else(|| data.rsplit_once('/')) {
        Some((head, tail)) if !tail.is_empty() && tail.bytes().all(|b| b.is_ascii_digit()) => head,
        _ => data,
    }
}

/// The chapters of a study, in its order.
pub fn chapters(study: &Study) -> Vec<Chapter<'_>> {
    let mut names: Vec<&str> = Vec::new();
    let mut chapters: Vec<Chapter<'_>> = Vec::new();
    for run in &study.runs {
        let style = index_or_push(&mut names, |name| *name == run.method, || &run.method);
        let (data, network) = (family(&run.data), &run.network[..]);
        let here = index_or_push(
            &mut chapters,
            |c| (c.data, c.network) == (data, network),
            || Chapter {
                data,
                network,
                methods: Vec::new(),
                growth: Vec::new(),
                baseline: None,
                level: study.level.unwrap_or(0.95),
            },
        );
        let methods = &mut chapters[here].methods;
        let own = index_or_push(
            methods,
            |m| m.style == style,
            || Method { name: &run.method, style, runs: Vec::new() },
        );
        methods[own].runs.push(run);
    }
    for chapter in &mut chapters {
        let here = |growth: &&Growth| {
            (&growth.data[..], &growth.network[..]) == (chapter.data, chapter.network)
        };
        chapter.growth = study.growth.iter().filter(here).collect();
        chapter.baseline = study.baseline.as_deref();
    }
    chapters
}

/// The index of the first of its kind, which is pushed when there is none.
fn index_or_push<T>(all: &mut Vec<T>, is: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> usize {
    all.iter().position(is).unwrap_or_else(|| {
        all.push(make());
        all.len() - 1
    })
}

impl<'a> Method<'a> {
    /// Runs that have predictions.
    pub fn finished(&self) -> impl Iterator<Item = (&'a Run, &'a Finished)> {
        self.runs.iter().filter_map(|run| Some((*run, run.finished()?)))
    }

    /// Numbers of runs that have predictions and of all runs: `4 of 5`.
    pub fn count(&self) -> (usize, usize) {
        (self.finished().count(), self.runs.len())
    }

    /// Forward passes for one prediction; `None` when no run finished. Runs of a method agree on it.
    pub fn members(&self) -> Option<usize> {
        self.finished().map(|(_, finished)| finished.members).max()
    }

    /// The values of a score, run by run.
    pub fn units(&self, split: &str, score: &str) -> Vec<Unit<'a>> {
        let entries = self.finished().filter_map(|(run, f)| Some((run, f.entry(split, score)?)));
        entries.map(|(run, entry)| Unit::new(run, entry)).collect()
    }

    /// A score over all runs; `None` when it is not one of this split.
    pub fn cell(&self, split: &str, score: &str) -> Option<Cell> {
        summarise(&self.units(split, score))
    }

    /// The mean of a score over all runs.
    pub fn mean(&self, split: &str, score: &str) -> Option<f64> {
        self.cell(split, score)?.summary().map(|summary| summary.mean)
    }
}

/// A score that some run has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoreName<'a> {
    /// Its public name.
    pub name: &'a str,
    /// Which values are better.
    pub direction: Direction,
}

impl<'a> Chapter<'a> {
    /// `digits, mlp-50`; empty when nothing is known.
    pub fn name(&self) -> String {
        let parts = [self.data, self.network];
        let known: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        known.join(", ")
    }

    /// Runs that have predictions, of all methods.
    pub fn finished(&self) -> impl Iterator<Item = (&'a Run, &'a Finished)> + '_ {
        self.methods.iter().flat_map(Method::finished)
    }

    /// Whether its runs predict classes, not numbers.
    pub fn is_classification(&self) -> bool {
        self.finished().any(|(_, finished)| finished.entry("test", "accuracy").is_some())
    }

    /// Methods that have predictions.
    pub fn present(&self) -> impl Iterator<Item = &Method<'a>> {
        self.methods.iter().filter(|method| method.count().0 > 0)
    }

    /// Every score of a split, in the order of the first run that has it.
    pub fn scores(&self, split: &str) -> Vec<ScoreName<'a>> {
        let mut seen: Vec<ScoreName<'a>> = Vec::new();
        let mut known: std::collections::HashSet<&str> = std::collections::HashSet::new();
        for (_, finished) in self.finished() {
            for row in finished.rows.iter().filter(|row| row.split == split) {
                if known.insert(&row.entry.name) {
                    let direction = row.entry.card.direction;
                    seen.push(ScoreName { name: &row.entry.name, direction });
                }
            }
        }
        seen
    }

    /// The card of a score.
    pub fn card(&self, score: &str) -> Option<&'static Card> {
        let mut rows = self.finished().flat_map(|(_, finished)| &finished.rows);
        rows.find(|row| row.entry.name == score).map(|row| row.entry.card)
    }

    /// Every split that has scores or views, in the order of the first run that has it.
    pub fn splits(&self) -> Vec<&'a str> {
        let mut seen: Vec<&str> = Vec::new();
        for (_, finished) in self.finished() {
            let scored = finished.rows.iter().map(|row| &row.split[..]);
            for split in scored.chain(finished.views.iter().map(|view| &view.split[..])) {
                if seen.last() != Some(&split) && !seen.contains(&split) {
                    seen.push(split);
                }
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_of_a_table_are_one_data_set() {
        assert_eq!(family("yacht:standard/3"), "yacht:standard");
        assert_eq!(family("yacht:standard/"), "yacht:standard/");
        assert_eq!(family("results/mnist"), "results/mnist");
        assert_eq!(family("mnist"), "mnist");
    }
}
