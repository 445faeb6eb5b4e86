//! What every target does with a file once it is written.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use dubio_metrics::members::Members;
use dubio_metrics::pool::pool;
use dubio_metrics::regression::{Outcomes, Parts};
use dubio_predictions::{Predictions, RegressionKind, Source, guarded, open};
use tempfile::TempDir;

/// Numbers that are worth scoring; reading more finds nothing that fewer do not.
const SMALL: usize = 1 << 14;

/// A path in this process's own temporary folder.
pub fn place(name: &str) -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder")).path().join(name)
}

/// Opens predictions and reads all of them, if they are few. Nothing may panic; refusing is fine.
pub fn read(path: &Path) {
    let _ = guarded(|| read_all(path));
}

fn read_all(path: &Path) {
    let small = |s: &Source| s.members() * s.examples() * s.width() <= SMALL;
    match open(path) {
        Ok(Predictions::Classification(file)) if small(&file.source) => {
            let _ = pool(&file.source, file.form, &|_| {});
        }
        Ok(Predictions::Regression(file)) => {
            let _ = match &file.kind {
                RegressionKind::Gaussians(mean, std) if small(mean) => {
                    Outcomes::gaussians(mean, std, file.targets, 0.95, Parts::ALL)
                }
                RegressionKind::Samples(samples) if small(samples) => {
                    Outcomes::samples(samples, file.targets, 0.95)
                }
                RegressionKind::Quantiles(levels, quantiles) if small(quantiles) => {
                    Outcomes::quantiles(levels.clone(), quantiles, file.targets, 0.95)
                }
                _ => return,
            };
        }
        // A message is made for every refusal, and that may not panic either.
        Err(error) => drop(error.to_string()),
        Ok(_) => {}
    }
}
