//! Data sets of a user: tables, folders of images, arrays. Named by their path, with options behind a
//! colon: `mine.csv:target=price,test=0.2`.
//!
//! A table is `.csv`, `.tsv` or `.parquet`; images are a folder for each class, or a CSV with the path and
//! the label of each; arrays are `.npz`, `.safetensors` or a folder of `.npy`. Every stage that takes the
//! name of a data set takes these too: [`card`] makes a [`Set`] of one.

mod align;
mod arrays;
mod columns;
mod files;
mod images;
pub mod look;
mod mistakes;
mod options;
mod resize;
mod split;
mod table;
mod target;
mod whole;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

pub use self::align::{aligned, same_features};
use self::files::Fingerprint;
pub use self::options::{OPTIONS, Own};
use self::split::{Side, Split};
pub use self::whole::Seen;
use self::whole::Whole;
use crate::dataset::{Answers, Dataset, Inputs};
use crate::error::Error;
use crate::sets::{Counts, Files, InputKind, Part, Set, Task};

/// What is known about a user's data set once it has been read.
pub struct Card {
    /// Its description, in the form of the sets that are known by name.
    pub set: &'static Set,
    /// What was found and how it was encoded.
    pub seen: Seen,
    /// How it was split, in words.
    pub split: String,
    /// SHA-256 of the files' bytes.
    pub sha256: String,
    fingerprint: Fingerprint,
}

/// Whether a name is the path of a user's own data: it has a slash or the extension of a file that can
/// be read, or it is a folder without the name of a known set.
pub fn is_own(name: &str) -> bool {
    let Ok(own) = Own::parse(name) else {
        // What is wrong with the name is reported where it is read.
        return name.split(':').next().is_some_and(looks_like_path);
    };
    looks_like_path(&own.path.to_string_lossy())
}

fn looks_like_path(path: &str) -> bool {
    let endings = [".csv", ".tsv", ".parquet", ".pq", ".npz", ".safetensors"];
    let known = || crate::sets::list().iter().any(|set| set.name == path);
    path.contains(['/', '\\'])
        || endings.iter().any(|end| path.to_ascii_lowercase().ends_with(end))
        || (!path.is_empty() && !known() && Path::new(path).exists())
}

/// The card of a user's data set; it is read once, and again when a file has changed.
pub fn card(own: &Own) -> Result<Arc<Card>, Error> {
    static CARDS: Mutex<Option<HashMap<String, Arc<Card>>>> = Mutex::new(None);
    let lock = || CARDS.lock().unwrap_or_else(PoisonError::into_inner);
    let (name, fingerprint) = (own.to_string(), Fingerprint::of(&own.path)?);
    let known = lock().as_ref().and_then(|cards| cards.get(&name).cloned());
    if let Some(card) = known.filter(|card| card.fingerprint == fingerprint) {
        return Ok(card);
    }
    let (whole, split) = read(own)?;
    let is_list = own.path.is_file() && whole.seen.kind == "images";
    let listed: &[u8] = match &whole.data.inputs {
        Inputs::Images(images) if is_list => &images.pixels,
        _ => &[],
    };
    let sha256 = files::sha256(&own.path, listed)?;
    let card = Card {
        set: Box::leak(Box::new(described(&name, &whole, &split))),
        seen: whole.seen,
        split: split.how,
        sha256,
        fingerprint,
    };
    let card = Arc::new(card);
    // The fingerprint of a list does not tell whether a listed image has changed.
    if !is_list {
        lock().get_or_insert_default().insert(name, Arc::clone(&card));
    }
    Ok(card)
}

/// The card of a data set to learn from.
pub fn labelled(own: &Own) -> Result<Arc<Card>, Error> {
    let card = card(own)?;
    if card.set.task != Task::Unlabelled {
        return Ok(card);
    }
    let advice = match card.seen.kind {
        "table" => "name the column to predict, as in target=price",
        "images" => "make a folder for each class, as in train/cat/1.png and test/dog/2.png",
        _ => "name the array of labels or targets y, or y_train and y_test",
    };
    let what = "there are no labels: it can be an OOD set, but nothing can be learnt from it";
    Err(Error::new(&own.path, what, advice))
}

/// All examples, missing features filled in, and their split.
fn read(own: &Own) -> Result<(Whole, Split), Error> {
    let mut whole = match files::kind(&own.path)? {
        files::Kind::Table => table::read(own)?,
        files::Kind::Images => {
            own.suits("images")?;
            images::folder(own)?
        }
        files::Kind::Arrays => {
            own.suits("arrays")?;
            arrays::read(own)?
        }
    };
    let split = whole.split(own)?;
    if let Some(how @ ("mean" | "median")) = own.get("missing") {
        let train = match whole.data.answers {
            Answers::Unlabelled(examples) => (0..examples as u32).collect(),
            _ => split.rows(Side::Train),
        };
        whole.impute(&train, how);
    }
    Ok((whole, split))
}

/// A user's data as a set. It lives as long as the program, as the sets known by name do: there
/// are few, and each is a few hundred bytes.
fn described(name: &str, whole: &Whole, split: &Split) -> Set {
    let leak = |text: &str| -> &'static str { Box::leak(text.to_string().into_boxed_str()) };
    let seen = &whole.seen;
    let task = match whole.data.answers {
        Answers::Unlabelled(_) => Task::Unlabelled,
        Answers::Targets(_) => Task::Regression(leak(&seen.target)),
        Answers::Classes { .. } => Task::Classification(Box::leak(
            seen.classes.iter().map(|class| leak(class)).collect::<Box<[_]>>(),
        )),
    };
    let inputs = match &whole.data.inputs {
        Inputs::Images(i) => InputKind::Images {
            channels: i.channels,
            height: i.height,
            width: i.width,
            white: i.white,
        },
        Inputs::Features { width, .. } => InputKind::Features(*width),
    };
    let count = |side| split.sides.iter().filter(|s| **s == side).count();
    Set {
        name: leak(name),
        summary: "a user's own data",
        task,
        inputs,
        counts: Counts::Parts { train: count(Side::Train), test: count(Side::Test) },
        licence: "the user's",
        citation: "",
        home: "",
        note: "",
        files: Files::Own,
        read: |set, _, part| load(set.name, part),
    }
}

fn load(name: &str, part: Part) -> Result<Dataset, Error> {
    let (whole, split) = read(&Own::parse(name)?)?;
    Ok(match part {
        Part::Train => whole.data.subset(&split.rows(Side::Train)),
        Part::Test => whole.data.subset(&split.rows(Side::Test)),
        _ => whole.data,
    })
}

/// Checks that a user's files still have this checksum; sets that are known by name are not checked.
pub fn unchanged(name: &str, sha256: &str) -> Result<(), Error> {
    if !is_own(name) || card(&Own::parse(name)?)?.sha256 == sha256 {
        return Ok(());
    }
    Err(Error::new(name, "the data have changed since the run was planned", "plan it again"))
}

/// What the record of a run says of a user's data: how they were encoded and split.
pub fn facts(name: &str) -> Result<Vec<(&'static str, String)>, Error> {
    if !is_own(name) {
        return Ok(Vec::new());
    }
    let own = Own::parse(name)?;
    let card = card(&own)?;
    let seen = &card.seen;
    let mut facts = vec![
        ("sha256", card.sha256.clone()),
        ("task", seen.task.clone()),
        ("target", seen.target.clone()),
        ("split", card.split.clone()),
    ];
    let joined = |list: &[String]| list.join(", ");
    if !seen.classes.is_empty() {
        facts.push(("classes", joined(&seen.classes)));
    }
    if !seen.features.is_empty() {
        facts.push(("features", joined(&seen.features)));
    }
    let one_hot = seen.one_hot.iter().map(|(name, all)| format!("{name}: {}", joined(all)));
    if !seen.one_hot.is_empty() {
        facts.push(("one_hot", one_hot.collect::<Vec<_>>().join("; ")));
    }
    if let Some(how) = own.get("missing").filter(|_| !seen.missing.is_empty() || seen.dropped > 0) {
        let cells: usize = seen.missing.values().sum();
        facts.push(("missing", format!("{how}: {cells} values, {} rows dropped", seen.dropped)));
    }
    Ok(facts)
}
