//! Names of the arrays in a predictions file.

use dubio_metrics::members::Form;

/// Predictions of classes; a file has one of them.
pub(crate) const CLASSIFICATION: [(&str, Form); 3] =
    [("logits", Form::Logits), ("log_probs", Form::LogProbs), ("probs", Form::Probs)];

/// Predictions of a number.
pub(crate) const REGRESSION: [&str; 8] =
    ["mean", "std", "var", "samples", "quantiles", "levels", "lower", "upper"];

/// Whether an array of this name is part of a predictions file.
pub(crate) fn means_something(name: &str) -> bool {
    canonical(name).is_some()
}

/// The name that an array is known by. Letter case does not matter, except in the name of a grouping.
pub(crate) fn canonical(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let classes = CLASSIFICATION.iter().any(|(known, _)| *known == lower);
    let others = ["labels", "targets", "groups"].contains(&&lower[..]);
    if classes || others || REGRESSION.contains(&&lower[..]) {
        return Some(lower);
    }
    let is_group = lower.starts_with("groups.");
    is_group.then(|| format!("groups{}", &name["groups".len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letter_case_matters_only_in_the_name_of_a_grouping() {
        let name = |text| canonical(text).unwrap_or_default();
        assert_eq!([name("Logits"), name("LABELS")], ["logits", "labels"]);
        assert_eq!(name("Groups.Region"), "groups.Region");
        assert_eq!(canonical("group.Region"), None);
        assert_eq!(canonical("epoch"), None);
    }
}
