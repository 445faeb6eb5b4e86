//! Whether confidence can be believed, and what temperature scaling would change.

use dubio_metrics::check::Mode;

use crate::chapter::Method;
use crate::number::{shown, two_digits};
use crate::study::Check;

/// What dividing a method's logits by one number would do, measured by cross-validation.
pub(crate) struct Scaling {
    /// The best temperature on all test examples; the mean over runs.
    pub(crate) temperature: f64,
    /// ECE as it stands.
    pub(crate) before: f64,
    /// ECE on one half at the temperature of the other, `calibrated.ece`.
    pub(crate) after: f64,
}

/// The effect of temperature scaling, where it is known.
pub(crate) fn scaling(method: &Method<'_>) -> Option<Scaling> {
    let mean = |score: &str| method.mean("test", score).filter(|value| value.is_finite());
    let temperature = mean("temperature")?;
    Some(Scaling { temperature, before: mean("ece")?, after: mean("calibrated.ece")? })
}

impl Scaling {
    /// Whether it is worth doing: the ECE falls by at least a fifth, and the temperature differs
    /// from 1 by more than 0.02.
    pub(crate) fn helps(&self) -> bool {
        self.after < 0.8 * self.before && (self.temperature - 1.0).abs() > 0.02
    }
}

/// `(T = 2.12)`; the mean over runs where there are several.
pub(crate) fn temperature(method: &Method<'_>) -> Option<String> {
    let temperature = scaling(method)?.temperature;
    let mean = if method.count().0 > 1 { "mean " } else { "" };
    Some(format!("{mean}T = {}", shown(temperature, 2)))
}

/// What to do with a method whose calibration one number would improve.
pub(crate) fn advice(method: &Method<'_>) -> Option<String> {
    let scaling = scaling(method).filter(Scaling::helps)?;
    let [before, after] = two_digits([scaling.before, scaling.after]);
    let (name, t) = (method.name, shown(scaling.temperature, 2));
    let what = match (method.members(), method.count().0) {
        (_, 2..) => {
            format!("Scale each run of {name} by its temperature (about {t}; dubio calibrate)")
        }
        (Some(1), _) => format!("Divide the logits of {name} by {t}"),
        _ => format!("Divide the log of the mean probabilities of {name} by {t}"),
    };
    Some(format!(
        "{what}: ECE falls from {before} to {after}, measured on examples that the temperature was not fitted to."
    ))
}

/// Whether its confidence can be believed: from `sece` and its interval whether it is too high or too low on
/// average, from the check of `ece` whether the errors of single bins are larger than chance makes them.
pub(crate) fn confidence(method: &Method<'_>) -> Option<String> {
    let cell = method.cell("test", "sece")?;
    let summary = cell.summary()?;
    let (lo, hi) = summary.interval?;
    let points = shown(100.0 * summary.mean.abs(), 1);
    let error = method.mean("test", "ece").filter(|value| value.is_finite());
    let [ece] = two_digits([error.unwrap_or(summary.mean.abs())]);
    let after = scaling(method).filter(Scaling::helps).map_or(String::new(), |scaling| {
        let [_, after] = two_digits([scaling.before, scaling.after]);
        format!(", {after} after temperature scaling")
    });
    Some(match (summary.mean, calibrated(method)) {
        (m, _) if hi < 0.0 && m < 0.0 => {
            format!("overconfident by {points} percentage points (ECE {ece}{after})")
        }
        (m, _) if lo > 0.0 && m > 0.0 => {
            format!("underconfident by {points} percentage points (ECE {ece}{after})")
        }
        (_, Some(true)) => {
            format!("no sign of miscalibration (ECE {ece}, no larger than chance makes it)")
        }
        (_, Some(false)) => format!(
            "miscalibrated (ECE {ece}{after}): confidence is too high for some predictions, too low for others, \
             and right only on average"
        ),
        (_, None) => format!("confidence is right on average (ECE {ece}{after})"),
    })
}

/// Whether the ECE of every run is one that a calibrated model could have: labels are drawn from the predictions
/// themselves (the independent reading, which for one member is the only one). `None` where it was not checked.
fn calibrated(method: &Method<'_>) -> Option<bool> {
    let of = |mode: Mode| -> Vec<bool> {
        let own = |check: &&Check| {
            check.split == "test" && check.mode == mode && check.summary.statistic == "ece"
        };
        let checks = method.finished().flat_map(|(_, finished)| &finished.checks).filter(own);
        checks.filter_map(|check| check.summary.passes).collect()
    };
    let independent = of(Mode::Independent);
    let verdicts = if independent.is_empty() { of(Mode::Bayesian) } else { independent };
    (!verdicts.is_empty()).then(|| verdicts.iter().all(|passes| *passes))
}
