//! Whole inputs, before anything is done to them.

use std::fs;
use std::path::{Path, PathBuf};

use super::mutate::{Random, mutated};
use super::npy;

/// How a file is changed: by chance, or not at all.
pub(crate) type Change = fn(Vec<u8>, &mut Random) -> Vec<u8>;

/// Arrays of a classification or a regression, as `.npy` bytes.
fn arrays(random: &mut Random) -> Vec<(&'static str, &'static str, Vec<usize>, Vec<f64>)> {
    let (members, rows, classes) = (1 + random.below(3), 1 + random.below(9), 2 + random.below(3));
    let float = random.pick(&["<f4", "<f8", ">f4", ">f8"]);
    let whole = random.pick(&["<i8", "<u1", ">i4", "<u2"]);
    let mut many = |count: usize| (0..count).map(|_| 4.0 * random.unit()).collect::<Vec<f64>>();
    if many(1)[0] < -2.0 {
        let (mean, targets) = (many(members * rows), many(rows));
        let std = many(members * rows).iter().map(|x| x.abs() + 0.1).collect();
        let shape = vec![members, rows];
        return vec![
            ("mean", float, shape.clone(), mean),
            ("std", float, shape, std),
            ("targets", float, vec![rows], targets),
        ];
    }
    let mut values = many(members * rows * classes);
    let labels = (0..rows).map(|_| random.below(classes) as f64).collect();
    let form = random.pick(&["logits", "log_probs", "probs"]);
    for row in values.chunks_mut(classes).filter(|_| form != "logits") {
        let sum: f64 = row.iter().map(|l| l.exp()).sum();
        row.iter_mut()
            .for_each(|l| *l = if form == "probs" { l.exp() / sum } else { *l - sum.ln() });
    }
    vec![(form, float, vec![members, rows, classes], values), ("labels", whole, vec![rows], labels)]
}

/// A predictions file in one of the formats, changed somewhere.
pub(crate) fn predictions(folder: &Path, random: &mut Random, change: Change) -> PathBuf {
    let arrays = arrays(random);
    let order = if random.below(3) == 0 { npy::fortran } else { npy::array };
    let encoded: Vec<(&str, Vec<u8>)> = arrays
        .iter()
        .map(|(name, descr, shape, values)| (*name, order(descr, shape, values)))
        .collect();
    let write = |name: &str, bytes: Vec<u8>| {
        let path = folder.join(name);
        fs::write(&path, bytes).expect("written");
        path
    };
    match random.below(6) {
        0 => write("p.npz", change(npy::stored(&encoded), random)),
        1 => write("p.npz", change(npy::deflated(&encoded), random)),
        2 => write("p.safetensors", change(safetensors(&arrays), random)),
        3 => write("p.csv", change(table(&arrays, ","), random)),
        4 => write("p.tsv", change(table(&arrays, "\t"), random)),
        _ => {
            let path = folder.join("p");
            fs::create_dir(&path).expect("a folder");
            let hit = random.below(encoded.len());
            for (index, (name, bytes)) in encoded.into_iter().enumerate() {
                let bytes = if index == hit { change(bytes, random) } else { bytes };
                fs::write(path.join(format!("{name}.npy")), bytes).expect("written");
            }
            path
        }
    }
}

/// A column for each member and class, a line for each example.
fn table(arrays: &[(&str, &str, Vec<usize>, Vec<f64>)], separator: &str) -> Vec<u8> {
    let mut columns: Vec<(String, Vec<f64>)> = Vec::new();
    for (name, _, shape, values) in arrays {
        match shape[..] {
            [_] => columns.push((name.trim_end_matches('s').to_string(), values.clone())),
            [_, rows] => {
                let each = values.chunks(rows).enumerate();
                columns.extend(each.map(|(member, v)| (format!("{name}.{member}"), v.to_vec())));
            }
            [members, rows, classes] => {
                for (member, class) in (0..members).flat_map(|m| (0..classes).map(move |c| (m, c)))
                {
                    let start = member * rows * classes + class;
                    let column =
                        values[start..].iter().step_by(classes).take(rows).copied().collect();
                    columns.push((format!("{name}.{member}.{class}"), column));
                }
            }
            _ => unreachable!("up to three axes"),
        }
    }
    let rows = columns[0].1.len();
    let head: Vec<&str> = columns.iter().map(|(name, _)| &name[..]).collect();
    let mut text = head.join(separator) + "\n";
    for row in 0..rows {
        let cells: Vec<String> =
            columns.iter().map(|(_, values)| values[row].to_string()).collect();
        text += &(cells.join(separator) + "\n");
    }
    text.into_bytes()
}

fn safetensors(arrays: &[(&str, &str, Vec<usize>, Vec<f64>)]) -> Vec<u8> {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, descr, shape, values) in arrays {
        let descr = format!("<{}", &descr[1..]);
        let bits = 8 * descr[2..].parse::<usize>().expect("a size");
        let kind = format!("{}{bits}", descr[1..2].to_uppercase());
        let start = data.len();
        data.extend(npy::encode(&descr, values));
        let tensor =
            serde_json::json!({"dtype": kind, "shape": shape, "data_offsets": [start, data.len()]});
        header.insert((*name).to_string(), tensor);
    }
    npy::safetensors(0, &serde_json::Value::Object(header).to_string(), &data)
}

/// A text, changed somewhere.
pub(crate) fn text(folder: &Path, name: &str, text: &str, random: &mut Random) {
    fs::write(folder.join(name), mutated(text.into(), random)).expect("written");
}
