//! Losses of mini-batches, and the gradients of the outputs that a backward pass starts from.

use super::{CudaModel, NOTHING};
use crate::cuda::data::Chosen;
use crate::cuda::device::{Arg, Buffer, Place};
use crate::engine::{Batch, Seed};
use crate::examples::Answers;
use crate::layer::Layer;
use crate::loss::{Kernel, LARGEST_LOG_STD, Truth};

/// Examples whose losses one block of threads works out and adds up.
const ONE_BLOCK: usize = 256;

/// Outputs whose gradients the same block adds up: few, since it does so alone.
const FEW_OUTPUTS: usize = 32;

impl CudaModel {
    /// The first of the last layer's biases among the parameters, if the kernel of the loss can work out their gradient.
    pub(super) fn last_biases(&self, batch: &Batch<'_>) -> Option<usize> {
        let last = self.tape.network.nodes().last()?;
        let Layer::Linear { outputs } = last.layer else { return None };
        let is_small = batch.rows.len() <= ONE_BLOCK && outputs <= FEW_OUTPUTS;
        (is_small && self.on_device_alone()).then_some(last.parameters.end - outputs)
    }

    /// Writes the mean loss of the last batch's outputs to the ring; its gradient becomes the seed, whose sums over the
    /// examples are written to a place, if there is one: see [`Self::last_biases`].
    pub(super) fn mean_loss(
        &self,
        outputs: Place,
        batch: &Batch<'_>,
        slot: usize,
        sums: Option<Place>,
    ) {
        let (data, loss) = self.task.as_ref().expect(NOTHING);
        let chosen = Chosen::new(&batch.rows, &self.order);
        let count = batch.rows.len();
        let [out, order, step, seed, losses] = [
            outputs,
            chosen.order(),
            self.step.place(),
            self.tape.seed(),
            self.of_examples.place(),
        ]
        .map(Arg::from);
        let examples = Arg::from(count as i32);
        // One block of threads also works out the mean; several leave it to a kernel of its own.
        let ring = Arg::from(self.ring.place());
        let (blocks, threads, means) = match count {
            ..=ONE_BLOCK => (1, ONE_BLOCK, ring),
            _ => (count.div_ceil(64), 64, Place::NOWHERE.into()),
        };
        let sums = Arg::from(sums.unwrap_or(Place::NOWHERE));
        let (name, arguments) = match (loss.kernel(), data.labels(), data.targets()) {
            (Some(Kernel::CrossEntropy), Some(labels), _) => {
                let classes = Arg::from((self.outputs_len() / count) as i32);
                let labels = labels.into();
                (
                    "cross_entropy",
                    [out, labels, order, step, seed, sums, losses, means, classes, examples],
                )
            }
            (Some(Kernel::Gaussian), _, Some(targets)) => {
                let (targets, bound) = (targets.into(), LARGEST_LOG_STD.into());
                (
                    "gaussian",
                    [out, targets, order, step, seed, sums, losses, means, bound, examples],
                )
            }
            _ => return self.mean_loss_on_host(outputs, &chosen.on_host(), slot),
        };
        self.device().launch(name, (blocks, 1), (threads as u32, 1), &arguments);
        if blocks > 1 {
            let arguments = [losses, ring, step, examples];
            self.device().launch("mean_loss", (1, 1), (ONE_BLOCK as u32, 1), &arguments);
        }
    }

    /// The same for a loss without a kernel: the outputs go to the host and the gradient comes back.
    fn mean_loss_on_host(&self, outputs: Place, rows: &[u32], slot: usize) {
        let (data, loss) = self.task.as_ref().expect(NOTHING);
        let outputs: Vec<f32> = self.device().download(outputs, self.outputs_len());
        let outputs: Vec<f64> = outputs.into_iter().map(f64::from).collect();
        let mut gradient = vec![0.0; outputs.len()];
        let value = match &data.examples().answers {
            Answers::Labels(all) => {
                let labels: Vec<u32> = rows.iter().map(|&row| all[row as usize]).collect();
                loss.mean(&outputs, Truth::Labels(&labels), rows, &mut gradient)
            }
            Answers::Targets(all) => {
                let targets: Vec<f64> = rows.iter().map(|&row| all[row as usize]).collect();
                loss.mean(&outputs, Truth::Targets(&targets), rows, &mut gradient)
            }
        };
        let gradient: Vec<f32> = gradient.into_iter().map(|g| g as f32).collect();
        self.device().upload(&gradient, self.tape.seed());
        // Places count in f32, of which a loss takes two.
        self.device().upload(&[value], self.ring.place().plus(2 * slot));
    }

    /// The factors that a seed gives to the last batch's outputs.
    pub(super) fn factors(&self, seed: Seed<'_>, outputs: Place) {
        let (device, room) = (self.device(), self.tape.seed());
        match seed {
            Seed::Factors(given) => {
                let given: Vec<f32> = given.iter().map(|factor| *factor as f32).collect();
                device.upload(&given, room);
            }
            Seed::CrossEntropy { labels, weights } => {
                let (count, classes) = (labels.len(), self.outputs_len() / labels.len());
                let (labels, weights) = (Buffer::of(device, labels), Buffer::of(device, weights));
                let [out, labels, weights, room] =
                    [outputs, labels.place(), weights.place(), room].map(Arg::from);
                let [classes, examples] = [classes, count].map(|n| Arg::from(n as i32));
                let arguments = [out, labels, weights, room, classes, examples];
                let blocks = (count.div_ceil(64), 1);
                device.launch("weighted_cross_entropy", blocks, (64, 1), &arguments);
            }
        }
    }

    /// Brings the losses on the device to the host. Waits.
    pub(super) fn fetch_losses(&mut self) {
        let fetched = self.device().download::<f64>(self.ring.place(), self.in_ring);
        self.losses.extend(fetched);
        self.in_ring = 0;
    }
}
