//! Names of sets and of their parts: `mnist`, `cifar-10:test`, `yacht:standard/3/train`.

use std::fmt;

use dubio_words::{meant, nearest, or_all};

use super::own::{self, Own};
use crate::error::Error;
use crate::formats::uci::Half;
use crate::sets::part::{Kind, Part};
use crate::sets::{Set, list};

/// What a name stands for: a set, and the part of it if one was named.
#[derive(Clone, Copy)]
pub struct Name {
    /// The set.
    pub set: &'static Set,
    /// The part, which the set has.
    pub part: Option<Part>,
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Name").field("set", &self.set.name).field("part", &self.part).finish()
    }
}

/// Reads the name of a set or of a part of one.
pub fn parse(name: &str) -> Result<Name, Error> {
    if own::is_own(name) {
        let own = Own::parse(name)?;
        return Ok(Name { set: own::card(&own)?.set, part: Some(own.part()) });
    }
    let name = &canonical(name)[..];
    let (set, part) = match name.split_once(':') {
        Some((set, part)) => (find(set)?, Some(part)),
        None => (find(name)?, None),
    };
    let part = part.map(|text| {
        let unknown =
            || Error::new(name, "no such part", format!("{} has {}", set.name, set.parts()));
        part_of(text).ok_or_else(unknown).and_then(|part| set.has(part).map(|()| part))
    });
    Ok(Name { set, part: part.transpose()? })
}

/// A name as it is written in lists: `Yacht:standard/0` is `yacht:standard/0`. Unknown names stay as they are.
pub fn canonical(name: &str) -> String {
    if own::is_own(name) {
        return Own::parse(name).map_or(name.to_string(), |own| own.to_string());
    }
    let (plain, part) = name.split_once(':').map_or((name, None), |(n, part)| (n, Some(part)));
    match (find(plain), part) {
        (Err(_), _) => name.to_string(),
        (Ok(set), None) => set.name.to_string(),
        (Ok(set), Some(part)) => format!("{}:{}", set.name, part.to_ascii_lowercase()),
    }
}

fn part_of(text: &str) -> Option<Part> {
    match text {
        "train" => return Some(Part::Train),
        "test" => return Some(Part::Test),
        "all" => return Some(Part::All),
        _ => {}
    }
    let [kind, index, half] = text.split('/').collect::<Vec<_>>()[..] else { return None };
    let kind = [Kind::Standard, Kind::Gap].into_iter().find(|found| found.name() == kind)?;
    let half = [Half::Train, Half::Test].into_iter().find(|found| found.name() == half)?;
    Some(Part::Split { kind, index: index.parse().ok()?, half })
}

/// A set to learn from and to be tested on.
#[derive(Clone, Copy, Debug)]
pub struct Halves {
    /// The set, without a part.
    pub name: Name,
    /// What to learn from.
    pub train: Part,
    /// What to be tested on.
    pub test: Part,
}

/// Reads the name of a set, or of a split of a table, `yacht:standard/3`; a table without a split means
/// its first standard one. The half to learn from may be named: `digits:train`.
pub fn halves(name: &str) -> Result<Halves, Error> {
    if own::is_own(name) {
        let set = own::labelled(&Own::parse(name)?)?.set;
        let name = Name { set, part: None };
        return Ok(Halves { name, train: Part::Train, test: Part::Test });
    }
    let name = &canonical(name)[..];
    let (plain, split) = name.split_once(':').map_or((name, None), |(n, s)| (n, Some(s)));
    let split = split.map(|s| s.strip_suffix("train").unwrap_or(s).trim_end_matches('/'));
    let split = split.filter(|split| !split.is_empty());
    let set = find(plain)?;
    let whole = Name { set, part: None };
    if split.is_none() && set.has(Part::Train).is_ok() {
        return Ok(Halves { name: whole, train: Part::Train, test: Part::Test });
    }
    let split = split.unwrap_or("standard/0");
    let half = |half: &str| {
        let part = part_of(&format!("{split}/{half}")).filter(|part| set.has(*part).is_ok());
        let advice = "name what is to be learnt from, as in digits or yacht:standard/0; its test set is predicted";
        part.ok_or_else(|| Error::new(name, "no such split", advice))
    };
    Ok(Halves { name: whole, train: half("train")?, test: half("test")? })
}

/// Which of several splits of the same examples a name stands for, from 0: a split of a table, or a fold
/// of the user's own data.
pub fn replicate(name: &str) -> usize {
    if own::is_own(name) {
        let fold = Own::parse(name).ok().and_then(|own| own.number("fold"));
        return fold.unwrap_or(0) as usize;
    }
    match halves(name).map(|halves| halves.train) {
        Ok(Part::Split { index, .. }) => index,
        _ => 0,
    }
}

/// The set of this name, or an error that says which names are near.
pub fn find(name: &str) -> Result<&'static Set, Error> {
    let known = meant(name, list().into_iter().map(|set| set.name));
    list().into_iter().find(|set| Some(set.name) == known).ok_or_else(|| {
        let near = nearest(name, list().into_iter().map(|set| set.name));
        let own = match near {
            Some(_) => String::new(),
            None => {
                format!("; your own data are named by their path, as in ./{name} or {name}.csv")
            }
        };
        let advice = or_all(near, "dubio data list") + &own;
        Error::new(name, "no data set has this name", advice)
    })
}
