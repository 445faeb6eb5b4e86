//! Whether the chains behind a file of predictions have converged.

use std::path::Path;

use dubio_metrics::diagnostics::{Diagnosis, of_classes, of_gaussians};
use dubio_metrics::members::Members as _;
use dubio_predictions::{Error, Predictions, RegressionKind, open};
use dubio_words::counted;

/// The diagnosis of a file whose members are the draws of this many chains, one chain after the other.
pub fn diagnosis(path: &Path, chains: usize) -> Result<Diagnosis, Error> {
    let refused = |what: String, advice: &str| Err(Error::file(path, what, advice));
    let whole = |members: usize| chains > 0 && members.is_multiple_of(chains);
    let unequal = |members: usize| {
        let [members, chains] =
            [(members, "member"), (chains, "chain")].map(|(n, one)| counted(n, one));
        let what = format!("{members} cannot be {chains} of one length");
        refused(what, "give the number of chains with --chains")
    };
    match open(path)? {
        Predictions::Classification(file) => match &file.labels {
            _ if !whole(file.source.members()) => unequal(file.source.members()),
            None => refused(
                "there is no array `labels`".to_string(),
                "what is looked at is the probability of the label",
            ),
            Some(labels) => Ok(of_classes(&file.source, file.form, labels, chains)),
        },
        Predictions::Regression(file) => match &file.kind {
            RegressionKind::Gaussians(means, _) if !whole(means.members()) => {
                unequal(means.members())
            }
            RegressionKind::Gaussians(means, stds) => {
                Ok(of_gaussians(means, stds, &file.targets, chains))
            }
            _ => refused(
                "draws of a target and quantiles have no members".to_string(),
                "give `mean` and `std` of every posterior sample",
            ),
        },
    }
}
