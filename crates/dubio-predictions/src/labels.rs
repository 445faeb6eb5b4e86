//! True classes.

use crate::array::Array;
use crate::error::{Error, Fault};
use crate::note::Note;
use crate::taker::Taker;

/// The labels of a file, all below the number of classes. A one-hot row stands for the column of its 1.
pub(crate) fn labels(
    taker: &mut Taker<'_>,
    examples: usize,
    classes: usize,
) -> Result<Vec<u32>, Error> {
    if let [_, columns] = *taker.shape("labels")
        && columns == classes
    {
        let array = taker.take("labels")?;
        let how = "`labels` are one-hot and are read as labels.argmax(1)";
        taker.notes.push(Note::Remark(how.to_string()));
        return one_hot(taker, &array, examples, classes);
    }
    let below = |value: i128| u32::try_from(value).ok().filter(|&y| (y as usize) < classes);
    taker.integers("labels", examples, below, |example, label| {
        let range = format!("labels run from 0 to {} for {classes} classes", classes - 1);
        let advice = match (label, classes) {
            (-1, 2) => format!("{range}; for -1 and 1, save (labels + 1) // 2"),
            (last, _) if last == classes as i128 => {
                format!("{range}; if yours count from 1, save labels - 1")
            }
            _ => range,
        };
        (format!("label {label} at example {example}"), advice)
    })
}

fn one_hot(
    taker: &Taker<'_>,
    array: &Array,
    examples: usize,
    classes: usize,
) -> Result<Vec<u32>, Error> {
    let fault = |what, advice| Error::array(taker.path, "labels", what, advice);
    taker.fit("labels", array.shape()[0], examples)?;
    let all = array.to_f64().map_err(|e| Fault::unread(&e).at(taker.path, "labels"))?;
    let class = |(example, row): (usize, &[f64])| {
        let one = row.iter().position(|&x| x == 1.0);
        let zeros = row.iter().filter(|&&x| x == 0.0).count();
        one.filter(|_| zeros + 1 == row.len()).map(|class| class as u32).ok_or_else(|| {
            let what = format!("the row of example {example} is not one 1 among zeros");
            fault(what, "save one class per example, for example labels.argmax(1)")
        })
    };
    all.chunks_exact(classes).enumerate().map(class).collect()
}
