//! Training examples on a GPU, and mini-batches of them.

use std::sync::Arc;

use dubio_random::stream::Stream;

use super::device::{Arg, Buffer, Device, Place};
use crate::engine::Rows;
use crate::examples::{Answers, Examples, Inputs, Move, Source};
use crate::shape::Shape;

/// Training examples on a GPU. Clones share them.
#[derive(Clone)]
pub struct CudaData(Arc<Held>);

struct Held {
    /// As the host has them, for inputs that are made anew each time and for losses without a kernel.
    examples: Examples<f32>,
    inputs: Option<Buffer<f32>>,
    /// Where inputs are moved at random: their shape, and what comes in at the edges.
    moved: Option<(Shape, Buffer<f32>)>,
    labels: Option<Buffer<u32>>,
    targets: Option<Buffer<f64>>,
}

impl CudaData {
    pub(super) fn new(device: &Arc<Device>, examples: &Examples<f32>) -> Self {
        let still = match &examples.inputs {
            Inputs::Ready(_) => None,
            Inputs::Source(source) => source.still(),
        };
        let inputs = match (&examples.inputs, &still) {
            (Inputs::Ready(all), _) => Some(Buffer::of(device, all)),
            (Inputs::Source(_), still) => {
                still.as_ref().map(|still| Buffer::of(device, &still.images))
            }
        };
        let moved = still.map(|still| (still.shape, Buffer::of(device, &still.edge)));
        let (labels, targets) = match &examples.answers {
            Answers::Labels(all) => (Some(Buffer::of(device, all)), None),
            Answers::Targets(all) => (None, Some(Buffer::of(device, all))),
        };
        Self(Arc::new(Held { examples: examples.clone(), inputs, moved, labels, targets }))
    }

    /// As the host has them.
    pub(super) fn examples(&self) -> &Examples<f32> {
        &self.0.examples
    }

    /// Whether inputs are moved on the device.
    pub(super) fn moves(&self, augment: Option<&Stream>) -> bool {
        self.0.moved.is_some() && augment.is_some()
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

    /// The first place in the order, or among the stored examples.
    pub(super) fn start(&self) -> usize {
        let (Rows::Ordered(range) | Rows::Stored(range)) = self.rows;
        range.start
    }

    /// Their indices.
    pub(super) fn on_host(&self) -> Vec<u32> {
        match self.rows {
            Rows::Ordered(range) => self.order.host[range.clone()].to_vec(),
            Rows::Stored(range) => (range.start as u32..range.end as u32).collect(),
        }
    }

    /// Hands over what the host knows of the inputs of a batch: how they are moved, or, where they are made anew
    /// each time, the inputs themselves. `room` and `moves` have space for them.
    pub(super) fn hand_over(
        &self,
        data: &CudaData,
        augment: Option<&Stream>,
        (room, moves): (&Buffer<f32>, &Buffer<Move>),
    ) {
        let device = room.device();
        if data.0.inputs.is_none() {
            let mut values = vec![0.0; self.rows.len() * data.examples().size()];
            self.source(data).write(&self.on_host(), augment, &mut values);
            device.upload(&values, room.place());
        } else if data.moves(augment) {
            device.upload(&self.source(data).moves(&self.on_host(), augment), moves.place());
        }
    }

    /// Brings the inputs of a batch together after [`Self::hand_over`]; `step` says where it starts.
    pub(super) fn gather(
        &self,
        data: &CudaData,
        augment: Option<&Stream>,
        step: Place,
        (room, moves): (&Buffer<f32>, &Buffer<Move>),
    ) {
        let (device, size) = (room.device(), data.examples().size());
        let count = self.rows.len() * size;
        let Some(all) = &data.0.inputs else { return };
        let [all, order, step, to] = [all.place(), self.order(), step, room.place()].map(Arg::from);
        match &data.0.moved {
            Some((shape, edge)) if augment.is_some() => {
                let [moves, edge] = [moves.place(), edge.place()].map(Arg::from);
                let [height, width, channels] =
                    [shape.height, shape.width, shape.channels].map(|side| Arg::from(side as i32));
                let arguments = [all, order, step, to, moves, edge, height, width, channels];
                device.each("gather_moved", count, &arguments);
            }
            _ => device.each("gather", count, &[all, order, step, to, (size as i32).into()]),
        }
    }

    fn source<'d>(&self, data: &'d CudaData) -> &'d dyn Source<f32> {
        match &data.examples().inputs {
            Inputs::Source(source) => &**source,
            Inputs::Ready(_) => unreachable!("inputs that are ready have no source"),
        }
    }
}
