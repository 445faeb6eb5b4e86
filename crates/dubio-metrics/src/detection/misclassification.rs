//! `misclassification.{auroc,aupr,fpr95}.{confidence,total,model}`: detecting wrong predictions.

use std::sync::Arc;

use super::{Detection, Measure, ONE_MEMBER, Signal};
use crate::card::Card;
use crate::examples::Examples;
use crate::ranking::Ranking;
use crate::score::{Needs, Options, Preparation, Score, Undefined};

/// How well an uncertainty tells the wrong predictions (positives) from the right ones. Not
/// comparable between models, whose errors differ: Ashukha et al. 2020, sec. 3.2.
pub struct Misclassification(pub Measure, pub Signal);

impl Score<Examples> for Misclassification {
    fn card(&self) -> &'static Card {
        self.0.card()
    }
    fn name(&self) -> String {
        self.0.name("misclassification", self.1)
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        let detection = match self.1 {
            Signal::Confidence => wrong_by(self.1, examples.by_doubt(), examples),
            Signal::Total => wrong_by(self.1, examples.by_total(), examples),
            Signal::Model => {
                let members =
                    examples.members.as_ref().ok_or_else(|| Undefined::because(ONE_MEMBER))?;
                wrong_by(self.1, members.ranking(), examples)
            }
        };
        if detection.positive.iter().all(|&wrong| !wrong) {
            return Err(Undefined::because("no prediction is wrong: there is nothing to detect"));
        }
        if detection.positive.iter().all(|&wrong| wrong) {
            return Err(Undefined::because(
                "every prediction is wrong: there is nothing to tell apart",
            ));
        }
        self.0.prepare(detection.clone())
    }
}

/// The wrong predictions among the examples ranked by a signal.
pub(crate) fn wrong_by<'a>(
    signal: Signal,
    ranking: &Arc<Ranking>,
    examples: &'a Examples,
) -> &'a Arc<Detection> {
    examples.of_labels.wrong[signal as usize]
        .get_or_init(|| Arc::new(Detection::new(ranking.clone(), |i| examples.correct(i) == 0.0)))
}
