//! Scores over groups, worked out anew from the groups' own.

mod support;

use dubio_metrics::card::Direction;
use dubio_metrics::classification;
use dubio_metrics::members::Form;
use dubio_metrics::scorecard::{Entry, Examined, LISTED, grouped, plain};
use support::{Data, defaults, scoring};

/// Predictions of so many groups of three examples each, which lie apart.
fn data(groups: usize) -> (Data, Vec<i64>) {
    let n = 3 * groups;
    let number = |i: usize| (i * 7919 % 1009) as f64 / 1009.0;
    let rows: Vec<Vec<f64>> =
        (0..n).map(|i| (0..3).map(|c| 4.0 * number(3 * i + c)).collect()).collect();
    let labels: Vec<u32> = (0..n).map(|i| (i * 31 % 3) as u32).collect();
    let own = (0..n).map(|i| (i % groups) as i64 - 5).collect();
    (Data::single(Form::Logits, &rows, &labels), own)
}

/// Linear between the two neighbours of rank `q (n - 1)`, as numpy's default.
fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = q * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
    low + (high - low) * rank.fract()
}

#[test]
fn many_groups_are_summarised_and_not_listed() {
    let (data, groups) = data(LISTED + 1);
    let (examples, scores) = (data.examples(), classification::scores());
    let scoring = scoring(&defaults(), 40);
    let entries = grouped(&examples, &scores, &groups, &scoring);
    assert!(entries.iter().all(|entry| !entry.name.starts_with("group.")));
    assert!(entries.iter().all(|e| e.replicates.is_empty() && e.interval.is_none()));
    let per_group: Vec<Vec<Entry>> = (0..=LISTED as i64)
        .map(|group| {
            let of = |i: &u32| groups[*i as usize] == group - 5;
            let rows: Vec<u32> = (0..groups.len() as u32).filter(of).collect();
            plain(&examples.select(&rows), &scores, &scoring)
        })
        .collect();
    let mut judged = 0;
    for (s, first) in per_group[0].iter().enumerate() {
        let values: Vec<f64> = per_group.iter().flat_map(|group| group[s].value.clone()).collect();
        let named = |kind: &str| {
            let name = format!("{kind}.{}", first.name);
            entries.iter().find(|entry| entry.name == name)
        };
        let median = named("median_group").expect("every score has a median");
        assert!(median.note.as_deref().is_some_and(|note| note.starts_with("over 101 groups")));
        if values.is_empty() {
            assert!(median.value.is_err(), "{}", first.name);
            continue;
        }
        assert_eq!(median.value, Ok(quantile(&values, 0.5)), "{}", first.name);
        let distances: Vec<f64> = values.iter().map(|v| v.abs()).collect();
        // With the sign of the value at the next rank: of 101 values, the 90th from the best itself.
        let signed = values.iter().find(|v| v.abs() == quantile(&distances, 0.9));
        let tenth = match first.card.direction {
            Direction::Higher => quantile(&values, 0.1),
            Direction::Lower => quantile(&values, 0.9),
            Direction::Zero => *signed.expect("of 101, rank 90 is one of them"),
            Direction::Neither => {
                assert!(named("p10_group").is_none() && named("worst_group").is_none());
                continue;
            }
        };
        let found = named("p10_group").and_then(|entry| entry.value.clone().ok()).expect("a value");
        assert!((found - tenth).abs() < 1e-12, "{}: {found}, not {tenth}", first.name);
        let worst =
            named("worst_group").and_then(|entry| entry.value.clone().ok()).expect("a value");
        let badness = |v: f64| first.card.direction.badness(v).expect("judged");
        assert!(values.iter().all(|v| badness(*v) <= badness(worst)), "{}", first.name);
        judged += 1;
    }
    assert!(judged > 20, "{judged}");
}

#[test]
fn up_to_a_hundred_groups_are_listed_each_with_its_interval() {
    let (data, groups) = data(LISTED);
    let scores = classification::scores();
    let entries = grouped(&data.examples(), &scores, &groups, &scoring(&defaults(), 40));
    let listed = entries.iter().filter(|entry| entry.name.ends_with(".nll"));
    let names: Vec<&str> = listed.clone().map(|entry| &entry.name[..]).collect();
    assert_eq!(names.len(), LISTED + 2, "each group, the worst and the tenth");
    assert!(listed.clone().all(|entry| entry.interval.is_some()));
    assert_eq!(names[..2], ["group.-5.nll", "group.-4.nll"], "in the order of their numbers");
}
