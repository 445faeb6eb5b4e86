//! Axes in an unexpected order or number, and what to do about them.

use dubio_metrics::members::Form;

use crate::error::Fault;

const CLASSES: &str = "[members, examples, classes], or [examples, classes] for one member";
const NUMBERS: &str = "[members, examples], or [examples] for one member";

/// Checks that predictions of classes have axes that can be read, given the number of labels. A single axis
/// holds the numbers of class 1.
pub(crate) fn classes(
    name: &str,
    shape: &[usize],
    form: Form,
    labels: Option<usize>,
) -> Result<(), Fault> {
    let is = |axis: usize| labels == Some(axis);
    let turned = |axes: &str, how: &str| {
        let what = format!("shape {shape:?}, which does not fit {} labels", labels.unwrap_or(0));
        Err(Fault::new(what, format!("if its axes are {axes}, save {name}.{how}")))
    };
    let advice = match *shape {
        [_] => return Ok(()),
        [_, 1] => format!("squeeze it to the numbers of class 1: {name}.squeeze(1)"),
        [_, _, 1] => format!("give a number for each class: {}", two_classes(name, form)),
        [a, b] if is(b) && !is(a) => return turned("[classes, examples]", "T"),
        [a, b, _] if is(a) && !is(b) => {
            return turned("[examples, members, classes]", "transpose(1, 0, 2)");
        }
        [_, b, c] if is(c) && !is(b) => {
            return turned("[members, classes, examples]", "transpose(0, 2, 1)");
        }
        [_, _] | [_, _, _] => return Ok(()),
        _ => squeezed(name, shape, 2..=3).unwrap_or_else(|| format!("it must be {CLASSES}")),
    };
    Err(Fault::new(format!("shape {shape:?}"), advice))
}

/// The same for predictions of a number, given the number of targets.
pub(crate) fn numbers(name: &str, shape: &[usize], targets: Option<usize>) -> Result<(), Fault> {
    let is = |axis: usize| targets == Some(axis);
    let (fits, advice) = match *shape {
        [a, 1] if is(a) && a > 1 => ("", format!("squeeze it to one axis: {name}.squeeze(1)")),
        [a, b] if is(a) && !is(b) => {
            let advice = format!("if its axes are [examples, members], save {name}.T");
            (", which does not fit", advice)
        }
        [_] | [_, _] => return Ok(()),
        _ => {
            let advice = squeezed(name, shape, 1..=2);
            ("", advice.unwrap_or_else(|| format!("it must be {NUMBERS}")))
        }
    };
    let count = targets.filter(|_| !fits.is_empty()).map(|n| format!("{fits} {n} targets"));
    Err(Fault::new(format!("shape {shape:?}{}", count.unwrap_or_default()), advice))
}

/// What to do where only axes of length 1 are too many.
fn squeezed(name: &str, shape: &[usize], axes: std::ops::RangeInclusive<usize>) -> Option<String> {
    let left = shape.iter().filter(|&&axis| axis != 1).count();
    (shape.len() > *axes.end() && axes.contains(&left))
        .then(|| format!("leave out the axes of length 1: save {name}.squeeze()"))
}

/// The expression that adds class 0 to the numbers of class 1.
fn two_classes(name: &str, form: Form) -> String {
    let other = match form {
        Form::Logits => format!("0 * {name}"),
        Form::LogProbs => format!("np.log1p(-np.exp({name}))"),
        Form::Probs => format!("1 - {name}"),
    };
    format!("np.concatenate([{other}, {name}], -1)")
}
