//! Tables as they were when somebody looked at them. `DUBIO_SNAPSHOTS=write cargo test --release` writes them anew.

mod support;

use std::path::Path;

use dubio_report::render::{latex, markdown, methods_csv, runs_csv};
use dubio_report::report::Report;
use dubio_report::study::Outcome;
use support::{Size, regression, study};

fn same_as_before(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var("DUBIO_SNAPSHOTS").as_deref() == Ok("write") {
        std::fs::write(&path, text).expect("the snapshot can be written");
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    for (line, (old, new)) in before.lines().zip(text.lines()).enumerate() {
        assert_eq!(
            old,
            new,
            "{name}:{}; if that is right, DUBIO_SNAPSHOTS=write cargo test --release",
            line + 1
        );
    }
    assert_eq!(
        before.lines().count(),
        text.lines().count(),
        "{name}; if that is right, DUBIO_SNAPSHOTS=write cargo test --release"
    );
}

fn small() -> Size {
    Size { methods: 3, seeds: 2, shifts: 1, severities: 2 }
}

#[test]
fn markdown_is_as_it_was() {
    same_as_before("study.md", &markdown(&Report::of(&study(&small()))));
    same_as_before("regression.md", &markdown(&Report::of(&regression())));
}

#[test]
fn latex_is_as_it_was() {
    same_as_before("study.tex", &latex(&Report::of(&study(&small()))));
}

#[test]
fn csv_is_as_it_was() {
    let mut study = study(&small());
    for run in &mut study.runs {
        let Outcome::Finished(finished) = &mut run.outcome else { continue };
        // Enough to see every kind of line.
        let few =
            ["accuracy", "nll", "calibrated.nll", "mce", "ood.far.auroc.total", "top5_accuracy"];
        finished.rows.retain(|row| few.contains(&&row.entry.name[..]));
    }
    let report = Report::of(&study);
    same_as_before("runs.csv", &runs_csv(&report));
    same_as_before("methods.csv", &methods_csv(&report));
}

/// Whatever the tables print, means by method are the means of the values by run.
#[test]
fn means_of_methods_are_those_of_their_runs() {
    let study = study(&Size { methods: 3, seeds: 3, shifts: 1, severities: 2 });
    let report = Report::of(&study);
    let rows = |text: String, columns: [&'static str; 4]| -> Vec<[String; 4]> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let head = reader.headers().expect("a head").clone();
        let places = columns.map(|name| head.iter().position(|h| h == name).expect("a column"));
        reader
            .records()
            .map(|row| row.expect("a row"))
            .map(|row| places.map(|i| row[i].into()))
            .collect()
    };
    let runs = rows(runs_csv(&report), ["method", "split", "score", "value"]);
    let methods = rows(methods_csv(&report), ["method", "split", "score", "mean"]);
    let mut compared = 0;
    for row in methods.iter().filter(|row| !row[3].is_empty()) {
        let same = |run: &&[String; 4]| run[..3] == row[..3] && !run[3].is_empty();
        let values: Vec<f64> =
            runs.iter().filter(same).map(|run| run[3].parse().expect("a number")).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let told: f64 = row[3].parse().expect("a number");
        assert!(
            told == mean || (told - mean).abs() < 1e-12 * mean.abs().max(1.0),
            "{row:?}: {mean}"
        );
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
}
