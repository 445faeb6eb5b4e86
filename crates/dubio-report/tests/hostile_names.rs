//! Names that were chosen to do harm change the words of a report and nothing else.

mod hostile;
#[allow(dead_code)] // the other tests use the rest of it
mod support;

use std::sync::LazyLock;

use dubio_report::render::{html, latex, markdown, methods_csv, pdf, runs_csv, svg};
use dubio_report::report::Report;
use dubio_report::study::{Outcome, Study, Warning};
use dubio_report::text::{is_unseen, one_line};
use hostile::NAMES;
use support::{Size, study};

const VEGA: &str = include_str!("../vendor/vega.min.js");
const VEGA_LITE: &str = include_str!("../vendor/vega-lite.min.js");

/// A study whose methods, data, title and sets are called so; the last method failed.
fn called(names: &[&str]) -> Study {
    let mut study = study(&Size { methods: names.len(), seeds: 1, shifts: 1, severities: 2 });
    for (place, run) in study.runs.iter_mut().enumerate() {
        let name = names[place];
        run.method = name.to_string();
        run.id = format!("{name}.npz");
        (run.data, run.network) = (names[0].to_string(), names[1].to_string());
        let Outcome::Finished(finished) = &mut run.outcome else { continue };
        let set = |text: &mut String| *text = text.replace("far", names[2]);
        finished.rows.iter_mut().for_each(|row| set(&mut row.entry.name));
        finished.views.iter_mut().for_each(|view| set(&mut view.split));
        finished.rows.truncate(400);
    }
    for (growth, name) in study.growth.iter_mut().zip(names) {
        (growth.method, growth.data) = (name.to_string(), names[0].to_string());
        growth.network = names[1].to_string();
    }
    if let Some(run) = study.runs.last_mut() {
        run.outcome = Outcome::Failed(names[3].to_string());
    }
    (study.title, study.about) = (names[4].to_string(), names[5].to_string());
    study.baseline = Some(names[0].to_string());
    let [what, why] = [names[6], names[7]].map(str::to_string);
    study.warnings = vec![Warning { what, why }];
    study
}

/// The list from every start, so that each name is once in each role.
fn turned(start: usize) -> Vec<&'static str> {
    (0..8).map(|i| NAMES[(start + i) % NAMES.len()]).collect()
}

const HARMLESS: [&str; 8] = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];

static PLAIN: LazyLock<Study> = LazyLock::new(|| called(&HARMLESS));

/// Calls `check` with what a renderer makes of harmless names and of harmful ones.
fn compare(render: fn(&Report<'_>) -> String, check: impl Fn(&str, &str, &[&str])) {
    let plain = render(&Report::of(&PLAIN));
    for start in (0..NAMES.len()).step_by(2) {
        let names = turned(start);
        let text = render(&Report::of(&called(&names)));
        let unseen = text.chars().find(|c| *c != '\n' && is_unseen(*c));
        assert_eq!(unseen, None, "{names:?}");
        check(&plain, &text, &names);
    }
}

/// Elements, but for places where a long name may be broken: how many those are depends on the name.
fn tags(page: &str) -> Vec<&str> {
    let name =
        |rest: &'_ str| rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '/').unwrap_or(0);
    let all = page.split('<').skip(1).map(|rest| &rest[..name(rest)]);
    all.filter(|tag| *tag != "wbr").collect()
}

#[test]
fn a_page_has_the_same_elements() {
    let own = |report: &Report<'_>| html(report).replace(VEGA, "").replace(VEGA_LITE, "");
    compare(own, |plain, page, names| {
        assert_eq!(tags(plain), tags(page), "{names:?}");
        for id in ["figures", "runs"] {
            let start = format!("id=\"{id}\">");
            let (_, rest) = page.split_once(&start[..]).expect("data");
            let (data, _) = rest.split_once("</script>").expect("an end");
            serde_json::from_str::<serde_json::Value>(data).unwrap_or_else(|e| panic!("{e}"));
        }
        // What a button names is what the figures call it.
        let (_, data) = page.split_once("id=\"figures\">").expect("data");
        for key in page.split("data-method=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let name = key.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
            let name = serde_json::json!(name.replace("&amp;", "&")).to_string();
            assert!(data.contains(&name.replace('<', "\\u003c")), "{name}");
        }
    });
}

#[test]
fn markdown_shows_them_as_they_are() {
    compare(markdown, |plain, text, names| {
        assert_eq!(plain.lines().count(), text.lines().count(), "{names:?}");
        let (mut bare, mut escaped) = (String::new(), false);
        for c in text.chars() {
            match (escaped, c) {
                (true, _) => escaped = false,
                (false, '\\') => escaped = true,
                (false, c) => bare.push(c),
            }
        }
        for markup in ["<", "[", "`", "://", "www.", "&", "$", "@"] {
            assert!(!bare.contains(markup), "{markup} of {names:?}");
        }
        let cells = |text: &str| text.matches('|').count();
        assert_eq!(cells(plain), cells(&bare), "{names:?}");
    });
}

#[test]
fn latex_has_the_same_rows_and_no_other_commands() {
    let commands = |text: &str| -> Vec<String> {
        let end = |rest: &str| rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let mut all: Vec<String> =
            text.split('\\').skip(1).map(|rest| rest[..end(rest)].to_string()).collect();
        all.retain(|command| !command.starts_with("text") && !command.is_empty());
        all
    };
    compare(latex, |plain, text, names| {
        assert_eq!(commands(plain), commands(text), "{names:?}");
        let empty =
            |text: &str| -> Vec<bool> { text.lines().map(|line| line.trim().is_empty()).collect() };
        assert_eq!(empty(plain), empty(text), "{names:?}");
        let after = text.split("\\\\").skip(1).map(str::trim_start);
        assert!(after.into_iter().all(|row| !row.starts_with(['[', '*'])), "{names:?}");
    });
}

#[test]
fn csv_has_the_same_records_and_no_formulas() {
    for render in [runs_csv, methods_csv] {
        let records = |text: String| -> Vec<Vec<String>> {
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let rows = reader.records().map(|row| row.expect("a row"));
            rows.map(|row| row.iter().map(str::to_string).collect()).collect()
        };
        let plain = records(render(&Report::of(&PLAIN)));
        let mut quoted = 0;
        for start in 0..NAMES.len() {
            let names = turned(start);
            let rows = records(render(&Report::of(&called(&names))));
            assert_eq!(plain.len(), rows.len(), "{names:?}");
            for field in rows.iter().flatten() {
                let formula = field.trim_start().starts_with(['=', '+', '-', '@']);
                assert!(!formula || field.parse::<f64>().is_ok(), "{field}");
                let name = field.strip_prefix('\'').filter(|name| NAMES.contains(name));
                quoted += usize::from(name.is_some());
            }
            let method = if rows[0].len() == 13 { 3 } else { 2 };
            let shown = rows[0][method].strip_prefix('\'').unwrap_or(&rows[0][method]);
            assert_eq!(shown, names[0], "nothing else is changed");
        }
        assert!(quoted > 0);
    }
}

/// In one study, where names that get lost would leave another's mark.
#[test]
fn figures_name_every_method() {
    let plain = study(&Size { methods: NAMES.len(), seeds: 1, shifts: 1, severities: 2 });
    let all = called(&NAMES);
    let count = svg(&Report::of(&plain)).unwrap_or_else(|e| panic!("{e}")).len();
    let drawn = svg(&Report::of(&all)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(drawn.len(), count);
    for (figure, drawing) in &drawn {
        let document =
            roxmltree::Document::parse(drawing).unwrap_or_else(|e| panic!("{figure}: {e}"));
        let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
        // Of the last there is no run; one names scores, one the best alone, and one shows a method at a time.
        let named = &NAMES[..NAMES.len() - 1];
        for name in
            named.iter().filter(|_| !["correlation", "cost", "confusion"].contains(&&figure[..]))
        {
            let shown = one_line(name);
            let cut = |text: &&str| shown.starts_with(text.trim_end_matches('…').trim_end());
            let there = texts
                .iter()
                .any(|text| text.trim_end() == shown || text.ends_with('…') && cut(text));
            assert!(there, "{figure} does not name {shown}: {texts:?}");
        }
    }
    let pages = pdf(&Report::of(&all)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(pages.len(), count);
    for (figure, bytes) in pages {
        let text = String::from_utf8(bytes).expect("plain text");
        assert!(!text.chars().any(|c| c != '\n' && is_unseen(c)), "{figure}");
    }
}
