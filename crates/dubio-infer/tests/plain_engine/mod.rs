//! A second engine: plain loops over numbers that only it can see. What it agrees on with the first is what
//! the contract says, and where another kind of device can stand.

use std::ops::Range;
use std::sync::Arc;

use dubio_nn::engine::{Batch, Engine, Model, Point, Rows, Seed, Vector, Visited};
use dubio_nn::examples::{Answers, Examples, Inputs};
use dubio_nn::initial;
use dubio_nn::layer::{Layer, NORMAL_CHUNK};
use dubio_nn::loss::{Loss, Truth};
use dubio_nn::network::{Network, Node, Source};
use dubio_nn::random_features;
use dubio_random::normal::Normal;
use dubio_random::numbered::Numbered;
use dubio_random::stream::Stream;

/// Numbers that nobody else can look at.
#[derive(Clone, Debug)]
pub(crate) struct Hidden(Vec<f64>);

impl Hidden {
    fn each(&mut self, x: &Self, f: impl Fn(f64, f64) -> f64) {
        self.0.iter_mut().zip(&x.0).for_each(|(v, x)| *v = f(*v, *x));
    }
    fn each_two(&mut self, x: &Self, y: &Self, f: impl Fn(f64, f64, f64) -> f64) {
        for i in 0..self.0.len() {
            self.0[i] = f(self.0[i], x.0[i], y.0[i]);
        }
    }
}

impl Vector for Hidden {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn fill(&mut self, value: f64) {
        self.0.fill(value);
    }
    fn copy_from(&mut self, other: &Self) {
        self.each(other, |_, x| x);
    }
    fn scale(&mut self, a: f64) {
        self.0.iter_mut().for_each(|v| *v *= a);
    }
    fn axpy(&mut self, a: f64, x: &Self) {
        self.each(x, |v, x| v + a * x);
    }
    fn combine(&mut self, a: f64, b: f64, x: &Self) {
        self.each(x, |v, x| a * v + b * x);
    }
    fn add_product(&mut self, a: f64, x: &Self, y: &Self) {
        self.each_two(x, y, |v, x, y| v + a * x * y);
    }
    fn add_over_root(&mut self, a: f64, x: &Self, y: &Self, floor: f64) {
        self.each_two(x, y, |v, x, y| v + a * x / (y.sqrt() + floor));
    }
    fn add_times_root(&mut self, a: f64, x: &Self, y: &Self) {
        self.each_two(x, y, |v, x, y| v + a * x * y.max(0.0).sqrt());
    }
    fn clip(&mut self, length: f64) {
        let own = self.dot(self).sqrt();
        if own > length {
            self.scale(length / own);
        }
    }
    fn dot(&self, other: &Self) -> f64 {
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
    }
    fn add_noise(&mut self, std: f64, stream: &Stream) {
        for (piece, values) in self.0.chunks_mut(4096).enumerate() {
            f64::add_normals(values, std, &mut stream.nth(piece).generator());
        }
    }
    fn part(&self, range: Range<usize>) -> Self {
        Self(self.0[range].to_vec())
    }
    fn put(&mut self, start: usize, part: &Self) {
        self.0[start..start + part.0.len()].copy_from_slice(&part.0);
    }
    fn bytes_per_number(&self) -> usize {
        8
    }
    fn zeros(&self, len: usize) -> Self {
        Self(vec![0.0; len])
    }
    fn read(&self, range: Range<usize>) -> Vec<f64> {
        self.0[range].to_vec()
    }
    fn write(&mut self, start: usize, values: &[f64]) {
        self.0[start..start + values.len()].copy_from_slice(values);
    }
}

/// The engine: no SIMD, no threads, no buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

impl Engine for Plain {
    type Number = f64;
    type Vector = Hidden;
    type Data = Examples<f64>;
    type Model = Network64;

    fn vector(&self, numbers: &[f64]) -> Hidden {
        Hidden(numbers.to_vec())
    }
    fn data(&self, examples: &Examples<f64>) -> Examples<f64> {
        examples.clone()
    }
    fn model(&self, network: &Network, _: usize) -> Network64 {
        Network64 { network: network.clone(), task: None, order: Vec::new(), losses: Vec::new() }
    }
}

/// A network of linear layers, rectifiers and noise.
pub(crate) struct Network64 {
    network: Network,
    task: Option<(Examples<f64>, Arc<dyn Loss>)>,
    order: Vec<u32>,
    losses: Vec<f64>,
}

/// Whose noise it is: an example's in training, a pass's in prediction.
#[derive(Clone, Copy, PartialEq)]
enum For {
    Training,
    Prediction,
}

/// What each node gave for one example, and its noise: factors, or normal numbers.
struct Pass {
    outputs: Vec<Vec<f64>>,
    factors: Vec<Vec<f64>>,
}

/// The factors by which a layer with noise multiplies, or the normal numbers that it draws by.
fn factors(layer: &Layer, size: usize, stream: Option<Stream>, mask: usize) -> Vec<f64> {
    let mut factors = vec![f64::from(u8::from(*layer != Layer::DrawNormal)); size];
    let Some(stream) = stream else { return factors };
    let mut generator = Numbered::new(&stream).nth(mask);
    match *layer {
        Layer::Dropout { rate } => {
            for pair in factors.chunks_mut(2) {
                let bits = generator.bits();
                for (factor, bits) in pair.iter_mut().zip([bits, bits >> 32]) {
                    let left_out = (bits as u32 as f64) < (rate * 2_f64.powi(32)).floor();
                    *factor = if left_out { 0.0 } else { 1.0 / (1.0 - rate) };
                }
            }
        }
        Layer::GaussianDropout { rate } => {
            f64::add_normals(&mut factors, (rate / (1.0 - rate)).sqrt(), &mut generator);
        }
        Layer::DrawNormal => {
            assert!(size <= NORMAL_CHUNK, "one generator for all numbers of an example");
            f64::add_normals(&mut factors, 1.0, &mut generator);
        }
        Layer::RandomSigns => {
            for word in factors.chunks_mut(64) {
                let bits = generator.bits();
                for (bit, factor) in word.iter_mut().enumerate() {
                    *factor = 1.0 - 2.0 * (bits >> bit & 1) as f64;
                }
            }
        }
        _ => {}
    }
    factors
}

fn sum(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

/// What a layer of random features makes of an input, and the slopes of that, `[features, inputs]`.
fn waves(node: &Node, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let Layer::RandomFeatures { features, length_scale, directions } = node.layer else {
        panic!("a layer of random features")
    };
    let numbers = random_features::draw(x.len(), features, length_scale, directions);
    let scale = (2.0 / features as f64).sqrt();
    let (mut values, mut slopes) = (Vec::new(), Vec::new());
    for (row, phase) in numbers.directions.chunks(x.len()).zip(&numbers.phases) {
        let angle = phase + row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
        values.push(scale * angle.cos());
        slopes.extend(row.iter().map(|w| -scale * angle.sin() * w));
    }
    (values, slopes)
}

impl Network64 {
    fn forward(&self, theta: &Hidden, x: &[f64], noise: Option<&Stream>, mask: usize) -> Pass {
        let mut pass = Pass { outputs: Vec::new(), factors: Vec::new() };
        for node in self.network.nodes() {
            let read = |source: Source| match source {
                Source::Input => x,
                Source::Node(index) => &pass.outputs[index],
            };
            let (input, other) = (read(node.sources[0]), node.sources.get(1).map(|&s| read(s)));
            let stream = noise.map(|stream| stream.child(&node.name));
            let factors = factors(&node.layer, input.len(), stream, mask);
            let own = &theta.0[node.parameters.clone()];
            let output = match node.layer {
                Layer::Flatten => input.to_vec(),
                Layer::Append { .. } => [input, own].concat(),
                Layer::RandomFeatures { .. } => waves(node, input).0,
                Layer::Relu => input.iter().map(|v| v.max(0.0)).collect(),
                Layer::Dropout { .. } | Layer::GaussianDropout { .. } | Layer::RandomSigns => {
                    input.iter().zip(&factors).map(|(x, f)| x * f).collect()
                }
                Layer::Square => input.iter().map(|x| x * x).collect(),
                Layer::Add => sum(input, other.expect("two inputs")),
                Layer::DrawNormal => {
                    let noise = other.expect("two inputs").iter().zip(&factors);
                    let noise: Vec<f64> = noise.map(|(v, z)| v.sqrt() * z).collect();
                    sum(input, &noise)
                }
                Layer::Linear { outputs } => (0..outputs)
                    .map(|k| {
                        let row = &own[k * input.len()..(k + 1) * input.len()];
                        let bias = own[outputs * input.len() + k];
                        bias + row.iter().zip(input).map(|(w, x)| w * x).sum::<f64>()
                    })
                    .collect(),
                ref other => panic!("the plain engine has no {other:?}"),
            };
            pass.outputs.push(output);
            pass.factors.push(factors);
        }
        pass
    }

    /// Adds to the gradient of the parameters; gives that of each node's output, and that of the input.
    fn backward(
        &self,
        theta: &Hidden,
        x: &[f64],
        pass: &Pass,
        seed: &[f64],
        gradient: &mut [f64],
    ) -> (Vec<Vec<f64>>, Vec<f64>) {
        let nodes = self.network.nodes();
        let mut of_outputs: Vec<Vec<f64>> =
            nodes.iter().map(|node: &Node| vec![0.0; node.output.size()]).collect();
        let mut of_input = vec![0.0; x.len()];
        of_outputs[nodes.len() - 1].copy_from_slice(seed);
        for (index, node) in nodes.iter().enumerate().rev() {
            let g = of_outputs[index].clone();
            let (input, to) = match node.sources[0] {
                Source::Input => (x, &mut of_input),
                Source::Node(before) => (&pass.outputs[before][..], &mut of_outputs[before]),
            };
            let own = node.parameters.clone();
            for (i, to) in to.iter_mut().enumerate() {
                *to += match node.layer {
                    Layer::Flatten | Layer::Append { .. } | Layer::Add | Layer::DrawNormal => g[i],
                    Layer::Square => 2.0 * input[i] * g[i],
                    Layer::RandomFeatures { .. } => {
                        let slopes = waves(node, input).1;
                        (0..g.len()).map(|k| g[k] * slopes[k * input.len() + i]).sum()
                    }
                    Layer::Relu => f64::from(u8::from(input[i] > 0.0)) * g[i],
                    Layer::Linear { outputs } => {
                        let weight = |k: usize| theta.0[own.start + k * input.len() + i];
                        (0..outputs).map(|k| g[k] * weight(k)).sum()
                    }
                    _ => g[i] * pass.factors[index][i],
                };
            }
            if let Some(Source::Node(second)) = node.sources.get(1) {
                let slope = |i: usize| match node.layer {
                    Layer::Add => 1.0,
                    _ if pass.outputs[*second][i] == 0.0 => 0.0,
                    _ => pass.factors[index][i] / (2.0 * pass.outputs[*second][i].sqrt()),
                };
                let to = of_outputs[*second].iter_mut().enumerate();
                to.for_each(|(i, to)| *to += slope(i) * g[i]);
            }
            if let Layer::Append { numbers, .. } = node.layer {
                (0..numbers).for_each(|k| gradient[own.start + k] += g[input.len() + k]);
            }
            if let Layer::Linear { outputs } = node.layer {
                for k in 0..outputs {
                    for i in 0..input.len() {
                        gradient[own.start + k * input.len() + i] += g[k] * input[i];
                    }
                    gradient[own.start + outputs * input.len() + k] += g[k];
                }
            }
        }
        (of_outputs, of_input)
    }

    /// Inputs of the rows one by one, and their numbers.
    fn rows(&self, rows: &Rows) -> (Vec<f64>, Vec<u32>) {
        let (examples, _) = self.task.as_ref().expect("told what to learn from");
        let rows: Vec<u32> = match rows {
            Rows::Ordered(range) => self.order[range.clone()].to_vec(),
            Rows::Stored(range) => (range.start as u32..range.end as u32).collect(),
        };
        let Inputs::Ready(all) = &examples.inputs else { panic!("no augmentation here") };
        let size = examples.size();
        let row = |&row: &u32| all[row as usize * size..(row as usize + 1) * size].to_vec();
        (rows.iter().flat_map(row).collect(), rows)
    }

    /// The outputs of a batch, and what `seed` makes of them run back.
    fn run(
        &self,
        theta: &Hidden,
        inputs: &[f64],
        noise: Option<&Stream>,
        what: For,
        mut gradient: Option<&mut Vec<f64>>,
        seed: impl FnOnce(&[f64]) -> Vec<f64>,
    ) -> Vec<(Pass, Vec<Vec<f64>>, Vec<f64>)> {
        let examples: Vec<&[f64]> = inputs.chunks(self.network.input.size()).collect();
        let mask = |example: usize| if what == For::Training { example } else { 0 };
        let passes: Vec<Pass> = examples
            .iter()
            .enumerate()
            .map(|(i, x)| self.forward(theta, x, noise, mask(i)))
            .collect();
        let outputs: Vec<f64> =
            passes.iter().flat_map(|pass| pass.outputs.last().expect("layers").clone()).collect();
        let seed = seed(&outputs);
        let width = self.network.output().size();
        let mut unused = vec![0.0; theta.0.len()];
        let mut all = Vec::new();
        for ((pass, x), seed) in passes.into_iter().zip(examples).zip(seed.chunks(width)) {
            let into = gradient.as_deref_mut().unwrap_or(&mut unused);
            let (of_outputs, of_input) = self.backward(theta, x, &pass, seed, into);
            all.push((pass, of_outputs, of_input));
        }
        all
    }

    /// Runs inputs through and a seed back, and shows each layer with parameters.
    fn show(
        &self,
        theta: &Hidden,
        inputs: &[f64],
        noise: Option<&Stream>,
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, Hidden>),
    ) {
        let size = self.network.input.size();
        let all = self.run(theta, inputs, noise, For::Prediction, None, |o| seeded(seed, o));
        let nodes = self.network.nodes().iter().enumerate();
        for (index, node) in nodes.filter(|(_, node)| !node.parameters.is_empty()) {
            let read = |(example, pass): (usize, &Pass)| match node.sources[0] {
                Source::Input => inputs[example * size..(example + 1) * size].to_vec(),
                Source::Node(before) => pass.outputs[before].clone(),
            };
            let passes = all.iter().map(|(pass, ..)| pass).enumerate();
            visitor(Visited {
                node,
                inputs: &Hidden(passes.flat_map(read).collect()),
                output_gradients: &Hidden(
                    all.iter().flat_map(|(_, g, _)| g[index].clone()).collect(),
                ),
            });
        }
    }

    fn mean(&self, outputs: &[f64], rows: &[u32], gradient: &mut [f64]) -> f64 {
        let (examples, loss) = self.task.as_ref().expect("told what to learn from");
        match &examples.answers {
            Answers::Labels(all) => {
                let labels: Vec<u32> = rows.iter().map(|&row| all[row as usize]).collect();
                loss.mean(outputs, Truth::Labels(&labels), rows, gradient)
            }
            Answers::Targets(all) => {
                let targets: Vec<f64> = rows.iter().map(|&row| all[row as usize]).collect();
                loss.mean(outputs, Truth::Targets(&targets), rows, gradient)
            }
        }
    }
}

/// The factors of a seed.
fn seeded(seed: Seed<'_>, outputs: &[f64]) -> Vec<f64> {
    match seed {
        Seed::Factors(factors) => factors.to_vec(),
        Seed::CrossEntropy { labels, weights } => {
            let classes = outputs.len() / labels.len();
            let rows = outputs.chunks(classes).zip(labels.iter().zip(weights));
            rows.flat_map(|(row, (&label, weight))| {
                let total: f64 = row.iter().map(|v| v.exp()).sum();
                (0..classes).map(move |k| {
                    weight * (row[k].exp() / total - f64::from(u8::from(k == label as usize)))
                })
            })
            .collect()
        }
    }
}

impl Model<Plain> for Network64 {
    fn network(&self) -> &Network {
        &self.network
    }
    fn start(&self, stream: &Stream) -> Point<Hidden> {
        let theta = Hidden(initial::start(&self.network, stream));
        Point { theta, statistics: Hidden(initial::rest(&self.network)) }
    }
    fn learn(&mut self, data: &Examples<f64>, loss: &Arc<dyn Loss>, _: Range<usize>) {
        self.task = Some((data.clone(), Arc::clone(loss)));
    }
    fn order(&mut self, rows: &[u32]) {
        self.order = rows.to_vec();
    }
    fn gradient(&mut self, point: &mut Point<Hidden>, batch: &Batch<'_>, gradient: &mut Hidden) {
        let (inputs, rows) = self.rows(&batch.rows);
        let (mut sum, mut loss) = (vec![0.0; point.theta.0.len()], 0.0);
        self.run(&point.theta, &inputs, batch.noise, For::Training, Some(&mut sum), |outputs| {
            let mut seed = vec![0.0; outputs.len()];
            loss = self.mean(outputs, &rows, &mut seed);
            seed
        });
        gradient.0 = sum;
        self.losses.push(loss);
    }
    fn losses(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.losses)
    }
    fn loss(&mut self, point: &Point<Hidden>, batch: &Batch<'_>) -> f64 {
        let (_, rows) = self.rows(&batch.rows);
        let mut outputs = Vec::new();
        self.outputs(point, batch, &mut outputs);
        let mut unused = vec![0.0; outputs.len()];
        self.mean(&outputs, &rows, &mut unused)
    }
    fn observe(&mut self, _: &Hidden, _: &mut Hidden, _: &Batch<'_>, _: f64) {
        panic!("the plain engine has no normalisation");
    }
    fn outputs(&mut self, point: &Point<Hidden>, batch: &Batch<'_>, out: &mut Vec<f64>) {
        let (inputs, _) = self.rows(&batch.rows);
        self.predict(point, &inputs, batch.noise, out);
    }
    fn seeded_gradient(
        &mut self,
        point: &mut Point<Hidden>,
        batch: &Batch<'_>,
        seed: Seed<'_>,
        gradient: &mut Hidden,
    ) {
        let (inputs, _) = self.rows(&batch.rows);
        let mut sum = vec![0.0; point.theta.0.len()];
        let into = Some(&mut sum);
        self.run(&point.theta, &inputs, batch.noise, For::Training, into, |o| seeded(seed, o));
        gradient.0 = sum;
    }
    fn visit(
        &mut self,
        point: &Point<Hidden>,
        batch: &Batch<'_>,
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, Hidden>),
    ) {
        let (inputs, _) = self.rows(&batch.rows);
        self.show(&point.theta, &inputs, batch.noise, seed, visitor);
    }
    fn visit_inputs(
        &mut self,
        point: &Point<Hidden>,
        inputs: &[f64],
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, Hidden>),
    ) {
        self.show(&point.theta, inputs, None, seed, visitor);
    }
    fn predict(
        &mut self,
        point: &Point<Hidden>,
        inputs: &[f64],
        noise: Option<&Stream>,
        out: &mut Vec<f64>,
    ) {
        for x in inputs.chunks(self.network.input.size()) {
            let mut pass = self.forward(&point.theta, x, noise, 0);
            out.extend(pass.outputs.pop().expect("layers"));
        }
    }
    fn input_gradient(
        &mut self,
        point: &Point<Hidden>,
        inputs: &[f64],
        noise: Option<&Stream>,
        seed: Seed<'_>,
        out: &mut [f64],
    ) {
        let all = self.run(&point.theta, inputs, noise, For::Prediction, None, |o| seeded(seed, o));
        let gradient: Vec<f64> = all.into_iter().flat_map(|(.., of_input)| of_input).collect();
        out.copy_from_slice(&gradient);
    }
}
