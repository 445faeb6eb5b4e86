//! Files that are wrong, forged, cut short or merely unusual: each is refused with a message that
//! says where, or scored as it should be. Nothing panics, hangs or takes memory on a header's word.

mod npy;

use std::fs;
use std::process::{Command, Output};

use npy::*;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Member logits `[2, 4, 3]`, exact in every float format, and the labels.
const LOGITS: [f64; 24] = [
    1.0, 0.0, -1.0, 2.0, 0.5, 0.0, 0.0, 1.5, 0.25, -0.5, 0.0, 2.0, // the first member
    0.5, 0.25, 0.0, 1.0, 1.0, 0.0, -1.0, 2.0, 0.0, 0.0, 0.75, 1.25,
];
const LABELS: [f64; 4] = [2.0, 0.0, 1.0, 2.0];

/// What must come of a file.
enum Must {
    /// Exit code 2, nothing on stdout, and an error that begins with the culprit's name and says
    /// this; an ellipsis stands for anything.
    BeRefused(&'static str, &'static str),
    /// Exit code 0 and this value of this score.
    Score(&'static str, f64),
    /// Exit code 1 and no value of this score.
    Lack(&'static str),
}

type Files = Vec<(&'static str, Vec<u8>)>;

/// A name, the files that are there, the arguments, and what must come of them.
struct Case(String, Files, Vec<&'static str>, Must);

impl Case {
    fn run(&self) -> Output {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, bytes) in &self.1 {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, bytes).expect("room for a small file");
        }
        // Two gigabytes and twenty seconds: who believes a forged size, or parses in exponential
        // time, ends here and not with the machine. Threads would each claim address space.
        let limits = "ulimit -v 2000000 && ulimit -t 20 && exec \"$0\" \"$@\"";
        let dubio = env!("CARGO_BIN_EXE_dubio");
        let mut command = Command::new(if cfg!(target_os = "linux") { "bash" } else { dubio });
        if cfg!(target_os = "linux") {
            command.args(["-c", limits, dubio]);
        }
        command.arg("evaluate").args(&self.2).args(["--json", "--no-intervals"]);
        if self.0 == "no folder" {
            command.env("TMPDIR", "/nowhere");
        }
        command.env("RAYON_NUM_THREADS", "2").current_dir(&folder).output().expect("it starts")
    }

    /// What is not as it must be.
    fn fault(&self) -> Option<String> {
        let output = self.run();
        let [out, err] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b));
        let value = |score: &str| {
            serde_json::from_str(&out).map(|v: serde_json::Value| v[score]["value"].clone()).ok()
        };
        let (code, good) = match &self.3 {
            Must::BeRefused(culprit, says) => {
                let mut rest = err.split_once(&format!("error: {culprit}")).map(|(_, rest)| rest);
                for part in says.split('…') {
                    rest = rest.and_then(|r| r.split_once(part.trim())).map(|(_, rest)| rest);
                }
                (2, rest.is_some() && out.is_empty())
            }
            Must::Score(score, wanted) => {
                let found = value(score).and_then(|v| v.as_f64());
                (0, found.is_some_and(|v| (v - wanted).abs() < 1e-9))
            }
            Must::Lack(score) => (1, value(score).is_some_and(|v| v.is_null())),
        };
        let right = good && output.status.code() == Some(code) && !err.contains("panicked");
        (!right).then(|| format!("{}: {}\n{out:.300}{err}", self.0, output.status))
    }
}

fn check(cases: impl IntoIterator<Item = Case>) {
    let faults: Vec<String> = cases.into_iter().filter_map(|case| case.fault()).collect();
    assert!(
        faults.is_empty(),
        "{} cases are not as they must be:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// Rows of a name, the bytes of an `.npz` file, and what the refusal says.
fn refuse<const N: usize>(rows: [(&str, Vec<u8>, &'static str); N]) {
    check(rows.map(|(name, file, says)| {
        Case(name.into(), vec![("p.npz", file)], vec!["p.npz"], Must::BeRefused("p.npz", says))
    }));
}

/// Rows of a name, the bytes of an `.npz` file, and its `nll`.
fn score(rows: impl IntoIterator<Item = (String, Vec<u8>, f64)>) {
    check(rows.into_iter().map(|(name, file, nll)| {
        Case(name, vec![("p.npz", file)], vec!["p.npz"], Must::Score("nll", nll))
    }));
}

fn floats(shape: &[usize], values: &[f64]) -> Vec<u8> {
    array("<f8", shape, values)
}

fn plain() -> Files {
    vec![("logits", floats(&[2, 4, 3], &LOGITS)), ("labels", array("<i8", &[4], &LABELS))]
}

/// Arrays with another in the place of one, or besides; an empty one is left out.
fn changed(mut arrays: Files, name: &'static str, bytes: Vec<u8>) -> Files {
    arrays.retain(|(other, _)| *other != name);
    arrays.extend((!bytes.is_empty()).then_some((name, bytes)));
    arrays
}

/// A good classification file but for this array.
fn classes(name: &'static str, bytes: Vec<u8>) -> Vec<u8> {
    stored(&changed(plain(), name, bytes))
}

fn labels(descr: &str, values: &[f64]) -> Vec<u8> {
    classes("labels", array(descr, &[values.len()], values))
}

/// The same but for the header of the logits.
fn headed(header: &str) -> Vec<u8> {
    classes("logits", npy(header, &encode("<f8", &LOGITS)))
}

fn shaped(shape: &str) -> Vec<u8> {
    headed(&header("'<f8'", "False", shape))
}

fn typed(descr: &str) -> Vec<u8> {
    headed(&header(descr, "False", "(2, 4, 3)"))
}

/// A single example of class 1 and its prediction.
fn single(name: &str, row: [f64; 3]) -> Vec<u8> {
    stored(&[(name, floats(&[1, 3], &row)), ("labels", array("<i8", &[1], &[1.0]))])
}

/// The negative log-likelihood of some members, by its definition.
fn nll(logits: &[f64]) -> f64 {
    let members = logits.len() / 12;
    let p = |member: usize, i: usize| {
        let row = &logits[12 * member + 3 * i..][..3];
        row[LABELS[i] as usize].exp() / row.iter().map(|x| x.exp()).sum::<f64>()
    };
    let mean_p = |i| (0..members).map(|m| p(m, i)).sum::<f64>() / members as f64;
    (0..4).map(|i| -mean_p(i).ln()).sum::<f64>() / 4.0
}

#[test]
fn an_archive_that_is_cut_short_anywhere_is_refused() {
    for whole in [stored(&plain()), deflated(&plain())] {
        let n = whole.len();
        for cut in [0, 1, 20, n / 2, n - 90, n - 40, n - 21, n - 1] {
            refuse([("cut short", whole[..cut].to_vec(), "not a readable .npz archive")]);
        }
    }
}

#[test]
fn an_archive_that_is_damaged_or_forged_is_refused() {
    let (whole, packed) = (stored(&plain()), deflated(&plain()));
    let lie = |field, value: &[u8]| forge(&whole, CENTRAL, field, value);
    let packed_lie = |field, value: &[u8]| forge(&packed, CENTRAL, field, value);
    let second = whole.windows(4).rposition(|w| w == LOCAL).expect("two entries") as u32;
    let twice = classes("logitz", floats(&[2, 4, 3], &[0.0; 24]));
    let both = classes("xx", floats(&[1], &[0.0]));
    refuse([
        ("text", b"logits,labels\n1,2\n".to_vec(), "not a readable .npz archive"),
        ("nothing", stored(&[]), "there is no array in it"),
        ("no npy", replace(&whole, b".npy", b".txt"), "no predictions … logits.txt, labels.txt"),
        ("numpy's one name twice", replace(&both, b"xx.npy", b"logits"), "`logits` and an entry"),
        ("one name twice", replace(&twice, b"logitz", b"logits"), "two entries of one name"),
        ("entries", forge(&whole, END, ENTRIES, &[9, 9, 9, 9]), "not a readable .npz archive"),
        ("packed size too large", lie(PACKED, &[255, 255, 0, 0]), "entries overlap"),
        ("packed size of 4 GB", lie(PACKED, &[254, 255, 255, 255]), "entries overlap"),
        ("packed size too small", lie(PACKED, &[100, 0, 0, 0]), "array `logits`: unreadable"),
        ("offset of the other", lie(OFFSET, &second.to_le_bytes()), "entries overlap"),
        ("offset past the end", lie(OFFSET, &[0, 0, 255, 0]), "unreadable"),
        ("offset into the data", lie(OFFSET, &[9, 0, 0, 0]), "unreadable"),
        ("size", lie(SIZE, &[255, 255, 0, 0]), "array `logits` … its two sizes differ"),
        ("size too large", packed_lie(SIZE, &[255, 255, 0, 0]), "array `logits` … has 65535"),
        ("size too small", packed_lie(SIZE, &[9, 0, 0, 0]), "array `logits`: unreadable"),
        ("checksum", lie(CRC, &[1, 2, 3, 4]), "array `logits` … checksum is wrong"),
        ("checksum, packed", packed_lie(CRC, &[1, 2, 3, 4]), "array `logits` … checksum"),
        ("damaged", forge(&whole, LOCAL, 200, &[255]), "array `logits` … checksum is wrong"),
        ("damaged, packed", forge(&packed, LOCAL, 50, &[255; 20]), "array `logits`: unreadable"),
        ("encrypted", lie(FLAGS, &[1, 0]), "array `logits`: the entry is encrypted"),
        (
            "encrypted, not listed so",
            forge(&whole, LOCAL, 6, &[1]),
            "`logits`: the entry is encrypted",
        ),
        ("bzip2", lie(METHOD, &[12, 0]), "array `logits`: compressed by"),
        ("a method unheard of", packed_lie(METHOD, &[77, 0]), "array `logits`: compressed by"),
    ]);
}

#[test]
fn a_header_that_claims_more_than_there_is_is_not_believed() {
    let good = header("'<f8'", "False", "(2, 4, 3)");
    let long = |claim| classes("logits", npy_long(2, claim, &good, &encode("<f8", &LOGITS)));
    let claim = header("'<f8'", "False", "(1, 549755813888, 2)"); // 2^40 elements
    let bomb = changed(plain(), "logits", npy(&claim, &[0; 1 << 16]));
    refuse([
        ("8 TB", stored(&bomb), "array `logits` … needs 8796093022208 bytes, there are 65536"),
        ("8 TB, packed", deflated(&bomb), "array `logits` … its header claims more than"),
        ("a header of 4 GB", long(u32::MAX), "array `logits`: a header of 4294967295 bytes"),
        ("a header past the end", long(9999), "array `logits`: the header is cut short"),
        ("2^63", shaped("(9223372036854775808,)"), "array `logits` … larger than any memory"),
        ("2^64", shaped("(18446744073709551616, 3)"), "array `logits`: unreadable header at"),
        ("2^96", shaped("(4294967296, 4294967296, 4294967296)"), "larger than any memory"),
        ("times 0", shaped("(0, 9223372036854775807, 16)"), "larger than any memory"),
        ("some more", shaped("(2, 5, 3)"), "array `logits` … needs 240 bytes, there are 192"),
        ("some less", shaped("(2, 3, 3)"), "array `logits` … needs 144 bytes, there are 192"),
        ("deep", headed(&"(".repeat(9999)), "array `logits`: unreadable header at"),
        // A parser that goes back and tries again at each bracket would take 2^60 steps.
        ("60 deep", headed(&["[".repeat(60), "]".repeat(60)].concat()), "unreadable header at"),
        ("a deep shape", shaped(&"(".repeat(9999)), "array `logits`: unreadable header at"),
    ]);
}

#[test]
fn what_unpacks_to_far_more_than_its_archive_is_refused_and_needs_no_memory_meanwhile() {
    let claim = header("'<f8'", "False", "(1, 5000000, 2)");
    let zeros = npy(&claim, &vec![0; 80_000_000]);
    let bomb = changed(plain(), "logits", zeros.clone());
    let says = "array `logits`: unpacks to 80000079 bytes … 32 times its size or 16 MiB";
    refuse([("a bomb", deflated(&bomb), says)]);
    // A large archive may unpack to as much, in a temporary file.
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..3_000_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    let file = deflated(&changed(bomb, "noise", noise));
    let refused =
        Must::BeRefused("p.npz", "array `logits`: could not be unpacked to /nowhere … set TMPDIR");
    check([Case("no folder".into(), vec![("p.npz", file)], vec!["p.npz"], refused)]);
}

#[test]
fn a_header_that_makes_no_sense_is_refused() {
    let good = header("'<f8'", "False", "(2, 4, 3)");
    let long = |version| npy_long(version, good.len() as u32, &good, &encode("<f8", &LOGITS));
    let raw = |bytes: &[u8]| classes("logits", bytes.to_vec());
    score([2, 3].map(|v| (format!("version {v}"), classes("logits", long(v)), nll(&LOGITS))));
    score([("other quotes".into(), headed(&good.replace('\'', "\"")), nll(&LOGITS))]);
    refuse([
        ("version 9", raw(&long(9)), "array `logits`: .npy version 9.0"),
        ("a pickle", raw(b"\x80\x04K\x01."), "array `logits`: no .npy header"),
        ("only the magic", raw(b"\x93NUMPY"), "array `logits`: the header is cut short"),
        ("no dict", headed("[1, 2, 3]"), "array `logits`: unreadable header at \"[1, 2, 3]\""),
        ("nothing", headed(""), "array `logits`: unreadable header at \"\""),
        // What a file holds must not reach the terminal as it stands.
        ("an escape", headed("{\u{1b}[31m"), "unreadable header at \"\\u{1b}[31m\""),
        ("no descr", headed("{'fortran_order': False, 'shape': (1,)}"), "no 'descr'"),
        ("no shape", headed("{'descr': '<f8', 'fortran_order': False}"), "no 'shape'"),
        ("no order", headed("{'descr': '<f8', 'shape': (1, 1)}"), "no 'fortran_order'"),
        ("another key", headed(&good.replace('}', "'x': 1}")), "`logits`: \"x\" in the header"),
        ("more after it", headed(&good.repeat(2)), "array `logits`: unreadable header at \"{"),
        ("a negative size", shaped("(-2, 4, 3)"), "array `logits`: unreadable header at \"-2"),
        ("records", typed("[('a', '<f4'), ('b', '<f4')]"), "array `logits`: a structured dtype"),
        ("objects", typed("'|O'"), "array `logits`: an object array"),
        ("strings", typed("'<U2'"), "array `logits`: dtype \"<U2\""),
        ("complex numbers", typed("'<c8'"), "array `logits`: dtype \"<c8\""),
        ("long doubles", typed("'<f16'"), "array `logits`: dtype \"<f16\""),
        ("times", typed("'<M8[ns]'"), "array `logits`: dtype \"<M8[ns]\""),
        ("no dtype", typed("''"), "array `logits`: dtype \"\""),
        ("whole numbers", typed("'<i8'"), "array `logits` … floats are needed"),
    ]);
}

#[test]
fn labels_must_be_whole_numbers_one_per_example_below_the_number_of_classes() {
    let beyond = labels("<u8", &[2.0, 0.0, 9_223_372_036_854_777_856.0, 0.0]);
    refuse([
        ("floats", labels("<f8", &LABELS), "array `labels` … integers are needed"),
        ("below 0", labels("<i8", &[2.0, -1.0, 0.0, 0.0]), "`labels`: label -1 at example 1"),
        ("too large", labels("|u1", &[2.0, 0.0, 1.0, 3.0]), "`labels`: label 3 at example 3"),
        ("over 2^63", beyond, "array `labels`: label 9223372036854777856 at example 2"),
        ("too few", labels("<i8", &LABELS[3..]), "array `labels`: 1 entry for 4 examples"),
        (
            "two axes",
            classes("labels", array("<i8", &[1, 4], &LABELS)),
            "`labels`: shape [1, 4] … (0)",
        ),
        ("none", classes("labels", vec![]), "there is no array `labels`"),
        (
            "groups.a",
            classes("groups.a", floats(&[4], &LABELS)),
            "`groups.a` … integers are needed",
        ),
        ("groups", classes("groups", array("<i8", &[1], &[0.0])), "array `groups`: 1 entry for 4"),
    ]);
}

#[test]
fn a_number_that_no_prediction_may_hold_is_refused_with_its_place() {
    // Puts a number at a member, example and class.
    let logits = |member: usize, example: usize, class: usize, value: f64| {
        let mut logits = LOGITS;
        logits[(member * 4 + example) * 3 + class] = value;
        logits
    };
    let file = |logits: [f64; 24]| classes("logits", floats(&[2, 4, 3], &logits));
    let lowest = logits(0, 1, 2, -INF);
    score([
        ("-inf".into(), file(lowest), nll(&lowest)),
        ("a sum of 1.0005, used as it is".into(), single("probs", [0.5, 0.5, 0.0005]), 2_f64.ln()),
    ]);
    refuse([
        ("NaN", file(logits(1, 3, 2, NAN)), "`logits`: NaN at member 1, example 3, class 2"),
        ("+inf", file(logits(0, 1, 1, INF)), "logit inf at member 0, example 1, class 1"),
        ("all -inf", single("logits", [-INF; 3]), "every logit is -inf at member 0, example 0"),
        ("above 1", single("probs", [0.0, 1.5, 0.0]), "`probs`: probability 1.5 … class 1"),
        ("below 0", single("probs", [0.9, 0.2, -0.1]), "`probs`: probability -0.1 … class 2"),
        ("a sum of 1.01", single("probs", [0.5, 0.5, 0.01]), "sum to 1.010000 … example 0"),
        ("log above 0", single("log_probs", [-1.0, 0.5, -1.0]), "log probability 0.5 … class 1"),
        ("log sum", single("log_probs", [-1.0; 3]), "`log_probs` … sum to 1.103638 … example 0"),
    ]);
}

#[test]
fn arrays_that_do_not_fit_together_are_refused() {
    let row = || floats(&[2, 2], &[0.5; 4]);
    let with = |shape: &[usize], n| classes("logits", floats(shape, &vec![0.0; n]));
    let base = vec![("mean", row()), ("std", row()), ("targets", floats(&[2], &[0.0; 2]))];
    let gauss = |name, bytes| stored(&changed(base.clone(), name, bytes));
    let base = vec![("quantiles", row()), ("targets", floats(&[2], &[0.0; 2]))];
    let levels = |l: &[f64]| stored(&changed(base.clone(), "levels", floats(&[l.len()], l)));
    refuse([
        ("two forms", classes("probs", row()), "in more than one form: logits, probs"),
        ("classes and a mean", classes("mean", row()), "in more than one form: logits, mean"),
        ("labels only", classes("logits", vec![]), "no predictions among its arrays: labels"),
        ("no examples", with(&[2, 0, 3], 0), "array `logits`: shape [2, 0, 3] is empty"),
        ("one class", with(&[4, 1], 4), "array `logits`: shape [4, 1] … logits.squeeze(1)"),
        ("four axes", with(&[1, 4, 1, 3], 12), "array `logits`: shape [1, 4, 1, 3]"),
        ("one axis", with(&[4], 4), "`labels`: label 2 at example 0 … for 2 classes"),
        ("no axis", with(&[], 1), "array `logits`: shape []"),
        ("no std", gauss("std", vec![]), "there is no array `std`"),
        ("std 0", gauss("std", floats(&[2, 2], &[1.0, 1.0, 0.0, 1.0])), "0 … member 1, example 0"),
        ("std NaN", gauss("std", floats(&[2, 2], &[NAN; 4])), "NaN … member 0, example 0"),
        ("std of one", gauss("std", floats(&[2], &[1.0; 2])), "`std`: shape [1, 2], but mean has"),
        ("mean inf", gauss("mean", floats(&[2, 2], &[INF; 4])), "`mean`: inf at member 0"),
        ("no targets", gauss("targets", vec![]), "there is no array `targets`"),
        ("few targets", gauss("targets", floats(&[1], &[0.0])), "1 entry for 2 examples"),
        ("target NaN", gauss("targets", floats(&[2], &[0.0, NAN])), "`targets`: NaN at example 1"),
        ("samples too", gauss("samples", row()), "predictions in more than one form"),
        ("no levels", stored(&base), "there is no array `levels`"),
        ("levels out of order", levels(&[0.9, 0.1]), "`levels`: level 0.1 at index 1 after 0.9"),
        ("a level of 1", levels(&[0.5, 1.0]), "array `levels`: level 1 at index 1"),
        ("a level NaN", levels(&[NAN, 0.5]), "array `levels`: level NaN at index 0"),
        ("three levels", levels(&[0.1, 0.5, 0.9]), "`levels`: 3 levels for 2 rows of quantiles"),
    ]);
}

#[test]
fn every_encoding_of_the_same_numbers_gives_the_same_score() {
    let shape = [2, 4, 3];
    let floats = ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"].into_iter().flat_map(|descr| {
        [("C", array(descr, &shape, &LOGITS)), ("F", fortran(descr, &shape, &LOGITS))].map(
            |(order, bytes)| (format!("{descr} {order}"), classes("logits", bytes), nll(&LOGITS)),
        )
    });
    score(floats);
    let whole = ["|i1", "|u1", ">i2", "<u2", ">u2", "<i4", ">i4", ">u4", ">i8", "<u8", ">u8"];
    score(whole.map(|descr| (descr.into(), labels(descr, &LABELS), nll(&LOGITS))));
    let one = &LOGITS[..12];
    score([
        ("deflated".into(), deflated(&plain()), nll(&LOGITS)),
        ("no axis of members".into(), classes("logits", array("<f8", &[4, 3], one)), nll(one)),
        ("in Fortran order".into(), classes("logits", fortran("<f8", &[4, 3], one)), nll(one)),
        ("behind a script".into(), [b"#!/bin/sh\n", &stored(&plain())[..]].concat(), nll(&LOGITS)),
    ]);
}

#[test]
fn other_files_and_folders_are_refused_as_clearly_or_scored() {
    let head = |dtype: &str, start: usize, end: usize| {
        let (labels, floats) = ("{\"dtype\":\"I64\",\"shape\":[4]", "\"shape\":[2,4,3]");
        format!(
            "{{\"labels\":{labels},\"data_offsets\":[0,32]}},\
             \"logits\":{{\"dtype\":\"{dtype}\",{floats},\"data_offsets\":[{start},{end}]}}}}"
        )
    };
    let data = [encode("<i8", &LABELS), encode("<f4", &LOGITS)].concat();
    let whole = safetensors(0, &head("F32", 32, 128), &data);
    let lie = |more| safetensors(more, &head("F32", 32, 128), &data);
    let forged = |head: &str, n: usize| safetensors(0, head, &data[..n]);
    let refused = |file: &'static str, bytes: Vec<u8>, says: &'static str| {
        let path = file.split('/').next().unwrap_or_default();
        Case(says.into(), vec![(file, bytes)], vec![path], Must::BeRefused(path, says))
    };
    let bad = |bytes| refused("p.safetensors", bytes, "not a readable .safetensors file");
    let [logits, labels] = [0, 1].map(|i| plain()[i].1.clone());
    let scored = |path, files: Files| {
        Case("good".into(), files, vec![path], Must::Score("nll", nll(&LOGITS)))
    };
    check([
        bad(vec![]),
        bad(whole[..60].to_vec()),
        bad(whole[..whole.len() - 1].to_vec()),
        bad(lie(9999)),
        bad(lie(u64::MAX / 2)),
        bad(forged(&"[".repeat(9999), 0)),
        bad(forged(&head("F32", 16, 112), 128)), // overlaps the labels
        bad(forged(&head("F64", 32, 128), 128)), // needs twice as much
        refused("p.safetensors", forged(&head("F8_E4M3", 32, 56), 56), "`logits`: dtype F8_E4M3"),
        scored("p.safetensors", vec![("p.safetensors", whole)]),
        scored("p", vec![("p/logits.npy", logits.clone()), ("p/labels.npy", labels)]),
        refused("p/readme.txt", vec![], "no .npy file in this folder"),
        refused("p.npz/readme.txt", vec![], "no .npy file in this folder"),
        refused("p/labels.npy", vec![], "/labels.npy: no .npy header"),
        refused("p/logits.npy", logits[..200].to_vec(), "/logits.npy: shape [2, 4, 3] needs 192"),
        refused("p.npy", logits, "a single .npy holds only one array"),
        refused("p.csv", vec![], "it is empty"),
        Case("missing".into(), vec![], vec!["p.npz"], Must::BeRefused("p.npz", "No such file")),
    ]);
}

#[test]
fn options_that_do_not_fit_the_file_are_refused() {
    // Arguments, a file besides, the culprit and what is said of it.
    let with = |args: &[&'static str], file, culprit, says: &'static str| {
        let files = vec![("p.npz", stored(&plain())), file];
        Case(says.into(), files, [&["p.npz"], args].concat(), Must::BeRefused(culprit, says))
    };
    let costs =
        |text: &str, says| with(&["--costs", "k.csv"], ("k.csv", text.into()), "k.csv", says);
    let reference = |bytes, says| with(&["--reference", "r.npz"], ("r.npz", bytes), "r.npz", says);
    let none = || ("unused.npz", vec![]);
    let zeros = |shape: &[usize]| stored(&[("logits", floats(shape, &[0.0; 6]))]);
    let agreement = vec!["p.npz", "--scores", "agreement"];
    check([
        costs("0,1\n1,0\n", "2 columns for 3 classes"),
        costs("0,1,1\n1,0,x\n", "line 2, column 3: `x` is not a number"),
        costs("0,1,1\r\n\r\n1,0,x\r\n", "line 3, column 3: `x` is not a number"),
        costs("0;1;1\n1;0;x\n", "line 2, column 3: `x` is not a number"),
        costs("0,1,1\n1,0\n", "row 1 of the cost matrix has 2 columns"),
        costs("0,inf,1\n", "cost [0, 1] is inf"),
        costs("", "the cost matrix is empty"),
        reference(zeros(&[3, 2]), "2 classes, but the predictions have 3"),
        reference(zeros(&[2, 3]), "2 examples, but the predictions have 4"),
        reference(labels("<i8", &[2.0, 0.0, 0.0, 2.0]), "array `labels`: label 0 at example 2"),
        reference(vec![0; 99], "not a readable .npz archive"),
        with(&["--ood", "far=o.npz"], ("o.npz", zeros(&[3, 2])), "o.npz", "2 classes, but"),
        with(&["--ood", "o.npz"], none(), "", "give a name without dots and a file"),
        with(&["--scores", "nlll"], none(), "", "no score is called `nlll`; did you mean `nll`"),
        with(&["--scores", "crps"], none(), "", "`crps` is not a score of this file"),
        with(&["--groups", "a"], none(), "p.npz", "there is no array `groups.a`"),
        Case("none".into(), vec![("p.npz", stored(&plain()))], agreement, Must::Lack("agreement")),
    ]);
}
