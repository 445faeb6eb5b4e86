//! Trains a network with plain SGD: `train NETWORK SET EPOCHS RATE [FOLDER]`.
//!
//! Momentum 0.9, weight decay 5e-4, batches of 128, a rate that falls to 0 as a cosine; flips and
//! crops for colour images. Prints the mean loss of each epoch and the accuracy on the test set
//! at the end. FOLDER is the data folder, $DUBIO_DATA when left out.
//!
//! `train curve NETWORK SET STEPS RATE FOLDER OUT` trains in the order of the file, without decay
//! or augmentation, writes the starting weights to OUT and prints the loss of every step, so that
//! another program can follow (`benches/curve.py`). The accuracy goes to standard error.

use std::path::PathBuf;

use dubio_data::dataset::{Answers as Truth, Dataset, Images, Inputs};
use dubio_data::sets::{self, Part};
use dubio_data::transforms::horizontal_flip::HorizontalFlip;
use dubio_data::transforms::pipeline::Pipeline;
use dubio_data::transforms::random_crop::RandomCrop;
use dubio_data::transforms::standardise::Standardise;
use dubio_nn::cpu;
use dubio_nn::engine::{Model as _, Vector};
use dubio_nn::loss;
use dubio_nn::shape::Shape;
use dubio_nn::{networks, weights};
use dubio_random::stream::Stream;
use rand::Rng;

const BATCH: usize = 128;

fn parts(data: &Dataset) -> (&Images, &[u32], usize) {
    let (Inputs::Images(images), Truth::Classes { classes, labels }) =
        (&data.inputs, &data.answers)
    else {
        panic!("a set of images with classes")
    };
    (images, labels, *classes)
}

/// A batch with its channels last.
fn batch(images: &Images, rows: &[u32], pipeline: &Pipeline, stream: &Stream) -> Vec<f32> {
    let (size, places) = (images.size(), images.height * images.width);
    let mut planes = vec![0.0; rows.len() * size];
    pipeline.batch(images, rows, stream, &mut planes);
    let mut inputs = vec![0.0; planes.len()];
    for (from, to) in planes.chunks_exact(size).zip(inputs.chunks_exact_mut(size)) {
        for (i, value) in from.iter().enumerate() {
            to[i % places * images.channels + i / places] = *value;
        }
    }
    inputs
}

fn shuffled(n: usize, stream: &Stream) -> Vec<u32> {
    let mut generator = stream.generator();
    let mut rows: Vec<u32> = (0..n as u32).collect();
    for i in (1..n).rev() {
        rows.swap(i, (generator.next_u64() % (i as u64 + 1)) as usize);
    }
    rows
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let curve = arguments.first().is_some_and(|a| a == "curve");
    if curve {
        arguments.remove(0);
    }
    let [network, set, count, rate, rest @ ..] = &arguments[..] else {
        panic!("give NETWORK SET EPOCHS RATE [FOLDER]")
    };
    let folder = rest.first().cloned().or_else(|| std::env::var("DUBIO_DATA").ok());
    let folder = PathBuf::from(folder.expect("a data folder"));
    let (count, rate): (usize, f64) =
        (count.parse().expect("a number"), rate.parse().expect("a rate"));
    let set = sets::find(set).expect("a data set");
    let train = set.load(&folder, Part::Train).expect("the training part");
    let (images, labels, classes) = parts(&train);
    let shape = Shape::image(images.channels, images.height, images.width);
    let network = networks::build(network, shape, classes).expect("a network");
    let mut model = cpu::Model::new(&network, 1000);
    let stream = Stream::root(1);
    let mut point = model.start(&stream.child("start"));
    let mut gradient = point.theta.clone();
    let mut velocity = gradient.zeros(gradient.len());
    let plain = || Pipeline::default().then(Standardise::measured(images));
    let augmented = if curve || shape.channels == 1 {
        plain()
    } else {
        let changes = Pipeline::default().then(RandomCrop { padding: 4 });
        changes.then(HorizontalFlip { chance: 0.5 }).then(Standardise::measured(images))
    };
    let steps_per_epoch = labels.len() / BATCH;
    let (epochs, total) = if curve { (1, count) } else { (count, count * steps_per_epoch) };
    if curve {
        let bytes = weights::write(&network, &point.theta.0, &point.statistics.0).expect("weights");
        std::fs::write(&rest[1], bytes).expect("written");
    }
    for epoch in 0..epochs {
        let order = match curve {
            true => (0..labels.len() as u32).collect(),
            false => shuffled(labels.len(), &stream.child("order").nth(epoch)),
        };
        let mut sum = 0.0;
        for step in 0..if curve { total } else { steps_per_epoch } {
            let first = step % steps_per_epoch * BATCH;
            let rows = &order[first..first + BATCH];
            let noise = stream.child("augment").nth(epoch * steps_per_epoch + step);
            let inputs = batch(images, rows, &augmented, &noise);
            let truth: Vec<u32> = rows.iter().map(|&r| labels[r as usize]).collect();
            let data = (&inputs[..], loss::Truth::Labels(&truth));
            let loss = model.loss_and_gradient(&mut point, data, Some(&noise), &mut gradient);
            let done = (epoch * steps_per_epoch + step) as f64 / total as f64;
            let now =
                if curve { rate } else { rate * 0.5 * (1.0 + (std::f64::consts::PI * done).cos()) };
            if !curve {
                gradient.axpy(5e-4, &point.theta);
            }
            velocity.combine(0.9, 1.0, &gradient);
            point.theta.axpy(-now, &velocity);
            sum += loss;
            if curve {
                println!("{loss:.6}");
            }
        }
        if !curve {
            println!("epoch {}: loss {:.4}", epoch + 1, sum / steps_per_epoch as f64);
        }
    }
    let test = set.load(&folder, Part::Test).expect("the test set");
    let (images, labels, _) = parts(&test);
    let rows: Vec<u32> = (0..labels.len() as u32).collect();
    let (mut right, plain) = (0, plain());
    for rows in rows.chunks(1000) {
        let mut out = Vec::new();
        model.predict(&point, &batch(images, rows, &plain, &stream), None, &mut out);
        for (row, logits) in rows.iter().zip(out.chunks(classes)) {
            let best = (0..classes).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
            right += usize::from(best == Some(labels[*row as usize] as usize));
        }
    }
    let accuracy = format!("test accuracy {:.4}", right as f64 / labels.len() as f64);
    if curve { eprintln!("{accuracy}") } else { println!("{accuracy}") }
}
