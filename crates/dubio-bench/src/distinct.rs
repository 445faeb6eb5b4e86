//! Refuses what is listed twice, since it would pass for a repetition.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use dubio_data::sets;
use dubio_data::sets::own::{self, Own};

use crate::entry::{Choice, Entry};
use crate::mistakes::Collector;
use crate::reader::Located;

/// The values of a list, each of which may be there only once.
pub(crate) fn values<T: Display>(
    what: &str,
    list: Vec<Located<T>>,
    mistakes: &mut Collector<'_>,
) -> Vec<T> {
    let mut seen = HashMap::new();
    let mut once = Vec::with_capacity(list.len());
    for Located { value, span } in list {
        let text = value.to_string();
        match seen.get(&text) {
            None => once.push(value),
            Some(first) => twice(format!("{what} {text}"), first, span.clone(), mistakes),
        }
        seen.entry(text).or_insert(span);
    }
    once
}

/// The data sets of a list, splits written out. `yacht` is `yacht:standard/0`, and may not stand beside it.
pub(crate) fn sets(list: Vec<Located<String>>, mistakes: &mut Collector<'_>) -> Vec<String> {
    let mut seen: HashMap<String, Range<usize>> = HashMap::new();
    let mut once = Vec::new();
    for Located { value, span } in list {
        for name in splits(&value) {
            let Ok(halves) = sets::halves(&name) else { continue };
            let same = format!("{} {:?}", halves.name.set.name, halves.train);
            match seen.get(&same) {
                None => once.push(name),
                Some(first) => twice(format!("data set {name}"), first, span.clone(), mistakes),
            }
            seen.entry(same).or_insert(span.clone());
        }
    }
    once
}

/// `yacht:standard/0..5` is the splits 0 to 4, and `mine.csv:folds=5` its folds; every other name is itself.
pub(crate) fn splits(name: &str) -> Vec<String> {
    if own::is_own(name) {
        let folds = |own: Own| own.each_fold().iter().map(Own::to_string).collect();
        return Own::parse(name).map_or_else(|_| vec![name.to_string()], folds);
    }
    let range = || {
        let (kind, range) = name.rsplit_once('/')?;
        let (from, to) = range.split_once("..")?;
        let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
        (from < to && to - from <= 1000)
            .then(|| (from..to).map(|i| format!("{kind}/{i}")).collect())
    };
    range().unwrap_or_else(|| vec![name.to_string()])
}

fn twice(what: String, first: &Range<usize>, span: Range<usize>, mistakes: &mut Collector<'_>) {
    let line = mistakes.line(first.start);
    mistakes.add(span, format!("{what} is listed already, in line {line}; leave one of them out"));
}

/// The methods: the same settings may be listed only once per seed, and a label stands for one choice of
/// settings.
pub(crate) fn methods(
    list: Vec<Located<Entry>>,
    suite: &Arc<Vec<u64>>,
    mistakes: &mut Collector<'_>,
) -> Vec<Entry> {
    let mut labels: HashMap<String, (String, Range<usize>)> = HashMap::new();
    let mut planned: HashMap<String, Vec<(Seeds, Range<usize>)>> = HashMap::new();
    for Located { value: entry, span } in &list {
        let settings = settings(&entry.choice);
        let own = Seeds::of(entry.seeds.as_ref().unwrap_or(suite));
        let before = planned.entry(settings.clone()).or_default();
        if let Some((_, first)) = before.iter().find(|(seeds, _)| seeds.overlap(&own)) {
            let line = mistakes.line(first.start);
            let what = format!(
                "`{}` has the settings and a seed of the [[methods]] in line {line}; it would count twice",
                entry.label
            );
            mistakes.add(span.clone(), format!("{what}: leave one of them out"));
        } else if let Some((_, first)) = labels.get(&*entry.label).filter(|(s, _)| *s != settings) {
            let line = mistakes.line(first.start);
            let what = format!(
                "`{}` is the label of other settings, in line {line}; they would be averaged as one",
                entry.label
            );
            mistakes.add(span.clone(), format!("{what}: give one of them another label"));
        }
        before.push((own, span.clone()));
        labels.entry(entry.label.to_string()).or_insert((settings, span.clone()));
    }
    list.into_iter().map(|entry| entry.value).collect()
}

/// A text that tells the settings of one method from another's.
fn settings(choice: &Choice) -> String {
    match choice {
        Choice::Fixed(recipe) => serde_json::to_string(recipe).expect("settings are plain data"),
        Choice::Searched(space) => format!("{space:?}"),
    }
}

/// Seeds of a method. Most methods share the list of the suite.
struct Seeds(Arc<Vec<u64>>);

impl Seeds {
    fn of(seeds: &Arc<Vec<u64>>) -> Self {
        Self(Arc::clone(seeds))
    }

    fn overlap(&self, other: &Self) -> bool {
        if Arc::ptr_eq(&self.0, &other.0) {
            return !self.0.is_empty();
        }
        let all: HashSet<u64> = self.0.iter().copied().collect();
        other.0.iter().any(|seed| all.contains(seed))
    }
}
