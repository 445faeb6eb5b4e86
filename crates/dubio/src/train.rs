//! `dubio train`: approximate inference on a data set, predictions out.

mod identity;
mod inputs;
mod results;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use dubio_bench::diagnosis::diagnosis;
use dubio_bench::{gpu_memory, memory};
use dubio_data::dataset::Dataset;
use dubio_data::sets;
use dubio_infer::Error;
use dubio_infer::augment::Augmentation;
use dubio_infer::fit::{Checkpoints, Options, Unfinished};
use dubio_infer::fitted::Fitted;
use dubio_infer::predict::TestTime;
use dubio_infer::recipe::Recipe;
use dubio_metrics::diagnostics::Diagnosis;
use dubio_nn::Single;
use dubio_nn::engine::Engine as _;
use dubio_random::stream::Stream;
use dubio_words::counted;

use self::identity::identity;
use self::inputs::{keep_start, load, settings, to_predict};
use self::results::{record, tell, unfinished_name, write_weights};
use crate::device::EngineArgs;
use crate::interrupt::{Stopped, no_more_stops, same_command, stopper};
use crate::progress::Bar;
use crate::terminal;

/// Train a network by approximate Bayesian inference and predict with it.
///
/// The method's samples become the members of a predictions file, which `dubio evaluate` scores.
/// Settings that are left out have defaults: `dubio explain METHOD` shows them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio train sgd --data digits -o sgd.npz
  dubio train deep-ensemble --data digits --set members=10 --set epochs=20 -o ensemble.npz
  dubio train swag --data yacht:standard/0/train --network mlp-50 -o yacht.npz
  dubio train swag --data mine.csv:target=price,test=0.2 --network mlp-50 -o mine.npz
  dubio train sghmc --data mnist --network mlp --set lr=0.03 --set prior_std=0.14 -o sghmc.npz
  dubio train swag --data cifar-10 --network preresnet20 --set augment='[\"crop\",\"flip\"]' \\
      --also svhn:test=ood.npz --checkpoints swag.ckpt -o swag.npz

With --checkpoints the same command resumes after Ctrl-C or a kill, and ends with the same bytes; \
without, Ctrl-C keeps the samples so far. A second Ctrl-C quits at once.

Settings of every method: batch, prior_std or weight_decay, members, layers, noise, regularise, augment, start, warm_up.")]
pub(crate) struct Args {
    /// Name of the method; `dubio list methods` shows them all.
    method: String,
    /// Data set: trains on its training set, predicts its test set. For a table, a split:
    /// `yacht:standard/3`. Or your own data: `mine.csv:target=price`, a folder of images, arrays.npz;
    /// `dubio data check --help` has the options.
    #[arg(long, value_name = "NAME")]
    data: String,
    /// Name of the network.
    #[arg(long, default_value = "mlp")]
    network: String,
    /// Where to write the predictions of the test set: .npz, .safetensors or a folder.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// A setting of the method; may be given several times.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Another data set to predict, and the file to write; may be given several times.
    #[arg(long, value_name = "NAME:PART=FILE")]
    also: Vec<String>,
    /// Test-time augmentation: crop (4 pixels of padding), flip.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    augment: Vec<Augmentation>,
    /// Passes over each image with --augment; each is a sample.
    #[arg(long, default_value_t = 1, requires = "augment", value_parser = clap::value_parser!(u16).range(1..=1000))]
    looks: u16,
    /// Folder of checkpoints, to resume from.
    #[arg(long, value_name = "FOLDER")]
    checkpoints: Option<PathBuf>,
    /// Least time between two checkpoints, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, requires = "checkpoints")]
    checkpoint_secs: u64,
    /// Folder to write the weights of every sample to, as .safetensors.
    #[arg(long, value_name = "FOLDER")]
    weights: Option<PathBuf>,
    /// Where to write a record of the training as JSON: settings, seconds, losses, acceptance rates.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Folder of the data sets, instead of $DUBIO_DATA.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Random seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    engine: EngineArgs,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let recipe = Recipe::parse(&args.method, settings(&args.set)?)?;
    let halves = sets::halves(&args.data)?;
    let train = load(args, halves.name, halves.train)?;
    let sets = to_predict(args, halves, &train)?;
    keep_start(args, &recipe, &sets)?;
    let tested = sets.iter().map(|(data, _)| data.len()).max().unwrap_or(0);
    let engine = args.engine.engine()?;
    let tested = tested * usize::from(args.looks);
    let free = engine.free_bytes();
    memory::enough(&recipe, &args.network, &train, tested, free.is_some())
        .and_then(|()| gpu_memory::enough(&recipe, &args.network, &train, free))
        .map_err(|e| anyhow!(e))?;
    let stream = Stream::root(args.seed);
    let (fitted, error) = fit(args, &recipe, (&engine, &train), &stream)?;
    let finished = error.is_none();
    let convergence = predict(args, &recipe, &fitted, &sets, finished, &stream.child("predict"))?;
    if let Some(folder) = &args.weights {
        write_weights(&fitted, folder)?;
    }
    if let Some(path) = &args.record {
        let text =
            serde_json::to_string_pretty(&record(args, &recipe, &fitted, convergence.as_ref()))?;
        std::fs::write(path, text + "\n").with_context(|| format!("{}", path.display()))?;
    }
    tell(&fitted, convergence.as_ref())?;
    let Some(error) = error else { return Ok(()) };
    let what = format!("not finished; kept so far: {}", counted(fitted.samples(), "sample"));
    match error {
        Error::Stopped => Err(Stopped(format!("{what}: {error}")).into()),
        _ => Err(anyhow!(error).context(what)),
    }
}

/// What was fitted. If training did not finish, also the error that ended it.
fn fit(
    args: &Args,
    recipe: &Recipe,
    (engine, train): (&Single, &Dataset),
    stream: &Stream,
) -> Result<(Fitted<Single>, Option<Error>)> {
    let bar = Bar::stopped_by(stopper()?);
    let checkpoints = args.checkpoints.as_ref().map(|folder| Checkpoints {
        folder: folder.clone(),
        every: Duration::from_secs(args.checkpoint_secs),
        identity: identity(args, recipe, train),
    });
    let options = Options { progress: &bar, checkpoints };
    let result = recipe.fit(engine, &args.network, train, &stream.child("fit"), &options);
    drop(options);
    drop(bar);
    no_more_stops();
    let Unfinished { error, so_far } = match result {
        Ok(fitted) => return Ok((fitted, None)),
        Err(unfinished) => *unfinished,
    };
    let stopped = matches!(error, Error::Stopped);
    if stopped && args.checkpoints.is_some() {
        bail!(Stopped(format!("stopped; resume with: {}", same_command())));
    }
    match so_far.filter(|fitted| fitted.samples() > 0) {
        None if stopped => {
            bail!(Stopped("stopped before the first sample; nothing was kept".to_string()))
        }
        None => Err(error.into()),
        Some(fitted) => Ok((fitted, Some(error))),
    }
}

/// Writes the predictions of every set; whether the chains of the first converged, for methods that have chains.
fn predict(
    args: &Args,
    recipe: &Recipe,
    fitted: &Fitted<Single>,
    sets: &[(Dataset, PathBuf)],
    finished: bool,
    stream: &Stream,
) -> Result<Option<Diagnosis>> {
    let test_time = TestTime { augment: args.augment.clone(), looks: args.looks.into() };
    let mut convergence = None;
    for (index, (data, output)) in sets.iter().enumerate() {
        let predicted = fitted.predict_watched(data, &test_time, stream, &Bar::new())?;
        // An unfinished run keeps what it has under a name that says so.
        let output = if finished { output.clone() } else { unfinished_name(output) };
        predicted.write(&output)?;
        let [samples, examples, _] = predicted.shape;
        let mut out = terminal::stdout();
        let (samples, examples) = (counted(samples, "member"), counted(examples, "example"));
        writeln!(out, "wrote {}: {samples}, {examples}", output.display())?;
        // A chain that was stopped is shorter than the others, and R-hat needs chains of one length.
        if index == 0 && finished && recipe.method.is_chain() {
            convergence = Some(diagnosis(&output, recipe.members())?);
        }
    }
    Ok(convergence)
}
