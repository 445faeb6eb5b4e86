//! The files of a checkpoint: arrays by name in safetensors, with a checksum over all of them.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dubio_nn::engine::{Point, Vector};
use dubio_predictions::{input, write_whole};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

use crate::error::Error;
use crate::memory::Slot;

/// Arrays to be written.
#[derive(Default)]
pub(super) struct Arrays(Vec<(String, Dtype, Vec<u8>)>);

impl Arrays {
    fn vector<V: Vector>(&mut self, name: String, vector: &V) {
        let values = vector.read(0..vector.len());
        if vector.bytes_per_number() == 4 {
            let bytes = values.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect();
            self.0.push((name, Dtype::F32, bytes));
        } else {
            self.numbers(name, &values);
        }
    }

    pub(super) fn numbers(&mut self, name: String, values: &[f64]) {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.0.push((name, Dtype::F64, bytes));
    }

    pub(super) fn counts(&mut self, name: String, counts: &[u64]) {
        let bytes = counts.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.0.push((name, Dtype::U64, bytes));
    }

    pub(super) fn point<V: Vector>(&mut self, prefix: &str, point: &Point<V>) {
        self.vector(format!("{prefix}theta"), &point.theta);
        self.vector(format!("{prefix}statistics"), &point.statistics);
    }

    pub(super) fn slot<V: Vector>(&mut self, name: String, slot: &Slot<'_, V>) {
        match slot {
            Slot::Vector(vector) => self.vector(name, &**vector),
            Slot::Optional(None) => {}
            Slot::Optional(Some(vector)) => self.vector(name, vector),
            Slot::Vectors(list) => {
                for (index, vector) in list.iter().enumerate() {
                    self.vector(format!("{name}.{index}"), vector);
                }
            }
            Slot::Count(count) => self.counts(name, &[**count]),
            Slot::Number(number) => self.numbers(name, &[**number]),
            Slot::Numbers(list) => self.numbers(name, list),
        }
    }

    pub(super) fn write(
        self,
        path: &Path,
        mut about: HashMap<String, String>,
    ) -> Result<(), Error> {
        about.insert(
            "crc32".to_string(),
            checksum(self.0.iter().map(|(name, _, bytes)| (&name[..], &bytes[..]))),
        );
        let views = self.0.iter().map(|(name, dtype, bytes)| {
            let width = if *dtype == Dtype::F32 { 4 } else { 8 };
            let view = TensorView::new(*dtype, vec![bytes.len() / width], bytes);
            (name.clone(), view.expect("as many bytes as the shape says"))
        });
        let bytes = safetensors::serialize(views.collect::<Vec<_>>(), Some(about))
            .expect("names are not repeated");
        let advice = "free some space or choose another folder; earlier checkpoints are intact";
        let written =
            write_whole(path, |file| file.write_all(&bytes).and_then(|()| file.sync_data()));
        written.map_err(|e| Error::file(path, e, advice))
    }
}

/// The checksum of arrays by name, whatever their order.
fn checksum<'a>(arrays: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut arrays: Vec<_> = arrays.collect();
    arrays.sort_unstable();
    let mut hasher = crc32fast::Hasher::new();
    for (name, bytes) in arrays {
        hasher.update(name.as_bytes());
        hasher.update(bytes);
    }
    format!("{:08x}", hasher.finalize())
}

/// Arrays read from a file whose checksum is right.
pub(super) struct Stored {
    path: PathBuf,
    bytes: Vec<u8>,
    /// The identity that was stored with them.
    pub(super) identity: Option<String>,
}

impl Stored {
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let bytes = input::read(path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => Error::checkpoint(path, e),
            // A disk that does not answer may still hold the file.
            _ => Error::file(path, e, "try again when the file can be read"),
        })?;
        let damaged = |what: String| Error::checkpoint(path, format!("is damaged: {what}"));
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|e| damaged(e.to_string()))?;
        let about = |name: &str| header.metadata().as_ref().and_then(|m| m.get(name).cloned());
        let tensors = SafeTensors::deserialize(&bytes).map_err(|e| damaged(e.to_string()))?;
        let sum = checksum(tensors.iter().map(|(name, tensor)| (name, tensor.data())));
        if about("crc32") != Some(sum) {
            return Err(damaged("its checksum is another".to_string()));
        }
        let identity = about("identity");
        Ok(Self { path: path.to_path_buf(), bytes, identity })
    }

    fn tensors(&self) -> SafeTensors<'_> {
        SafeTensors::deserialize(&self.bytes).expect("read before")
    }

    fn has(&self, name: &str) -> bool {
        self.tensors().tensor(name).is_ok()
    }

    fn lacks(&self, name: &str) -> Error {
        Error::checkpoint(&self.path, format!("lacks `{name}`"))
    }

    pub(super) fn numbers(&self, name: &str) -> Result<Vec<f64>, Error> {
        let tensors = self.tensors();
        let tensor = tensors.tensor(name).map_err(|_| self.lacks(name))?;
        match tensor.dtype() {
            Dtype::F32 => {
                let (chunks, _) = tensor.data().as_chunks::<4>();
                Ok(chunks.iter().map(|&b| f64::from(f32::from_le_bytes(b))).collect())
            }
            Dtype::F64 => {
                let (chunks, _) = tensor.data().as_chunks::<8>();
                Ok(chunks.iter().map(|&b| f64::from_le_bytes(b)).collect())
            }
            _ => Err(self.lacks(name)),
        }
    }

    fn number(&self, name: &str) -> Result<f64, Error> {
        self.numbers(name)?.first().copied().ok_or_else(|| self.lacks(name))
    }

    pub(super) fn counts(&self, name: &str) -> Result<Vec<u64>, Error> {
        let tensors = self.tensors();
        let tensor = tensors.tensor(name).map_err(|_| self.lacks(name))?;
        if tensor.dtype() != Dtype::U64 {
            return Err(self.lacks(name));
        }
        let (chunks, _) = tensor.data().as_chunks::<8>();
        Ok(chunks.iter().map(|&b| u64::from_le_bytes(b)).collect())
    }

    fn vector<V: Vector>(&self, name: &str, vector: &mut V) -> Result<(), Error> {
        let values = self.numbers(name)?;
        if values.len() != vector.len() {
            let what = format!("`{name}` has {} numbers, not {}", values.len(), vector.len());
            return Err(Error::checkpoint(&self.path, what));
        }
        vector.write(0, &values);
        Ok(())
    }

    pub(super) fn point<V: Vector>(&self, prefix: &str, point: &mut Point<V>) -> Result<(), Error> {
        self.vector(&format!("{prefix}theta"), &mut point.theta)?;
        self.vector(&format!("{prefix}statistics"), &mut point.statistics)
    }

    pub(super) fn slot<V: Vector>(
        &self,
        name: &str,
        slot: Slot<'_, V>,
        like: &V,
    ) -> Result<(), Error> {
        let read = |name: &str| {
            let mut vector = like.clone();
            self.vector(name, &mut vector).map(|()| vector)
        };
        match slot {
            Slot::Vector(vector) => self.vector(name, vector)?,
            Slot::Optional(vector) => {
                *vector = if self.has(name) { Some(read(name)?) } else { None };
            }
            Slot::Vectors(list) => {
                let names = (0..).map(|index| format!("{name}.{index}"));
                *list = names
                    .take_while(|name| self.has(name))
                    .map(|name| read(&name))
                    .collect::<Result<_, _>>()?;
            }
            Slot::Count(count) => {
                *count = *self.counts(name)?.first().ok_or_else(|| self.lacks(name))?;
            }
            Slot::Number(number) => *number = self.number(name)?,
            Slot::Numbers(list) => *list = self.numbers(name)?,
        }
        Ok(())
    }
}
