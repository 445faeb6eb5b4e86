//! Training data: examples as a network reads them, on the host and on the engine.

use std::sync::Arc;

use dubio_data::dataset::{Answers, Dataset, Images, Inputs};
use dubio_nn::engine::Engine;
use dubio_nn::examples::{self, Examples, Move, Source, Still};
use dubio_nn::network::Network;
use dubio_nn::real::Real;
use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;

use crate::augment::{self, Augmentation};
use crate::error::Error;
use crate::likelihood::pinball::as_input;
use crate::likelihood::{self, Likelihood};
use crate::noise::Noise;
use crate::prior::Prior;
use crate::problem::Task;
use crate::scaling::Scaling;

/// Training data, shared by all members: on the host, and on the engine.
pub struct Training<E: Engine> {
    pub(crate) scaling: Scaling,
    pub(crate) examples: Examples<E::Number>,
    pub(crate) data: E::Data,
    pub(crate) likelihood: Arc<dyn Likelihood>,
}

/// Images that are changed at random each time.
struct Augmented {
    scaling: Scaling,
    images: Images,
    augment: Vec<Augmentation>,
}

impl<T: Real> Source<T> for Augmented {
    fn size(&self) -> usize {
        self.scaling.shape().size()
    }

    fn write(&self, rows: &[u32], augment: Option<&Stream>, out: &mut [T]) {
        let (changes, stream) = match augment {
            Some(stream) => (&self.augment[..], stream),
            None => (&[][..], &Stream::root(0)),
        };
        self.scaling.images(&self.images, rows, changes, stream, out);
    }

    fn still(&self) -> Option<Still<T>> {
        augment::is_a_move(&self.augment).then(|| self.scaling.still(&self.images))
    }

    fn moves(&self, rows: &[u32], augment: Option<&Stream>) -> Vec<Move> {
        match augment {
            Some(stream) => self.scaling.moves(rows, &self.augment, stream),
            None => vec![Move::NONE; rows.len()],
        }
    }
}

/// Inputs followed by standardised uniform numbers, drawn anew each time; by zeros, their mean, where nothing is
/// random.
struct WithRandom<T> {
    inputs: Arc<Vec<T>>,
    width: usize,
    random: usize,
}

impl<T: Real> Source<T> for WithRandom<T> {
    fn size(&self) -> usize {
        self.width + self.random
    }

    fn write(&self, rows: &[u32], augment: Option<&Stream>, out: &mut [T]) {
        let mut generator = augment.map(Stream::generator);
        for (row, out) in rows.iter().zip(out.chunks_exact_mut(self.size())) {
            let (own, random) = out.split_at_mut(self.width);
            own.copy_from_slice(&self.inputs[*row as usize * self.width..][..self.width]);
            random.fill_with(|| T::of(generator.as_mut().map_or(0.0, |g| as_input(uniform(g)))));
        }
    }
}

impl<E: Engine> Training<E> {
    /// From a set, with random changes of its images where asked for. In a regression the noise is predicted for
    /// every example.
    pub fn new(engine: &E, data: &Dataset, augment: &[Augmentation]) -> Result<Self, Error> {
        Self::with_noise(engine, data, augment, Noise::PerExample)
    }

    /// The same with the noise of a regression.
    pub fn with_noise(
        engine: &E,
        data: &Dataset,
        augment: &[Augmentation],
        noise: Noise,
    ) -> Result<Self, Error> {
        check(data, augment, noise)?;
        let likelihood = likelihood::of(&data.answers, noise)?;
        Self::with_likelihood(engine, data, augment, likelihood)
    }

    /// The same with any likelihood.
    pub(crate) fn with_likelihood(
        engine: &E,
        data: &Dataset,
        augment: &[Augmentation],
        likelihood: Arc<dyn Likelihood>,
    ) -> Result<Self, Error> {
        let scaling = Scaling::measured(data);
        let answers = match &data.answers {
            Answers::Classes { labels, .. } => examples::Answers::Labels(Arc::new(labels.clone())),
            Answers::Unlabelled(_) => return Err(likelihood::unlabelled()),
            Answers::Targets(targets) => {
                let scale = scaling.targets().expect("measured on targets");
                let targets = targets.iter().map(|y| scale.apply(*y)).collect();
                examples::Answers::Targets(Arc::new(targets))
            }
        };
        let inputs = match &data.inputs {
            Inputs::Images(images) if !augment.is_empty() => {
                let (scaling, images) = (scaling.clone(), images.clone());
                let augment = augment.to_vec();
                examples::Inputs::Source(Arc::new(Augmented { scaling, images, augment }))
            }
            _ => {
                let inputs = Arc::new(scaling.inputs(data)?);
                let (width, random) = (scaling.shape().size(), likelihood.random_inputs());
                match random {
                    0 => examples::Inputs::Ready(inputs),
                    random => {
                        examples::Inputs::Source(Arc::new(WithRandom { inputs, width, random }))
                    }
                }
            }
        };
        let examples = Examples { inputs, answers };
        let data = engine.data(&examples);
        Ok(Self { scaling, examples, data, likelihood })
    }

    /// What was measured on the data.
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// Numbers that a network has to give for an example.
    pub fn outputs(&self) -> usize {
        self.likelihood.outputs()
    }

    /// The named network for this data.
    pub fn network(&self, name: &str) -> Result<Network, String> {
        self.likelihood.network(name, self.scaling.shape())
    }

    /// What there is to learn from the data under a prior.
    pub fn task(&self, prior: Arc<dyn Prior<E::Vector>>) -> Task<E> {
        let (data, likelihood) = (self.data.clone(), Arc::clone(&self.likelihood));
        Task { data, answers: self.examples.answers.clone(), likelihood, prior }
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.examples.len()
    }

    /// Whether there are none, which is never the case.
    pub fn is_empty(&self) -> bool {
        self.examples.is_empty()
    }
}

/// Checks that a set can be learnt from, without preparing the data.
pub fn check(data: &Dataset, augment: &[Augmentation], noise: Noise) -> Result<(), Error> {
    if data.is_empty() {
        return Err(Error::Unsuited("there are no training examples".to_string()));
    }
    if let Answers::Classes { classes, labels } = &data.answers {
        if *classes < 2 {
            let what = "all training examples are of one class; give examples of two or more";
            return Err(Error::Unsuited(what.to_string()));
        }
        no_class_is_empty(*classes, labels)?;
    }
    likelihood::of(&data.answers, noise)?;
    if matches!(data.inputs, Inputs::Features { .. }) && !augment.is_empty() {
        return Err(Error::Unsuited("only images can be augmented".to_string()));
    }
    Ok(())
}

fn no_class_is_empty(classes: usize, labels: &[u32]) -> Result<(), Error> {
    let mut seen = vec![false; classes];
    labels.iter().for_each(|&label| seen[label as usize] = true);
    match seen.iter().position(|seen| !seen) {
        None => Ok(()),
        Some(class) => Err(Error::EmptyClass { class, classes }),
    }
}

#[cfg(test)]
mod tests {
    use dubio_data::transforms::standardise::Standardise;
    use dubio_nn::shape::Shape;

    use super::*;

    /// Engines that move images themselves give the pixels that the host gives.
    #[test]
    fn still_images_and_their_moves_are_what_is_written() {
        let pixels = (0..6 * 2 * 15_u32).map(|i| (i * 37 % 251) as u8).collect();
        let images = Images { channels: 2, height: 5, width: 3, white: 255, pixels };
        let shape = Shape::image(2, 5, 3);
        let rows = [4, 0, 5, 1, 1, 3, 2, 2, 4];
        for changes in ["", "crop", "flip", "crop flip", "flip crop", "flip crop flip"] {
            let augment = changes.split_whitespace().map(|name| name.parse().expect("a change"));
            let scaling = Scaling::given(shape, Standardise::measured(&images));
            let source = Augmented { scaling, images: images.clone(), augment: augment.collect() };
            for stream in [None, Some(&Stream::root(8))] {
                let mut written = vec![0_f32; rows.len() * shape.size()];
                source.write(&rows, stream, &mut written);
                let still: Still<f32> = source.still().expect("a crop and flips are a move");
                let moves = Source::<f32>::moves(&source, &rows, stream);
                let moved = rows.iter().zip(moves).flat_map(|(row, by)| placed(&still, *row, by));
                assert_eq!(written, moved.collect::<Vec<_>>(), "{changes}");
            }
        }
    }

    fn placed(still: &Still<f32>, row: u32, by: Move) -> Vec<f32> {
        let Shape { height, width, channels } = still.shape;
        let pixel = |i: usize| {
            let (c, x, y) = (i % channels, (i / channels % width) as i32, i / channels / width);
            let (y, x) = (y as i32 + by.down, by.right + by.step * x);
            let inside = (0..height as i32).contains(&y) && (0..width as i32).contains(&x);
            let at = |y: i32, x: i32| (row as usize * height + y as usize) * width + x as usize;
            if inside { still.images[at(y, x) * channels + c] } else { still.edge[c] }
        };
        (0..still.shape.size()).map(pixel).collect()
    }

    #[test]
    fn two_crops_are_not_a_move() {
        assert!(!augment::is_a_move(&[Augmentation::Crop, Augmentation::Crop]));
    }
}
