//! What a run predicts.

use dubio_data::sets::own::{self, Own};
use dubio_infer::attack::Attack;
use dubio_infer::augment::Augmentation;
use serde::{Deserialize, Serialize};

use crate::decision::Decision;
use crate::name::as_file_name;

/// A set to predict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Evaluation {
    /// The test set.
    Test,
    /// A set from elsewhere.
    Ood {
        /// Its name.
        data: String,
        /// SHA-256 of its files, where it is a user's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
    },
    /// The test set, shifted.
    Shift {
        /// The shift's name.
        shift: String,
        /// 1 to 5.
        severity: u8,
    },
    /// Decisions on the test set, under costs.
    Decision(Decision),
    /// The examples that were held back.
    Validation,
    /// The first examples of the test set, after an attack on the posterior predictive.
    Attack {
        /// The attack.
        attack: Attack,
        /// How many examples.
        examples: usize,
    },
    /// The test set with random changes at test time, each look a sample of its own.
    TestTime {
        /// The changes.
        augment: Vec<Augmentation>,
        /// Looks for each sample.
        looks: usize,
    },
}

impl Evaluation {
    /// Name of the file of predictions in a run's folder, without its extension; also the split of a score.
    pub fn name(&self) -> String {
        match self {
            Self::Test => "test".to_string(),
            Self::Ood { data, .. } => format!("ood.{}", as_file_name(&short(data))),
            Self::Shift { shift, severity } => format!("shift.{}.{severity}", as_file_name(shift)),
            Self::Decision(_) => "decision".to_string(),
            Self::Attack { attack: Attack { rule, epsilon }, .. } => {
                format!("attack.{}.{epsilon}", rule.name())
            }
            Self::TestTime { .. } => "augmented".to_string(),
            Self::Validation => "validation".to_string(),
        }
    }
}

/// The name of an OOD set in tables and files: its own or, for a user's data, that of the file or folder.
fn short(data: &str) -> String {
    match own::is_own(data).then(|| Own::parse(data)) {
        Some(Ok(own)) => own.short(),
        _ => data.to_string(),
    }
}
