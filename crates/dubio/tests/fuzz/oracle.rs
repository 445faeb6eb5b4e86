//! What numpy would read, and the plainest sums over it. Shares no code with the readers and the scores.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// An array: its shape and its numbers in C order.
pub(crate) struct Array {
    shape: Vec<usize>,
    values: Vec<f64>,
}

pub(crate) type Arrays = BTreeMap<String, Array>;

/// The arrays of a file or folder; `None` where it cannot be read.
pub(crate) fn read(path: &Path) -> Option<Arrays> {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).ok()?.map(|entry| Some(entry.ok()?.path()));
        let pair = |path: Option<std::path::PathBuf>| {
            let path = path?;
            let name = path.file_stem()?.to_str()?.to_ascii_lowercase();
            Some((name, npy(&std::fs::read(&path).ok()?)?))
        };
        return entries.map(pair).collect();
    }
    let bytes = std::fs::read(path).ok()?;
    match path.extension()?.to_str()? {
        "npz" => npz(bytes),
        "csv" => table(&bytes, ','),
        "tsv" => table(&bytes, '\t'),
        _ => safetensors(&bytes),
    }
}

/// Only tables as plain as they can be: no quotes, and every column under the name that it was written with.
fn table(bytes: &[u8], separator: char) -> Option<Arrays> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut lines = text.lines().map(|line| line.split(separator).collect::<Vec<&str>>());
    let head = lines.next()?;
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.iter().map(|cell| cell.parse().ok()).collect())
        .collect::<Option<_>>()?;
    if rows.is_empty() || rows.iter().any(|row| row.len() != head.len()) {
        return None;
    }
    // By name and member, the columns in the order of their classes.
    let mut found: BTreeMap<(&str, usize), Vec<usize>> = BTreeMap::new();
    for (column, name) in head.iter().enumerate() {
        let mut parts = name.split('.');
        let (stem, member) = (parts.next()?, parts.next().map_or(Some(0), |n| n.parse().ok())?);
        let class: usize = parts.next().map_or(Some(0), |n| n.parse().ok())?;
        let columns = found.entry((stem, member)).or_default();
        if class != columns.len() || parts.next().is_some() {
            return None;
        }
        columns.push(column);
    }
    let mut arrays = Arrays::new();
    for ((stem, member), columns) in found {
        let (name, axes) = match stem {
            "label" => ("labels", 1),
            "target" => ("targets", 1),
            "mean" | "std" => (stem, 2),
            "probs" | "logits" | "log_probs" => (stem, 3),
            _ => return None,
        };
        let array = arrays.entry(name.to_string()).or_insert(Array {
            shape: match axes {
                1 => vec![rows.len()],
                2 => vec![0, rows.len()],
                _ => vec![0, rows.len(), columns.len()],
            },
            values: Vec::new(),
        });
        if axes > 1 {
            (array.shape[0] == member).then_some(())?;
            array.shape[0] += 1;
        }
        array.values.extend(rows.iter().flat_map(|row| columns.iter().map(|column| row[*column])));
    }
    Some(arrays)
}

/// Only what can be read whole, its checksum included.
fn npz(bytes: Vec<u8>) -> Option<Arrays> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).ok()?;
    let mut arrays = Arrays::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).ok()?;
        let name = entry.name().ok()?.strip_suffix(".npy")?.to_ascii_lowercase();
        let mut data = Vec::new();
        entry.read_to_end(&mut data).ok()?;
        arrays.insert(name, npy(&data)?);
    }
    Some(arrays)
}

fn npy(bytes: &[u8]) -> Option<Array> {
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (length, start) = match rest.first()? {
        1 => (usize::from(u16::from_le_bytes(rest.get(2..4)?.try_into().ok()?)), 4),
        _ => (u32::from_le_bytes(rest.get(2..6)?.try_into().ok()?) as usize, 6),
    };
    let text = String::from_utf8_lossy(rest.get(start..start + length)?).into_owned();
    let data = &rest[start + length..];
    let after = |key: &str| text.split_once(&format!("'{key}'"))?.1.trim_start().strip_prefix(':');
    let quoted = after("descr")?.trim_start();
    let quote = quoted.chars().next()?;
    let descr = quoted[1..].split(quote).next()?;
    let fortran = after("fortran_order")?.trim_start().starts_with("True");
    let shape = after("shape")?.split_once('(')?.1.split_once(')')?.0;
    let axes = shape.split(',').map(str::trim).filter(|axis| !axis.is_empty());
    let shape: Vec<usize> =
        axes.map(|axis| axis.trim_end_matches('L').parse().ok()).collect::<Option<_>>()?;
    let values = numbers(descr, data)?;
    let count = shape.iter().try_fold(1_usize, |product, axis| product.checked_mul(*axis))?;
    if values.len() != count {
        return None;
    }
    let values = if fortran { turned(&shape, &values) } else { values };
    Some(Array { shape, values })
}

/// From Fortran's order to C's.
fn turned(shape: &[usize], values: &[f64]) -> Vec<f64> {
    let place = |index: usize| {
        let (mut rest, mut at, mut stride) = (index, 0, values.len());
        for axis in shape.iter().rev() {
            stride /= axis;
            at += rest % axis * stride;
            rest /= axis;
        }
        at
    };
    (0..values.len()).map(|index| values[place(index)]).collect()
}

fn numbers(descr: &str, data: &[u8]) -> Option<Vec<f64>> {
    let kind = descr.trim_start_matches(['<', '>', '|', '=']);
    let size: usize = kind.get(1..)?.parse().ok()?;
    if size == 0 || !data.len().is_multiple_of(size) {
        return None;
    }
    let one = |bytes: &[u8]| -> Option<f64> {
        let mut bytes = bytes.to_vec();
        if descr.starts_with('>') {
            bytes.reverse();
        }
        Some(match kind {
            "f2" => half(u16::from_le_bytes(bytes.try_into().ok()?)),
            "f4" => f64::from(f32::from_le_bytes(bytes.try_into().ok()?)),
            "f8" => f64::from_le_bytes(bytes.try_into().ok()?),
            "i1" => f64::from(bytes[0] as i8),
            "u1" | "b1" => f64::from(bytes[0]),
            "i2" => f64::from(i16::from_le_bytes(bytes.try_into().ok()?)),
            "u2" => f64::from(u16::from_le_bytes(bytes.try_into().ok()?)),
            "i4" => f64::from(i32::from_le_bytes(bytes.try_into().ok()?)),
            "u4" => f64::from(u32::from_le_bytes(bytes.try_into().ok()?)),
            "i8" => i64::from_le_bytes(bytes.try_into().ok()?) as f64,
            "u8" => u64::from_le_bytes(bytes.try_into().ok()?) as f64,
            _ => return None,
        })
    };
    data.chunks(size).map(one).collect()
}

fn half(bits: u16) -> f64 {
    let (sign, exponent) = (if bits >> 15 == 1 { -1.0 } else { 1.0 }, i32::from(bits >> 10 & 31));
    let fraction = f64::from(bits & 1023) / 1024.0;
    sign * match exponent {
        0 => fraction * 2_f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2_f64.powi(exponent - 15),
    }
}

fn safetensors(bytes: &[u8]) -> Option<Arrays> {
    let length = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?) as usize;
    let header = bytes.get(8..8_usize.checked_add(length)?)?;
    let data = &bytes[8 + length..];
    let header: serde_json::Value = serde_json::from_slice(header).ok()?;
    let mut arrays = Arrays::new();
    for (name, tensor) in header.as_object()? {
        if name == "__metadata__" {
            continue;
        }
        let axes = tensor["shape"].as_array()?.iter().map(|axis| Some(axis.as_u64()? as usize));
        let ends = [&tensor["data_offsets"][0], &tensor["data_offsets"][1]];
        let [start, end] = ends.map(|end| end.as_u64().map(|end| end as usize));
        let kind = tensor["dtype"].as_str()?.to_lowercase();
        let bits: usize = kind.get(1..)?.parse().ok()?;
        let values = numbers(&format!("<{}{}", &kind[..1], bits / 8), data.get(start?..end?)?)?;
        arrays.insert(
            name.to_ascii_lowercase(),
            Array { shape: axes.collect::<Option<_>>()?, values },
        );
    }
    Some(arrays)
}

/// `accuracy` and `nll`, or `rmse`; `None` where these are no predictions.
pub(crate) fn scores(arrays: &Arrays) -> Option<Vec<(&'static str, f64)>> {
    let forms = ["logits", "log_probs", "probs"];
    let given: Vec<&str> = forms.into_iter().filter(|form| arrays.contains_key(*form)).collect();
    match given[..] {
        [form] => classified(form, &arrays[form], &arrays.get("labels")?.values),
        [] => regressed(arrays.get("mean")?, &arrays.get("targets")?.values),
        _ => None,
    }
}

/// Both classes of a binary prediction, from the number of class 1.
fn both(form: &str, array: &Array) -> Array {
    let pair = |&x: &f64| match form {
        "probs" => [1.0 - x, x],
        "log_probs" => [(1.0 - x.exp()).ln(), x],
        _ => [0.0, x],
    };
    let shape = vec![array.values.len(), 2];
    Array { shape, values: array.values.iter().flat_map(pair).collect() }
}

fn classified(form: &str, array: &Array, labels: &[f64]) -> Option<Vec<(&'static str, f64)>> {
    let binary = both(form, array);
    let array = if array.shape.len() == 1 { &binary } else { array };
    let classes = *array.shape.last()?;
    let rows = labels.len();
    if classes == 0 || rows == 0 || !array.values.len().is_multiple_of(rows * classes) {
        return None;
    }
    let members = array.values.len() / (rows * classes);
    let (mut right, mut loss) = (0.0, 0.0);
    for (row, &label) in labels.iter().enumerate() {
        let mut mean = vec![0.0; classes];
        for member in 0..members {
            let start = (member * rows + row) * classes;
            let row = probabilities(form, &array.values[start..start + classes]);
            mean.iter_mut().zip(row).for_each(|(sum, p)| *sum += p / members as f64);
        }
        let best = (0..classes).fold(0, |best, c| if mean[c] > mean[best] { c } else { best });
        right += f64::from(u8::from(best as f64 == label));
        loss -= mean.get(label as usize)?.ln();
    }
    Some(vec![("accuracy", right / rows as f64), ("nll", loss / rows as f64)])
}

fn probabilities(form: &str, row: &[f64]) -> Vec<f64> {
    let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match form {
        "probs" => row.to_vec(),
        "log_probs" => row.iter().map(|l| l.exp()).collect(),
        _ => {
            let sum: f64 = row.iter().map(|l| (l - top).exp()).sum();
            row.iter().map(|l| (l - top).exp() / sum).collect()
        }
    }
}

fn regressed(mean: &Array, targets: &[f64]) -> Option<Vec<(&'static str, f64)>> {
    let rows = targets.len();
    if rows == 0 || !mean.values.len().is_multiple_of(rows) {
        return None;
    }
    let members = mean.values.len() / rows;
    let centre = |row: usize| (0..members).map(|m| mean.values[m * rows + row]).sum::<f64>();
    let gap = |row: usize| centre(row) / members as f64 - targets[row];
    let squares: f64 = (0..rows).map(|row| gap(row).powi(2)).sum();
    Some(vec![("rmse", (squares / rows as f64).sqrt())])
}
