//! What papers call a score, for sentences and for tables in a paper.

/// Public names and what papers print.
const PRINTED: [(&str, &str); 44] = [
    ("accuracy", "accuracy"),
    ("error", "error"),
    ("top5_accuracy", "top-5 accuracy"),
    ("macro_f1", "macro F1"),
    ("nll", "NLL"),
    ("brier", "Brier score"),
    ("brier_per_class", "Brier score per class"),
    ("ece", "ECE"),
    ("sece", "signed ECE"),
    ("mce", "MCE"),
    ("sce", "SCE"),
    ("ace", "ACE"),
    ("tace", "TACE"),
    ("uce", "UCE"),
    ("classwise_uce", "class-wise UCE"),
    ("mmce", "MMCE"),
    ("mmce_weighted", "weighted MMCE"),
    ("ks", "KS calibration error"),
    ("debiased_ece", "debiased ECE"),
    ("aurc", "AURC"),
    ("au_arc", "AU-ARC"),
    ("e_aurc", "E-AURC"),
    ("agreement", "agreement"),
    ("total_variation", "total variation"),
    ("decision_cost", "decision cost"),
    ("decision_cost_mean", "mean decision cost"),
    ("uncertainty.total", "total uncertainty"),
    ("uncertainty.data", "data uncertainty"),
    ("uncertainty.knowledge", "knowledge uncertainty"),
    ("mse", "MSE"),
    ("rmse", "RMSE"),
    ("mae", "MAE"),
    ("pearson", "Pearson correlation"),
    ("pslml", "sum of log densities"),
    ("lml", "log marginal likelihood"),
    ("crps", "CRPS"),
    ("pinball", "pinball loss"),
    ("picp", "PICP"),
    ("mpiw", "MPIW"),
    ("interval_score", "interval score"),
    ("qce", "QCE"),
    ("sqce", "signed QCE"),
    ("quantile_calibration", "quantile calibration error"),
    ("composite.robustness", "robustness"),
];

/// A score in a sentence: `NLL after temperature scaling` for `calibrated.nll`. A name that papers do not know
/// stays as it is.
pub(crate) fn in_words(score: &str) -> String {
    if let Some(plain) = score.strip_prefix("calibrated.") {
        return format!("{} after temperature scaling", in_words(plain));
    }
    if let Some(found) = PRINTED.iter().find(|(name, _)| *name == score) {
        return found.1.to_string();
    }
    let parts: Vec<&str> = score.split('.').collect();
    match &parts[..] {
        ["worst_group", rest @ ..] => format!("worst-group {}", in_words(&rest.join("."))),
        ["p10_group", rest @ ..] => format!("10th-percentile group {}", in_words(&rest.join("."))),
        ["median_group", rest @ ..] => format!("median group {}", in_words(&rest.join("."))),
        ["misclassification", kind, by] => format!("{} of errors by {}", area(kind), measure(by)),
        ["ood", set @ .., kind, by] => {
            format!("{} on {} by {}", area(kind), set.join("."), measure(by))
        }
        _ => score.to_string(),
    }
}

/// The same as the heading of a column in a paper: with a capital, and short.
pub(crate) fn heading(score: &str) -> String {
    let words = match score.strip_prefix("calibrated.") {
        Some(plain) => format!("{} (scaled)", in_words(plain)),
        None => in_words(score),
    };
    if words == score && PRINTED.iter().all(|(name, _)| *name != score) {
        return words; // a user's own score
    }
    capital(&words)
}

fn area(kind: &str) -> &str {
    match kind {
        "auroc" => "AUROC",
        "aupr" => "AUPR",
        "fpr95" => "FPR95",
        other => other,
    }
}

fn measure(by: &str) -> &str {
    match by {
        "total" => "entropy",
        "model" => "mutual information",
        other => other,
    }
}

/// With a capital letter at the beginning.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// `a, b and c`.
pub(crate) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_string(),
        [head @ .., last] => {
            let head: Vec<&str> = head.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", head.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dubio_metrics::{classification, regression};

    #[test]
    fn scores_are_called_what_papers_call_them() {
        assert_eq!(in_words("calibrated.nll"), "NLL after temperature scaling");
        assert_eq!(in_words("ood.svhn.test.auroc.total"), "AUROC on svhn.test by entropy");
        assert_eq!(heading("calibrated.nll"), "NLL (scaled)");
        assert_eq!(heading("accuracy"), "Accuracy");
        assert_eq!(heading("my.own"), "my.own");
    }

    /// A new score gets a name here, too.
    #[test]
    fn every_score_has_a_printed_name() {
        let classes = classification::scores().iter().map(|s| s.name()).collect::<Vec<_>>();
        let numbers = regression::scores().iter().map(|s| s.name()).collect::<Vec<_>>();
        for name in classes.iter().chain(&numbers).filter(|name| **name != "temperature") {
            let known = PRINTED.iter().any(|(own, _)| own == name);
            assert!(known || in_words(name) != *name, "{name}");
        }
    }
}
