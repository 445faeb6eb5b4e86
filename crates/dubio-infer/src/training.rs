//! Training data: examples as a network reads them, on the host and on the engine.

use std::sync::Arc;

use dubio_data::dataset::{Answers, Dataset, Images, Inputs};
use dubio_nn::engine::Engine;
use dubio_nn::examples::{self, Examples, Source};
use dubio_nn::network::Network;
use dubio_nn::real::Real;
use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;

use crate::augment::Augmentation;
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
}

/// Inputs with standardised uniform numbers behind them, others each time; zeros, their mean, where nothing is random.
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

    /// What there is to learn of it under a prior.
    pub fn task(&self, prior: Arc<dyn Prior<E::Vector>>) -> Task<E> {
        let (data, likelihood) = (self.data.clone(), Arc::clone(&self.likelihood));
        Task { data, answers: self.examples.answers.clone(), likelihood, prior }
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.examples.len()
    }

    /// Whether there are none; never so.
    pub fn is_empty(&self) -> bool {
        self.examples.is_empty()
    }
}

/// That a set can be learnt from, without making ready for it.
pub fn check(data: &Dataset, augment: &[Augmentation], noise: Noise) -> Result<(), Error> {
    if data.is_empty() {
        return Err(Error::Unsuited("there are no training examples".to_string()));
    }
    if let Answers::Classes { classes, labels } = &data.answers {
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
