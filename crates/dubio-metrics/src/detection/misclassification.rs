//! `misclassification.{auroc,aupr,fpr95}.{confidence,total,model}`: detecting wrong predictions.

use std::sync::{Arc, OnceLock};

use super::{Detection, Measure, ONE_MEMBER, Signal};
use super::{aupr, auroc, fpr95};
use crate::card::{Card, Facts, Ranked};
use crate::examples::Examples;
use crate::known::Of;
use crate::remember::remember;
use crate::score::{Needs, Options, Preparation, Score, Undefined};

/// How well an uncertainty tells the wrong predictions (positives) from the right ones. Not
/// comparable between models, whose errors differ: Ashukha et al. 2020, sec. 3.2.
pub struct Misclassification(pub Measure, pub Signal);

const FACTS: Facts = Facts { ranked: Ranked::Never, ..Facts::CLASSES };

const NO_TEMPERATURE: Facts = Facts { calibrated: false, ..FACTS };

/// The cards of the measures, in the order of [`Measure::ALL`].
static CARDS: [Card; 3] = cards(FACTS);

/// The same from the disagreement of members.
static OF_MEMBERS: [Card; 3] = cards(NO_TEMPERATURE);

const fn cards(facts: Facts) -> [Card; 3] {
    [
        Card {
            summary: "Probability that a wrong prediction is more uncertain than a right one.",
            facts,
            ..auroc::CARD
        },
        Card {
            summary: "Average precision of finding wrong predictions, the most uncertain first.",
            facts,
            ..aupr::CARD
        },
        Card {
            summary: "Fraction of right predictions flagged where 95 % of the wrong ones are found.",
            facts,
            ..fpr95::CARD
        },
    ]
}

impl Score<Examples> for Misclassification {
    fn card(&self) -> &'static Card {
        let cards = if self.1 == Signal::Model { &OF_MEMBERS } else { &CARDS };
        &cards[self.0 as usize]
    }
    fn name(&self) -> String {
        self.0.name("misclassification", self.1)
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn before_sharing(&self, examples: &Examples, _: &Options) {
        let _ = wrong_by(self.1, examples); // kept by the examples
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        let detection = wrong_by(self.1, examples)?;
        if detection.positive.iter().all(|&wrong| !wrong) {
            return Err(Undefined::because("no prediction is wrong: there is nothing to detect"));
        }
        if detection.positive.iter().all(|&wrong| wrong) {
            return Err(Undefined::because(
                "every prediction is wrong: there is nothing to tell apart",
            ));
        }
        self.0.prepare(detection)
    }
}

/// The wrong predictions, ranked by each signal that was asked for.
#[derive(Default)]
struct BySignal([OnceLock<Arc<Detection>>; Signal::ALL.len()]);

/// The wrong predictions among the examples ranked by a signal.
pub(crate) fn wrong_by(signal: Signal, examples: &Examples) -> Result<Arc<Detection>, Undefined> {
    let by_doubt = examples.by_doubt();
    let ranking = match signal {
        Signal::Confidence => by_doubt.clone(),
        Signal::Total => examples.by_total(),
        Signal::Model => examples.by_knowledge().ok_or_else(|| Undefined::because(ONE_MEMBER))?,
    };
    let same = Arc::ptr_eq(&ranking, &by_doubt);
    let signal = if same { Signal::Confidence } else { signal };
    let known = examples.known.get(Of::Labels, BySignal::default);
    let new = || Arc::new(Detection::new(ranking, examples.wrong()));
    Ok(remember(&known.0[signal as usize], new).clone())
}
