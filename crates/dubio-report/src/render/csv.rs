//! The scores of all runs and of all methods, long and tidy.

use std::borrow::Cow;

use crate::report::Report;
use crate::study::Outcome;
use crate::summary::Cell;

/// A line per run, split and score: `run, data, network, method, seed, members, split, score, value, lo,
/// hi, n, why`. A run that did not finish has one line that says why.
pub fn runs_csv(report: &Report<'_>) -> String {
    let mut out = ::csv::Writer::from_writer(Vec::new());
    let mut write = |fields: [&str; 13]| out.write_record(fields).expect("memory takes it");
    write([
        "run", "data", "network", "method", "seed", "members", "split", "score", "value", "lo",
        "hi", "n", "why",
    ]);
    for run in &report.study.runs {
        let seed = run.seed.map_or(String::new(), |seed| seed.to_string());
        let head = [&run.id[..], &run.data, &run.network, &run.method, &seed];
        let mut line = |members: &str, rest: [&str; 7]| {
            let [id, data, network, method, seed] = head;
            let [split, score, value, lo, hi, n, why] = rest;
            let names = [id, data, network, method, split, score, why].map(no_formula);
            let [id, data, network, method, split, score, why] = names.each_ref().map(|n| &**n);
            write([id, data, network, method, seed, members, split, score, value, lo, hi, n, why]);
        };
        match &run.outcome {
            Outcome::Failed(why) => line("", ["", "", "", "", "", "", why]),
            Outcome::Missing => line("", ["", "", "", "", "", "", "not run yet"]),
            Outcome::Finished(finished) => {
                for row in &finished.rows {
                    let entry = &row.entry;
                    let value = number(entry.value.as_ref().ok().copied());
                    let why = entry.value.as_ref().err().map(|why| &why.0[..]);
                    let why = why.or(entry.note.as_deref()).unwrap_or_default();
                    let (lo, hi) = entry.interval.unzip();
                    let (lo, hi, n) = (number(lo), number(hi), entry.n.to_string());
                    line(
                        &finished.members.to_string(),
                        [&row.split, &entry.name, &value, &lo, &hi, &n, why],
                    );
                }
            }
        }
    }
    text(out)
}

/// A line per method, split and score: `data, network, method, split, score, runs, of, mean, std, lo, hi,
/// why`. `runs` of `of` runs have a value; `std` is the standard deviation over runs, and the interval is that of the
/// mean over runs and examples.
pub fn methods_csv(report: &Report<'_>) -> String {
    let mut out = ::csv::Writer::from_writer(Vec::new());
    let mut write = |fields: [&str; 12]| out.write_record(fields).expect("memory takes it");
    write([
        "data", "network", "method", "split", "score", "runs", "of", "mean", "std", "lo", "hi",
        "why",
    ]);
    for chapter in report.parts.iter().map(|part| &part.chapter) {
        for method in &chapter.methods {
            let all = method.runs.len().to_string();
            let head = [chapter.data, chapter.network, method.name];
            let mut line = |split: &str, score: &str, rest: [&str; 6]| {
                let [data, network, name] = head;
                let [runs, mean, std, lo, hi, why] = rest;
                let names = [data, network, name, split, score, why].map(no_formula);
                let [data, network, name, split, score, why] = names.each_ref().map(|n| &**n);
                write([data, network, name, split, score, runs, &all, mean, std, lo, hi, why]);
            };
            if method.finished().next().is_none() {
                line("", "", ["0", "", "", "", "", "no run finished"]);
            }
            for split in chapter.splits() {
                for score in chapter.scores(split) {
                    match method.cell(split, score.name) {
                        None => {}
                        Some(Cell::Undefined(why)) => {
                            line(split, score.name, ["0", "", "", "", "", &why]);
                        }
                        Some(Cell::Value(summary)) => {
                            let (lo, hi) = summary.interval.unzip();
                            let runs = summary.values.len().to_string();
                            let numbers = [Some(summary.mean), summary.std, lo, hi].map(number);
                            let [mean, std, lo, hi] = &numbers;
                            let why = summary.note.unwrap_or_default();
                            line(split, score.name, [&runs, mean, std, lo, hi, &why]);
                        }
                    }
                }
            }
        }
    }
    text(out)
}

/// A text that no spreadsheet takes for a formula: one that begins like a formula is put behind an apostrophe.
pub fn no_formula(text: &str) -> Cow<'_, str> {
    let begins = text.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    match begins || text.starts_with(['\t', '\r', '\n']) {
        true if text.parse::<f64>().is_err() => format!("'{text}").into(),
        _ => text.into(),
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn text(out: ::csv::Writer<Vec<u8>>) -> String {
    String::from_utf8(out.into_inner().expect("memory takes it")).expect("made of texts")
}
