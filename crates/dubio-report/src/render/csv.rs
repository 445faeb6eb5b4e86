//! The scores of all runs, long and tidy.

use crate::report::Report;
use crate::study::Outcome;

/// A line per run, split and score: `run, data, network, method, seed, members, split, score, value, lo,
/// hi, n, why`. A run that did not finish has one line that says why.
pub fn csv(report: &Report<'_>) -> String {
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
            write([id, data, network, method, seed, members, split, score, value, lo, hi, n, why]);
        };
        match &run.outcome {
            Outcome::Failed(why) => line("", ["", "", "", "", "", "", why]),
            Outcome::Missing => line("", ["", "", "", "", "", "", "not there"]),
            Outcome::Finished(finished) => {
                for row in &finished.rows {
                    let entry = &row.entry;
                    let number = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
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
    String::from_utf8(out.into_inner().expect("memory takes it")).expect("made of texts")
}
