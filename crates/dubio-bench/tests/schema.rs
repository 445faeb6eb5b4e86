//! The schema that editors read says what the reader of suites says.

use std::path::Path;

use dubio_bench::schema::schema;
use dubio_bench::suite::Suite;
use serde_json::Value;

fn suites() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites")
}

fn value(text: &str) -> Value {
    serde_json::to_value(text.parse::<toml::Table>().expect("TOML")).expect("JSON")
}

#[test]
fn the_schema_beside_the_suites_is_the_one_of_this_version() {
    let text = std::fs::read_to_string(suites().join("suite.schema.json")).expect("a schema");
    let there: Value = serde_json::from_str(&text).expect("JSON");
    assert!(there == schema(), "dubio schema > suites/suite.schema.json makes it anew");
}

#[test]
fn every_suite_that_is_shipped_is_valid() {
    let validator = jsonschema::validator_for(&schema()).expect("a schema");
    let mut seen = 0;
    for entry in std::fs::read_dir(suites()).expect("suites") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|end| end == "toml") {
            let text = std::fs::read_to_string(&path).expect("text");
            assert!(Suite::parse("s.toml", &text).is_ok(), "{}", path.display());
            let errors: Vec<String> =
                validator.iter_errors(&value(&text)).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{}: {errors:?}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 4);
}

#[test]
fn what_the_reader_refuses_the_schema_refuses() {
    let validator = jsonschema::validator_for(&schema()).expect("a schema");
    let head = "data = [\"digits\"]\nnetworks = [\"mlp\"]\n";
    let method = "[[methods]]\nmethod = \"sgd\"\n";
    for (text, sound) in [
        (format!("{head}{method}"), true),
        (format!("{head}{method}lr = [0.1, 0.2]\n"), true),
        (format!("{head}{method}lr = {{ from = 0.1, to = 0.2 }}\n"), true),
        (format!("{head}{method}schedule = \"cosine\"\nbatch = 32\n"), true),
        (format!("{head}{method}lr = \"big\"\n"), false),
        (format!("{head}{method}batch = 1.5\n"), false),
        (format!("{head}{method}leaning_rate = 0.1\n"), false),
        (format!("{head}{method}friction = 0.1\n"), false),
        (format!("{head}[[methods]]\nmethod = \"sgdd\"\n"), false),
        (format!("{head}[evaluate]\nshifts = [\"foggy\"]\n{method}"), false),
        (format!("{head}[evaluate]\nseverities = [6]\n{method}"), false),
        (format!("{head}[decision]\nmiss = 3\n{method}"), false),
        (format!("{head}[search]\nkind = \"best\"\n{method}"), false),
        (format!("{head}seeds = 0\n{method}"), false),
        (format!("{head}seeds = 1000001\n{method}"), false),
        (format!("{head}seeds = [1, 1]\n{method}"), false),
        (format!("name = \"My study, part 2\"\n{head}{method}label = \"a = 0.1\"\n"), true),
        (format!("name = \"../study\"\n{head}{method}"), false),
        (format!("{head}{method}label = \"a/b\"\n"), false),
        (format!("data = [\"digits\"]\n{method}"), false),
        (format!("{head}{method}[other]\n"), false),
    ] {
        assert_eq!(Suite::parse("s.toml", &text).is_ok(), sound, "{text}");
        assert_eq!(validator.is_valid(&value(&text)), sound, "{text}");
    }
}
