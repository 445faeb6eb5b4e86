//! `dubio predict`: predictions of a trained network on a data set.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::builder::ValueParser;
use dubio_api::destination;
use dubio_data::dataset::{Answers, Dataset, Images, Inputs};
use dubio_data::folder::folder_of;
use dubio_data::sets::{self, Part};
use dubio_data::transforms::standardise::Standardise;
use dubio_infer::augment::Augmentation;
use dubio_infer::predict::integers;
use dubio_infer::scaling::Scaling;
use dubio_nn::engine::{Engine, Model, Point};
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use dubio_nn::{networks, weights};
use dubio_predictions::{Floats, Output, input, write};
use dubio_progress::Progress;
use dubio_random::stream::Stream;
use dubio_words::counted;

use crate::device::EngineArgs;
use crate::progress::Bar;
use crate::terminal;

/// Predict a data set with a trained network.
///
/// Weights are `.safetensors` with PyTorch's names and layout. Each weights file is a member of the
/// ensemble. With --augment every pass over the data is a member of its own.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio predict --network resnet20-cifar --weights w.safetensors --data cifar-10:test -o preds.npz \\
      --normalize 0.485,0.456,0.406/0.229,0.224,0.225
  dubio predict ... --weights a.safetensors --weights b.safetensors     an ensemble of two
  dubio predict ... --augment crop,flip --passes 10                     test-time augmentation

`dubio list networks` shows the networks.")]
pub(crate) struct Args {
    /// Name of the network.
    #[arg(long)]
    network: String,
    /// Its weights; may be given several times.
    #[arg(long, required = true, value_name = "FILE")]
    weights: Vec<PathBuf>,
    /// Data set and part: `cifar-10:test`.
    #[arg(long, value_name = "NAME:PART")]
    data: String,
    /// Where to write the predictions: .npz, .safetensors or a folder.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Means and standard deviations of the channels, of pixels scaled to [0, 1]. Without it, pixels
    /// are scaled to [0, 1] and nothing else.
    #[arg(long, value_name = "MEANS/STDS", value_parser = ValueParser::new(normalization))]
    normalize: Option<Normalization>,
    /// Test-time augmentation: crop (4 pixels of padding), flip.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    augment: Vec<Augmentation>,
    /// Passes over the data with --augment.
    #[arg(long, default_value_t = 10, requires = "augment", value_parser = clap::value_parser!(u16).range(1..=1000))]
    passes: u16,
    /// Folder of the data sets, instead of $DUBIO_DATA.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Batch size.
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u16).range(1..))]
    batch: u16,
    /// Seed of the augmentations.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    engine: EngineArgs,
}

#[derive(Clone)]
struct Normalization {
    means: Vec<f64>,
    stds: Vec<f64>,
}

fn normalization(text: &str) -> Result<Normalization, String> {
    let numbers = |part: &str| -> Result<Vec<f64>, String> {
        part.split(',')
            .map(|n| n.trim().parse().map_err(|_| format!("`{n}` is not a number")))
            .collect()
    };
    let (means, stds) = text
        .split_once('/')
        .ok_or("give means and standard deviations: 0.5,0.5,0.5/0.2,0.2,0.2")?;
    let (means, stds) = (numbers(means)?, numbers(stds)?);
    if means.len() != stds.len() {
        return Err(format!("{} means but {} standard deviations", means.len(), stds.len()));
    }
    if stds.iter().any(|d| !(*d > 0.0 && d.is_finite())) {
        return Err("standard deviations must be above 0".to_string());
    }
    if means.iter().any(|mean| !mean.is_finite()) {
        return Err("means must be finite numbers".to_string());
    }
    Ok(Normalization { means, stds })
}

pub(crate) fn run(args: &Args) -> Result<()> {
    destination::keep(&args.weights, &[&args.output])?;
    let data = load(args)?;
    let classes = match &data.answers {
        Answers::Classes { classes, .. } => classes,
        Answers::Targets(_) => bail!(
            "{}: a regression cannot be predicted from weights alone, since they do not say how its \
             training data were scaled; give a classification",
            args.data
        ),
        Answers::Unlabelled(_) => bail!(
            "{}: there are no labels, so the number of classes is not known; predict it with \
             `dubio train --also`",
            args.data
        ),
    };
    let Inputs::Images(images) = &data.inputs else {
        bail!("{}: these networks take images, and this is a table", args.data);
    };
    let shape = Shape::image(images.channels, images.height, images.width);
    let network = networks::build(&args.network, shape, *classes).map_err(anyhow::Error::msg)?;
    let scaling = Scaling::given(shape, standardise(args, images)?);
    let passes = if args.augment.is_empty() { 1 } else { args.passes.into() };
    let progress = Bar::new();
    progress.start("predicting", args.weights.len() * passes * images.len());
    let stream = Stream::root(args.seed).child("augment");
    let engine = args.engine.engine()?;
    let mut logits = Vec::new();
    for path in &args.weights {
        let point = read_weights(&engine, &network, path)?;
        let mut model = engine.model(&network, args.batch.into());
        for pass in 0..passes {
            let stream = stream.nth(pass);
            let rows: Vec<u32> = (0..images.len() as u32).collect();
            for (index, rows) in rows.chunks(1024).enumerate() {
                let mut inputs = vec![0.0; rows.len() * shape.size()];
                scaling.images(images, rows, &args.augment, &stream.nth(index), &mut inputs);
                model.predict(&point, &inputs, None, &mut logits);
                progress.advance(rows.len());
            }
        }
    }
    drop(progress);
    if let Some(at) = logits.iter().position(|logit| !logit.is_finite()) {
        let (of, value) = (images.len() * classes, logits[at]);
        let (member, example) = (at / of, at % of / classes);
        bail!(
            "member {member} predicts {value} for example {example}; look at the weights and at \
             --normalize"
        );
    }
    let shape = [args.weights.len() * passes, images.len(), *classes];
    let floats = vec![Floats { name: "logits", values: &logits, shape: shape.to_vec() }];
    write(&args.output, &Output { floats, integers: integers(&data) })?;
    writeln!(
        terminal::stdout(),
        "wrote {}: {}, {}, {}",
        args.output.display(),
        counted(shape[0], "member"),
        counted(shape[1], "example"),
        counted(shape[2], "class")
    )?;
    Ok(())
}

fn load(args: &Args) -> Result<Dataset> {
    let name = sets::parse(&args.data)?;
    let part = name.part.unwrap_or(Part::Test);
    let folder = match &args.dir {
        Some(folder) => folder.clone(),
        None => folder_of(name.set)?,
    };
    Ok(name.set.load(&folder, part)?)
}

fn standardise(args: &Args, images: &Images) -> Result<Standardise> {
    let channels = images.channels;
    let Some(Normalization { means, stds }) = &args.normalize else {
        return Ok(Standardise::new(&vec![0.0; channels], &vec![1.0; channels]));
    };
    if means.len() != channels {
        bail!("--normalize: {} means for images of {channels} channels", means.len());
    }
    Ok(Standardise::new(means, stds))
}

fn read_weights<E: Engine>(engine: &E, network: &Network, path: &Path) -> Result<Point<E::Vector>> {
    let bytes = input::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let (theta, statistics) = weights::read(network, &bytes)
        .with_context(|| format!("{} does not fit the network", path.display()))?;
    Ok(Point { theta: engine.vector(&theta), statistics: engine.vector(&statistics) })
}
