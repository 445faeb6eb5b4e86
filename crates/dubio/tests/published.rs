//! Deep ensemble equivalents against those that were published.
//!
//! The curves lie beside the repository, in `../shared/data/published`: calibrated log-likelihoods
//! behind Ashukha et al. 2020, read off their figures. Where they are missing the tests are reported as
//! ignored. `fixtures/ashukha2020-table5-cifar100.csv` is the CIFAR-100 half of their Table 5.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

fn main() -> ExitCode {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/published");
    let curves = shared.join("cifar100_ll_cll_digitised.csv");
    let there = curves.is_file();
    if !there {
        eprintln!(
            "note: {} is not there: published equivalents are not compared",
            curves.display()
        );
    }
    let trial = |name: &str, run: fn(&Path) -> Result<(), Failed>| {
        let curves: PathBuf = curves.clone();
        Trial::test(name, move || run(&curves)).with_ignored_flag(!there)
    };
    let trials = vec![
        trial("every_published_equivalent_is_reproduced_as_published", as_published),
        trial("equivalents_by_their_definition_differ_where_a_method_got_worse", by_definition),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Published and found, with the name of the cell.
fn cells(curves: &Path, arguments: &[&str]) -> Result<Vec<(String, f64, f64)>, Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_dubio"))
        .args(["dee", "--baseline", "deepens", "--score", "cll", "--json", "--table"])
        .arg(curves)
        .args(arguments)
        .output()?;
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout)?;
    let table = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/ashukha2020-table5-cifar100.csv");
    let mut cells = Vec::new();
    for record in csv::Reader::from_path(table)?.records() {
        let record = record?;
        let [dataset, model, method, n_samples, published] =
            [0, 1, 2, 3, 4].map(|column| record[column].to_string());
        let count: u64 = n_samples.parse()?;
        let own = |row: &&Value| {
            row["dataset"] == dataset[..]
                && row["model"] == model[..]
                && row["method"] == method[..]
                && row["n_samples"] == count
        };
        let name = format!("{model} {method} {n_samples}");
        let row = rows.iter().find(own).ok_or_else(|| format!("{name} has no row"))?;
        let found = row["dee"].as_f64().ok_or_else(|| format!("{name}: {}", row["dee"]))?;
        cells.push((name, published.parse()?, found));
    }
    if cells.len() != 170 {
        return Err(format!("{} cells, not 170", cells.len()).into());
    }
    Ok(cells)
}

/// All 170 to the digit that is printed.
fn as_published(curves: &Path) -> Result<(), Failed> {
    for (name, published, found) in cells(curves, &["--as-published"])? {
        if (published - found).abs() > 0.0501 {
            return Err(format!("{name}: {found}, published {published}").into());
        }
    }
    Ok(())
}

/// By the definition 169 cells are the same. Snapshot ensembles of WideResNet are worth 20.4 networks
/// with 95 samples and less with 100, where the published search does not go back below 20.
fn by_definition(curves: &Path) -> Result<(), Failed> {
    let off: Vec<(String, f64, f64)> = cells(curves, &[])?
        .into_iter()
        .filter(|(_, published, found)| (published - found).abs() > 0.0501)
        .collect();
    let [(name, published, found)] = &off[..] else {
        return Err(format!("not one cell is off, but {off:?}").into());
    };
    let expected = name == "WideResNet sse 100" && *published == 20.0;
    if !expected || (found - 19.855).abs() > 1e-3 {
        return Err(format!("{name}: {found}, published {published}").into());
    }
    Ok(())
}
