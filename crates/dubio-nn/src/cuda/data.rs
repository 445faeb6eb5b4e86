//! Training examples on a GPU, and mini-batches of them.

use std::sync::Arc;

use dubio_random::stream::Stream;

use super::device::{Buffer, Device, Place};
use crate::engine::Rows;
use crate::examples::{Answers, Examples, Inputs};

/// Training examples on a GPU. Clones share them.
#[derive(Clone)]
pub struct CudaData(Arc<Held>);

struct Held {
    /// As the host has them, for inputs that are changed at random and for losses without a kernel.
    examples: Examples<f32>,
    inputs: Option<Buffer<f32>>,
    labels: Option<Buffer<u32>>,
    targets: Option<Buffer<f64>>,
}

impl CudaData {
    pub(super) fn new(device: &Arc<Device>, examples: &Examples<f32>) -> Self {
        let inputs = match &examples.inputs {
            Inputs::Ready(all) => Some(Buffer::of(device, all)),
            Inputs::Source(_) => None,
        };
        let (labels, targets) = match &examples.answers {
            Answers::Labels(all) => (Some(Buffer::of(device, all)), None),
            Answers::Targets(all) => (None, Some(Buffer::of(device, all))),
        };
        Self(Arc::new(Held { examples: examples.clone(), inputs, labels, targets }))
    }

    /// As the host has them.
    pub(super) fn examples(&self) -> &Examples<f32> {
        &self.0.examples
    }

    pub(super) fn labels(&self) -> Option<Place> {
        self.0.labels.as_ref().map(Buffer::place)
    }

    pub(super) fn targets(&self) -> Option<Place> {
        self.0.targets.as_ref().map(Buffer::place)
    }
}

/// The order of an epoch, on both sides.
pub(super) struct Order {
    pub host: Vec<u32>,
    pub device: Buffer<u32>,
}

/// Which examples a batch has.
pub(super) struct Chosen<'a> {
    rows: &'a Rows,
    order: &'a Order,
}

impl<'a> Chosen<'a> {
    pub(super) fn new(rows: &'a Rows, order: &'a Order) -> Self {
        Self { rows, order }
    }

    /// The epoch's order, if it is asked for.
    pub(super) fn order(&self) -> Place {
        match self.rows {
            Rows::Ordered(_) => self.order.device.place(),
            Rows::Stored(_) => Place::NOWHERE,
        }
    }

    /// The first place in it, or among the examples.
    pub(super) fn start(&self) -> usize {
        let (Rows::Ordered(range) | Rows::Stored(range)) = self.rows;
        range.start
    }

    /// Their numbers.
    pub(super) fn on_host(&self) -> Vec<u32> {
        match self.rows {
            Rows::Ordered(range) => self.order.host[range.clone()].to_vec(),
            Rows::Stored(range) => (range.start as u32..range.end as u32).collect(),
        }
    }

    /// Brings the inputs of a batch together; `room` has space for them, and `step` says where it starts.
    pub(super) fn inputs(
        &self,
        data: &CudaData,
        augment: Option<&Stream>,
        step: Place,
        room: &Buffer<f32>,
    ) {
        let (device, size) = (room.device(), data.examples().size());
        let count = self.rows.len() * size;
        match (&data.0.inputs, &data.examples().inputs) {
            (Some(all), _) => {
                let arguments = [
                    all.place().into(),
                    self.order().into(),
                    step.into(),
                    room.place().into(),
                    (size as i32).into(),
                ];
                device.each("gather", count, &arguments);
            }
            (None, Inputs::Source(source)) => {
                let mut values = vec![0.0; count];
                source.write(&self.on_host(), augment, &mut values);
                device.upload(&values, room.place());
            }
            (None, Inputs::Ready(_)) => unreachable!("inputs that are ready are on the device"),
        }
    }
}
