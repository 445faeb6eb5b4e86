//! Scores of the first members of an ensemble.

use std::ops::Range;

use dubio_metrics::classification;
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Members;
use dubio_metrics::pool::pool;
use dubio_metrics::score::Options;
use dubio_metrics::scorecard::{Scoring, Silent, calibrated, plain};
use dubio_metrics::stream::Stream;
use dubio_predictions::Classification;
use dubio_report::study::Growth;

const SCORES: [&str; 5] = ["calibrated.nll", "nll", "accuracy", "brier", "ece"];

/// The first members of an ensemble.
struct First<'a> {
    all: &'a dyn Members,
    count: usize,
}

impl Members for First<'_> {
    fn members(&self) -> usize {
        self.count
    }
    fn examples(&self) -> usize {
        self.all.examples()
    }
    fn width(&self) -> usize {
        self.all.width()
    }
    fn read(&self, member: usize, rows: Range<usize>, out: &mut [f64]) {
        self.all.read(member, rows, out);
    }
}

/// Scores of the first 1, 2, 4, ... members, and of all.
pub(super) fn growth(file: &Classification) -> Vec<Growth> {
    let Some(labels) = &file.labels else { return Vec::new() };
    let all = file.source.members();
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|n| *n < all).collect();
    counts.push(all);
    let wanted = |name: &str| SCORES.contains(&name);
    let scoring = Scoring {
        options: Options::default(),
        bootstrap: None,
        splits: Stream::root(0).child("calibrated"),
        wanted: &wanted,
        progress: &Silent,
    };
    let mut grown: Vec<Growth> =
        SCORES.iter().map(|s| Growth { score: (*s).to_string(), points: Vec::new() }).collect();
    for count in counts {
        // What cannot be pooled was refused when the whole file was.
        let Ok(pooled) = pool(&First { all: &file.source, count }, file.form, &|_| ()) else {
            continue;
        };
        let examples = Examples::new(pooled, labels.clone());
        let scores = classification::scores();
        let entries = plain(&examples, &scores, &scoring)
            .into_iter()
            .chain(calibrated(&examples, &scores, &scoring));
        for entry in entries {
            let own = grown.iter_mut().find(|growth| growth.score == entry.name);
            if let (Some(own), Ok(value)) = (own, entry.value) {
                own.points.push((count, value));
            }
        }
    }
    grown.retain(|growth| !growth.points.is_empty());
    grown
}
