//! A user's own data in suites: mistakes with their places, ids, folds.

use std::fs;
use std::path::Path;

use dubio_bench::plan::{PlannedRun, plan};
use dubio_bench::suite::Suite;

const METHOD: &str =
    "networks = [\"mlp-5\"]\n[[methods]]\nmethod = \"sgd\"\nepochs = 1\nbatch = 4\n";

fn table(rows: usize) -> String {
    let rows = (0..rows).map(|i| format!("{i},{}.5,{}\n", i * i % 11, ["a", "b"][i % 2]));
    format!("x,y,kind\n{}", rows.collect::<String>())
}

fn suite(data: &str) -> String {
    format!("data = [{data}]\n{METHOD}")
}

fn planned(text: &str) -> Vec<PlannedRun> {
    let suite = Suite::parse("s.toml", text).unwrap_or_else(|e| panic!("{e}"));
    plan(&suite, Path::new(""), &|_, _| None).unwrap_or_else(|e| panic!("{e}")).runs
}

#[test]
fn a_table_in_a_suite_is_the_same_as_a_name_with_options() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv").display().to_string();
    fs::write(&path, table(30)).expect("written");
    let by_table = suite(&format!("{{ path = \"{path}\", target = \"y\", test = 0.3 }}"));
    let by_name = suite(&format!("\"{path}:test=0.3,target=y\""));
    assert_eq!(planned(&by_table), planned(&by_name));
    let folds = planned(&suite(&format!("{{ path = \"{path}\", target = \"y\", folds = 3 }}")));
    assert_eq!(folds.len(), 3);
    assert!(folds.iter().all(|run| run.settings.set() == format!("{path}:folds=3,target=y")));
    let ignored = format!("{{ path = \"{path}\", target = \"y\", ignore = [\"x\"] }}");
    assert_eq!(planned(&suite(&ignored))[0].cost.examples, 24);
}

#[test]
fn an_id_follows_the_bytes_and_not_the_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let id = |name: &str, text: &str, ood: Option<&str>| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        let mut suite = suite(&format!("\"{}:target=y\"", path.display()));
        if let Some(ood) = ood {
            let path = folder.path().join("far.csv");
            fs::write(&path, ood).expect("written");
            suite += &format!("[evaluate]\nood = [\"{}:target=y\"]\n", path.display());
        }
        planned(&suite)[0].id.clone()
    };
    let first = id("a.csv", &table(30), None);
    assert_eq!(first, id("moved.csv", &table(30), None));
    assert_ne!(first, id("a.csv", &table(31), None));
    // What only the test set holds counts as well: the last row of this one is 29.
    assert_ne!(first, id("a.csv", &table(30).replace("29,", "290,"), None));
    let with_ood = id("a.csv", &table(30), Some(&table(10)));
    assert_ne!(first, with_ood);
    assert_ne!(with_ood, id("a.csv", &table(30), Some(&table(12))));
}

#[test]
fn mistakes_in_options_have_their_places() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv").display().to_string();
    fs::write(&path, table(30)).expect("written");
    let told = |data: &str| Suite::parse("s.toml", &suite(data)).expect_err("mistakes").to_string();
    let both = told(&format!("{{ path = \"{path}\", tagret = \"y\", test = 3 }}"));
    assert!(both.contains("2 mistakes"), "{both}");
    assert!(both.contains("did you mean `target`?") && both.contains("between 0 and 1, got `3`"));
    let place = path.len() + 22;
    assert!(both.contains(&format!("s.toml:1:{place}: ")), "{place}: {both}");
    let missing = told("{ target = \"y\" }");
    assert!(missing.contains("s.toml:1:9: `path` is missing"), "{missing}");
    let column = told(&format!("\"{path}:target=z\""));
    assert!(
        column.contains("s.toml:1:9: ") && column.contains("no column is called `z`"),
        "{column}"
    );
}

#[test]
fn an_ood_table_must_have_the_same_columns_and_categories() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        format!("{}:target=y", path.display())
    };
    let train = write("train.csv", &table(30));
    let far = write("far.csv", &table(30).replace(",a\n", ",c\n"));
    let text = format!("{}[evaluate]\nood = [\"{far}\"]\n", suite(&format!("\"{train}\"")));
    let suite = Suite::parse("s.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    let error =
        plan(&suite, Path::new(""), &|_, _| None).expect_err("other categories").to_string();
    assert!(error.contains("column `kind` has `c`, which"), "{error}");
    assert!(error.contains("give unknown=ignore"), "{error}");
}
