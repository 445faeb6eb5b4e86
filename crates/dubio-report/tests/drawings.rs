//! Figures as files: drawn without a browser.

mod support;

use dubio_report::render::{pdf, svg};
use dubio_report::report::Report;
use sha2::{Digest, Sha256};
use support::{Size, regression, study};

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_libraries_are_those_that_were_published() {
    let notice = include_str!("../vendor/README.md");
    for file in
        [&include_bytes!("../vendor/vega.min.js")[..], include_bytes!("../vendor/vega-lite.min.js")]
    {
        assert!(notice.contains(&hex(file)), "vendor/README.md does not hold {}", hex(file));
    }
}

#[test]
fn every_figure_is_drawn_as_xml_that_stands_alone() {
    let many = study(&Size { methods: 6, seeds: 2, shifts: 2, severities: 2 });
    let one = regression();
    for (study, least) in [(&many, 15), (&one, 2)] {
        let drawn = svg(&Report::of(study)).unwrap_or_else(|e| panic!("{e}"));
        assert!(drawn.len() >= least, "{} figures", drawn.len());
        for (name, drawing) in drawn {
            let document =
                roxmltree::Document::parse(&drawing).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(document.root_element().tag_name().name(), "svg", "{name}");
            assert!(!drawing.contains("var(--"), "{name} has a colour without a value");
            assert!(!drawing.contains("NaN") && !drawing.contains("undefined"), "{name}");
            assert!(!drawing.contains("href"), "{name} refers to something");
            let marks = document
                .descendants()
                .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "path")));
            assert!(marks.count() > 3, "{name} is empty");
            let texts = document.descendants().filter_map(|node| node.text()).collect::<String>();
            // By name on an axis, over a panel, or in a legend.
            let unnamed = ["correlation", "confusion"].contains(&&name[..]);
            for run in study.runs.iter().filter(|run| run.finished().is_some() && !unnamed) {
                assert!(texts.contains(&run.method), "{name} does not name {}", run.method);
            }
        }
    }
}

#[test]
fn every_figure_is_drawn_as_a_document_of_one_page() {
    let study = study(&Size { methods: 2, seeds: 1, shifts: 1, severities: 2 });
    for (name, bytes) in pdf(&Report::of(&study)).unwrap_or_else(|e| panic!("{e}")) {
        let text = String::from_utf8(bytes).expect("plain text");
        assert!(text.starts_with("%PDF-1.4") && text.ends_with("%%EOF\n"), "{name}");
        // Every object begins where the table says.
        let (_, table) = text.split_once("xref\n0 7\n").expect("a table");
        for (index, line) in table.lines().skip(1).take(6).enumerate() {
            let place: usize = line[..10].parse().expect("a place");
            assert!(text[place..].starts_with(&format!("{} 0 obj", index + 1)), "{name}: {line}");
        }
        let count = |operator: &str| text.lines().filter(|line| *line == operator).count();
        let states = (count("q"), count("Q"));
        assert!(
            states.0 >= 1 && states.0 == states.1,
            "{name}: {states:?} states saved and restored"
        );
        assert!(!text.contains("NaN") && !text.contains("undefined"), "{name}");
        assert!(text.contains("Tj ET"), "{name} has no text");
    }
}
