//! Which format a file has, and how to convert one that cannot be read.

use std::borrow::Cow;
use std::path::Path;

use crate::bytes::Bytes;
use crate::error::Error;

/// A format that predictions are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Npz,
    Safetensors,
    /// Named columns, separated by this byte where it is in the first line.
    Text(u8),
    Parquet,
}

impl Format {
    /// The format that the name of a file promises.
    pub(crate) fn by_name(path: &Path) -> Result<Self, Error> {
        match extension(path).as_str() {
            "npz" => Ok(Self::Npz),
            "safetensors" => Ok(Self::Safetensors),
            "csv" => Ok(Self::Text(b',')),
            "tsv" => Ok(Self::Text(b'\t')),
            "parquet" | "pq" => Ok(Self::Parquet),
            "npy" => Err(Error::file(
                path,
                "a single .npy holds only one array",
                "put the arrays into a folder, a .npy for each, and name the folder",
            )),
            other => Err(unknown(path, other)),
        }
    }

    /// The format of data that came without a file name, from its first bytes.
    pub(crate) fn by_content(bytes: &Bytes) -> std::io::Result<Self> {
        let head = bytes.head(9)?;
        Ok(match &head[..] {
            [b'P', b'K', ..] => Self::Npz,
            [b'P', b'A', b'R', b'1', ..] => Self::Parquet,
            // The length of the header, which is below 2^24, and then JSON.
            [_, _, _, 0, 0, 0, 0, 0, b'{'] => Self::Safetensors,
            _ => Self::Text(b','),
        })
    }
}

fn extension(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// The error for a file of another kind, with the shell line that converts it where there is one.
fn unknown(path: &Path, extension: &str) -> Error {
    let Some((kind, line)) = conversion(path, extension) else {
        let what = "the name does not say which format this is";
        let advice = "dubio reads .npz, .safetensors, .csv, .tsv, .parquet and folders of .npy";
        return Error::file(path, what, advice);
    };
    Error::file(path, format!("dubio does not read {kind}"), format!("convert it:\n    {line}"))
}

/// What a kind of file is called, and the shell line that makes an .npz or a .csv of it.
fn conversion(path: &Path, extension: &str) -> Option<(&'static str, String)> {
    let (kind, import, arrays) = match extension {
        "pt" | "pth" | "ckpt" => (
            "PyTorch files",
            "torch",
            "{k: v.detach().cpu().numpy() for k, v in torch.load('FILE', map_location='cpu').items()}",
        ),
        "pkl" | "pickle" => ("pickles", "pickle", "pickle.load(open('FILE', 'rb'))"),
        "joblib" => ("joblib files", "joblib", "joblib.load('FILE')"),
        "h5" | "hdf5" => ("HDF5 files", "h5py", "{k: v[()] for k, v in h5py.File('FILE').items()}"),
        "mat" => (
            "MATLAB files",
            "scipy.io",
            "{k: v.squeeze() for k, v in scipy.io.loadmat('FILE').items() if k[0] != '_'}",
        ),
        "gz" => return Some(("gzip files", format!("gunzip --keep \"{}\"", shown(path)))),
        "zip" => return Some(("zip files", format!("unzip \"{}\"", shown(path)))),
        "feather" | "arrow" => return Some(("Arrow files", pandas(path, "read_feather('FILE')"))),
        "json" => return Some(("JSON", pandas(path, "read_json('FILE')"))),
        "jsonl" => return Some(("JSON lines", pandas(path, "read_json('FILE', lines=True)"))),
        "xlsx" | "xls" => return Some(("spreadsheets", pandas(path, "read_excel('FILE')"))),
        _ => return None,
    };
    let code = format!("import {import}, numpy; numpy.savez('STEM.npz', **{arrays})");
    Some((kind, python(path, &code)))
}

/// The line that converts a Parquet file, for a build that cannot read it.
#[cfg(not(feature = "parquet"))]
pub(crate) fn parquet_to_csv(path: &Path) -> String {
    pandas(path, "read_parquet('FILE')")
}

fn pandas(path: &Path, read: &str) -> String {
    python(path, &format!("import pandas; pandas.{read}.to_csv('STEM.csv', index=False)"))
}

/// The shell line that runs this code.
fn python(path: &Path, code: &str) -> String {
    let file = shown(path);
    let stem = file.rsplit_once('.').map_or(&file[..], |(stem, _)| stem);
    format!("python -c \"{}\"", code.replace("FILE", &file).replace("STEM", stem))
}

/// The file's name where the shell and Python both read it as it is; else one that stands for it.
fn shown(path: &Path) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=@ ".contains(c);
    let shown = path.to_string_lossy();
    if shown.chars().all(plain) { shown } else { "preds".into() }
}
