//! What each method does with a data set: what it learns from, and what it predicts then.

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_data::sets;
use dubio_data::sets::own::{self, Own};

use super::Error;
use crate::evaluate::Evaluate;
use crate::evaluation::Evaluation;
use crate::learn::Learn;
use crate::suite::Suite;

/// What a method learns from, and what it predicts then.
pub(super) struct Task {
    pub(super) learn: Option<Learn>,
    pub(super) predict: Vec<Evaluation>,
}

/// What each method does with a data set.
pub(super) fn tasks(suite: &Suite, train: &Dataset, data: &str) -> Result<Vec<Task>, Error> {
    let mut main = evaluations(&suite.evaluate, train, data)?;
    let Some(decision) = &suite.decision else {
        return Ok(vec![Task { learn: None, predict: main }]);
    };
    let unfit = |what: String| Error::Unfit(format!("{data}: [decision] {what}"));
    let Answers::Classes { classes, .. } = train.answers else {
        return Err(unfit("is for data sets of classes; leave it out".into()));
    };
    if let Some(class) = decision.critical.iter().find(|&&class| class as usize >= classes) {
        return Err(unfit(format!("names class {class}; the last is {}", classes - 1)));
    }
    let evaluation = Evaluation::Decision(decision.clone());
    if decision.dropped == 0.0 {
        main.push(evaluation);
        return Ok(vec![Task { learn: None, predict: main }]);
    }
    let rare = Learn::Rare { classes: decision.critical.clone(), dropped: decision.dropped };
    Ok(vec![
        Task { learn: None, predict: main },
        Task { learn: Some(rare), predict: vec![evaluation] },
    ])
}

fn evaluations(evaluate: &Evaluate, train: &Dataset, data: &str) -> Result<Vec<Evaluation>, Error> {
    let mut all = vec![Evaluation::Test];
    for shift in &evaluate.shifts {
        let each = evaluate.severities.iter();
        all.extend(each.map(|&severity| Evaluation::Shift { shift: shift.clone(), severity }));
    }
    let examples = evaluate.attack_examples;
    all.extend(evaluate.attacks.iter().map(|&attack| Evaluation::Attack { attack, examples }));
    if !evaluate.augment.is_empty() {
        let (augment, looks) = (evaluate.augment.clone(), evaluate.looks);
        all.push(Evaluation::TestTime { augment, looks });
    }
    if let Inputs::Features { width, .. } = train.inputs {
        if all.len() > 1 {
            let what = "shifts, attacks and augmentation are for images";
            return Err(Error::Unfit(format!("{data}: {what}; leave them out of [evaluate]")));
        }
        for name in &evaluate.ood {
            let compared = own::same_features(data, name)?;
            if !compared && sets::parse(name)?.set.inputs != sets::InputKind::Features(width) {
                let what =
                    format!("{data}: `{name}` does not have the {width} features of this data set");
                return Err(Error::Unfit(format!("{what}; leave it out of [evaluate]")));
            }
        }
    }
    let mut ood = Vec::new();
    for name in &evaluate.ood {
        let unlabelled = sets::parse(name)?.set.task == sets::Task::Unlabelled;
        if unlabelled && matches!(train.answers, Answers::Targets(_)) {
            let what = "a regression scores an OOD set by its targets, and it has none";
            let advice = "name its target, or leave it out of [evaluate]";
            return Err(Error::Unfit(format!("{data}: `{name}`: {what}; {advice}")));
        }
        let sha256 = match own::is_own(name) {
            true => Some(own::card(&Own::parse(name)?)?.sha256.clone()),
            false => None,
        };
        ood.push(Evaluation::Ood { data: name.clone(), sha256 });
    }
    let names: Vec<String> = ood.iter().map(Evaluation::name).collect();
    if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        let what = format!("{data}: two OOD sets would be called `{}`", twice.1);
        return Err(Error::Unfit(format!("{what}; rename one of the files")));
    }
    all.splice(1..1, ood);
    Ok(all)
}
