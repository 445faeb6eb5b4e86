//! A data set as a network reads it: standardised, channels last.

use dubio_data::dataset::{Answers, Dataset, Images, Inputs};
use dubio_data::transforms::pipeline::Pipeline;
use dubio_data::transforms::standardise::Standardise;
use dubio_data::transforms::standardise_features::StandardiseFeatures;
use dubio_data::transforms::standardise_targets::StandardiseTargets;
use dubio_nn::examples::{Move, Still};
use dubio_nn::real::Real;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;

use crate::augment::{self, Augmentation};
use crate::error::Error;

/// What was measured on the training data and is applied to every set that the network reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    inputs: InputScaling,
    targets: Option<StandardiseTargets>,
}

#[derive(Clone, Debug, PartialEq)]
enum InputScaling {
    Images { shape: Shape, standardise: Standardise },
    Features(StandardiseFeatures, usize),
}

impl Scaling {
    /// Measured on a training set: colours, columns and targets to mean 0 and standard deviation 1.
    pub fn measured(training: &Dataset) -> Self {
        let inputs = match &training.inputs {
            Inputs::Images(images) => InputScaling::Images {
                shape: Shape::image(images.channels, images.height, images.width),
                standardise: Standardise::measured(images),
            },
            Inputs::Features { width, values } => {
                InputScaling::Features(StandardiseFeatures::measured(values, *width), *width)
            }
        };
        let targets = match &training.answers {
            Answers::Classes { .. } | Answers::Unlabelled(_) => None,
            Answers::Targets(targets) => Some(StandardiseTargets::measured(targets)),
        };
        Self { inputs, targets }
    }

    /// For images of this shape, with a standardisation that was measured before.
    pub fn given(shape: Shape, standardise: Standardise) -> Self {
        Self { inputs: InputScaling::Images { shape, standardise }, targets: None }
    }

    /// Shape of what the network reads.
    pub fn shape(&self) -> Shape {
        match &self.inputs {
            InputScaling::Images { shape, .. } => *shape,
            InputScaling::Features(_, width) => Shape::vector(*width),
        }
    }

    /// A pixel from 0 to 1 of a colour as the network reads it; `None` for tables.
    pub fn pixel(&self, channel: usize, value: f64) -> Option<f64> {
        let InputScaling::Images { standardise, .. } = &self.inputs else { return None };
        let (mean, std) = (standardise.mean()[channel], standardise.std()[channel]);
        Some(if std > 0.0 { (value - mean) / std } else { 0.0 })
    }

    /// How targets were scaled, in a regression.
    pub fn targets(&self) -> Option<&StandardiseTargets> {
        self.targets.as_ref()
    }

    /// Checks that a set is of the kind and the shape of the training data.
    pub fn check(&self, data: &Dataset) -> Result<(), Error> {
        let kind = |regression| if regression { "numbers" } else { "classes" };
        let (learnt, asked) = (self.targets.is_some(), matches!(data.answers, Answers::Targets(_)));
        let unlabelled = matches!(data.answers, Answers::Unlabelled(_));
        if learnt != asked && !unlabelled {
            let (learnt, asked) = (kind(learnt), kind(asked));
            let what = format!("the network predicts {learnt}, but the set asks for {asked}");
            return Err(Error::Unsuited(what));
        }
        match (&self.inputs, &data.inputs) {
            (InputScaling::Images { shape, .. }, Inputs::Images(images)) => {
                same_shape(*shape, images)
            }
            (InputScaling::Features(_, width), Inputs::Features { width: other, .. }) => {
                if width == other {
                    return Ok(());
                }
                let what = format!("rows of {other} numbers, but training rows had {width}");
                Err(Error::Unsuited(what))
            }
            _ => Err(Error::Unsuited(
                "a network for images cannot predict a table, nor the other way round".into(),
            )),
        }
    }

    /// All inputs of a set as the network reads them, channels last.
    pub fn inputs<T: Real>(&self, data: &Dataset) -> Result<Vec<T>, Error> {
        self.check(data)?;
        match (&self.inputs, &data.inputs) {
            (InputScaling::Images { .. }, Inputs::Images(images)) => {
                let rows: Vec<u32> = (0..images.len() as u32).collect();
                let mut out = vec![T::zero(); images.pixels.len()];
                self.images(images, &rows, &[], &Stream::root(0), &mut out);
                Ok(out)
            }
            (InputScaling::Features(scale, _), Inputs::Features { values, .. }) => {
                let mut values = values.clone();
                scale.apply(&mut values);
                Ok(values.into_iter().map(T::of).collect())
            }
            _ => unreachable!("checked to be of one kind"),
        }
    }

    /// All images as they are, and black for what lies beyond their edges, both standardised.
    pub(crate) fn still<T: Real>(&self, images: &Images) -> Still<T> {
        let plain = |images: &Images| {
            let rows: Vec<u32> = (0..images.len() as u32).collect();
            let mut out = vec![T::zero(); images.pixels.len()];
            self.images(images, &rows, &[], &Stream::root(0), &mut out);
            out
        };
        let black = Images { pixels: vec![0; images.size()], ..images.clone() };
        let edge = plain(&black)[..images.channels].to_vec();
        Still { images: plain(images), shape: self.shape(), edge }
    }

    /// How [`Self::images`] moves some images by these changes.
    pub(crate) fn moves(
        &self,
        rows: &[u32],
        changes: &[Augmentation],
        stream: &Stream,
    ) -> Vec<Move> {
        let one = |i: usize| {
            let mut draws = stream.nth(i / PART).nth(i % PART).generator();
            augment::moved(changes, self.shape().width, &mut draws)
        };
        (0..rows.len()).map(one).collect()
    }

    /// Some images, changed at random, then standardised, channels last.
    ///
    /// # Panics
    ///
    /// If this was measured on a table, or if `out` does not have the size of the images.
    pub fn images<T: Real>(
        &self,
        images: &Images,
        rows: &[u32],
        augment: &[Augmentation],
        stream: &Stream,
        out: &mut [T],
    ) {
        let InputScaling::Images { shape, standardise } = &self.inputs else {
            unreachable!("augmentation is for images")
        };
        let changed = augment.iter().fold(Pipeline::default(), |all, one| one.then(all));
        let pipeline = changed.then(standardise.clone());
        let (size, places) = (shape.size(), shape.places());
        let mut planes = vec![0.0; rows.len().min(PART) * size];
        for (part, (rows, out)) in rows.chunks(PART).zip(out.chunks_mut(PART * size)).enumerate() {
            let planes = &mut planes[..rows.len() * size];
            pipeline.batch(images, rows, &stream.nth(part), planes);
            for (from, to) in planes.chunks_exact(size).zip(out.chunks_exact_mut(size)) {
                for (i, value) in from.iter().enumerate() {
                    to[i % places * shape.channels + i / places] = T::of(f64::from(*value));
                }
            }
        }
    }
}

/// Images that are made together: their planes stay small compared with the result.
const PART: usize = 1024;

fn same_shape(shape: Shape, images: &Images) -> Result<(), Error> {
    let other = Shape::image(images.channels, images.height, images.width);
    if shape == other {
        return Ok(());
    }
    Err(Error::Unsuited(format!(
        "images of {} channels and {}x{}, but training images had {} and {}x{}",
        other.channels, other.height, other.width, shape.channels, shape.height, shape.width
    )))
}
