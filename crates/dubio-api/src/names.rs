//! Names of scores: which there are, which are wanted, which was meant.

use dubio_metrics::card::Card;
use dubio_metrics::curves::mixing;
use dubio_metrics::detection::{Measure, Signal};
use dubio_metrics::scorecard::composite;
use dubio_metrics::{classification, regression};
use dubio_words::{nearest, unknown_of_many};

use crate::Error;

/// A score that can be asked for, and what it is of.
pub struct Known {
    /// Public name.
    pub name: String,
    /// Its description.
    pub card: &'static Card,
    /// Classification, detection, regression or studies.
    pub task: &'static str,
}

/// Every score by its public name; families with a name to fill in stand as `ood.NAME....`.
pub fn known() -> Vec<Known> {
    let mut all: Vec<Known> = Vec::new();
    let classified = classification::scores();
    all.extend(classified.iter().map(|s| Known {
        name: s.name(),
        card: s.card(),
        task: "classification",
    }));
    for signal in Signal::ALL {
        for measure in Measure::ALL {
            let name = measure.name("ood.NAME", signal);
            all.push(Known { name, card: measure.card(), task: "detection" });
        }
    }
    let regressed = regression::scores();
    all.extend(regressed.iter().map(|s| Known {
        name: s.name(),
        card: s.card(),
        task: "regression",
    }));
    let composed = composite::CARDS.into_iter().chain([&mixing::CARD]);
    all.extend(composed.map(|card| Known { name: card.name.to_string(), card, task: "studies" }));
    all
}

/// Which scores `--scores` asks for.
pub struct Selection(Option<Vec<String>>);

impl Selection {
    /// All, when nothing was asked for.
    pub fn new(names: &[String]) -> Result<Self, Error> {
        if names.is_empty() {
            return Ok(Self(None));
        }
        names
            .iter()
            .map(|name| meant(name))
            .collect::<Result<_, _>>()
            .map(|names| Self(Some(names)))
    }

    /// These scores, which must exist.
    pub(crate) fn of(names: Vec<String>) -> Self {
        Self(Some(names))
    }

    /// All.
    pub(crate) fn all() -> Self {
        Self(None)
    }

    /// Whether this score is to be worked out: it, its family (`misclassification`, `ood.far`), or
    /// a pattern ending in `*` was named.
    pub fn wants(&self, name: &str) -> bool {
        let Some(asked) = &self.0 else { return true };
        asked.iter().any(|a| matches(a, name))
    }

    /// Whether a plain score is to be worked out for groups: it was asked for, or one of its forms
    /// over groups was.
    pub fn wants_grouped(&self, name: &str) -> bool {
        let Some(asked) = &self.0 else { return true };
        let over_groups = |a: &str| {
            a != base(a) && !a.starts_with("calibrated.") && matches(base(a), name)
                || ["group", "worst_group", "p10_group", "median_group"]
                    .iter()
                    .any(|kind| matches(a, kind))
        };
        asked.iter().any(|a| matches(a, name) || over_groups(a))
    }

    /// Whether it was named in full.
    pub fn names(&self, name: &str) -> bool {
        self.0.as_ref().is_some_and(|asked| asked.iter().any(|a| a == name))
    }

    /// Whether it, its calibrated form or a form of it over groups was asked for, other than by asking for everything.
    pub fn asks_for(&self, plain: &str) -> bool {
        self.0
            .as_ref()
            .is_some_and(|asked| asked.iter().any(|a| base(a) != "*" && matches(base(a), plain)))
    }

    /// Whether any form of a plain score is to be worked out: it, its calibrated form or one over groups.
    pub(crate) fn uses(&self, plain: &str) -> bool {
        let calibrated = format!("calibrated.{plain}");
        self.wants_grouped(plain) || self.wants(&calibrated) || self.asks_for(plain)
    }

    /// What was asked for and is not among these.
    pub fn missing<'a>(&'a self, there: &[&str]) -> Vec<&'a str> {
        let asked = self.0.iter().flatten().map(|a| &a[..]);
        asked.filter(|a| !there.iter().any(|name| matches(a, name))).collect()
    }
}

fn matches(asked: &str, name: &str) -> bool {
    match asked.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => {
            name.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        }
    }
}

const GROUP_KINDS: [&str; 3] = ["worst_group.", "p10_group.", "median_group."];

/// A name asked for, as scores spell it. A valid name stays as it is, since out-of-distribution sets have letters of
/// their own; otherwise lower case, `_` for `-` and [`same_uncertainty`] are tried.
fn meant(asked: &str) -> Result<String, Error> {
    let plain = asked.to_ascii_lowercase().replace('-', "_");
    let error = match check(asked) {
        Ok(()) => return Ok(asked.to_string()),
        Err(error) => error,
    };
    let others = [plain.clone(), same_uncertainty(asked), same_uncertainty(&plain)];
    others.into_iter().find(|name| check(name).is_ok()).ok_or(error)
}

/// The name by which a score knows this uncertainty: detection scores call it `model`, as Vadera et al. do,
/// and `uncertainty.knowledge` is its mean.
pub fn same_uncertainty(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((rest, "knowledge")) => format!("{rest}.model"),
        Some((rest, "model")) => format!("{rest}.knowledge"),
        _ => name.to_string(),
    }
}

/// Checks that a name asked for could be the name of a score; otherwise says which ones are near.
fn check(asked: &str) -> Result<(), Error> {
    let bare = base(asked);
    let names: Vec<String> = known().into_iter().map(|k| k.name).collect();
    let families = ["calibrated", "group", "worst_group", "p10_group", "median_group"];
    if names.iter().any(|name| matches(bare, name)) || families.contains(&bare) {
        return Ok(());
    }
    if let Some(rest) = asked.strip_prefix("ood.") {
        let parts: Vec<&str> = rest.rsplitn(3, '.').collect();
        let generic = match parts[..] {
            [signal, measure, _] => format!("ood.NAME.{measure}.{signal}"),
            _ => return Ok(()), // a set's name, which only the command line knows
        };
        if names.contains(&generic) {
            return Ok(());
        }
    }
    let near = nearest(bare, names.iter().map(String::as_str));
    Err(Error::Unfit(unknown_of_many("score", asked, near, "dubio list scores")))
}

/// The plain score that a derived one is made of: `calibrated.nll` of `nll`.
pub fn base(name: &str) -> &str {
    if let Some(rest) = name.strip_prefix("calibrated.") {
        return rest;
    }
    for kind in GROUP_KINDS {
        if let Some(rest) = name.strip_prefix(kind) {
            return rest;
        }
    }
    let group = name.strip_prefix("group.").and_then(|rest| rest.split_once('.'));
    group.map_or(name, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_name_selects_its_members_and_nothing_else() {
        assert!(matches("misclassification", "misclassification.auroc.total"));
        assert!(matches("calibrated.n*", "calibrated.nll"));
        assert!(!matches("ece", "ece2") && !matches("brier", "brier_per_class"));
    }

    #[test]
    fn a_score_over_groups_is_worked_out_when_any_of_its_forms_is_asked_for() {
        let wants = |asked: &str, name: &str| {
            Selection::new(&[asked.to_string()]).is_ok_and(|s| s.wants_grouped(name))
        };
        for asked in ["ece", "group.3.ece", "worst_group.ece", "p10_group.ece", "worst_group"] {
            assert!(wants(asked, "ece"), "{asked}");
        }
        assert!(!wants("calibrated.ece", "ece") && !wants("group.3.ece", "nll"));
    }

    #[test]
    fn knowledge_and_model_uncertainty_are_one() {
        for (asked, known) in [
            ("ood.Far.auroc.knowledge", "ood.Far.auroc.model"),
            ("misclassification.fpr95.knowledge", "misclassification.fpr95.model"),
            (
                "calibrated.misclassification.aupr.Knowledge",
                "calibrated.misclassification.aupr.model",
            ),
            ("uncertainty.model", "uncertainty.knowledge"),
            ("uncertainty.knowledge", "uncertainty.knowledge"),
        ] {
            assert_eq!(meant(asked).ok().as_deref(), Some(known), "{asked}");
        }
    }

    #[test]
    fn a_misspelt_name_is_told_the_nearest_right_one() {
        let message = check("calibrated.nl").unwrap_err().to_string();
        assert!(message.contains("called `calibrated.nl`; did you mean `nll`"), "{message}");
        assert!(check("ood.far.auroc.total").is_ok() && check("group.3.ece").is_ok());
        assert!(check("ood.far.auroc.totl").is_err());
    }
}
