//! Every message that a wrong suite can cause, word for word: `messages.txt` holds suites and what is
//! said of them. `DUBIO_SNAPSHOTS=write cargo test` writes down what is said now, to be read and
//! committed.

use std::path::Path;

use dubio_bench::plan::plan;
use dubio_bench::suite::Suite;

/// What stands before a case whose title begins with `+`.
const HEAD: &str = "data = [\"digits\"]\nnetworks = [\"mlp-20\"]\n";

struct Case<'a> {
    title: &'a str,
    suite: &'a str,
    said: &'a str,
}

/// `== TITLE`, the suite, `-- says`, what is said.
fn cases(text: &str) -> Vec<Case<'_>> {
    let each = text.split("== ").skip(1).map(|case| {
        let (title, rest) = case.split_once('\n').expect("a title");
        let (suite, said) = rest.split_once("-- says\n").expect("what is said");
        Case { title, suite, said }
    });
    each.collect()
}

fn said(case: &Case<'_>) -> String {
    let head = if case.title.starts_with('+') { HEAD } else { "" };
    let text = format!("{head}{}", case.suite);
    let suite = match Suite::parse("s.toml", &text) {
        Ok(suite) => suite,
        Err(mistakes) => return mistakes.to_string(),
    };
    match plan(&suite, Path::new("data"), &|_, _| None) {
        Ok(_) => "nothing".to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_message_is_as_it_was_written_down() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages.txt");
    let text = std::fs::read_to_string(&path).expect("the messages");
    let all = cases(&text);
    assert!(all.len() > 80, "{}", all.len());
    if std::env::var("DUBIO_SNAPSHOTS").is_ok_and(|v| v == "write") {
        let write = |case: &Case<'_>| {
            format!("== {}\n{}-- says\n{}\n\n", case.title, case.suite, said(case))
        };
        let written: String = all.iter().map(write).collect();
        std::fs::write(&path, written.trim_end().to_string() + "\n").expect("written");
        return;
    }
    for case in &all {
        let now = said(case);
        assert_eq!(now.trim_end(), case.said.trim_end(), "{}", case.title);
        assert_ne!(now, "nothing", "{}: a wrong suite is not refused", case.title);
    }
}
