//! Methods and recipes by name, and all of them with quick settings.

use dubio_infer::methods::Method;
use dubio_infer::recipe::Recipe;
use serde_json::{Value, json};

/// A method by name with some settings.
pub fn method(name: &str, settings: Value) -> Method {
    let Value::Object(settings) = settings else { panic!("a table of settings") };
    Method::parse(name, settings).unwrap_or_else(|e| panic!("{e}"))
}

/// A recipe by the method's name with some settings.
pub fn recipe(name: &str, settings: Value) -> Recipe {
    let Value::Object(settings) = settings else { panic!("a table of settings") };
    Recipe::parse(name, settings).unwrap_or_else(|e| panic!("{e}"))
}

/// Every method with settings that are quick on a target like these, and the samples they promise.
pub fn quick_methods() -> Vec<(Method, usize)> {
    let path =
        json!({"epochs": 4, "collect_epochs": 6, "collect": 5, "lr": 0.05, "collect_lr": 0.05});
    let with = |extra: Value| {
        let mut all = path.clone();
        for (key, value) in extra.as_object().expect("a table") {
            all[key] = value.clone();
        }
        all
    };
    let each = [
        ("sgd", json!({"epochs": 7, "lr": 0.05}), 1),
        ("deep-ensemble", json!({"epochs": 7, "lr": 0.05, "optimiser": "adam"}), 1),
        ("snapshot", json!({"samples": 3, "cycle_epochs": 3, "lr": 0.05}), 3),
        (
            "fge",
            json!({"samples": 3, "epochs": 3, "cycle_epochs": 2, "lr": 0.05, "lr_high": 0.05}),
            3,
        ),
        ("swa", path.clone(), 1),
        ("swag", with(json!({"samples": 4, "rank": 4})), 4),
        ("mc-dropout", json!({"epochs": 5, "samples": 6, "lr": 0.05}), 6),
        ("gaussian-dropout", json!({"epochs": 5, "samples": 6, "lr": 0.05}), 6),
        ("batch-ensemble", json!({"samples": 3, "epochs": 5, "lr": 0.05, "spread": 0.1}), 3),
        ("masksembles", json!({"samples": 3, "epochs": 5, "lr": 0.05}), 3),
        ("packed-ensemble", json!({"samples": 3, "alpha": 2.0, "epochs": 5, "lr": 0.05}), 3),
        ("sgld", json!({"burn_in": 3, "samples": 4, "thin": 2}), 4),
        ("sghmc", json!({"burn_in": 3, "samples": 4, "thin": 2}), 4),
        (
            "csgld",
            json!({"samples": 5, "cycle_epochs": 4, "noise_epochs": 2, "cycle_samples": 2, "lr": 0.05}),
            5,
        ),
        (
            "csghmc",
            json!({"samples": 5, "cycle_epochs": 4, "noise_epochs": 2, "cycle_samples": 2, "lr": 0.02}),
            5,
        ),
        ("hmc", json!({"burn_in": 5, "samples": 6, "leapfrog": 4, "step": 0.02}), 6),
        ("nuts", json!({"burn_in": 20, "samples": 6}), 6),
        ("subspace", with(json!({"samples": 4, "burn_in": 2, "rank": 2})), 4),
        ("svgd", json!({"particles": 3, "epochs": 5, "lr": 0.05}), 3),
        ("vi", json!({"epochs": 5, "samples": 4, "lr": 0.05, "draws": 2, "kl_warm_up": 2}), 4),
        (
            "rank1-vi",
            json!({"epochs": 5, "components": 2, "samples": 4, "lr": 0.05, "draws": 2, "kl_warm_up": 2}),
            4,
        ),
        ("ivon", json!({"epochs": 5, "samples": 4, "draws": 2}), 4),
        ("laplace", json!({"epochs": 5, "lr": 0.05, "predict": "mc", "samples": 4}), 4),
        // As many features as the last layer of preresnet20/8 reads, whose weights one law starts from.
        (
            "sngp",
            json!({"epochs": 5, "lr": 0.05, "features": 8, "linear_bound": 0.4, "predict": "mc", "samples": 4}),
            4,
        ),
        ("distill", json!({"burn_in": 2, "epochs": 3}), 1),
        ("bayesian-ridge", json!({}), 1),
        ("conditional-gaussian", json!({"epochs": 5, "lr": 0.05}), 1),
        ("conditional-flow", json!({"epochs": 5, "lr": 0.05, "hidden": 4, "draws": 3}), 1),
        ("sqr", json!({"epochs": 5, "lr": 0.05, "samples": 6}), 6),
    ];
    let names: Vec<&str> = each.iter().map(|(name, ..)| *name).collect();
    let cards: Vec<&str> = dubio_infer::methods::CARDS.iter().map(|card| card.name).collect();
    assert_eq!(names, cards, "a method is missing from the table of tests");
    each.into_iter().map(|(name, settings, samples)| (method(name, settings), samples)).collect()
}

/// Every method for regression alone with settings that are quick on a small table, and what else one predicts.
pub fn quick_regressions(common: &Value) -> Vec<Recipe> {
    let all = quick_methods().into_iter().map(|(method, _)| method);
    let quantiles =
        method("sqr", json!({"epochs": 5, "lr": 0.05, "predict": "quantiles", "levels": 3}));
    recipes(all.filter(|method| method.is_for_regression()).chain([quantiles]), common)
}

/// Every method for classification with settings that are quick on a few digits, and those whose
/// settings need a network.
pub fn quick_recipes(common: &Value) -> Vec<Recipe> {
    let all = quick_methods().into_iter().map(|(method, _)| method);
    let all = all.filter(|method| !method.is_for_regression());
    let perturbed = ["local", "flipout"].map(|estimator| {
        method(
            "vi",
            json!({"epochs": 5, "samples": 4, "lr": 0.05, "draws": 2, "estimator": estimator}),
        )
    });
    recipes(all.chain(perturbed), common)
}

/// In batches of 40, with settings that all have in common.
fn recipes(methods: impl Iterator<Item = Method>, common: &Value) -> Vec<Recipe> {
    let each = methods.map(|method| {
        let name = method.card().name;
        let mut settings = match name {
            "hmc" => json!({"burn_in": 2, "samples": 2, "leapfrog": 3, "step": 0.01}),
            "nuts" => json!({"burn_in": 3, "samples": 2, "max_depth": 3}),
            _ => serde_json::to_value(&method).expect("a table"),
        };
        let table = settings.as_object_mut().expect("a table");
        table.remove("method");
        table.insert("batch".to_string(), json!(40));
        table.extend(common.as_object().expect("a table").clone());
        recipe(name, settings)
    });
    each.collect()
}
