//! Results that were worked out once and are kept in a file, with a key of all that they depend on.
//!
//! `{"key": ..., "crc32": ..., "value": ...}`. A file with another key, another checksum or of another form
//! counts as missing: its value is worked out again. Files are written beside their place and renamed, so
//! several processes may write one.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

use dubio_predictions::write_whole;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// Digest of the code that works out scores and views; see `build.rs`.
const CODE: &str = env!("DUBIO_SCORING");

/// Bytes at the end of a predictions file that identify it: an archive has the checksums of its arrays there.
const TAIL: u64 = 1 << 16;

/// What a kept value depends on, digested.
pub(crate) struct Key(String);

impl Key {
    /// The key of these inputs and of the code.
    pub(crate) fn of(inputs: &impl Serialize) -> Option<Self> {
        let text = serde_json::to_string(&(CODE, inputs)).ok()?;
        let digest = Sha256::digest(text.as_bytes());
        Some(Self(digest.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    fn head(&self) -> String {
        format!(r#"{{"key":"{}","crc32":""#, self.0)
    }
}

/// What tells a file of predictions from the one that was there before.
#[derive(Serialize)]
pub(crate) struct Identity {
    bytes: u64,
    modified_nanos: u128,
    tail_crc32: u32,
    /// What is in it, for a folder.
    inside: Vec<(String, Identity)>,
}

impl Identity {
    /// `None` where there is no such file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let there = fs::metadata(path).ok()?;
        let modified = there.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let mut own = Self {
            bytes: there.len(),
            modified_nanos: modified.as_nanos(),
            tail_crc32: 0,
            inside: Vec::new(),
        };
        if there.is_dir() {
            let names = fs::read_dir(path).ok()?.flatten().map(|entry| entry.file_name());
            let mut names: Vec<String> = names.flat_map(|name| name.into_string()).collect();
            names.sort();
            let inside = |name: String| Some((name.clone(), Self::of(&path.join(name))?));
            own.inside = names.into_iter().map(inside).collect::<Option<_>>()?;
        } else if there.is_file() {
            let (mut file, mut tail) = (File::open(path).ok()?, Vec::new());
            file.seek(SeekFrom::Start(there.len().saturating_sub(TAIL))).ok()?;
            file.take(TAIL).read_to_end(&mut tail).ok()?;
            own.tail_crc32 = crc32fast::hash(&tail);
        }
        Some(own)
    }
}

/// The value that was kept under this key, if it is there and whole.
pub(crate) fn load<T: DeserializeOwned>(path: &Path, key: &Key) -> Option<T> {
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let expected = key.head();
    let (mut file, mut head) = (File::open(path).ok()?, vec![0; expected.len()]);
    file.read_exact(&mut head).ok()?;
    if head != expected.as_bytes() {
        return None; // the rest, which may be large, need not be read
    }
    let mut rest = Vec::new();
    file.read_to_end(&mut rest).ok()?;
    let (sum, value) = rest.split_at_checked(8)?;
    let value = value.strip_prefix(br#"","value":"#)?.strip_suffix(b"}\n")?;
    if sum != checksum(value).as_bytes() {
        return None;
    }
    serde_json::from_slice(value).ok()
}

/// Keeps a value. Where it cannot be written it is not kept, which costs nothing but time. Nor is it kept
/// where the folder is a link, since what lies behind one is not ours.
pub(crate) fn save(path: &Path, key: &Key, value: &impl Serialize) {
    let ours = path.parent().and_then(|folder| fs::symlink_metadata(folder).ok());
    let (true, Ok(value)) = (ours.is_some_and(|folder| folder.is_dir()), serde_json::to_vec(value))
    else {
        return;
    };
    let head = key.head() + &checksum(&value) + r#"","value":"#;
    let parts = [head.as_bytes(), &value, b"}\n"];
    let _ = write_whole(path, |file| parts.iter().try_for_each(|part| file.write_all(part)));
}

/// The value that was kept under this key. Otherwise it is worked out, and kept where JSON has all of its numbers.
pub(crate) fn or_else<T, E>(
    path: &Path,
    key: Option<&Key>,
    work_out: impl FnOnce() -> Result<T, E>,
) -> Result<T, E>
where
    T: Serialize + DeserializeOwned + PartialEq,
{
    if let Some(value) = key.and_then(|key| load(path, key)) {
        return Ok(value);
    }
    let value = work_out()?;
    let read_back = || serde_json::from_slice(&serde_json::to_vec(&value).ok()?).ok();
    if let (Some(key), Some(true)) = (key, read_back().map(|other: T| other == value)) {
        save(path, key, &value);
    }
    Ok(value)
}

fn checksum(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> (tempfile::TempDir, std::path::PathBuf, Key) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kept.json");
        let key = Key::of(&("inputs", 1)).expect("a key");
        save(&path, &key, &vec![1.5, 2.5]);
        (folder, path, key)
    }

    #[test]
    fn what_was_kept_is_found_under_its_own_key_only() {
        let (_folder, path, key) = kept();
        assert_eq!(load(&path, &key), Some(vec![1.5, 2.5]));
        let other = Key::of(&("inputs", 2)).expect("a key");
        assert_eq!(load::<Vec<f64>>(&path, &other), None);
        assert_eq!(load::<String>(&path, &key), None, "of another form");
    }

    #[test]
    fn no_byte_of_a_kept_file_can_change_unseen() {
        let (_folder, path, key) = kept();
        let whole = fs::read(&path).expect("a file");
        assert!(serde_json::from_slice::<serde_json::Value>(&whole).is_ok(), "it is JSON");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).expect("a file");
            assert_eq!(load::<Vec<f64>>(&path, &key), None, "byte {at}");
            fs::write(&path, &whole[..at]).expect("a file");
            assert_eq!(load::<Vec<f64>>(&path, &key), None, "cut at {at}");
        }
    }

    #[test]
    fn what_json_has_no_number_for_is_worked_out_each_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kept.json");
        let key = Key::of(&"inputs").expect("a key");
        let work_out = || Ok::<_, ()>(vec![Some(f64::INFINITY)]);
        assert_eq!(or_else(&path, Some(&key), work_out), Ok(vec![Some(f64::INFINITY)]));
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_kept_behind_a_link() {
        let (there, links) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("two"));
        let link = links.path().join("run");
        std::os::unix::fs::symlink(there.path(), &link).expect("a link");
        let key = Key::of(&"inputs").expect("a key");
        save(&link.join("kept.json"), &key, &1);
        assert!(!there.path().join("kept.json").exists());
    }

    #[test]
    fn a_file_that_was_written_again_is_another() {
        let (_folder, path, _) = kept();
        let identity = || serde_json::to_string(&Identity::of(&path)).expect("JSON");
        let before = identity();
        assert_eq!(before, identity());
        fs::write(&path, "something else").expect("a file");
        assert_ne!(before, identity());
    }
}
