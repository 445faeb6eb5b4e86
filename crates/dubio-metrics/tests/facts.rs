//! What the cards say of the scores is true of them: settings, the calibrated form, what is required, what is ranked.

mod support;

use dubio_metrics::binning::Edges;
use dubio_metrics::card::{Card, Ranked, Requires, Setting};
use dubio_metrics::classification;
use dubio_metrics::examples::Examples;
use dubio_metrics::given::{Given, possible};
use dubio_metrics::regression::{self, Outcomes};
use dubio_metrics::score::{Options, Score};
use dubio_metrics::scorecard::{self, Entry, Examined};
use support::*;

fn values<E: Examined>(
    examples: &E,
    scores: &[Box<dyn Score<E>>],
    options: &Options,
) -> Vec<Entry> {
    scorecard::plain(examples, scores, &scoring(options, 0))
}

/// A card may take what it leaves out from another's, but not what it says of the score. Families have one card.
#[test]
fn no_two_cards_say_the_same() {
    let classes = classification::scores();
    let numbers = regression::scores();
    let cards = classes.iter().map(|score| score.card()).chain(numbers.iter().map(|s| s.card()));
    let mut seen: Vec<&'static Card> = Vec::new();
    for card in cards {
        let same = |other: &&&Card| card.summary == other.summary || card.formula == other.formula;
        let other = seen.iter().find(|other| card.name != other.name && same(other));
        assert!(other.is_none(), "{} and {}", card.name, other.map_or("", |other| other.name));
        assert!(!card.summary.is_empty() && !card.formula.is_empty(), "{}", card.name);
        seen.push(card);
    }
}

/// Classified examples, more and less certain than they should be.
fn classified() -> [Data; 2] {
    [0.5, 2.0].map(|temperature| drawn(300, 6, 3, temperature))
}

fn regressed() -> Targets {
    let n = 60;
    let wave = |i: usize, by: f64| (i as f64 * by).sin();
    Targets {
        members: 2,
        locations: (0..2 * n).map(|i| wave(i, 0.7)).collect(),
        scales: (0..2 * n).map(|i| 1.5 + wave(i, 0.3)).collect(),
        targets: (0..n).map(|i| 2.0 * wave(i, 1.9)).collect(),
        groups: vec![0; n],
        narrow: false,
    }
}

/// Options that differ from the default in one setting.
fn other(setting: Setting) -> Options {
    let mut options = defaults();
    match setting {
        Setting::Bins => options.bins = 4,
        Setting::Edges => options.edges = Edges::QuantileStrict,
        Setting::Threshold => options.threshold = 0.2,
        Setting::Level => options.level = 0.5,
    }
    options
}

/// For each score, that it has another value under the other options, for some examples, exactly if its card names the setting.
fn assert_settings<E: Examined>(scores: &[Box<dyn Score<E>>], setting: Setting, pairs: &[[E; 2]]) {
    let options = other(setting);
    let of = |[usual, changed]: &[E; 2]| {
        [values(usual, scores, &defaults()), values(changed, scores, &options)]
    };
    let pairs: Vec<_> = pairs.iter().map(of).collect();
    for (s, score) in scores.iter().enumerate() {
        let differ = |[usual, changed]: &[Vec<Entry>; 2]| {
            usual[s].value.as_ref().ok() != changed[s].value.as_ref().ok()
        };
        let changes = pairs.iter().any(differ);
        assert_eq!(score.card().facts.has(setting), changes, "{} {}", score.name(), setting.name());
    }
}

#[test]
fn scores_change_with_the_settings_of_their_cards_and_no_others() {
    for setting in Setting::ALL {
        let classes = classified().map(|data| [data.examples(), data.examples()]);
        assert_settings(&classification::scores(), setting, &classes);
        let level = other(setting).level;
        let of = |kind| [regressed().outcomes(kind), regressed().outcomes_at(kind, level)];
        assert_settings(&regression::scores(), setting, &Kind::ALL.map(of));
    }
}

/// The examples with what a score may require, or without.
fn holding(costs: bool, reference: bool) -> Examples {
    let [data, _] = classified();
    let with_all = data.examples();
    let mut examples = Examples::new(data.try_pool().unwrap(), data.labels.clone());
    examples.reference = with_all.reference.clone().filter(|_| reference);
    if costs {
        (examples.costs, examples.cost) = (with_all.costs.clone(), with_all.cost.clone());
    }
    examples
}

#[test]
fn scores_of_classes_have_a_value_where_there_is_what_they_require() {
    let scores = classification::scores();
    for (costs, reference) in [(false, false), (true, false), (false, true), (true, true)] {
        let examples = holding(costs, reference);
        let entries = values(&examples, &scores, &defaults());
        for (score, entry) in scores.iter().zip(&entries) {
            let there = match score.card().facts.requires {
                Requires::Nothing => true,
                Requires::Costs => costs,
                Requires::Reference => reference,
                Requires::Quantiles => false,
            };
            assert_eq!(entry.value.is_ok(), there, "{}", entry.name);
            assert_eq!(examples.holds(score.card().facts.requires), there, "{}", entry.name);
        }
        let defined = entries.iter().filter(|entry| entry.value.is_ok()).count();
        assert_eq!(possible(classification::scores(), &examples, |_| false).len(), defined);
        assert_eq!(possible(classification::scores(), &examples, |_| true).len(), scores.len());
    }
}

#[test]
fn scores_of_numbers_that_require_quantiles_have_a_value_there_and_nowhere_else() {
    let scores = regression::scores();
    let outcomes: Vec<Outcomes> = Kind::ALL.map(|kind| regressed().outcomes(kind)).into();
    let tables: Vec<Vec<Entry>> =
        outcomes.iter().map(|outcomes| values(outcomes, &scores, &defaults())).collect();
    for (s, score) in scores.iter().enumerate() {
        let defined = Kind::ALL.iter().zip(&tables).filter(|(_, table)| table[s].value.is_ok());
        let kinds: Vec<Kind> = defined.map(|(kind, _)| *kind).collect();
        let facts = score.card().facts;
        assert_eq!(
            facts.requires == Requires::Quantiles,
            kinds == [Kind::Quantiles],
            "{}",
            score.name()
        );
        for (outcomes, kind) in outcomes.iter().zip(Kind::ALL) {
            let there = facts.requires == Requires::Nothing || kind == Kind::Quantiles;
            assert_eq!(outcomes.holds(facts.requires), there, "{}", score.name());
        }
        assert!(!facts.calibrated, "{}: there is no temperature", score.name());
    }
}

/// A temperature belongs to the mean of the members: of tempered examples, only what their probabilities say is known.
#[test]
fn scores_have_a_calibrated_form_where_tempered_examples_have_a_value() {
    let [data, _] = classified();
    let tempered = data.tempered(0.8, &defaults());
    let calibrated = data.calibrated(&defaults());
    for (score, entry) in classification::scores().iter().zip(&tempered) {
        let (name, has) = (score.name(), score.card().facts.calibrated);
        let expected = match &name[..] {
            "temperature" => false, // of what is at the best temperature, it is 1
            _ => entry.value.is_ok(),
        };
        assert_eq!(has, expected, "{name}");
        assert_eq!(
            calibrated.iter().any(|e| e.name == format!("calibrated.{name}")),
            has,
            "{name}"
        );
    }
}

#[test]
fn what_is_never_ranked_has_no_value_for_a_model_without_errors() {
    let [mut data, _] = classified();
    data.labels = data.examples().predicted.clone();
    for (score, entry) in classification::scores().iter().zip(values(
        &data.examples(),
        &classification::scores(),
        &defaults(),
    )) {
        let never = score.card().facts.ranked == Ranked::Never;
        assert_eq!(never, score.name().starts_with("misclassification."), "{}", score.name());
        assert!(!never || entry.value.is_err(), "{}", score.name());
    }
}

#[test]
fn what_is_ranked_at_the_best_temperature_only_is_the_same_there_for_every_temperature() {
    let [data, _] = classified();
    let single = data.members_from(&[0]);
    let mut sharper = single.clone();
    sharper.values.iter_mut().for_each(|logit| *logit *= 3.0);
    let (plain, other) = (single.scores(&defaults()), sharper.scores(&defaults()));
    let (calibrated, as_well) = (single.calibrated(&defaults()), sharper.calibrated(&defaults()));
    let mut seen = 0;
    for score in classification::scores() {
        if score.card().facts.ranked == Ranked::Calibrated {
            let name = score.name();
            assert!((value_in(&plain, &name) - value_in(&other, &name)).abs() > 0.1, "{name}");
            let name = format!("calibrated.{name}");
            assert!(close(value_in(&calibrated, &name), value_in(&as_well, &name), 1e-6), "{name}");
            seen += 1;
        }
    }
    assert!(seen > 0);
}
