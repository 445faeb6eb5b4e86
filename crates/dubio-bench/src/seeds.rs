//! Seeds of a suite or of a method.

use std::sync::Arc;

use crate::distinct;
use crate::mistakes::Collector;
use crate::reader::Section;

/// Most seeds in one list.
pub(crate) const MOST_SEEDS: u64 = 1_000_000;

/// `seeds = 5` is 0 to 4; a list is taken as it is.
pub(crate) fn seeds(
    section: &mut Section<'_>,
    mistakes: &mut Collector<'_>,
) -> Option<Arc<Vec<u64>>> {
    let value = section.value("seeds")?;
    let (is_list, span) = (value.get_ref().is_array(), value.span());
    let before = mistakes.len();
    let numbers = section.counts("seeds", mistakes);
    let count = match &numbers[..] {
        [count] if !is_list => count.value,
        several => several.len() as u64,
    };
    if mistakes.len() == before && !(1..=MOST_SEEDS).contains(&count) {
        let what = format!("`seeds` must be from 1 to {MOST_SEEDS}, or a list of as many seeds");
        mistakes.add(span, format!("{what}, got {count}"));
        return None;
    }
    Some(Arc::new(match is_list {
        true => distinct::values("seed", numbers, mistakes),
        false => (0..count).collect(),
    }))
}
