//! Checkpoints: all that a chain needs to go on after a kill as if nothing had happened.
//!
//! A folder holds `state.safetensors`, the chain's state after some step, and `point-N.safetensors`,
//! the samples so far. Each is written beside its place and then renamed; the state says how many
//! points belong to it, so a kill at any instant leaves a state and at least its points. One process at a
//! time works in it, the one that has `lock`.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dubio_nn::engine::Vector;
use dubio_predictions::{input, write_whole};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

use crate::clock::Seconds;
use crate::error::Error;
use crate::lock;
use crate::posterior::Point;
use crate::rule::Memory;

/// A chain's progress.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Progress {
    pub(crate) epoch: usize,
    pub(crate) batch: usize,
    pub(crate) draw: usize,
    pub(crate) points: usize,
    pub(crate) seconds: Seconds,
    /// Sum of the losses of the epoch that is under way.
    pub(crate) loss_sum: f64,
    pub(crate) losses: Vec<f64>,
}

/// What a chain goes on with, besides its parameters and its rule's memory.
pub(crate) struct Resumed<V> {
    pub(crate) progress: Progress,
    pub(crate) statistics: Vec<f64>,
    pub(crate) points: Vec<Point<V>>,
}

/// The folder of one chain's checkpoints.
pub(crate) struct Folder {
    path: PathBuf,
    /// What is being done; a checkpoint of something else is refused.
    identity: String,
    _lock: File,
}

impl Folder {
    pub(crate) fn new(path: &Path, identity: String) -> Result<Self, Error> {
        let cannot = |e| Error::file(path, e, "name a folder that can be written");
        fs::create_dir_all(path).map_err(cannot)?;
        let lock = lock::open(&path.join("lock")).map_err(cannot)?;
        // Any other error is of a file system that has no locks, where nobody can be kept out.
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            let advice = "wait for it, or name another folder";
            return Err(Error::file(path, "another process is at work here", advice));
        }
        Ok(Self { path: path.to_path_buf(), identity, _lock: lock })
    }

    fn point(&self, index: usize) -> PathBuf {
        self.path.join(format!("point-{index}.safetensors"))
    }

    /// Writes a sample.
    pub(crate) fn save_point<V: Vector>(
        &self,
        index: usize,
        point: &Point<V>,
    ) -> Result<(), Error> {
        let mut arrays = Arrays::default();
        arrays.vector("theta".to_string(), &point.theta);
        arrays.numbers("statistics".to_string(), &point.statistics);
        arrays.write(&self.point(index), HashMap::new())
    }

    /// Writes the state; the points it counts must be there already.
    pub(crate) fn save<V: Vector>(
        &self,
        progress: &Progress,
        theta: &V,
        statistics: &[f64],
        memory: Memory<'_, V>,
    ) -> Result<(), Error> {
        let mut arrays = Arrays::default();
        arrays.vector("theta".to_string(), theta);
        arrays.numbers("statistics".to_string(), statistics);
        arrays.numbers("losses".to_string(), &progress.losses);
        let counts = [progress.epoch, progress.batch, progress.draw, progress.points];
        let counts = counts.map(|count| count as f64);
        let [epoch, batch, draw, points] = counts;
        let Seconds { wall, cpu } = progress.seconds;
        let progress = [epoch, batch, draw, points, wall, cpu, progress.loss_sum];
        arrays.numbers("progress".to_string(), &progress);
        for (name, list) in memory.vectors {
            for (index, vector) in list.iter().enumerate() {
                arrays.vector(format!("{name}.{index}"), vector);
            }
        }
        for (name, list) in memory.numbers {
            arrays.numbers(name.to_string(), list);
        }
        let about = HashMap::from([("identity".to_string(), self.identity.clone())]);
        arrays.write(&self.path.join("state.safetensors"), about)
    }

    /// Reads the state back, if there is one. `theta` is a vector of the right kind and length.
    pub(crate) fn load<V: Vector>(
        &self,
        theta: &mut V,
        memory: Memory<'_, V>,
    ) -> Result<Option<Resumed<V>>, Error> {
        let path = self.path.join("state.safetensors");
        if !path.exists() {
            return Ok(None);
        }
        let file = Stored::read(&path)?;
        if file.identity.as_deref() != Some(&self.identity) {
            let what = "is a checkpoint of other settings or other data";
            return Err(Error::checkpoint(&path, what));
        }
        file.vector("theta", theta)?;
        for (name, list) in memory.vectors {
            let count = file.count(name);
            list.clear();
            for index in 0..count {
                let mut vector = theta.clone();
                file.vector(&format!("{name}.{index}"), &mut vector)?;
                list.push(vector);
            }
        }
        for (name, list) in memory.numbers {
            *list = file.numbers(name)?;
        }
        let numbers = file.numbers("progress")?;
        let &[epoch, batch, draw, points, wall, cpu, loss_sum] = &numbers[..] else {
            return Err(Error::checkpoint(&path, "is damaged"));
        };
        let progress = Progress {
            epoch: epoch as usize,
            batch: batch as usize,
            draw: draw as usize,
            points: points as usize,
            seconds: Seconds { wall, cpu },
            loss_sum,
            losses: file.numbers("losses")?,
        };
        let points = (0..progress.points).map(|index| {
            let file = Stored::read(&self.point(index))?;
            let mut point = Point { theta: theta.clone(), statistics: file.numbers("statistics")? };
            file.vector("theta", &mut point.theta)?;
            Ok(point)
        });
        let points = points.collect::<Result<_, Error>>()?;
        Ok(Some(Resumed { progress, statistics: file.numbers("statistics")?, points }))
    }
}

#[derive(Default)]
struct Arrays(Vec<(String, Dtype, Vec<u8>)>);

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

    fn numbers(&mut self, name: String, values: &[f64]) {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.0.push((name, Dtype::F64, bytes));
    }

    fn write(self, path: &Path, mut about: HashMap<String, String>) -> Result<(), Error> {
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
        let advice = "make room or name another folder; what was saved before is still there";
        let written =
            write_whole(path, |file| file.write_all(&bytes).and_then(|()| file.sync_data()));
        written.map_err(|e| Error::file(path, e, advice))
    }
}

/// Of arrays by name, in any order.
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

struct Stored {
    path: PathBuf,
    bytes: Vec<u8>,
    identity: Option<String>,
}

impl Stored {
    fn read(path: &Path) -> Result<Self, Error> {
        let bytes = input::read(path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => Error::checkpoint(path, e),
            // A disk that does not answer may still hold it.
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

    /// Vectors of a list.
    fn count(&self, name: &str) -> usize {
        let tensors = self.tensors();
        (0..).take_while(|index| tensors.tensor(&format!("{name}.{index}")).is_ok()).count()
    }

    fn numbers(&self, name: &str) -> Result<Vec<f64>, Error> {
        let tensors = self.tensors();
        let damaged = || Error::checkpoint(&self.path, format!("lacks `{name}`"));
        let tensor = tensors.tensor(name).map_err(|_| damaged())?;
        match tensor.dtype() {
            Dtype::F32 => {
                let (chunks, _) = tensor.data().as_chunks::<4>();
                Ok(chunks.iter().map(|&b| f64::from(f32::from_le_bytes(b))).collect())
            }
            Dtype::F64 => {
                let (chunks, _) = tensor.data().as_chunks::<8>();
                Ok(chunks.iter().map(|&b| f64::from_le_bytes(b)).collect())
            }
            _ => Err(damaged()),
        }
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
}
