//! A network's buffers on a GPU: run forward over a batch, then back.

use std::sync::Arc;

use dubio_random::numbered::Numbered;

use super::device::{Buffer, Device, Place};
use super::error::can_count;
use super::halves::Halves;
use super::layers::{self, Biases, Halved, Pass, To, batch_norm};
use crate::layer::Layer;
use crate::mode::{Mode, Statistics};
use crate::network::{Network, Node, Source};

/// Buffers for batches of up to some size, allocated once.
pub(super) struct Tape {
    pub network: Network,
    pub device: Arc<Device>,
    pub capacity: usize,
    /// Examples of the last batch.
    pub batch: usize,
    outputs: Vec<Buffer<f32>>,
    /// Gradients of the outputs; some nodes share those of another.
    gradients: Vec<Buffer<f32>>,
    gradient_of: Vec<usize>,
    saved: Vec<Buffer<f32>>,
    scratch: Buffer<f32>,
    /// For gradients that reach a node after another has: one for each input that a layer may have.
    spare: Vec<Buffer<f32>>,
    /// Nodes whose parameters stay, and with them their running statistics.
    pub frozen: Vec<bool>,
    /// Nodes that are activations of the layer before them, which may be worked out with it.
    joined: Vec<bool>,
    halves: Halves,
    /// Whether what can lie in bfloat16 did so in the last batch.
    halved: bool,
    /// Keys of the random numbers of the layers that draw any, in their order.
    keys: Buffer<u64>,
}

impl Tape {
    /// Room for `capacity` examples at a time.
    pub(super) fn new(device: &Arc<Device>, network: &Network, capacity: usize) -> Self {
        let nodes = network.nodes();
        device.expect(can_count(network, capacity));
        device.make_ready(nodes.iter().flat_map(|node| layers::needs(node, capacity, device)));
        let zeros = |numbers: usize| Buffer::zeros(device, numbers);
        let outputs = nodes.iter().map(|node| zeros(node.output.size() * capacity)).collect();
        let gradient_of = gradients_alike(nodes);
        let own = |(index, of): (usize, &usize)| index == *of;
        let gradients = gradient_of
            .iter()
            .enumerate()
            .map(|one| zeros(if own(one) { nodes[one.0].output.size() * capacity } else { 0 }));
        let most = nodes.iter().map(|node| node.inputs.len()).max().unwrap_or(0);
        let largest = |which: usize| {
            nodes.iter().filter_map(|node| Some(node.inputs.get(which)?.size())).max().unwrap_or(0)
        };
        let keeps = |node: &Node| {
            let saved = zeros(layers::saved(node, capacity, device));
            device.upload(&layers::fixed(node), saved.place());
            saved
        };
        let scratch = nodes.iter().map(|node| layers::scratch(node, capacity, device));
        let scratch = scratch.max().unwrap_or(0);
        let joined: Vec<bool> = (0..nodes.len()).map(|index| is_joined(nodes, index)).collect();
        Self {
            capacity,
            batch: 0,
            outputs,
            gradients: gradients.collect(),
            gradient_of,
            saved: nodes.iter().map(keeps).collect(),
            scratch: zeros(scratch),
            spare: (0..most).map(|which| zeros(largest(which) * capacity)).collect(),
            frozen: vec![false; nodes.len()],
            halves: Halves::of(nodes, &joined, |node| layers::halves(node, device)),
            halved: false,
            joined,
            keys: Buffer::zeros(device, nodes.iter().filter(|node| node.layer.is_noisy()).count()),
            device: Arc::clone(device),
            network: network.clone(),
        }
    }

    /// What a node put out for the last batch.
    pub(super) fn activations(&self, node: usize) -> Place {
        self.outputs[node].place()
    }

    /// Gradient with respect to what a node put out for the last batch.
    pub(super) fn output_gradients(&self, node: usize) -> Place {
        self.gradients[self.gradient_of[node]].place()
    }

    /// Where the gradient with respect to the network's outputs goes.
    pub(super) fn seed(&self) -> Place {
        self.output_gradients(self.gradients.len() - 1)
    }

    /// What comes from a source, in a batch whose inputs these are.
    pub(super) fn read(&self, source: Source, input: Place) -> Place {
        match source {
            Source::Input => input,
            Source::Node(index) => self.outputs[index].place(),
        }
    }

    /// Hands over what is random about a pass.
    pub(super) fn draw(&self, mode: &Mode) {
        let Some(stream) = &mode.noise else { return };
        let noisy = self.network.nodes().iter().filter(|node| node.layer.is_noisy());
        let keys: Vec<u64> =
            noisy.map(|node| Numbered::new(&stream.child(&node.name)).key()).collect();
        self.device.upload(&keys, self.keys.place());
    }

    fn pass<'a>(&'a self, index: usize, theta: Place, input: Place, mode: &'a Mode) -> Pass<'a> {
        let node = &self.network.nodes()[index];
        let earlier =
            || self.network.nodes()[..index].iter().filter(|n| n.layer.is_noisy()).count();
        let draws = mode.noise.is_some() && node.layer.is_noisy();
        Pass {
            device: &self.device,
            node,
            batch: self.batch,
            capacity: self.capacity,
            theta: theta.plus(node.parameters.start),
            inputs: node.sources.iter().map(|&source| self.read(source, input)).collect(),
            output: self.outputs[index].place(),
            saved: self.saved[index].place(),
            scratch: self.scratch.place(),
            mode,
            halved: if self.halved { self.halves.around(index, node) } else { Halved::default() },
            // Places count in f32, of which a key takes two.
            noise: draws.then(|| self.keys.place().plus(2 * earlier())),
        }
    }

    /// Runs the network on a batch, with what was [drawn](Self::draw) for it; gives the place of its outputs,
    /// `[batch, outputs]`.
    pub(super) fn forward(
        &mut self,
        theta: Place,
        statistics: Place,
        input: Place,
        batch: usize,
        mode: &Mode,
    ) -> Place {
        assert!(batch <= self.capacity, "a batch larger than the buffers");
        self.batch = batch;
        self.halved = self.normalises_by_batch(mode);
        let frozen = mode.frozen();
        for (index, node) in self.network.nodes().iter().enumerate() {
            if self.is_one(index, mode) {
                continue; // done with the layer that it reads
            }
            let with_next = self.is_one(index + 1, mode);
            let mode = if self.frozen[index] { &frozen } else { mode };
            let pass = self.pass(index, theta, input, mode);
            let statistics = statistics.plus(node.statistics.start);
            if with_next {
                let next = self.pass(index + 1, theta, input, mode);
                layers::forward_activated(&pass, &next, statistics);
            } else {
                layers::forward(&pass, statistics);
            }
        }
        self.activations(self.network.nodes().len() - 1)
    }

    /// Runs gradients back through the last batch, from its [seed](Self::seed). That of the parameters replaces
    /// `gradient`; that of the inputs is written to a place, if there is one. The biases are those of the last layer.
    pub(super) fn backward(
        &mut self,
        theta: Place,
        input: Place,
        mode: &Mode,
        (gradient, mut biases): (Place, Biases),
        input_gradient: Option<Place>,
    ) {
        let nodes = self.network.nodes();
        let last = nodes.len() - 1;
        let mut reached = Reached { nodes: vec![false; nodes.len()], input: false };
        reached.nodes[last] = true;
        let frozen = mode.frozen();
        for (index, node) in nodes.iter().enumerate().rev() {
            let (is_one, with_next) = (self.is_one(index, mode), self.is_one(index + 1, mode));
            let mode = if self.frozen[index] { &frozen } else { mode };
            let reads_node = node.sources.iter().any(|source| *source != Source::Input);
            let learns = reads_node || !node.parameters.is_empty() || input_gradient.is_some();
            let own = gradient.plus(node.parameters.start);
            if !reached.nodes[index] || !learns {
                self.device.zero(own, node.parameters.len());
                continue; // nobody needs what would come of it
            }
            let before = index.checked_sub(1).map(|before| &nodes[before]);
            if is_one && before.is_some_and(|before| before.layer == Layer::BatchNorm) {
                reached.nodes[index - 1] = true; // done with the layer that it reads
                continue;
            }
            let pass = self.pass(index, theta, input, mode);
            let targets = self.targets(node, &mut reached, input_gradient);
            let given: Vec<Option<Place>> = targets.iter().map(|target| target.fill).collect();
            let output_gradient = self.output_gradients(index);
            match (before, &targets[..]) {
                (_, [target]) if node.layer == Layer::BatchNorm => {
                    let next = with_next.then(|| self.pass(index + 1, theta, input, mode));
                    let g = self.output_gradients(index + usize::from(with_next));
                    batch_norm::backward(&pass, next.as_ref(), g, target.whole(), own);
                    continue; // nothing is left to add
                }
                (Some(linear), [Target { fill: Some(to), add_to: None }])
                    if is_one && self.batch <= layers::MOST_ROWS =>
                {
                    let weights = linear.parameters.len() - linear.output.size();
                    let sums = gradient.plus(linear.parameters.start + weights);
                    layers::backward_with_sums(&pass, output_gradient, *to, sums);
                    biases = Biases::Done;
                    continue; // with the linear layer
                }
                _ => layers::backward(&pass, output_gradient, &given, (own, biases)),
            }
            biases = Biases::Wanted;
            for (target, shape) in targets.iter().zip(&node.inputs) {
                if let (Some(from), Some(to)) = (target.fill, target.add_to) {
                    let one = 1_f32;
                    let arguments = [to.into(), one.into(), one.into(), from.into()];
                    self.device.each("combine", self.batch * shape.size(), &arguments);
                }
            }
        }
    }

    /// Whether a node is an activation that is worked out with the layer before it. After a batch normalisation by
    /// running statistics it is not: what that layer puts out may be asked for.
    fn is_one(&self, index: usize, mode: &Mode) -> bool {
        let Some(true) = self.joined.get(index) else { return false };
        let normalises = self.network.nodes()[index - 1].layer == Layer::BatchNorm;
        let by_batch = matches!(mode.statistics, Statistics::Batch { .. });
        !normalises || (by_batch && !self.frozen[index - 1])
    }

    /// Whether every batch normalisation is by statistics of the batch. Only then are activations not asked for.
    fn normalises_by_batch(&self, mode: &Mode) -> bool {
        let mut nodes = self.network.nodes().iter().zip(&self.frozen);
        let is_frozen = nodes.any(|(node, frozen)| *frozen && node.layer == Layer::BatchNorm);
        matches!(mode.statistics, Statistics::Batch { .. }) && !is_frozen
    }

    /// Where the gradients of a node's inputs go: straight to where they are wanted, or to a spare place where
    /// another has been.
    fn targets(&self, node: &Node, reached: &mut Reached, inputs: Option<Place>) -> Vec<Target> {
        let target = |(which, source): (usize, &Source)| {
            let (own, again) = match *source {
                Source::Input => (inputs, std::mem::replace(&mut reached.input, true)),
                Source::Node(i) => {
                    (Some(self.output_gradients(i)), std::mem::replace(&mut reached.nodes[i], true))
                }
            };
            match own {
                Some(own) if again => {
                    Target { fill: Some(self.spare[which].place()), add_to: Some(own) }
                }
                _ => Target { fill: own, add_to: None },
            }
        };
        node.sources.iter().enumerate().map(target).collect()
    }
}

/// Whether a node is the activation of a layer that takes one, comes right before it and is read by it alone.
fn is_joined(nodes: &[Node], index: usize) -> bool {
    let activates = matches!(nodes[index].layer, Layer::Relu | Layer::Elu | Layer::Swish);
    let Some(before) = index.checked_sub(1).filter(|_| activates) else { return false };
    let own = Source::Node(before);
    let readers = nodes.iter().filter(|node| node.sources.contains(&own)).count();
    nodes[index].sources == [own] && readers == 1 && layers::takes_activation(&nodes[before].layer)
}

/// Where the gradient of each node's outputs lies. If its only reader merely adds it or gives it another shape, it is
/// the gradient of the reader's outputs, which is the same.
fn gradients_alike(nodes: &[Node]) -> Vec<usize> {
    let mut of: Vec<usize> = (0..nodes.len()).collect();
    for index in (0..nodes.len()).rev() {
        let own = Source::Node(index);
        let times = |node: &Node| node.sources.iter().filter(|source| **source == own).count();
        let mut readers = nodes.iter().enumerate().filter(|(_, node)| times(node) > 0);
        if let (Some((reader, node)), None) = (readers.next(), readers.next()) {
            let hands_on = matches!(node.layer, Layer::Add | Layer::Flatten);
            if hands_on && times(node) == 1 {
                of[index] = of[reader];
            }
        }
    }
    of
}

/// Which places a gradient has reached on the way back.
struct Reached {
    nodes: Vec<bool>,
    input: bool,
}

/// Where a gradient is written, and what it is then added to.
struct Target {
    fill: Option<Place>,
    add_to: Option<Place>,
}

impl Target {
    /// For a layer that can add by itself.
    fn whole(&self) -> Option<To> {
        let place = self.add_to.or(self.fill)?;
        Some(To { place, adds: self.add_to.is_some() })
    }
}
