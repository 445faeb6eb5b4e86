//! Settings: read, written, checked and refused.

use std::collections::BTreeSet;

use dubio_infer::Error;
use dubio_infer::fit::Options;
use dubio_infer::methods::sgd::Descent;
use dubio_infer::methods::{CARDS, Method};
use dubio_infer::recipe::Recipe;
use dubio_infer::wrong::{Kind, Wrong};
use dubio_random::stream::Stream;
use serde_json::{Map, Value, json};

use crate::Single;
use crate::support::*;

fn table(settings: &impl serde::Serialize) -> Map<String, Value> {
    let Ok(Value::Object(table)) = serde_json::to_value(settings) else { panic!("a table") };
    table
}

fn refused(name: &str, settings: Value) -> String {
    let Value::Object(settings) = settings else { panic!("a table") };
    match Recipe::parse(name, settings.clone()) {
        Err(error @ (Error::Setting { .. } | Error::UnknownMethod { .. })) => error.to_string(),
        other => panic!("{name} {settings:?}: {other:?}"),
    }
}

fn wrong(name: &str, settings: Value) -> Wrong {
    let Value::Object(settings) = settings else { panic!("a table") };
    match Recipe::parse(name, settings.clone()) {
        Err(Error::Setting { method, wrong }) if method == name => wrong,
        other => panic!("{name} {settings:?}: {other:?}"),
    }
}

#[test]
fn settings_come_back_from_json_as_they_went() {
    for (method, _) in quick_methods() {
        let name = method.card().name;
        let text = serde_json::to_string(&method).expect("JSON");
        assert_eq!(serde_json::from_str::<Method>(&text).expect(name), method);
        let mut settings = table(&method);
        assert_eq!(settings.remove("method"), Some(json!(name)));
        assert_eq!(Method::parse(name, settings.clone()).expect(name), method);
        let setup = json!({"batch": 7, "prior_std": 0.3, "members": 2, "layers": ["fc1"],
            "augment": ["crop"], "start": ["a.safetensors"]});
        settings.extend(setup.as_object().expect("a table").clone());
        let recipe = Recipe::parse(name, settings).expect(name);
        let text = serde_json::to_string(&recipe).expect("JSON");
        assert_eq!(serde_json::from_str::<Recipe>(&text).expect(name), recipe);
    }
}

#[test]
fn every_number_comes_back_from_json_to_the_last_bit() {
    for i in 1..2000 {
        let lr = (f64::from(i) * 0.37).sin().abs() * 10_f64.powi(i % 12 - 8);
        let method = Method::Sgd(Descent { lr, ..Descent::default() }.into());
        let text = serde_json::to_string(&method).expect("JSON");
        assert_eq!(serde_json::from_str::<Method>(&text).expect("a method"), method, "{text}");
    }
}

#[test]
fn one_file_one_change_and_one_layer_need_no_list() {
    let one = recipe("sgd", json!({"start": "a", "augment": "flip", "layers": "fc2"}));
    let list = recipe("sgd", json!({"start": ["a"], "augment": ["flip"], "layers": ["fc2"]}));
    assert_eq!(one, list);
}

#[test]
fn no_method_has_a_setting_that_every_method_has() {
    for card in CARDS {
        let recipe = Recipe::named(card.name).expect("defaults");
        let shared = table(&recipe.setup);
        let twice: Vec<String> = table(&recipe.method)
            .into_iter()
            .map(|(name, _)| name)
            .filter(|n| shared.contains_key(n))
            .collect();
        assert!(twice.is_empty(), "{}: {twice:?} could not be set", card.name);
    }
}

/// Settings that methods share have defaults that differ; what a user leaves out has the method's own.
#[test]
fn what_is_left_out_has_the_methods_own_default() {
    for card in CARDS {
        let all = Method::parse(card.name, Map::new()).expect(card.name);
        let table = table(&all);
        for (key, value) in table.iter().filter(|(key, _)| *key != "method") {
            let one = Map::from_iter([(key.clone(), value.clone())]);
            let read = Method::parse(card.name, one).expect(card.name);
            assert_eq!(read, all, "{} with its default {key}", card.name);
        }
    }
    let default =
        |name: &str, key: &str| table(&Method::parse(name, Map::new()).expect(name))[key].clone();
    // The rates and schedules that docs/results was made with.
    assert_eq!((default("sgld", "lr"), default("sghmc", "lr")), (json!(0.05), json!(0.01)));
    assert_eq!((default("csgld", "lr"), default("csghmc", "lr")), (json!(0.5), json!(0.1)));
    assert_ne!(default("sgd", "schedule"), default("swag", "schedule"));
}

#[test]
fn an_unknown_setting_is_refused_with_the_nearest_known_one() {
    for card in CARDS {
        for (wrong, right) in [("sample", "samples"), ("membres", "members"), ("lrr", "lr")] {
            let message = refused(card.name, json!({ wrong: 1 }));
            assert!(message.starts_with(&format!("{}: ", card.name)), "{message}");
            assert!(message.contains(&format!("`{wrong}`")), "{message}");
            let names = table(&Recipe::named(card.name).expect("defaults").method);
            if names.contains_key(right) || right == "members" {
                assert!(message.contains(&format!("did you mean `{right}`?")), "{message}");
            }
        }
        let message = refused(card.name, json!({ "enthusiasm": 1 }));
        assert!(message.contains("`enthusiasm`; there are "), "{message}");
        assert!(message.contains("prior_std"), "those of every method too: {message}");
    }
}

#[test]
fn an_error_says_which_method_and_which_setting_is_meant() {
    for card in CARDS {
        let recipe = Recipe::named(card.name).expect("defaults");
        let names = table(&recipe.method).into_iter().chain(table(&recipe.setup));
        for (setting, _) in names.filter(|(name, _)| name != "method") {
            let value = if setting == "warm_up" { json!(true) } else { json!({}) };
            let wrong = wrong(card.name, json!({ setting.clone(): value }));
            assert_eq!((wrong.settings, wrong.kind), (vec![setting], Kind::Type), "{}", card.name);
        }
        let unknown = wrong(card.name, json!({ "enthusiasm": 1 }));
        assert_eq!((&unknown.settings[0][..], unknown.kind), ("enthusiasm", Kind::Unknown));
        let none = wrong(card.name, json!({ "batch": 0 }));
        assert_eq!((&none.settings[0][..], none.kind), ("batch", Kind::Value));
        let both = wrong(card.name, json!({ "prior_std": 1.0, "weight_decay": 1.0 }));
        assert_eq!(
            (&both.settings[..], both.kind),
            (&["prior_std", "weight_decay"].map(String::from)[..], Kind::Value)
        );
    }
    assert!(
        matches!(Recipe::named("sgdd"), Err(Error::UnknownMethod { name, .. }) if name == "sgdd")
    );
    let of = |value: Value| wrong("sgd", value).what;
    assert_eq!(of(json!({ "lr": "big" })), "`lr`: expected a number, got \"big\"");
    assert_eq!(of(json!({ "epochs": 1.5 })), "`epochs`: expected a whole number from 0, got 1.5");
    assert_eq!(of(json!({ "members": -1 })), "`members`: expected a whole number from 0, got -1");
    assert_eq!(of(json!({ "prior_std": [] })), "`prior_std`: expected a number, got []");
}

/// What each setting cannot be, whichever method has it. None: every whole number will do.
const IMPOSSIBLE: &[(&str, &[&str])] = &[
    ("lr", &["0", "-1"]),
    ("lr_high", &["0"]),
    ("lr_low", &["0", "1e9"]),
    ("collect_lr", &["-0.1"]),
    ("schedule", &["\"cosin\"", "\"step:0:1\""]),
    ("optimiser", &["\"sdg\""]),
    ("covariance", &["\"half\""]),
    ("momentum", &["1", "-0.1"]),
    ("friction", &["0", "1.5"]),
    ("temperature", &["-1"]),
    ("rate", &["1", "-0.1"]),
    ("step", &["0"]),
    ("target_acceptance", &["1", "-0.5"]),
    ("coordinate_std", &["0"]),
    ("samples", &["0"]),
    ("thin", &["0"]),
    ("leapfrog", &["0"]),
    ("jitter", &["1", "-0.1"]),
    ("max_depth", &["0"]),
    ("rank", &["0"]),
    ("cycle_epochs", &["0", "1"]),
    ("cycle_samples", &["0", "1000"]),
    ("collect", &["0", "1000"]),
    ("collect_epochs", &["0"]),
    ("noise_epochs", &["0", "1000"]),
    ("epochs", &[]),
    ("burn_in", &[]),
    ("noise_from", &[]),
    ("particles", &["0", "2000"]),
    ("initial_std", &["0"]),
    ("log_std_lr", &["0"]),
    ("kl_weight", &["-1"]),
    ("kl_warm_up", &[]),
    ("estimator", &["\"weight\""]),
    ("position", &["\"inputs\""]),
    ("draws", &["0"]),
    ("curvature", &["0"]),
    ("curvature_momentum", &["1", "-0.1"]),
    ("augmentation_factor", &["0", "-1"]),
    ("curvature_examples", &["-1", "1.5", "2000000"]),
    ("structure", &["\"kron\""]),
    ("noise_scale", &["0", "-1"]),
    ("prior_precision", &["0", "1e300", "\"best\""]),
    ("predict", &["\"glm\""]),
    ("student_lr", &["0"]),
    ("features", &["0", "20000"]),
    ("length_scale", &["0"]),
    ("directions", &["\"random\""]),
    ("linear_bound", &["0"]),
    ("conv_bound", &["0"]),
    ("hidden", &["0", "257"]),
    ("signs", &["1", "-0.1"]),
    ("spread", &["-1"]),
    ("factor_lr", &["-1"]),
    ("components", &["0"]),
    ("factor_prior_std", &["0"]),
    ("scale", &["0.5", "1000"]),
    ("alpha", &["0", "1000"]),
    ("levels", &["0"]),
    ("iterations", &["0"]),
    ("prior", &["\"cauchy\""]),
    ("narrow_std", &["0"]),
    ("wide_fraction", &["0", "1"]),
];

#[test]
fn an_impossible_setting_is_refused_by_name() {
    let mut seen = BTreeSet::new();
    for card in CARDS {
        for (name, value) in table(&Recipe::named(card.name).expect("defaults").method) {
            if name == "method" {
                continue;
            }
            let listed = IMPOSSIBLE.iter().find(|(known, _)| *known == name);
            let (_, values) = listed.unwrap_or_else(|| panic!("say what {name} cannot be"));
            // Of another type, and what JSON makes of NaN.
            let other = if value.is_number() { "\"fast\"" } else { "3" };
            for text in [other, "null", "-0.5"].iter().chain(*values) {
                if (card.name, &name[..], *text) == ("snapshot", "cycle_epochs", "1") {
                    continue; // that one may be as short
                }
                if (&name[..], *text) == ("prior_precision", "3") {
                    continue; // a name or a number
                }
                let value: Value = serde_json::from_str(text).expect("JSON");
                let wrong = wrong(card.name, json!({ &name[..]: value }));
                assert!(wrong.settings.contains(&name), "{} {text}: {wrong:?}", card.name);
                assert!(wrong.what.contains(&format!("`{name}`")), "{} {text}: {wrong}", card.name);
            }
            seen.insert(name);
        }
    }
    assert_eq!(seen.len(), IMPOSSIBLE.len(), "a setting that no method has: {seen:?}");
}

#[test]
fn an_impossible_setup_is_refused_by_name_with_every_method() {
    for card in CARDS {
        for (name, values) in [
            ("batch", &["0", "-1", "\"all\""][..]),
            ("members", &["0", "1.5"]),
            ("prior_std", &["0", "-1"]),
            ("weight_decay", &["-1", "\"NaN\""]),
            ("layers", &["3", "[]", "[1]"]),
            ("augment", &["\"crp\"", "[\"flip\", 1]"]),
            ("start", &["3"]),
            ("noise", &["0", "-1", "\"loud\"", "[]"]),
        ] {
            for text in values {
                let value: Value = serde_json::from_str(text).expect("JSON");
                let message = refused(card.name, json!({ name: value }));
                assert!(message.contains(&format!("`{name}`")), "{} {text}: {message}", card.name);
            }
        }
        let message = refused(card.name, json!({"prior_std": 1, "weight_decay": 1}));
        assert!(message.contains("`prior_std`") && message.contains("`weight_decay`"));
    }
}

#[test]
fn settings_that_were_not_read_from_a_table_are_checked_all_the_same() {
    let mut bad = Recipe::named("sgd").expect("defaults");
    bad.method = Method::Sgd(Descent { lr: f64::NAN, ..Descent::default() }.into());
    let whole =
        bad.fit(&Single::default(), "mlp-4", &digits(40), &Stream::root(0), &Options::default());
    let message = whole.err().expect("refused").error.to_string();
    assert!(message.contains("`lr`") && message.contains("NaN"), "{message}");
    let mut bad = Recipe::named("sgd").expect("defaults");
    bad.setup.batch = 0;
    let whole =
        bad.fit(&Single::default(), "mlp-4", &digits(40), &Stream::root(0), &Options::default());
    assert!(whole.is_err_and(|e| e.error.to_string().contains("`batch`")));
}
