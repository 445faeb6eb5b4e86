//! What the predictions of a run look like, worked out once and kept beside it.

use dubio_bench::evaluation::Evaluation;
use dubio_bench::store::{Record, Store};
use dubio_metrics::score::Options;
use dubio_report::study::{Check, Sweep};
use dubio_report::view::View;
use serde::{Deserialize, Serialize};

use super::examine::{checks, sweeps};
use super::observe::{Observed, observe, uncertainties};
use crate::Error;
use crate::kept::{self, Key};
use crate::scores::predictions;

/// Name of the file in a run's folder.
const FILE: &str = "views.json";

/// Views of the test set, as it is and shifted, and of out-of-distribution sets; checks, and scores over settings.
#[derive(Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Looks {
    pub(super) views: Vec<View>,
    pub(super) checks: Vec<Check>,
    pub(super) sweeps: Vec<Sweep>,
}

/// How the predictions of a run look, with this many replicates of each check.
pub(super) fn looks(store: &Store, record: &Record, replicates: usize) -> Result<Looks, Error> {
    let predictions = predictions(store, record);
    let key = predictions.and_then(|predictions| Key::of(&("looks", predictions, replicates)));
    let path = store.run(&record.id).join(FILE);
    kept::or_else(&path, key.as_ref(), || worked_out(store, record, replicates))
}

fn worked_out(store: &Store, record: &Record, replicates: usize) -> Result<Looks, Error> {
    let (mut looks, mut inside) = (Looks::default(), None);
    for evaluation in &record.settings.predict {
        let split = evaluation.name();
        let path = store.run(&record.id).join(format!("{}.npz", record.settings.file(evaluation)));
        match evaluation {
            Evaluation::Ood { .. } => match &inside {
                Some((classes, inside)) => {
                    let outside = uncertainties(&path, *classes)?;
                    looks.views.push(View::ood(&split, *classes, inside, &outside));
                }
                // A regression has targets there too.
                None => {
                    let observed = observe(&path, Options::default().level)?;
                    looks.views.push(observed.view(&split));
                    looks.checks.extend(checks(&split, &observed, replicates));
                }
            },
            Evaluation::Shift { .. } => {
                looks.views.push(observe(&path, Options::default().level)?.view(&split))
            }
            Evaluation::Test => {
                let observed = observe(&path, Options::default().level)?;
                looks.views.push(observed.view(&split));
                looks.checks = checks(&split, &observed, replicates);
                looks.sweeps = sweeps(&observed);
                if let Observed::Classes { examples, uncertainties, .. } = &observed {
                    inside = Some((examples.classes, uncertainties.clone()));
                }
            }
            Evaluation::Decision(_)
            | Evaluation::Validation
            | Evaluation::Attack { .. }
            | Evaluation::TestTime { .. } => {}
        }
    }
    Ok(looks)
}
