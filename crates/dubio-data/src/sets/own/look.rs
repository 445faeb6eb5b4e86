//! A look at a user's data before anything is trained on them.

use std::collections::{BTreeSet, HashMap};

use super::options::Own;
use super::split::Side;
use super::{Seen, files, read};
use crate::dataset::{Answers, Dataset, Inputs};
use crate::error::Error;

/// What is in a data set.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Its name, options in order.
    pub name: String,
    /// What was found and how it was encoded.
    pub seen: Seen,
    /// SHA-256 of the files' bytes.
    pub sha256: String,
    /// Shape of one example: features, or channels, height, width.
    pub shape: Vec<usize>,
    /// Training and test examples.
    pub examples: [usize; 2],
    /// How they were split, in words.
    pub split: String,
    /// Least and greatest value of each feature; of images, of all pixels.
    pub ranges: Vec<(String, f64, f64)>,
    /// Least and greatest target of a regression.
    pub targets: Option<(f64, f64)>,
    /// Training and test examples of each class.
    pub classes: Vec<(String, [usize; 2])>,
    /// Number of different values of each group.
    pub groups: Vec<(String, usize)>,
    /// Examples whose inputs are those of an earlier one.
    pub duplicates: usize,
    /// Test examples whose inputs are also in the training set.
    pub leaked: usize,
    /// Examples whose inputs are those of an earlier one with another answer.
    pub contradicting: usize,
    /// What to think about before training.
    pub warnings: Vec<String>,
}

/// Reads a data set and looks at it. Missing features are counted, not refused.
pub fn look(own: &Own) -> Result<Look, Error> {
    let mut lenient = own.clone();
    if own.get("missing").is_none() {
        lenient
            .set("missing", "mean".to_string())
            .map_err(|what| Error::new(&own.path, what, ""))?;
    }
    let (whole, split) = read(&lenient)?;
    let data = &whole.data;
    let listed: &[u8] = match &data.inputs {
        Inputs::Images(images) if own.path.is_file() && whole.seen.kind == "images" => {
            &images.pixels
        }
        _ => &[],
    };
    let test: Vec<bool> = split.sides.iter().map(|side| *side == Side::Test).collect();
    let tested = test.iter().filter(|test| **test).count();
    let Repeats { duplicates, leaked, contradicting } = repeats(data, &test);
    let mut look = Look {
        name: own.to_string(),
        sha256: files::sha256(&own.path, listed)?,
        shape: shape(data),
        examples: [test.len() - tested, tested],
        split: split.how,
        ranges: ranges(data, &whole.seen),
        targets: targets(data),
        classes: classes(data, &whole.seen, &test),
        groups: whole.data.groups.iter().map(|(name, all)| (name.clone(), distinct(all))).collect(),
        duplicates,
        leaked,
        contradicting,
        warnings: Vec::new(),
        seen: whole.seen,
    };
    look.warnings = look.find_warnings(own);
    Ok(look)
}

/// Largest number of names in a warning.
const NAMED: usize = 10;

impl Look {
    fn find_warnings(&self, own: &Own) -> Vec<String> {
        let mut all = Vec::new();
        if own.get("missing").is_none() && !self.seen.missing.is_empty() {
            let cells: usize = self.seen.missing.values().sum();
            all.push(format!(
                "{cells} missing values will be refused; fill them in, or give missing=mean, missing=median \
                 or missing=drop"
            ));
        }
        if self.seen.classes.len() == 1 {
            all.push("all examples are of one class: there is nothing to learn".to_string());
        }
        if !self.seen.ignored.is_empty() {
            let what = match self.seen.kind {
                "images" => "files",
                "table" => "columns",
                _ => "arrays",
            };
            let (shown, more) = self.seen.ignored.split_at(self.seen.ignored.len().min(NAMED));
            let more = match more.len() {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            all.push(format!("{what} that are not used: {}{more}", shown.join(", ")));
        }
        if self.leaked > 0 {
            all.push(format!(
                "{} of {} test examples are also in the training set: scores will be too good",
                self.leaked, self.examples[1]
            ));
        }
        if self.contradicting > 0 {
            all.push(format!(
                "examples that repeat an earlier one with another answer: {}",
                self.contradicting
            ));
        }
        for name in &self.seen.counting {
            all.push(format!(
                "`{name}` counts the rows; if it means nothing else, give ignore={name}"
            ));
        }
        let constant: Vec<&str> = self
            .ranges
            .iter()
            .filter(|(_, low, high)| low == high)
            .map(|(name, ..)| &name[..])
            .collect();
        if !constant.is_empty() {
            all.push(format!(
                "constant: {}; leave such columns out with `ignore`",
                constant.join(", ")
            ));
        }
        for (class, [train, test]) in &self.classes {
            if *train == 0 || *test == 0 {
                all.push(format!("class {class} has {train} training and {test} test examples"));
            }
        }
        all
    }
}

fn shape(data: &Dataset) -> Vec<usize> {
    match &data.inputs {
        Inputs::Images(images) => vec![images.channels, images.height, images.width],
        Inputs::Features { width, .. } => vec![*width],
    }
}

fn extremes(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

fn ranges(data: &Dataset, seen: &Seen) -> Vec<(String, f64, f64)> {
    match &data.inputs {
        Inputs::Images(images) => {
            let (low, high) = extremes(images.pixels.iter().map(|&pixel| f64::from(pixel)));
            vec![("pixels".to_string(), low, high)]
        }
        Inputs::Features { width, values } => {
            let column = |index: usize| {
                let (low, high) = extremes(values.iter().skip(index).step_by(*width).copied());
                (seen.features.get(index).cloned().unwrap_or_else(|| index.to_string()), low, high)
            };
            (0..*width).map(column).collect()
        }
    }
}

fn targets(data: &Dataset) -> Option<(f64, f64)> {
    match &data.answers {
        Answers::Classes { .. } | Answers::Unlabelled(_) => None,
        Answers::Targets(targets) => Some(extremes(targets.iter().copied())),
    }
}

fn classes(data: &Dataset, seen: &Seen, test: &[bool]) -> Vec<(String, [usize; 2])> {
    let Answers::Classes { labels, .. } = &data.answers else { return Vec::new() };
    let mut counts = vec![[0; 2]; seen.classes.len()];
    for (&label, &test) in labels.iter().zip(test) {
        counts[label as usize][usize::from(test)] += 1;
    }
    seen.classes.iter().cloned().zip(counts).collect()
}

fn distinct(values: &[i64]) -> usize {
    values.iter().collect::<BTreeSet<_>>().len()
}

struct Repeats {
    duplicates: usize,
    leaked: usize,
    contradicting: usize,
}

/// Examples with exactly the same inputs.
fn repeats(data: &Dataset, test: &[bool]) -> Repeats {
    let answer = |row: usize| match &data.answers {
        Answers::Classes { labels, .. } => u64::from(labels[row]),
        Answers::Targets(targets) => targets[row].to_bits(),
        Answers::Unlabelled(_) => 0,
    };
    let inputs = |row: usize| -> Vec<u8> {
        match &data.inputs {
            Inputs::Images(images) => images.image(row).to_vec(),
            Inputs::Features { width, values } => values[row * width..(row + 1) * width]
                .iter()
                .flat_map(|v| v.to_le_bytes())
                .collect(),
        }
    };
    // Of each input: its first row, and whether any of its rows is in the training set.
    let mut seen: HashMap<Vec<u8>, (usize, bool)> = HashMap::new();
    let mut found = Repeats { duplicates: 0, leaked: 0, contradicting: 0 };
    for row in 0..data.len() {
        let (first, train) = seen.entry(inputs(row)).or_insert((row, false));
        *train |= !test[row];
        if *first != row {
            found.duplicates += 1;
            found.contradicting += usize::from(answer(*first) != answer(row));
        }
    }
    let leaked =
        |&row: &usize| test[row] && seen.get(&inputs(row)).is_some_and(|(_, train)| *train);
    found.leaked = (0..data.len()).filter(leaked).count();
    found
}
