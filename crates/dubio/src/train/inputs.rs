//! What `dubio train` is given: settings, data sets, files that must not be overwritten.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dubio_api::destination;
use dubio_data::dataset::Dataset;
use dubio_data::folder::folder_of;
use dubio_data::sets::own;
use dubio_data::sets::{self, Halves, Name, Part};
use dubio_infer::recipe::Recipe;
use dubio_infer::scaling::Scaling;
use serde_json::{Map, Value};

use super::Args;

/// The sets to predict and where to. What is wrong with one is found here, not after the training.
pub(super) fn to_predict(
    args: &Args,
    halves: Halves,
    train: &Dataset,
) -> Result<Vec<(Dataset, PathBuf)>> {
    let mut sets = vec![(halves.name, halves.test, args.output.clone())];
    for text in &args.also {
        sets.push(asked(text)?);
    }
    let scaling = Scaling::measured(train);
    let each = sets.into_iter().map(|(name, part, output)| {
        let (trained, asked) = (halves.name.set.name, name.set.name);
        let data = own::aligned(trained, asked, load(args, name, part)?)?;
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
pub(super) fn keep_start(args: &Args, recipe: &Recipe, sets: &[(Dataset, PathBuf)]) -> Result<()> {
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
pub(super) fn settings(set: &[String]) -> Result<Map<String, Value>> {
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

pub(super) fn load(args: &Args, name: Name, part: Part) -> Result<Dataset> {
    let folder = match &args.dir {
        Some(folder) => folder.clone(),
        None => folder_of(name.set)?,
    };
    Ok(name.set.load(&folder, part)?)
}
