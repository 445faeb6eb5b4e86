//! Predictions of a number: which form a file has, and whether its arrays fit together.

use std::path::{Path, PathBuf};

use dubio_metrics::members::Members;

use crate::array::Array;
use crate::dtype::{Dtype, Endian, Float};
use crate::error::{Error, Fault};
use crate::groups::Groups;
use crate::note::Note;
use crate::source::{Source, Values};
use crate::taker::Taker;

/// Predictive distributions of a number.
pub struct Regression {
    /// The file.
    pub path: PathBuf,
    /// The distributions, in one of several forms.
    pub kind: RegressionKind,
    /// True values.
    pub targets: Vec<f64>,
    /// Groups of examples.
    pub groups: Groups,
    /// What a user should know about how the file was read.
    pub notes: Vec<Note>,
}

/// How the distributions are given.
pub enum RegressionKind {
    /// Mean and standard deviation of Gaussian members.
    Gaussians(Source, Source),
    /// Draws.
    Samples(Source),
    /// Levels, and the quantiles there.
    Quantiles(Vec<f64>, Source),
}

const FORMS: [&[&str]; 4] =
    [&["mean", "std", "var"], &["samples"], &["quantiles", "levels"], &["lower", "upper"]];

pub(crate) fn regression(mut taker: Taker<'_>, level: f64) -> Result<Regression, Error> {
    let path = taker.path.to_path_buf();
    let forms: Vec<&[&str]> =
        FORMS.into_iter().filter(|form| form.iter().any(|name| taker.has(name))).collect();
    let kind = match &forms[..] {
        [["mean", ..]] => gaussians(&mut taker)?,
        [["samples"]] => RegressionKind::Samples(taker.numbers("samples")?),
        [["quantiles", ..]] => quantiles(&mut taker)?,
        [["lower", ..]] => interval(&mut taker, level)?,
        _ => {
            let what = "predictions in more than one form";
            let advice = "leave `mean` and `std`, or `samples`, or `quantiles` and `levels`, or \
                          `lower` and `upper`";
            return Err(Error::file(&path, what, advice));
        }
    };
    let (RegressionKind::Gaussians(source, _)
    | RegressionKind::Samples(source)
    | RegressionKind::Quantiles(_, source)) = &kind;
    let examples = source.examples();
    let targets = taker.take("targets")?.numbers().map_err(|f| f.at(&path, "targets"))?;
    taker.fit("targets", targets.len(), examples)?;
    if let Some(example) = targets.iter().position(|y| !y.is_finite()) {
        let what = format!("{} at example {example}", targets[example]);
        return Err(Error::array(&path, "targets", what, "every target must be a finite number"));
    }
    let groups = taker.groups(examples)?;
    Ok(Regression { path, kind, targets, groups, notes: taker.into_notes() })
}

/// `mean`, and `std` or its square `var`, of the same shape or a single number for all.
fn gaussians(taker: &mut Taker<'_>) -> Result<RegressionKind, Error> {
    let path = taker.path.to_path_buf();
    let name = match (taker.has("std"), taker.has("var")) {
        (true, true) => {
            let what = "both `std` and `var`";
            return Err(Error::file(&path, what, "leave one of them"));
        }
        (false, true) => "var",
        _ => "std",
    };
    let mean = taker.numbers("mean")?;
    let single = taker.shape(name).iter().product::<usize>() == 1 && taker.has(name);
    let mut spread = if single {
        let [members, examples] = mean.extent();
        let array = taker.take(name)?.repeated(&[members, examples, 1]);
        let array = array.ok_or_else(|| taker.missing(name))?;
        Source { name: name.to_string(), path: path.clone(), array, values: Values::Stored }
    } else {
        taker.numbers(name)?
    };
    if mean.extent() != spread.extent() {
        let what = format!("shape {:?}, but mean has {:?}", spread.extent(), mean.extent());
        let advice = "give both the same shape, or a single number for all examples";
        return Err(Error::array(&path, name, what, advice));
    }
    if name == "var" {
        spread.values = Values::SquareRoots;
    }
    Ok(RegressionKind::Gaussians(mean, spread))
}

fn quantiles(taker: &mut Taker<'_>) -> Result<RegressionKind, Error> {
    let path = taker.path.to_path_buf();
    let quantiles = taker.numbers("quantiles")?;
    let levels = taker.take("levels")?.numbers().map_err(|f| f.at(&path, "levels"))?;
    check_levels(&levels, quantiles.members()).map_err(|f| f.at(&path, "levels"))?;
    Ok(RegressionKind::Quantiles(levels, quantiles))
}

/// `lower` and `upper` as quantiles: the ends of the central interval of this mass.
fn interval(taker: &mut Taker<'_>, level: f64) -> Result<RegressionKind, Error> {
    let path = taker.path.to_path_buf();
    let mut values = Vec::new();
    for name in ["lower", "upper"] {
        let array = taker.take(name)?;
        values.push(array.numbers().map_err(|f| f.at(&path, name))?);
    }
    let [lower, upper] = [&values[0], &values[1]];
    taker.fit("upper", upper.len(), lower.len())?;
    if let Some(example) = lower.iter().zip(upper).position(|(lower, upper)| lower > upper) {
        let what = format!("{} at example {example}", lower[example]);
        let what = format!("{what}, above `upper`, which is {}", upper[example]);
        return Err(Error::array(&path, "lower", what, "exchange the two"));
    }
    taker.notes.push(Note::Remark(format!(
        "`lower` and `upper` are read as the central {} % interval; --level of `dubio evaluate` \
         and `dubio report` changes that",
        (1e6 * level).round() / 1e4
    )));
    let quantiles = stacked(&path, &values).map_err(|f| f.at(&path, "lower"))?;
    Ok(RegressionKind::Quantiles(vec![0.5 - 0.5 * level, 0.5 + 0.5 * level], quantiles))
}

fn stacked(path: &Path, rows: &[Vec<f64>]) -> Result<Source, Fault> {
    let bytes = rows.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    let dtype = Dtype::Float(Float::F64, Endian::Little);
    let array = Array::in_memory(bytes, dtype, &[rows.len(), rows[0].len(), 1])?;
    let (name, path) = ("lower".to_string(), path.to_path_buf());
    Ok(Source { name, path, array, values: Values::Stored })
}

fn check_levels(levels: &[f64], rows: usize) -> Result<(), Fault> {
    if levels.len() != rows {
        return Err(Fault::new(
            format!("{} levels for {rows} rows of quantiles", levels.len()),
            "give one level per row of `quantiles`, shape [levels, examples]",
        ));
    }
    if let Some(bad) = levels.iter().position(|l| !(*l > 0.0 && *l < 1.0)) {
        return Err(Fault::new(
            format!("level {} at index {bad}", levels[bad]),
            "levels lie strictly between 0 and 1",
        ));
    }
    if let Some(bad) = levels.windows(2).position(|pair| pair[0] >= pair[1]) {
        return Err(Fault::new(
            format!("level {} at index {} after {}", levels[bad + 1], bad + 1, levels[bad]),
            "sort the levels, and the rows of quantiles with them, in ascending order",
        ));
    }
    Ok(())
}
