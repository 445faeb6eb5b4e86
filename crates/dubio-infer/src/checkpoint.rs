//! Checkpoints: all that a chain needs to continue after a kill as if nothing had happened.
//!
//! A folder holds `state.safetensors`, the chain's state after some step, and `point-N.safetensors`,
//! the samples so far. Each file is written under another name and then renamed; the state says how many points belong
//! to it, so a kill at any instant leaves a state and at least the points that it counts. One process at a time works
//! in the folder: the one that holds `lock`.

mod arrays;

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use dubio_nn::engine::{Point, Vector};

use arrays::{Arrays, Stored};

use crate::clock::Seconds;
use crate::error::Error;
use crate::lock;
use crate::memory::Memory;

/// Where a chain is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Position {
    pub(crate) epoch: usize,
    pub(crate) batch: usize,
    pub(crate) draw: usize,
    pub(crate) samples: usize,
    pub(crate) seconds: Seconds,
    /// Sum of the losses of the epoch that is under way.
    pub(crate) loss_sum: f64,
    pub(crate) losses: Vec<f64>,
}

/// What a chain resumes from, besides its points and its rule's memory.
pub(crate) struct Resumed<V> {
    pub(crate) position: Position,
    pub(crate) samples: Vec<Point<V>>,
}

/// The folder of one chain's checkpoints.
pub(crate) struct Folder {
    path: PathBuf,
    /// What the run computes; a checkpoint with another identity is refused.
    identity: String,
    _lock: File,
}

impl Folder {
    pub(crate) fn new(path: &Path, identity: String) -> Result<Self, Error> {
        let cannot = |e| Error::file(path, e, "choose a writable folder");
        fs::create_dir_all(path).map_err(cannot)?;
        let lock = lock::open(&path.join("lock")).map_err(cannot)?;
        // Any other error means that the file system has no locks, so that no process can be kept out.
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            let advice = "wait for it, or name another folder";
            return Err(Error::file(path, "another process is using this folder", advice));
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
        arrays.point("", point);
        arrays.write(&self.point(index), HashMap::new())
    }

    /// Writes the state; the samples it counts must be there already.
    pub(crate) fn save<V: Vector>(
        &self,
        position: &Position,
        points: &[Point<V>],
        memory: Memory<'_, V>,
    ) -> Result<(), Error> {
        let mut arrays = Arrays::default();
        for (index, point) in points.iter().enumerate() {
            arrays.point(&format!("point.{index}."), point);
        }
        let Position { epoch, batch, draw, samples, seconds, loss_sum, losses } = position;
        arrays.counts("progress".into(), &[*epoch, *batch, *draw, *samples].map(|n| n as u64));
        arrays.numbers("seconds".into(), &[seconds.wall, seconds.cpu]);
        arrays.numbers("loss_sum".into(), &[*loss_sum]);
        arrays.numbers("losses".into(), losses);
        for (name, slot) in memory.slots {
            arrays.slot(format!("rule.{name}"), &slot);
        }
        let about = HashMap::from([("identity".to_string(), self.identity.clone())]);
        arrays.write(&self.path.join("state.safetensors"), about)
    }

    /// Reads the state back, if there is one. `points` must already be of the right kind and length.
    pub(crate) fn load<V: Vector>(
        &self,
        points: &mut [Point<V>],
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
        for (index, point) in points.iter_mut().enumerate() {
            file.point(&format!("point.{index}."), point)?;
        }
        for (name, slot) in memory.slots {
            file.slot(&format!("rule.{name}"), slot, &points[0].theta)?;
        }
        let damaged = || Error::checkpoint(&path, "is damaged");
        let counts: [u64; 4] = file.counts("progress")?.try_into().map_err(|_| damaged())?;
        let [epoch, batch, draw, samples] = counts.map(|count| count as usize);
        let [wall, cpu] = file.numbers("seconds")?.try_into().map_err(|_| damaged())?;
        let [loss_sum] = file.numbers("loss_sum")?.try_into().map_err(|_| damaged())?;
        let (seconds, losses) = (Seconds { wall, cpu }, file.numbers("losses")?);
        let position = Position { epoch, batch, draw, samples, seconds, loss_sum, losses };
        let samples = (0..samples).map(|index| {
            let mut point = points[0].clone();
            Stored::read(&self.point(index))?.point("", &mut point)?;
            Ok(point)
        });
        Ok(Some(Resumed { position, samples: samples.collect::<Result<_, Error>>()? }))
    }
}
