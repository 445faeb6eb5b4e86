//! Laws of the page.

mod support;

use std::collections::HashSet;

use dubio_report::render::html;
use dubio_report::report::Report;
use dubio_report::study::{Outcome, Study};
use support::{Size, regression, study};

const VEGA: &str = include_str!("../vendor/vega.min.js");
const VEGA_LITE: &str = include_str!("../vendor/vega-lite.min.js");

fn small() -> Study {
    study(&Size { methods: 3, seeds: 2, shifts: 2, severities: 2 })
}

/// The page without the two libraries, which are published files and compared by their checksums.
fn own(page: &str) -> String {
    let without = page.replace(VEGA, "").replace(VEGA_LITE, "");
    assert_eq!(
        page.len() - without.len(),
        VEGA.len() + VEGA_LITE.len(),
        "both libraries are there"
    );
    without
}

/// The value of every attribute of that name.
fn attributes<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let start = format!(" {name}=\"");
    page.split(&start[..]).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn twenty_methods_with_five_seeds_stay_below_five_megabytes() {
    let size = Size { methods: 20, seeds: 5, shifts: 4, severities: 5 };
    let page = html(&Report::of(&study(&size)));
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
}

#[test]
fn nothing_refers_to_another_host() {
    for study in [small(), regression()] {
        let page = html(&Report::of(&study));
        let own = own(&page);
        // Licences may name hosts; they are a comment.
        let (head, rest) = own.split_once("<!--").expect("licences");
        let (_, tail) = rest.split_once("-->").expect("the end of the licences");
        for part in [head, tail] {
            for scheme in ["http:", "https:", "ws:", "wss:", "ftp:", "url(", "@import", "import("] {
                assert!(!part.contains(scheme), "{scheme}");
            }
            assert!(!part.contains("<link") && !part.contains("<iframe") && !part.contains("<img"));
        }
        assert!(attributes(&own, "src").is_empty());
        assert!(attributes(&own, "href").iter().all(|href| href.starts_with('#')));
        let policy = "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'";
        assert!(head.contains(policy), "the page forbids itself to load anything");
    }
}

#[test]
fn every_id_is_used_once_and_every_link_has_an_end() {
    let own = own(&html(&Report::of(&small())));
    let ids = attributes(&own, "id");
    let known: HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), known.len());
    for href in attributes(&own, "href") {
        assert!(known.contains(&href[1..]), "{href}");
    }
    for label in attributes(&own, "aria-labelledby") {
        assert!(known.contains(label), "{label}");
    }
}

#[test]
fn names_and_records_cannot_break_the_page() {
    let own = own(&html(&Report::of(&small())));
    assert!(own.contains("sgd &amp; &lt;friends&gt;_1"));
    assert!(!own.contains("<friends>"));
    // The record holds a closing tag; it must not close the script that holds the record.
    assert!(!own.contains("</script><b>"));
}

#[test]
fn what_failed_is_said_on_the_first_screen() {
    let own = own(&html(&Report::of(&small())));
    let first = own.split("class=\"question\"").next().expect("a first screen");
    assert!(first.contains("method-2: 1 of 2 runs finished"));
    assert!(first.contains("the loss became NaN in epoch 3; lower lr"));
}

#[test]
fn chains_that_warn_of_themselves_are_warned_of() {
    let mut study = small();
    let warning = "the chains have not converged: R-hat of the loss is 7.31; run them longer";
    let method = study.runs[study.runs.len() - 1].method.clone();
    for run in &mut study.runs {
        if let Outcome::Finished(finished) = &mut run.outcome
            && run.method == method
        {
            finished.record = Some(serde_json::json!({ "warnings": [warning] }));
        }
    }
    let page = own(&html(&Report::of(&study)));
    assert!(page.contains(&format!("{method}: the results should not be trusted")), "{method}");
    assert!(page.contains("The chains have not converged: R-hat of the loss is 7.31"));
}

#[test]
fn misclassification_is_not_put_side_by_side() {
    let page = own(&html(&Report::of(&small())));
    let tables = page.split("<table").skip(1).filter_map(|rest| rest.split("</table>").next());
    assert!(tables.into_iter().all(|table| !table.contains("misclassification")));
}

#[test]
fn several_data_sets_have_an_overview_and_a_part_each() {
    let mut study = small();
    let mut others = small().runs;
    for run in &mut others {
        run.data = "letters/1".to_string();
        run.id += "x";
    }
    study.runs.extend(others);
    let own = own(&html(&Report::of(&study)));
    assert!(
        own.contains("id=\"overview\"")
            && own.contains("calibrated.nll of every data set and network")
    );
    assert!(own.contains("id=\"c1-scores\""));
    let lead = own.split("id=\"overview\"").nth(1).expect("an overview");
    let lead = lead.split("<table").next().expect("what stands before the table");
    assert!(lead.contains("Over 2 data sets and networks, "), "{lead}");
    assert!(lead.contains("has the best mean rank ("), "{lead}");
    let ids = attributes(&own, "id");
    assert_eq!(ids.len(), ids.iter().collect::<HashSet<_>>().len());
}

#[test]
fn a_study_in_which_nothing_finished_still_has_a_page() {
    let mut study = small();
    for run in &mut study.runs {
        run.outcome = dubio_report::study::Outcome::Failed("out of memory".to_string());
    }
    study.growth.clear();
    let page = html(&Report::of(&study));
    assert!(page.contains("No run has predictions that could be ranked."));
    assert!(page.contains("none of 2 runs finished"));
}
