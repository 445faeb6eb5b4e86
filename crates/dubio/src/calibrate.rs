//! `dubio calibrate`: fit a temperature on one file and apply it to another.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dubio_metrics::calibrate::temperature::fit;
use dubio_metrics::distributions::Kind;
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Members;
use dubio_metrics::numeric::transcendental::logsumexp;
use dubio_metrics::pool::pool;
use dubio_metrics::views::Chosen;
use dubio_predictions::{Classification, Error, Floats, Output, Predictions, open, write};
use serde_json::json;

use crate::{destination, terminal};

/// Fit a temperature on validation predictions and apply it to others.
///
/// By default one temperature is fitted to the ensemble's mean probabilities, and the result has
/// one member: pool, then calibrate. With --per-member each member gets its own temperature and
/// stays a member: calibrate, then pool. The two give different numbers.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio calibrate val.npz                                      print the temperature
  dubio calibrate val.npz --apply test.npz -o calibrated.npz   and use it
  dubio calibrate val.npz --per-member --apply test.npz -o calibrated.npz")]
pub(crate) struct Args {
    /// Predictions with labels, to fit on. Never the ones that will be scored.
    file: PathBuf,
    /// Predictions to apply the temperature to.
    #[arg(long, value_name = "FILE", requires = "output")]
    apply: Option<PathBuf>,
    /// Where to write the calibrated predictions, as `log_probs`: .npz, .safetensors or a folder.
    #[arg(short, long, value_name = "FILE", requires = "apply")]
    output: Option<PathBuf>,
    /// A temperature for each member instead of one for their mean.
    #[arg(long)]
    per_member: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if let Some(output) = &args.output {
        destination::keep([&args.file].into_iter().chain(&args.apply), &[output])?;
    }
    let validation = classes(&args.file)?;
    let labels = validation.labels.clone().ok_or_else(|| {
        Error::file(&args.file, "there is no array `labels`", "a temperature is fitted to labels")
    })?;
    let members = if args.per_member { validation.source.members() } else { 1 };
    let temperatures = (0..members)
        .map(|member| {
            let examples =
                Examples::new(part(&validation, args.per_member, member)?, labels.clone());
            let fit = fit(&examples).map_err(|undefined| {
                anyhow::anyhow!("{}: no temperature: {}", args.file.display(), undefined.0)
            })?;
            Ok(fit.temperature())
        })
        .collect::<Result<Vec<f64>>>()?;
    if let (Some(path), Some(output)) = (&args.apply, &args.output) {
        apply(path, output, &temperatures, args.per_member)?;
    }
    report(args, &temperatures)
}

fn report(args: &Args, temperatures: &[f64]) -> Result<()> {
    let mut out = terminal::stdout();
    if args.json {
        let value = if args.per_member { json!(temperatures) } else { json!(temperatures[0]) };
        writeln!(out, "{}", json!({ "temperature": value }))?;
    } else {
        let all: Vec<String> = temperatures.iter().map(|t| format!("{t:.5}")).collect();
        writeln!(out, "temperature {}", all.join(" "))?;
    }
    if let Some(output) = &args.output
        && !args.json
    {
        writeln!(out, "wrote {}", output.display())?;
    }
    Ok(())
}

fn classes(path: &Path) -> Result<Classification> {
    match open(path)? {
        Predictions::Classification(file) => Ok(file),
        Predictions::Regression(_) => {
            bail!(
                "{}: temperatures are for classification, and this is a regression",
                path.display()
            )
        }
    }
}

/// The predictive distributions of one member, or of all together.
fn part(
    file: &Classification,
    per_member: bool,
    member: usize,
) -> Result<dubio_metrics::pool::Pooled> {
    let single = Chosen::of(&file.source, [member]);
    let source: &dyn Members = if per_member { &single } else { &file.source };
    pool(source, file.form, &|_| {}).map_err(|mut fault| {
        fault.member += if per_member { member } else { 0 };
        Error::array(&file.path, &file.source.name, &fault, "mend the numbers where they are made")
            .into()
    })
}

fn apply(path: &Path, output: &Path, temperatures: &[f64], per_member: bool) -> Result<()> {
    let file = classes(path)?;
    let (examples, classes) = (file.source.examples(), file.source.width());
    if per_member && file.source.members() != temperatures.len() {
        bail!(
            "{}: {} members, but temperatures were fitted to {}",
            path.display(),
            file.source.members(),
            temperatures.len()
        );
    }
    let mut log_probs: Vec<f32> = Vec::new();
    for (member, temperature) in temperatures.iter().enumerate() {
        let pooled = part(&file, per_member, member)?;
        let mut row = vec![0.0; classes];
        let rows = pooled.distributions.rows(Kind::LogP, 0..examples);
        for log_p in rows.chunks(classes) {
            for (scaled, l) in row.iter_mut().zip(log_p) {
                *scaled = l / temperature;
            }
            let log_z = logsumexp(&row);
            log_probs.extend(row.iter().map(|l| (l - log_z) as f32));
        }
    }
    let mut integers = Vec::new();
    if let Some(labels) = &file.labels {
        integers.push(("labels".to_string(), labels.iter().map(|&y| i64::from(y)).collect()));
    }
    integers.extend(file.groups.arrays().map(|(name, groups)| (name, groups.to_vec())));
    let shape = [temperatures.len(), examples, classes];
    let floats = vec![Floats { name: "log_probs", values: &log_probs, shape: shape.to_vec() }];
    write(output, &Output { floats, integers })
        .with_context(|| "the calibrated predictions were not written")
}
