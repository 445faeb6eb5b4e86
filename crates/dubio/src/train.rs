//! `dubio train`: approximate inference on a data set, predictions out.

mod identity;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use dubio_api::destination;
use dubio_bench::diagnosis::diagnosis;
use dubio_bench::memory;
use dubio_data::dataset::Dataset;
use dubio_data::folder::data_folder;
use dubio_data::sets::own;
use dubio_data::sets::{self, Halves, Name, Part};
use dubio_infer::Error;
use dubio_infer::augment::Augmentation;
use dubio_infer::fit::{Checkpoints, Options, Unfinished};
use dubio_infer::fitted::Fitted;
use dubio_infer::predict::TestTime;
use dubio_infer::recipe::Recipe;
use dubio_infer::scaling::Scaling;
use dubio_metrics::diagnostics::Diagnosis;
use dubio_nn::Single;
use dubio_random::stream::Stream;
use dubio_words::counted;
use serde_json::{Map, Value, json};

use self::identity::identity;
use crate::device::EngineArgs;
use crate::interrupt::{Stopped, no_more_stops, same_command, stopper};
use crate::progress::Bar;
use crate::terminal::{self, say};

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

With --checkpoints the same command resumes after Ctrl-C or a kill, and ends with the same bytes;
without, Ctrl-C keeps the samples so far. A second Ctrl-C quits at once.
Settings of every method: batch, prior_std or weight_decay, members, layers, noise, regularise, augment, start, warm_up.")]
pub(crate) struct Args {
    /// Name of the method; `dubio list methods` shows them all.
    method: String,
    /// Data set: its training part is trained on, its test part predicted. Of a table, a split:
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
    /// Seed of everything random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    engine: EngineArgs,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let recipe = Recipe::parse(&args.method, settings(&args.set)?)?;
    let test_time = TestTime { augment: args.augment.clone(), looks: args.looks.into() };
    let halves = sets::halves(&args.data)?;
    let train = load(args, halves.name, halves.train)?;
    let sets = to_predict(args, halves, &train)?;
    keep_start(args, &recipe, &sets)?;
    let tested = sets.iter().map(|(data, _)| data.len()).max().unwrap_or(0);
    memory::enough(&recipe, &args.network, &train, tested * usize::from(args.looks))
        .map_err(|e| anyhow!(e))?;
    let bar = Bar::stopped_by(stopper()?);
    let checkpoints = args.checkpoints.as_ref().map(|folder| Checkpoints {
        folder: folder.clone(),
        every: Duration::from_secs(args.checkpoint_secs),
        identity: identity(args, &recipe, &train),
    });
    let stream = Stream::root(args.seed);
    let options = Options { progress: &bar, checkpoints };
    let result =
        recipe.fit(&args.engine.engine()?, &args.network, &train, &stream.child("fit"), &options);
    drop(options);
    drop(bar);
    no_more_stops();
    let (fitted, error) = match result {
        Ok(fitted) => (fitted, None),
        Err(unfinished) => {
            let Unfinished { error, so_far } = *unfinished;
            let stopped = matches!(error, Error::Stopped);
            if stopped && args.checkpoints.is_some() {
                bail!(Stopped(format!("stopped; resume with: {}", same_command())));
            }
            match so_far.filter(|fitted| fitted.samples() > 0) {
                None if stopped => {
                    bail!(Stopped("stopped before the first sample; nothing was kept".to_string()))
                }
                None => return Err(error.into()),
                Some(fitted) => (fitted, Some(error)),
            }
        }
    };
    // What an unfinished run has so far is kept under a name that says so.
    let destination = |path: &Path| match error {
        None => path.to_path_buf(),
        Some(_) => unfinished_name(path),
    };
    let stream = stream.child("predict");
    let mut convergence = None;
    for (index, (data, output)) in sets.iter().enumerate() {
        let predicted = fitted.predict(data, &test_time, &stream)?;
        let output = destination(output);
        predicted.write(&output)?;
        let [samples, examples, _] = predicted.shape;
        let mut out = terminal::stdout();
        let (samples, examples) = (counted(samples, "member"), counted(examples, "example"));
        writeln!(out, "wrote {}: {samples}, {examples}", output.display())?;
        // A chain that was stopped is shorter than others, and its members are no chains of one length.
        if index == 0 && error.is_none() && recipe.method.is_chain() {
            convergence = Some(diagnosis(&output, recipe.members())?);
        }
    }
    if let Some(folder) = &args.weights {
        write_weights(&fitted, folder)?;
    }
    if let Some(path) = &args.record {
        let text =
            serde_json::to_string_pretty(&record(args, &recipe, &fitted, convergence.as_ref()))?;
        std::fs::write(path, text + "\n").with_context(|| format!("{}", path.display()))?;
    }
    tell(&fitted, convergence.as_ref())?;
    match error {
        None => Ok(()),
        Some(error) => {
            let kept = counted(fitted.samples(), "sample");
            let what = format!("not finished; kept so far: {kept}");
            match error {
                Error::Stopped => Err(Stopped(format!("{what}: {error}")).into()),
                _ => Err(anyhow!(error).context(what)),
            }
        }
    }
}

/// The sets to predict and where to. What is wrong with one is found here, not after the training.
fn to_predict(args: &Args, halves: Halves, train: &Dataset) -> Result<Vec<(Dataset, PathBuf)>> {
    let mut sets = vec![(halves.name, halves.test, args.output.clone())];
    for text in &args.also {
        sets.push(asked(text)?);
    }
    let scaling = Scaling::measured(train);
    let each = sets.into_iter().map(|(name, part, output)| {
        let data = load(args, name, part)?;
        own::same_features(halves.name.set.name, name.set.name)?;
        scaling.check(&data).with_context(|| name.set.name)?;
        match output.extension().and_then(|e| e.to_str()) {
            None => {}
            Some("npz" | "safetensors") => destination::check(&output)?,
            Some(_) => bail!("{}: name a .npz or .safetensors file, or a folder", output.display()),
        }
        Ok((data, output))
    });
    each.collect()
}

/// Refuses to write over the weights to start from, or to one path twice.
fn keep_start(args: &Args, recipe: &Recipe, sets: &[(Dataset, PathBuf)]) -> Result<()> {
    if let Some(path) = &args.record {
        destination::check(path)?;
    }
    let start = &recipe.setup.start;
    let outputs = sets.iter().map(|(_, output)| output).chain(&args.record);
    destination::keep(start, &outputs.map(PathBuf::as_path).collect::<Vec<_>>())?;
    let folders: Vec<PathBuf> =
        start.iter().map(|path| destination::folder(path).to_path_buf()).collect();
    let weights: Vec<&Path> = args.weights.iter().map(PathBuf::as_path).collect();
    Ok(destination::keep(&folders, &weights)?)
}

/// `NAME=VALUE`, the value as JSON where it is, else as text.
fn settings(set: &[String]) -> Result<Map<String, Value>> {
    let mut all = Map::new();
    for text in set {
        let Some((name, value)) = text.split_once('=') else {
            bail!("--set {text}: give a name and a value, as in --set lr=0.1");
        };
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        all.insert(name.trim().to_string(), value);
    }
    Ok(all)
}

/// `NAME:PART=FILE`.
fn asked(text: &str) -> Result<(Name, Part, PathBuf)> {
    let Some((name, file)) = text.rsplit_once('=') else {
        bail!("--also {text}: give a set and a file, as in --also svhn:test=ood.npz");
    };
    let parsed = sets::parse(name)?;
    Ok((parsed, parsed.part.unwrap_or(Part::Test), PathBuf::from(file)))
}

fn load(args: &Args, name: Name, part: Part) -> Result<Dataset> {
    let folder = match &args.dir {
        Some(folder) => folder.clone(),
        None => data_folder()?,
    };
    Ok(name.set.load(&folder, part)?)
}

fn unfinished_name(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match path.extension() {
        None => path.with_file_name(format!("{stem}.unfinished")),
        Some(e) => path.with_file_name(format!("{stem}.unfinished.{}", e.to_string_lossy())),
    }
}

fn write_weights(fitted: &Fitted<Single>, folder: &Path) -> Result<()> {
    let failed = || format!("{}", folder.display());
    std::fs::create_dir_all(folder).with_context(failed)?;
    for (index, bytes) in fitted.weights()?.iter().enumerate() {
        std::fs::write(folder.join(format!("{index}.safetensors")), bytes).with_context(failed)?;
    }
    Ok(())
}

fn record(
    args: &Args,
    recipe: &Recipe,
    fitted: &Fitted<Single>,
    convergence: Option<&Diagnosis>,
) -> Value {
    let members: Vec<Value> = fitted
        .posterior
        .records
        .iter()
        .map(|record| {
            let report: Map<String, Value> =
                record.report.iter().map(|(name, v)| (name.to_string(), json!(v))).collect();
            json!({"wall_secs": record.seconds.wall, "cpu_secs": record.seconds.cpu(), "losses": record.losses, "report": report, "warnings": record.warnings})
        })
        .collect();
    let facts = own::facts(&args.data).unwrap_or_default();
    let facts: Map<String, Value> =
        facts.into_iter().map(|(name, text)| (name.to_string(), text.into())).collect();
    json!({
        "data": args.data,
        "data_read": facts,
        "network": args.network,
        "seed": args.seed,
        "recipe": recipe,
        "samples": fitted.samples(),
        "members": members,
        "convergence": convergence,
    })
}

fn tell(fitted: &Fitted<Single>, convergence: Option<&Diagnosis>) -> Result<()> {
    let mut out = terminal::stdout();
    let records = &fitted.posterior.records;
    let seconds: f64 = records.iter().map(|r| r.seconds.wall).sum();
    let samples = fitted.samples();
    let each = seconds / samples as f64;
    let samples = counted(samples, "sample");
    writeln!(out, "{samples} in {seconds:.1} s, {each:.3} s each")?;
    for (name, value) in records.iter().flat_map(|r| &r.report) {
        writeln!(out, "{name}: {value:.4}")?;
    }
    if let Some(loss) = convergence.and_then(|found| found.loss) {
        writeln!(out, "rhat of the loss: {:.4}", loss.rhat)?;
    }
    let of_predictions = convergence.map(Diagnosis::warnings).unwrap_or_default();
    for warning in of_predictions.iter().chain(records.iter().flat_map(|r| &r.warnings)) {
        say!("warning: {warning}");
    }
    Ok(())
}
