//! What reports say, word for word where it matters: each case is one that could mislead a reader.

#[allow(dead_code, unused_imports)] // the other tests use the rest of it
mod npy;

use std::path::Path;
use std::process::Command;

use dubio_random::normal::normal;
use dubio_random::stream::{Generator, Stream};
use dubio_random::uniform::uniform;

/// Writes a predictions folder of these arrays.
fn predictions(folder: &Path, name: &str, arrays: &[(&str, &str, &[usize], &[f64])]) {
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    for (array, kind, shape, values) in arrays {
        let file = folder.join(format!("{array}.npy"));
        std::fs::write(file, npy::array(kind, shape, values)).expect("written");
    }
}

/// The report of some predictions as Markdown, without the backslashes that escape it.
fn report(folder: &Path, names: &[&str], arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_dubio"))
        .arg("report")
        .args(names)
        .args(["--format", "markdown", "-o", "out", "--resamples", "300"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("dubio runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(folder.join("out/report.md")).expect("a report");
    text.replace('\\', "")
}

fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

fn says_not(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "`{part}` is in\n{text}");
    }
}

const CLASSES: usize = 4;

/// Logits whose softmax is right: the label is drawn from it. Examples are the same for the same seed.
fn logits(n: usize, spread: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = Stream::root(seed).child("logits").generator();
    let values: Vec<f64> = (0..n * CLASSES).map(|_| spread * normal(&mut random)).collect();
    let labels = values.chunks(CLASSES).map(|row| f64::from(drawn(row, &mut random))).collect();
    (values, labels)
}

/// A class of the softmax of a row.
fn drawn(row: &[f64], random: &mut Generator) -> u32 {
    let weights: Vec<f64> = row.iter().map(|x| x.exp()).collect();
    let mut u = uniform(random) * weights.iter().sum::<f64>();
    for (class, weight) in weights.iter().enumerate() {
        if u < *weight {
            return class as u32;
        }
        u -= weight;
    }
    CLASSES as u32 - 1
}

fn classifier(folder: &Path, name: &str, logits: &[f64], labels: &[f64]) {
    let n = labels.len();
    predictions(
        folder,
        name,
        &[("logits", "<f8", &[n, CLASSES], logits), ("labels", "<i8", &[n], labels)],
    );
}

/// The better model is overconfident by a factor of two; as it stands the worse one has the better NLL, Brier
/// score and ECE. The conclusion names the score and the condition, and says what to do.
#[test]
fn a_winner_after_temperature_scaling_is_no_winner_as_it_stands() {
    let folder = tempfile::tempdir().expect("a folder");
    let (exact, labels) = logits(4000, 2.0, 1);
    let sharp: Vec<f64> = exact.iter().map(|x| 3.0 * x).collect();
    let mut random = Stream::root(2).generator();
    let noisy: Vec<f64> = exact.iter().map(|x| 0.8 * (x + 0.7 * normal(&mut random))).collect();
    classifier(folder.path(), "sharp", &sharp, &labels);
    classifier(folder.path(), "noisy", &noisy, &labels);
    let text = report(folder.path(), &["sharp", "noisy"], &[]);
    says(
        &text,
        &[
            "After temperature scaling (T = 2.9",
            "for sharp), sharp is better than noisy in NLL by more than chance.",
            "As they stand, without scaling, noisy is better in NLL, Brier score and ECE.",
            "Divide the logits of sharp by 2.9",
            "measured on examples that the temperature was not fitted to.",
        ],
    );
    says_not(&text, &["Use sharp"]);
}

/// Too sure of one half, not sure enough of the other: the errors cancel on average, and that is no calibration.
#[test]
fn errors_that_cancel_on_average_are_miscalibration() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut values, labels) = logits(4000, 1.5, 3);
    for (example, row) in values.chunks_mut(CLASSES).enumerate() {
        let factor = if example % 2 == 0 { 2.2 } else { 0.42 };
        row.iter_mut().for_each(|x| *x *= factor);
    }
    classifier(folder.path(), "model", &values, &labels);
    let text = report(folder.path(), &["model"], &[]);
    let why = "confidence is too high for some predictions, too low for others, and right only on average";
    says(&text, &["model: accuracy", "miscalibrated (ECE 0.", why]);
    says_not(&text, &["no sign of miscalibration"]);
}

/// Labels drawn from the predictions: nothing to complain about, and nothing to rank.
#[test]
fn a_calibrated_model_is_said_to_be_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let (values, labels) = logits(3000, 2.0, 4);
    classifier(folder.path(), "model", &values, &labels);
    let text = report(folder.path(), &["model"], &[]);
    says(
        &text,
        &["no sign of miscalibration (ECE 0.0", "passes all 4 posterior predictive checks"],
    );
    says_not(&text, &["Ranked by", "Divide", "more than chance"]);
}

/// One model too sure of itself: by how much, and what one number would change.
#[test]
fn an_overconfident_model_alone_gets_the_advice_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let (values, labels) = logits(3000, 1.5, 5);
    let sharp: Vec<f64> = values.iter().map(|x| 2.0 * x).collect();
    classifier(folder.path(), "model", &sharp, &labels);
    let text = report(folder.path(), &["model"], &[]);
    says(&text, &["overconfident by ", "Divide the logits of model by ", ": ECE falls from 0.1"]);
}

/// A check says by which rule it passes, and its p-value is two-sided: none passes with the p-value of one that
/// fails.
#[test]
fn checks_name_their_rule_and_have_two_sided_p_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let (values, labels) = logits(3000, 1.5, 5);
    let sharp: Vec<f64> = values.iter().map(|x| 2.0 * x).collect();
    classifier(folder.path(), "model", &sharp, &labels);
    let text = report(folder.path(), &["model"], &[]);
    says(&text, &["(rule interval); p is the two-sided p-value by rank", "fails, p = 0.007"]);
    says_not(&text, &["p = 1.00"]);
}

/// Every label has the largest probability, on every half: the temperature has no best value.
#[test]
fn where_the_likelihood_has_no_best_temperature_the_brier_score_ranks() {
    let folder = tempfile::tempdir().expect("a folder");
    let (values, _) = logits(200, 2.0, 6);
    let top = |row: &[f64]| (0..CLASSES).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap_or(0);
    let labels: Vec<f64> = values.chunks(CLASSES).map(|row| top(row) as f64).collect();
    let sharp: Vec<f64> = values.iter().map(|x| 2.0 * x).collect();
    classifier(folder.path(), "flat", &values, &labels);
    classifier(folder.path(), "sharp", &sharp, &labels);
    let text = report(folder.path(), &["flat", "sharp"], &[]);
    says(&text, &["Ranked by Brier score: NLL after temperature scaling is undefined here"]);
    says_not(&text, &["second choice"]);
}

/// Fifteen copies of one model with noise of their own. The best of them was chosen by looking, so the correction is
/// for all pairs, not for the fourteen comparisons with it; none is worse.
#[test]
fn fifteen_equal_models_are_not_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let (exact, labels) = logits(600, 2.0, 7);
    let names: Vec<String> = (0..15).map(|i| format!("m{i:02}")).collect();
    for (i, name) in names.iter().enumerate() {
        let mut random = Stream::root(100 + i as u64).generator();
        let noisy: Vec<f64> = exact.iter().map(|x| x + 0.3 * normal(&mut random)).collect();
        classifier(folder.path(), name, &noisy, &labels);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let text = report(folder.path(), &names, &[]);
    says(&text, &["corrected for all 105 pairs of methods by Holm's method", "| p (Holm) |"]);
    says(&text, &["of 15 methods, but no other is worse by more than chance."]);
}

/// Standard normal targets, and what a regression says of them.
fn targets(n: usize) -> Vec<f64> {
    let mut random = Stream::root(8).child("targets").generator();
    (0..n).map(|_| normal(&mut random)).collect()
}

/// The quantiles of `N(0, scale^2)`, the same for every example.
fn quantile_file(folder: &Path, name: &str, scale: f64, crossed: usize) {
    // scipy.stats.norm.ppf([0.05, 0.25, 0.5, 0.75, 0.95])
    let at =
        [-1.6448536269514729, -0.6744897501960817, 0.0, 0.6744897501960817, 1.6448536269514722];
    let n = 400;
    let mut values: Vec<f64> = at.iter().flat_map(|q| vec![scale * q; n]).collect();
    for example in 0..crossed {
        values.swap(example, n + example);
    }
    predictions(
        folder,
        name,
        &[
            ("quantiles", "<f8", &[5, n], &values),
            ("levels", "<f8", &[5], &[0.05, 0.25, 0.5, 0.75, 0.95]),
            ("targets", "<f8", &[n], &targets(n)),
        ],
    );
}

/// A file of quantiles has scores at its own levels, and conclusions; it was an empty sentence and a ranking.
#[test]
fn quantiles_are_reported_at_their_own_levels() {
    let folder = tempfile::tempdir().expect("a folder");
    quantile_file(folder.path(), "good", 1.0, 0);
    let text = report(folder.path(), &["good"], &[]);
    says(
        &text,
        &[
            "good: 90 % intervals contain 9",
            "consistent with 90 %",
            "all 5 predicted quantiles are consistent with their levels",
            "| pinball ↓ |",
            "| interval_score ↓ |",
        ],
    );
    says_not(&text, &["good: .", "Ranked by", "cross"]);
    // At another level that it has, and at one that it has not.
    let half = report(folder.path(), &["good"], &["--level", "0.5"]);
    says(&half, &["good: 50 % intervals contain "]);
    let none = report(folder.path(), &["good"], &["--level", "0.8"]);
    says_not(&none, &["80 % intervals contain"]);
    says(&none, &["| pinball ↓ |"]);
}

#[test]
fn quantiles_that_are_off_or_cross_are_said_to() {
    let folder = tempfile::tempdir().expect("a folder");
    quantile_file(folder.path(), "narrow", 0.5, 12);
    let text = report(folder.path(), &["narrow"], &[]);
    says(
        &text,
        &[
            "narrow: the predicted quantiles of 12 of 400 examples cross.",
            "Sort the quantiles of each example",
            ": too narrow",
            "4 of 5 predicted quantiles are off by more than chance",
        ],
    );
}

#[test]
fn two_files_of_quantiles_are_ranked_by_the_pinball_loss() {
    let folder = tempfile::tempdir().expect("a folder");
    quantile_file(folder.path(), "good", 1.0, 0);
    quantile_file(folder.path(), "narrow", 0.4, 0);
    let text = report(folder.path(), &["narrow", "good"], &[]);
    says(&text, &["good is better than narrow in pinball loss by more than chance."]);
    says(&text, &["Ranked by pinball loss: NLL is undefined here"]);
}

/// Draws have no density. Both are ranked by what both have, and that is said.
#[test]
fn a_gaussian_and_draws_are_ranked_by_crps() {
    let folder = tempfile::tempdir().expect("a folder");
    let n = 300;
    let truth = targets(n);
    predictions(
        folder.path(),
        "gaussian",
        &[
            ("mean", "<f8", &[n], &vec![0.0; n]),
            ("std", "<f8", &[n], &vec![1.0; n]),
            ("targets", "<f8", &[n], &truth),
        ],
    );
    let mut random = Stream::root(9).generator();
    let draws: Vec<f64> = (0..20 * n).map(|_| 1.0 + normal(&mut random)).collect();
    predictions(
        folder.path(),
        "draws",
        &[("samples", "<f8", &[20, n], &draws), ("targets", "<f8", &[n], &truth)],
    );
    let text = report(folder.path(), &["draws", "gaussian"], &[]);
    says(
        &text,
        &[
            "gaussian is better than draws in CRPS by more than chance.",
            "Ranked by CRPS: NLL is undefined here",
            "| 1 | gaussian |",
            "| 2 | draws |",
        ],
    );
}

/// 95 % intervals that contain 93 % of 200 targets may be right, those that contain 90 % are too narrow:
/// `statsmodels.stats.proportion.proportion_confint(k, 200, method="wilson")` is (0.886, 0.958) for 186 and
/// (0.851, 0.934) for 180.
#[test]
fn intervals_are_consistent_with_their_level_or_too_narrow() {
    let folder = tempfile::tempdir().expect("a folder");
    let n = 200;
    for (inside, said) in [
        (186, "95 % intervals contain 93.0 % of the targets, consistent with 95 %"),
        (180, "95 % intervals contain 90.0 % of the targets: too narrow"),
    ] {
        let truth: Vec<f64> = (0..n).map(|i| if i < inside { 0.0 } else { 3.0 }).collect();
        predictions(
            folder.path(),
            "model",
            &[
                ("mean", "<f8", &[n], &vec![0.0; n]),
                ("std", "<f8", &[n], &vec![1.0; n]),
                ("targets", "<f8", &[n], &truth),
            ],
        );
        let text = report(folder.path(), &["model"], &[]);
        says(&text, &[said]);
        says_not(&text, &["as promised"]);
    }
}

/// The fixtures: accuracy 0.775 and 0.675 (by more than chance), ECE 0.158 and 0.056, equal after temperature scaling.
#[test]
fn of_two_models_that_are_not_told_apart_each_is_named_by_what_it_is_better_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let files = ["ensemble.npz", "ensemble-reference.npz"].map(|name| fixtures.join(name));
    let names = files.each_ref().map(|path| path.to_str().expect("a path"));
    let text = report(folder.path(), &names, &[]);
    says(
        &text,
        &[
            "ensemble and ensemble-reference do not differ in NLL by more than chance.",
            "ensemble is better in accuracy.",
            "As they stand, without scaling, ensemble-reference is better in ECE.",
        ],
    );
}
