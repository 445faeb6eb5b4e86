//! `Layer::Conv2d`: windows laid out as the rows of a matrix, and products of matrices.

use super::{Pass, Place, sums};
use crate::cuda::device::Factor::{Plain, Transposed};
use crate::layer::{Bias, Layer};
use crate::network::Node;
use crate::shape::Shape;

/// Numbers that windows may take at a time: 1 GiB.
const MOST: usize = 1 << 28;

/// The windows of a convolution.
pub(super) struct Windows {
    input: Shape,
    output: Shape,
    kernel: usize,
    stride: usize,
    padding: usize,
}

impl Windows {
    pub(super) fn of(node: &Node) -> Self {
        let Layer::Conv2d { kernel, stride, padding, .. } = node.layer else {
            unreachable!("windows are those of a convolution");
        };
        Self { input: node.inputs[0], output: node.output, kernel, stride, padding }
    }

    /// Numbers of a window.
    fn size(&self) -> usize {
        self.kernel * self.kernel * self.input.channels
    }

    /// Whether an image is its own windows.
    fn are_places(&self) -> bool {
        (self.kernel, self.stride, self.padding) == (1, 1, 0)
    }

    fn per_image(&self) -> usize {
        self.output.places() * self.size()
    }

    /// Images whose windows are laid out at a time.
    fn images(&self, batch: usize) -> usize {
        (MOST / self.per_image()).clamp(1, batch.max(1))
    }

    /// Numbers of room for them.
    pub(super) fn room(&self, capacity: usize) -> usize {
        if self.are_places() { 0 } else { self.images(capacity) * self.per_image() }
    }

    fn name(&self) -> &'static str {
        if self.input.channels.is_multiple_of(4) { "windows_of_fours" } else { "windows" }
    }

    fn name_back(&self) -> &'static str {
        if self.input.channels.is_multiple_of(4) { "windows_of_fours_back" } else { "windows_back" }
    }

    fn launch(&self, pass: &Pass<'_>, name: &'static str, from: Place, to: Place, numbers: usize) {
        let mut arguments = vec![from.into(), to.into()];
        arguments.extend(pass.sides());
        let rest = [self.kernel, self.stride, self.padding];
        arguments.extend(rest.map(|side| super::Arg::from(side as i32)));
        pass.device.each(name, numbers, &arguments);
    }

    /// Calls `f(windows, first image, images)` for stretches of the batch.
    fn each(&self, pass: &Pass<'_>, mut f: impl FnMut(Place, usize, usize)) {
        let step = self.images(pass.batch);
        for first in (0..pass.batch).step_by(step) {
            let images = step.min(pass.batch - first);
            let x = pass.inputs[0].plus(first * self.input.size());
            if self.are_places() {
                f(x, first, images);
            } else {
                self.launch(pass, self.name(), x, pass.scratch, images * self.per_image());
                f(pass.scratch, first, images);
            }
        }
    }
}

pub(super) fn forward(pass: &Pass<'_>, channels: usize, bias: Bias) {
    let windows = Windows::of(pass.node);
    let (places, size) = (windows.output.places(), windows.size());
    windows.each(pass, |rows, first, images| {
        let y = pass.output.plus(first * places * channels);
        let sides = [images * places, channels, size];
        pass.device.product(sides, Plain(rows), Plain(pass.theta), 0.0, y);
    });
    if bias == Bias::Yes {
        let arguments =
            [pass.output.into(), pass.theta.plus(size * channels).into(), (channels as i32).into()];
        pass.device.each("add_bias", pass.size_out(), &arguments);
    }
}

pub(super) fn backward(
    pass: &Pass<'_>,
    (channels, bias): (usize, Bias),
    g: Place,
    to: Option<Place>,
    gradient: Place,
) {
    let windows = Windows::of(pass.node);
    let (places, size, device) = (windows.output.places(), windows.size(), pass.device);
    windows.each(pass, |rows, first, images| {
        let g = g.plus(first * places * channels);
        let sides = [size, channels, images * places];
        device.product(sides, Transposed(rows), Plain(g), 1.0, gradient);
    });
    if let Some(to) = to {
        let step = windows.images(pass.batch);
        for first in (0..pass.batch).step_by(step) {
            let images = step.min(pass.batch - first);
            let g = Plain(g.plus(first * places * channels));
            let to = to.plus(first * windows.input.size());
            let rows = if windows.are_places() { to } else { pass.scratch };
            let sides = [images * places, size, channels];
            device.product(sides, g, Transposed(pass.theta), 0.0, rows);
            if !windows.are_places() {
                windows.launch(pass, windows.name_back(), rows, to, images * windows.input.size());
            }
        }
    }
    if bias == Bias::Yes {
        let biases = gradient.plus(size * channels);
        sums::add(device, g, pass.scratch, biases, (pass.batch * places, channels));
    }
}
