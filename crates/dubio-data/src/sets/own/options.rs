//! How a user's own data are to be read: `mine.csv:target=price,test=0.2`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use dubio_words::unknown;

use crate::error::Error;
use crate::sets::Part;

/// Every option: name, what it does.
pub const OPTIONS: [(&str, &str); 18] = [
    (
        "target",
        "column, name or number from 0; default target, label, y, class or last; none: no labels",
    ),
    ("task", "classification or regression; default: by the target"),
    (
        "header",
        "yes or no: whether the first line names the columns; default: whether it has no number",
    ),
    ("ignore", "columns to leave out, joined by +"),
    ("categories", "columns of numbers to one-hot encode, joined by +; text always is"),
    (
        "missing",
        "refuse (default), drop the row, or fill in the mean or median of the training set",
    ),
    ("unknown", "categories that only an OOD table has: refuse (default), or ignore: all zeros"),
    ("group", "column of groups, to score each on its own"),
    ("split", "column that says train or test for every row"),
    ("test", "fraction of the examples in the test set; default 0.2 where no split is given"),
    ("folds", "number of folds of a cross-validation"),
    ("fold", "which fold is the test set, from 0"),
    ("by", "column whose groups are never divided between training and test set"),
    ("seed", "seed of the split; default 0"),
    ("part", "all, train or test: which part an OOD set uses; default all"),
    ("size", "images: HEIGHTxWIDTH or one number"),
    (
        "fit",
        "images: how they get that size, resize (default) or crop (scale, then cut the centre)",
    ),
    ("channels", "images: grey or colour; default: colour if any image is"),
];

/// A file or folder of a user, and how to read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// The file or folder.
    pub path: PathBuf,
    options: BTreeMap<&'static str, String>,
}

impl Own {
    /// Reads `PATH` or `PATH:NAME=VALUE,...`; every mistake in the options is reported.
    pub fn parse(text: &str) -> Result<Self, Error> {
        // A single letter before the colon is a Windows drive.
        let colon = text.match_indices(':').map(|(at, _)| at).find(|&at| at != 1);
        let (path, rest) = match colon {
            Some(at) => (&text[..at], &text[at + 1..]),
            None => (text, ""),
        };
        let mut own = Self { path: PathBuf::from(decoded(path)), options: BTreeMap::new() };
        let mut mistakes = Vec::new();
        for option in rest.split(',').filter(|option| !option.is_empty()) {
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name.trim(), decoded(value.trim())),
                // Like the parts of a data set that is known by name: `mine.csv:test`.
                None if ["train", "test", "all"].contains(&option) => ("part", option.to_string()),
                None => {
                    mistakes.push(format!("`{option}`: write NAME=VALUE, as in target=price"));
                    continue;
                }
            };
            if let Err(mistake) = own.set(name, value) {
                mistakes.push(mistake);
            }
        }
        mistakes.extend(own.contradictions());
        match mistakes.is_empty() {
            true => Ok(own),
            false => Err(Error::new(text, mistakes.join("\n  "), "")),
        }
    }

    /// Sets an option; says what is wrong with its name or value.
    pub fn set(&mut self, name: &str, value: String) -> Result<(), String> {
        let Some((name, _)) = OPTIONS.iter().find(|(known, _)| *known == name) else {
            return Err(unknown("option of a data set", name, OPTIONS.iter().map(|(n, _)| *n)));
        };
        let allowed = |known: &[&str]| match known.contains(&&value[..]) {
            true => Ok(()),
            false => Err(format!("`{name}` must be {}, got `{value}`", known.join(", "))),
        };
        match *name {
            "task" => allowed(&["classification", "regression"])?,
            "header" => allowed(&["yes", "no"])?,
            "missing" => allowed(&["refuse", "drop", "mean", "median"])?,
            "unknown" => allowed(&["refuse", "ignore"])?,
            "part" => allowed(&["all", "train", "test"])?,
            "fit" => allowed(&["resize", "crop"])?,
            "channels" => allowed(&["grey", "colour"])?,
            "test" if !value.parse().is_ok_and(|f: f64| f > 0.0 && f < 1.0) => {
                return Err(format!("`test` must be a fraction between 0 and 1, got `{value}`"));
            }
            "folds" if !value.parse().is_ok_and(|k: usize| (2..=1000).contains(&k)) => {
                return Err(format!("`folds` must be 2 to 1000, got `{value}`"));
            }
            "seed" | "fold" if value.parse::<u64>().is_err() => {
                return Err(format!("`{name}` must be a whole number from 0, got `{value}`"));
            }
            "size" if side(&value).is_none() => {
                return Err(format!("`size` must be HEIGHTxWIDTH, as in 32x32, got `{value}`"));
            }
            _ if value.is_empty() => return Err(format!("`{name}` is empty; leave it out")),
            _ => {}
        }
        self.options.insert(name, value);
        Ok(())
    }

    fn contradictions(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (a, b) in [("split", "test"), ("split", "folds"), ("split", "by"), ("folds", "test")] {
            if self.options.contains_key(a) && self.options.contains_key(b) {
                all.push(format!("`{a}` and `{b}` are two ways to split; leave one of them out"));
            }
        }
        match (self.number("fold"), self.number("folds")) {
            (Some(_), None) => all.push("`fold` needs `folds`, as in folds=5,fold=0".to_string()),
            (Some(fold), Some(folds)) if fold >= folds => {
                all.push(format!("`fold` is {fold}, but folds count from 0 to {}", folds - 1));
            }
            _ => {}
        }
        all
    }

    /// An option, where it was given.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    /// Whether the user says that there are no labels: an OOD set.
    pub(crate) fn is_unlabelled(&self) -> bool {
        self.get("target") == Some("none")
    }

    /// Checks that the options mean something for this kind of data; `missing` is accepted for every kind.
    pub(crate) fn suits(&self, kind: &str) -> Result<(), Error> {
        const IMAGES: [&str; 3] = ["size", "fit", "channels"];
        const TABLES: [&str; 6] = ["header", "ignore", "categories", "unknown", "group", "split"];
        let is_meant = |name: &str| match kind {
            "table" => !IMAGES.contains(&name),
            "images" => !TABLES.contains(&name) && !["by", "task"].contains(&name),
            _ => !TABLES.contains(&name) && !IMAGES.contains(&name),
        };
        let of = if kind == "table" { "a table" } else { kind };
        let mut wrong: Vec<String> = self
            .options
            .keys()
            .filter(|name| !is_meant(name))
            .map(|name| format!("`{name}` means nothing for {of}; leave it out"))
            .collect();
        if kind != "table" && self.get("target").is_some() && !self.is_unlabelled() {
            wrong.push(format!("`target` of {of} can only be `none`; leave it out"));
        }
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(Error::new(&self.path, wrong.join("\n  "), "")),
        }
    }

    /// Columns joined by `+`.
    pub fn columns(&self, name: &str) -> Vec<&str> {
        self.get(name).map_or(Vec::new(), |text| text.split('+').collect())
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// Height and width that images get.
    pub(crate) fn size(&self) -> Option<(usize, usize)> {
        side(self.get("size")?)
    }

    /// Which part is used where the data are not trained on.
    pub fn part(&self) -> Part {
        match self.get("part") {
            Some("train") => Part::Train,
            Some("test") => Part::Test,
            _ => Part::All,
        }
    }

    /// Each fold of a cross-validation; only itself where there is none or a fold is chosen.
    pub fn each_fold(&self) -> Vec<Self> {
        match (self.number("folds"), self.number("fold")) {
            (Some(folds), None) => (0..folds).map(|fold| self.clone().fold(fold)).collect(),
            _ => vec![self.clone()],
        }
    }

    fn fold(mut self, fold: u64) -> Self {
        self.options.insert("fold", fold.to_string());
        self
    }

    /// The name of the file without its extension, or of the folder, for use in tables.
    pub fn short(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The options without the path: how the data are read, wherever they lie.
    pub fn options_alone(&self) -> String {
        Self { path: PathBuf::new(), options: self.options.clone() }.to_string()
    }
}

fn side(text: &str) -> Option<(usize, usize)> {
    let (height, width) = text.split_once('x').unwrap_or((text, text));
    let (height, width) = (height.parse().ok()?, width.parse().ok()?);
    ((1..=1 << 13).contains(&height) && (1..=1 << 13).contains(&width)).then_some((height, width))
}

/// Encodes characters that have a special meaning in a name as in URLs: a comma is `%2C`.
fn encoded(text: &str, special: &str) -> String {
    let each = text.chars().map(|c| match c == '%' || special.contains(c) {
        true => format!("%{:02X}", c as u32),
        false => c.to_string(),
    });
    each.collect()
}

fn decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut out = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        let code = piece.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code.filter(u8::is_ascii) {
            Some(byte) => {
                out.push(byte.into());
                out.push_str(&piece[2..]);
            }
            None => {
                out.push('%');
                out.push_str(piece);
            }
        }
    }
    out
}

/// The name that [`Own::parse`] reads back, options in order; the number of a fold is the last, so that
/// names of folds differ only at their end.
impl fmt::Display for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encoded(&self.path.to_string_lossy(), ":"))?;
        let last = |name: &str| name == "fold";
        let options = self.options.iter().filter(|(name, _)| !last(name));
        let options = options.chain(self.options.iter().filter(|(name, _)| last(name)));
        for (index, (name, value)) in options.enumerate() {
            let mark = if index == 0 { ':' } else { ',' };
            write!(f, "{mark}{name}={}", encoded(value, ","))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_as_it_was_whatever_is_in_it() {
        let mut own = Own::parse("a b/mine.csv:test=0.25,target=price").unwrap();
        own.set("group", "city, 100 %: old".into()).unwrap();
        assert_eq!(own.get("target"), Some("price"));
        assert_eq!(Own::parse(&own.to_string()).unwrap(), own, "{own}");
        assert_eq!(Own::parse("x.csv").unwrap().to_string(), "x.csv");
        assert_eq!(Own::parse("x.csv:test").unwrap().part(), Part::Test);
    }

    #[test]
    fn every_mistake_is_reported() {
        let error = Own::parse("x.csv:tagret=y,test=2,split=a,fold=3").unwrap_err().to_string();
        for part in ["did you mean `target`", "between 0 and 1", "`fold` needs `folds`"] {
            assert!(error.contains(part), "{error}");
        }
        let error = Own::parse("x.csv:folds=3,fold=3,split=a").unwrap_err().to_string();
        assert!(error.contains("0 to 2") && error.contains("two ways to split"), "{error}");
    }

    #[test]
    fn folds_are_written_out_unless_one_is_chosen() {
        let names = |text: &str| -> Vec<String> {
            Own::parse(text).unwrap().each_fold().iter().map(|own| own.to_string()).collect()
        };
        assert_eq!(names("x.csv:folds=2"), ["x.csv:folds=2,fold=0", "x.csv:folds=2,fold=1"]);
        assert_eq!(names("x.csv:folds=2,fold=1").len(), 1);
    }
}
