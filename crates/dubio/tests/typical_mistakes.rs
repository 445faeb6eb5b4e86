//! Files that people really have: what is accepted as it is, and the whole message where one has to be
//! changed. A message is what a user sees on standard error, word for word.

#[allow(dead_code, unused_imports)] // the other tests use the rest of it
mod npy;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use npy::{array, safetensors, stored};
use serde_json::Value;
use tempfile::TempDir;

/// Probabilities `[2, 4, 3]` of two members, exact in every float format, and the labels.
const PROBS: [f64; 24] = [
    0.5, 0.25, 0.25, 0.75, 0.125, 0.125, 0.25, 0.5, 0.25, 0.125, 0.125,
    0.75, // the first member
    0.25, 0.25, 0.5, 0.5, 0.25, 0.25, 0.125, 0.75, 0.125, 0.25, 0.25, 0.5,
];
const LABELS: [f64; 4] = [0.0, 0.0, 1.0, 1.0];
const MEAN: [f64; 4] = [0.0, 1.0, 2.0, 4.0];
const TARGETS: [f64; 4] = [1.0, 1.0, 2.0, 3.0];

fn floats(shape: &[usize], values: &[f64]) -> Vec<u8> {
    array("<f8", shape, values)
}

fn ints(shape: &[usize], values: &[f64]) -> Vec<u8> {
    array("<i8", shape, values)
}

fn labels() -> (&'static str, Vec<u8>) {
    ("labels", ints(&[4], &LABELS))
}

fn one_member() -> Vec<u8> {
    floats(&[4, 3], &PROBS[..12])
}

/// The negative log-likelihood of the first member of [`PROBS`], by its definition.
fn nll() -> f64 {
    let p = |i: usize| PROBS[3 * i + LABELS[i] as usize];
    (0..4).map(|i| -p(i).ln()).sum::<f64>() / 4.0
}

/// `dubio evaluate` in a folder with one file.
fn evaluate(name: &str, bytes: &[u8], options: &[&str]) -> (TempDir, Output) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(name), bytes).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_dubio"))
        .args(["evaluate", name, "--no-intervals", "--json"])
        .args(options)
        .current_dir(&folder)
        .output();
    (folder, output.expect("dubio runs"))
}

/// The whole message of a file that is refused.
fn message_of(name: &str, bytes: &[u8]) -> String {
    let (_folder, output) = evaluate(name, bytes, &[]);
    assert_eq!(output.status.code(), Some(2), "{name} was read");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).expect("text")
}

fn message(arrays: &[(&str, Vec<u8>)]) -> String {
    message_of("p.npz", &stored(arrays))
}

/// The scores of a file that is read, and what is said besides.
fn scores_of(name: &str, bytes: &[u8], options: &[&str]) -> (Value, String) {
    let (_folder, output) = evaluate(name, bytes, options);
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(0), "{said}");
    (serde_json::from_slice(&output.stdout).expect("JSON"), said)
}

fn scores(arrays: &[(&str, Vec<u8>)]) -> (Value, String) {
    scores_of("p.npz", &stored(arrays), &[])
}

#[track_caller]
fn near(scores: &Value, name: &str, expected: f64) {
    let found = scores[name]["value"].as_f64().unwrap_or_else(|| panic!("no {name}: {scores}"));
    assert!((found - expected).abs() < 1e-9, "{name} is {found}, not {expected}");
}

#[test]
fn probabilities_saved_as_logits_are_scored_with_a_warning() {
    let (_, said) = scores(&[("logits", one_member()), labels()]);
    assert_eq!(
        said,
        "warning: p.npz: every row of `logits` sums to one: these look like probabilities; if they \
         are, name the array `probs`\n"
    );
    let honest: Vec<f64> = PROBS[..12].iter().map(|p| p.ln()).collect();
    let (_, said) = scores(&[("logits", floats(&[4, 3], &honest)), labels()]);
    assert_eq!(said, "");
}

#[test]
fn logits_saved_as_probabilities_are_refused_with_the_right_name() {
    let logits: Vec<f64> = PROBS[..12].iter().map(|p| p.ln()).collect();
    assert_eq!(
        message(&[("probs", floats(&[4, 3], &logits)), labels()]),
        "error: p.npz, array `probs`: probability -0.6931471805599453 outside [0, 1] at member 0, \
         example 0, class 0\n  if these are logits, name the array `logits`; divide percentages by 100; nothing is clipped\n"
    );
}

#[test]
fn members_behind_the_examples_are_told_the_transpose() {
    let turned: Vec<f64> = (0..4)
        .flat_map(|i| (0..2).flat_map(move |m| PROBS[(m * 4 + i) * 3..][..3].to_vec()))
        .collect();
    assert_eq!(
        message(&[("probs", floats(&[4, 2, 3], &turned)), labels()]),
        "error: p.npz, array `probs`: shape [4, 2, 3], which does not fit 4 labels\n  \
         if its axes are [examples, members, classes], save probs.transpose(1, 0, 2)\n"
    );
    assert_eq!(
        message(&[("logits", floats(&[2, 3, 4], &PROBS)), labels()]),
        "error: p.npz, array `logits`: shape [2, 3, 4], which does not fit 4 labels\n  \
         if its axes are [members, classes, examples], save logits.transpose(0, 2, 1)\n"
    );
    let mean = floats(&[4, 2], &[0.0; 8]);
    assert_eq!(
        message(&[("mean", mean.clone()), ("std", mean), ("targets", floats(&[4], &TARGETS))]),
        "error: p.npz, array `mean`: shape [4, 2], which does not fit 4 targets\n  \
         if its axes are [examples, members], save mean.T\n"
    );
}

#[test]
fn an_axis_of_length_one_is_told_the_squeeze() {
    let column = floats(&[4, 1], &[0.25, 0.5, 0.75, 0.5]);
    assert_eq!(
        message(&[("probs", column.clone()), labels()]),
        "error: p.npz, array `probs`: shape [4, 1]\n  \
         squeeze it to the numbers of class 1: probs.squeeze(1)\n"
    );
    let rest = [("std", floats(&[4], &[1.0; 4])), ("targets", floats(&[4], &TARGETS))];
    assert_eq!(
        message(&[&[("mean", column.clone())], &rest[..]].concat()),
        "error: p.npz, array `mean`: shape [4, 1]\n  \
         squeeze it to one axis: mean.squeeze(1)\n"
    );
    assert_eq!(
        message(&[("probs", one_member()), ("labels", ints(&[4, 1], &LABELS))]),
        "error: p.npz, array `labels`: shape [4, 1], where one axis is needed\n  \
         squeeze it to one axis, shape [examples]: .squeeze(1)\n"
    );
    assert_eq!(
        message(&[("probs", floats(&[1, 4, 1, 3], &PROBS[..12])), labels()]),
        "error: p.npz, array `probs`: shape [1, 4, 1, 3]\n  \
         leave out the axes of length 1: save probs.squeeze()\n"
    );
}

#[test]
fn one_hot_labels_are_read_and_soft_ones_are_not() {
    let rows: Vec<f64> =
        LABELS.iter().flat_map(|&y| (0..3).map(move |c| f64::from(c == y as i32))).collect();
    for one_hot in [ints(&[4, 3], &rows), floats(&[4, 3], &rows), array("|b1", &[4, 3], &rows)] {
        let (found, said) = scores(&[("probs", one_member()), ("labels", one_hot)]);
        near(&found, "nll", nll());
        assert_eq!(said, "note: p.npz: `labels` are one-hot and are read as labels.argmax(1)\n");
    }
    let soft = floats(&[4, 3], &PROBS[..12]);
    assert_eq!(
        message(&[("probs", one_member()), ("labels", soft)]),
        "error: p.npz, array `labels`: the row of example 0 is not one 1 among zeros\n  \
         save one class per example, for example labels.argmax(1)\n"
    );
}

#[test]
fn labels_that_count_from_one_are_told_what_to_subtract() {
    assert_eq!(
        message(&[("probs", one_member()), ("labels", ints(&[4], &[1.0, 2.0, 3.0, 1.0]))]),
        "error: p.npz, array `labels`: label 3 at example 2\n  \
         labels run from 0 to 2 for 3 classes; if yours count from 1, save labels - 1\n"
    );
    let binary = floats(&[4], &[0.5; 4]);
    assert_eq!(
        message(&[("probs", binary), ("labels", ints(&[4], &[1.0, -1.0, 1.0, 1.0]))]),
        "error: p.npz, array `labels`: label -1 at example 1\n  \
         labels run from 0 to 1 for 2 classes; for -1 and 1, save (labels + 1) // 2\n"
    );
}

#[test]
fn one_probability_per_example_is_that_of_class_one() {
    let p: [f64; 4] = [0.25, 0.5, 0.75, 0.875];
    let expected = LABELS.iter().zip(p).map(|(&y, p)| -(if y == 1.0 { p } else { 1.0 - p }).ln());
    let expected = expected.sum::<f64>() / 4.0;
    let truth = [labels(), ("labels", array("|b1", &[4], &LABELS))];
    for labels in truth {
        let (found, _) = scores(&[("probs", floats(&[4], &p)), labels]);
        near(&found, "nll", expected);
    }
    let logits = p.map(|p| (p / (1.0 - p)).ln());
    near(&scores(&[("logits", floats(&[4], &logits)), labels()]).0, "nll", expected);
    let logs = p.map(f64::ln);
    near(&scores(&[("log_probs", floats(&[4], &logs)), labels()]).0, "nll", expected);
}

/// The likelihood of [`TARGETS`] under Gaussians around [`MEAN`], by its definition.
fn gaussian_nll(std: f64) -> f64 {
    let one = |(m, y): (&f64, &f64)| {
        0.5 * ((y - m) / std).powi(2) + std.ln() + 0.5 * std::f64::consts::TAU.ln()
    };
    MEAN.iter().zip(&TARGETS).map(one).sum::<f64>() / 4.0
}

#[test]
fn integer_targets_a_scalar_std_and_variances_are_read() {
    let mean = || ("mean", floats(&[4], &MEAN));
    let whole = || ("targets", ints(&[4], &TARGETS));
    let spreads = [
        ("std", floats(&[4], &[2.0; 4])),
        ("std", floats(&[], &[2.0])),
        ("std", array("<f4", &[1], &[2.0])),
        ("std", ints(&[], &[2.0])),
        ("var", floats(&[4], &[4.0; 4])),
        ("var", floats(&[], &[4.0])),
    ];
    for spread in spreads {
        let (found, said) = scores(&[mean(), spread, whole()]);
        near(&found, "nll", gaussian_nll(2.0));
        assert_eq!(said, "");
    }
    let negative = floats(&[4], &[1.0, 1.0, -1.0, 1.0]);
    let error = message(&[mean(), ("var", negative), whole()]);
    assert!(error.starts_with("error: p.npz, array `var`: standard deviation NaN"), "{error}");
    assert!(error.contains("this is its square root"), "{error}");
}

#[test]
fn the_ends_of_an_interval_are_read_at_the_level_that_is_given() {
    // Hits: 1 in [0, 2], 1 in [0, 1], not 2 in [3, 4], 3 in [3, 5]; widths 2, 1, 1, 2.
    let arrays = [
        ("lower", floats(&[4], &[0.0, 0.0, 3.0, 3.0])),
        ("upper", floats(&[4], &[2.0, 1.0, 4.0, 5.0])),
        ("targets", floats(&[4], &TARGETS)),
    ];
    for (options, percent, alpha) in [(&[][..], "95", 0.05), (&["--level", "0.8"], "80", 0.2)] {
        let (found, said) = scores_of("p.npz", &stored(&arrays), options);
        near(&found, "picp", 0.75);
        near(&found, "mpiw", 1.5);
        near(&found, "interval_score", 1.5 + 2.0 / alpha * 1.0 / 4.0);
        let note = format!(
            "note: p.npz: `lower` and `upper` are read as the central {percent} % interval; --level \
             of `dubio evaluate` and `dubio report` changes that\n"
        );
        assert_eq!(said, note);
    }
    let swapped = [("lower", arrays[1].1.clone()), ("upper", arrays[0].1.clone())];
    assert_eq!(
        message(&[&swapped[..], &arrays[2..]].concat()),
        "error: p.npz, array `lower`: 2 at example 0, above `upper`, which is 0\n  exchange the two\n"
    );
}

#[test]
fn names_are_read_in_any_letter_case() {
    let (found, said) = scores(&[("Probs", one_member()), ("LABELS", labels().1)]);
    near(&found, "nll", nll());
    assert_eq!(said, "");
    let (found, _) = scores_of("P.NPZ", &stored(&[("probs", one_member()), labels()]), &[]);
    near(&found, "nll", nll());
    assert_eq!(
        message(&[("Probs", one_member()), ("probs", one_member()), labels()]),
        "error: p.npz: arrays `Probs` and `probs` differ only in letter case\n  leave one of them\n"
    );
}

#[test]
fn a_missing_array_is_told_with_every_array_that_is_there() {
    assert_eq!(
        message(&[("probs", one_member()), ("y_true", labels().1), ("epoch", ints(&[], &[7.0]))]),
        "error: p.npz: there is no array `labels`\n  the file has: probs, y_true, epoch\n"
    );
    let std = floats(&[4], &[1.0; 4]);
    assert_eq!(
        message(&[("mean", floats(&[4], &MEAN)), ("std", std), ("y", floats(&[4], &TARGETS))]),
        "error: p.npz: there is no array `targets`\n  the file has: mean, std, y\n"
    );
}

#[test]
fn half_precision_and_bfloat16_are_read() {
    let (found, _) = scores(&[("probs", array("<f2", &[4, 3], &PROBS[..12])), labels()]);
    near(&found, "nll", nll());
    // A bfloat16 is the upper half of a float32; these have no more digits than that.
    let upper = |x: &f64| (*x as f32).to_le_bytes()[2..].to_vec();
    let data = [
        LABELS.iter().flat_map(|y| (*y as i64).to_le_bytes()).collect::<Vec<u8>>(),
        PROBS[..12].iter().flat_map(upper).collect(),
    ]
    .concat();
    let header = "{\"labels\":{\"dtype\":\"I64\",\"shape\":[4],\"data_offsets\":[0,32]},\
                  \"probs\":{\"dtype\":\"BF16\",\"shape\":[4,3],\"data_offsets\":[32,56]}}";
    let (found, _) = scores_of("p.safetensors", &safetensors(0, header, &data), &[]);
    near(&found, "nll", nll());
}

#[test]
fn tables_with_named_columns_are_read() {
    let row = |i: usize| {
        format!(
            "{},img{i}.png,{},{},{}\n",
            LABELS[i],
            PROBS[3 * i],
            PROBS[3 * i + 1],
            PROBS[3 * i + 2]
        )
    };
    let rows: String = (0..4).map(row).collect();
    let head = "Label,file,prob_0,prob_1,prob_2\n";
    let (found, said) = scores_of("p.csv", format!("\u{feff}{head}{rows}").as_bytes(), &[]);
    near(&found, "nll", nll());
    assert_eq!(said, "note: p.csv: not used: file\n");
    let tabs = format!("{head}{rows}").replace(',', "\t");
    near(&scores_of("p.tsv", tabs.as_bytes(), &[]).0, "nll", nll());
    let semicolons = format!("{head}{rows}").replace(',', ";");
    near(&scores_of("p.csv", semicolons.as_bytes(), &[]).0, "nll", nll());
    let numbers = (0..4).map(|i| format!("{},2,{}\n", MEAN[i], TARGETS[i]));
    let table = format!("mean,std,target\n{}", numbers.collect::<String>());
    near(&scores_of("r.csv", table.as_bytes(), &[]).0, "nll", gaussian_nll(2.0));
    // Two members: the likelihood of their mean, by its definition.
    let names: Vec<String> =
        (0..2).flat_map(|m| (0..3).map(move |c| format!("probs.{m}.{c}"))).collect();
    let row = |i: usize| {
        let of = (0..2).flat_map(|m| (0..3).map(move |c| PROBS[(m * 4 + i) * 3 + c].to_string()));
        format!("{},{}\n", of.collect::<Vec<_>>().join(","), LABELS[i])
    };
    let table = format!("{},labels\n{}", names.join(","), (0..4).map(row).collect::<String>());
    let p = |i: usize| {
        (PROBS[3 * i + LABELS[i] as usize] + PROBS[12 + 3 * i + LABELS[i] as usize]) / 2.0
    };
    let expected = (0..4).map(|i| -p(i).ln()).sum::<f64>() / 4.0;
    near(&scores_of("m.csv", table.as_bytes(), &[]).0, "nll", expected);
    let table = "quantile_0.9,quantile_0.5,quantile_0.1,target\n2,1,0,1\n9,8,7,5\n";
    let (found, _) = scores_of("q.csv", table.as_bytes(), &["--level", "0.8"]);
    near(&found, "picp", 0.5);
    near(&found, "mae", 1.5);
}

#[test]
fn a_table_that_cannot_be_read_says_where() {
    assert_eq!(
        message_of("p.csv", b"id,cat,dog\n1,0.5,0.5\n"),
        "error: p.csv: no predictions among its columns: id, cat, dog\n  name the columns \
         `probs.0`, `probs.1`, ... and `label`, or `mean`, `std` and `target`\n"
    );
    for text in ["mean,std,target\n1,1,1\n1,,1\n", "mean,std,target\r\n1,1,1\r\n1,,1\r\n"] {
        assert_eq!(
            message_of("p.csv", text.as_bytes()),
            "error: p.csv: line 3, column `std`: `` is not a number\n  give a number in every line\n"
        );
    }
    assert_eq!(
        message_of("p.csv", b"mean;std;target\n1;1;1\n1;0,5;1\n"),
        "error: p.csv: line 3, column `std`: `0,5` is not a number\n  write a decimal point, and no thousands separators\n"
    );
    assert_eq!(
        message_of("p.csv", b"probs,label\n0.5,cat\n"),
        "error: p.csv: line 2, column `label`: `cat` is not a number\n  number the classes from 0\n"
    );
    assert_eq!(
        message_of("p.csv", b"probs,label,name\n0.5,1,a\n0.5,0,\xe9\n"),
        "error: p.csv: line 3 is not UTF-8 text\n  save the table as UTF-8, for example with `iconv -f latin1 -t utf-8` or `iconv -f utf-16 -t utf-8`\n"
    );
    assert_eq!(
        message_of("p.csv", b"probs.1,probs.2,label\n0.5,0.5,1\n"),
        "error: p.csv, array `probs`: column `probs.1` where `probs.0` is expected\n  number the \
         columns from 0 and leave none out: probs.0, probs.1, ...\n"
    );
    assert_eq!(
        message_of("p.csv", b"probs,label,Labels\n0.5,1,0\n"),
        "error: p.csv, array `labels`: two columns stand for it\n  leave one of them\n"
    );
    assert_eq!(
        message_of("p.csv", b"probs.0,probs.1,label\n"),
        "error: p.csv: there is no line below the column names\n  add the examples\n"
    );
}

#[test]
fn files_of_other_programs_are_told_the_line_that_converts_them() {
    assert_eq!(
        message_of("p.pt", b"PK"),
        "error: p.pt: dubio does not read PyTorch files\n  convert it:\n    python -c \"import torch, \
         numpy; numpy.savez('p.npz', **{k: v.detach().cpu().numpy() for k, v in torch.load('p.pt', \
         map_location='cpu').items()})\"\n"
    );
    assert_eq!(
        message_of("p.csv.gz", b""),
        "error: p.csv.gz: dubio does not read gzip files\n  convert it:\n    gunzip --keep \"p.csv.gz\"\n"
    );
    assert_eq!(
        message_of("p.pkl", b""),
        "error: p.pkl: dubio does not read pickles\n  convert it:\n    python -c \"import pickle, \
         numpy; numpy.savez('p.npz', **pickle.load(open('p.pkl', 'rb')))\"\n"
    );
    assert_eq!(
        message_of("p.txt", b""),
        "error: p.txt: the name does not say which format this is\n  dubio reads .npz, \
         .safetensors, .csv, .tsv, .parquet and folders of .npy\n"
    );
    let parquet = message_of("p.parquet", b"PAR1");
    if cfg!(feature = "parquet") {
        assert!(parquet.starts_with("error: p.parquet: not a readable Parquet file"), "{parquet}");
    } else {
        assert_eq!(
            parquet,
            "error: p.parquet: this build of dubio does not read Parquet\n  build with `--features \
             parquet`, or convert it:\n    python -c \"import pandas; \
             pandas.read_parquet('p.parquet').to_csv('p.csv', index=False)\"\n"
        );
    }
}

/// `dubio` with bytes on its standard input.
fn piped(arguments: &[&str], folder: &Path, bytes: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dubio"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dubio runs");
    child.stdin.take().expect("a pipe").write_all(bytes).expect("it is read");
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_dash_is_standard_input_in_every_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let evaluate = ["evaluate", "-", "--json", "--no-intervals"];
    let npz = stored(&[("probs", one_member()), labels()]);
    let csv = b"probs,label\n0.25,0\n0.75,1\n".to_vec();
    for (bytes, expected) in [(npz.clone(), nll()), (csv, -0.75_f64.ln())] {
        let output = piped(&evaluate, folder.path(), &bytes);
        near(&serde_json::from_slice(&output.stdout).expect("JSON"), "nll", expected);
    }
    let output = piped(&["report", "-", "-o", "r.html"], folder.path(), &npz);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let empty = piped(&evaluate, folder.path(), b"");
    assert_eq!(
        String::from_utf8_lossy(&empty.stderr),
        "error: standard input: it is empty\n  give it a file: dubio evaluate - < preds.npz\n"
    );
}
