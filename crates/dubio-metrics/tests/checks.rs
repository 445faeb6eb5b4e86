//! Laws of posterior predictive checks.

mod support;

use dubio_metrics::card::Card;
use dubio_metrics::check::{self, Checked, Checking, Mode};
use dubio_metrics::classification;
use dubio_metrics::examples::Examples;
use dubio_metrics::score::{Options, Preparation, Score};
use dubio_metrics::scorecard::{self, Silent};
use dubio_metrics::stream::Stream;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use support::*;

/// A score that does not say how little of the labels it looks at.
struct Reticent(Box<dyn Score<Examples>>);

impl Score<Examples> for Reticent {
    fn card(&self) -> &'static Card {
        self.0.card()
    }
    fn name(&self) -> String {
        self.0.name()
    }
    fn prepare<'a>(&self, examples: &'a Examples, options: &Options) -> Preparation<'a> {
        self.0.prepare(examples, options)
    }
}

fn checking(mode: Mode, replicates: usize, seed: u64) -> Checking<'static> {
    let root = Stream::root(seed);
    Checking {
        mode,
        replicates,
        options: Options::default(),
        stream: root.child("check"),
        splits: Stream::root(1).child("splits"),
        wanted: &|_| true,
        progress: &Silent,
    }
}

fn checked(data: &Data, scores: &[Box<dyn Score<Examples>>], how: &Checking<'_>) -> Vec<Checked> {
    let members = source(&data.values, [data.members, data.n(), data.classes], data.narrow);
    check::classification(&*members, data.form, &data.examples(), scores, how)
}

fn cases(cases: u32) -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(1);
    ProptestConfig { cases, failure_persistence: None, rng_seed, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn what_a_score_says_that_it_needs_is_all_that_it_needs(
        data in shape(1, 40).prop_flat_map(|s| prop_oneof![smooth(s), tied(s), extreme(s)]),
        independent in any::<bool>(),
    ) {
        let how = checking(if independent { Mode::Independent } else { Mode::Bayesian }, 37, 5);
        let quick = checked(&data, &classification::scores(), &how);
        let reticent = classification::scores().into_iter();
        let reticent: Vec<Box<dyn Score<Examples>>> =
            reticent.map(|score| Box::new(Reticent(score)) as _).collect();
        let plain = checked(&data, &reticent, &how);
        prop_assert_eq!(quick.len(), plain.len());
        for (quick, plain) in quick.iter().zip(&plain) {
            let blind = quick.observed.as_ref().is_err_and(|why| why.0.contains("predictions alone"));
            if blind {
                continue;
            }
            prop_assert_eq!(quick.observed.is_ok(), plain.observed.is_ok(), "{}", quick.statistic);
            prop_assert_eq!(quick.replicates.len(), plain.replicates.len());
            for (a, b) in quick.replicates.iter().zip(&plain.replicates) {
                assert_same(&quick.statistic, *a, *b, ROUNDING);
            }
        }
    }

    #[test]
    fn the_observed_value_is_the_score(
        data in shape(1, 40).prop_flat_map(|s| prop_oneof![smooth(s), tied(s), extreme(s)]),
    ) {
        let (scores, how) = (classification::scores(), checking(Mode::Bayesian, 16, 0));
        let scoring = scoring(&how.options, 0);
        let mut entries = scorecard::plain(&data.examples(), &scores, &scoring);
        entries.extend(scorecard::calibrated(&data.examples(), &scores, &scoring));
        for checked in checked(&data, &scores, &how) {
            if let Ok(observed) = checked.observed {
                assert_same(&checked.statistic, observed, value_in(&entries, &checked.statistic), ROUNDING);
            }
        }
    }
}
