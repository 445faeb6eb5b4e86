//! `misclassification.{auroc,aupr,fpr95}.{confidence,total,model}`: detecting wrong predictions.

use std::borrow::Cow;

use super::{Detection, Measure, ONE_MEMBER, Signal};
use crate::card::Card;
use crate::examples::Examples;
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
        let ranking = match self.1 {
            Signal::Confidence => Cow::Borrowed(examples.by_doubt()),
            Signal::Total => Cow::Borrowed(examples.by_total()),
            Signal::Model => {
                let members =
                    examples.members.as_ref().ok_or_else(|| Undefined::because(ONE_MEMBER))?;
                Cow::Borrowed(members.ranking())
            }
        };
        let positive: Vec<bool> = (0..examples.len()).map(|i| examples.correct(i) == 0.0).collect();
        if positive.iter().all(|&wrong| !wrong) {
            return Err(Undefined::because("no prediction is wrong: there is nothing to detect"));
        }
        if positive.iter().all(|&wrong| wrong) {
            return Err(Undefined::because(
                "every prediction is wrong: there is nothing to tell apart",
            ));
        }
        self.0.prepare(Detection::new(ranking, &positive))
    }
}
