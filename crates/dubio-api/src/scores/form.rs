//! The file of scores: entries as plain data.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dubio_metrics::card::Card;
use dubio_metrics::score::Undefined;
use dubio_metrics::scorecard::Entry;
use serde::{Deserialize, Serialize};

use super::{Extent, Row};
use crate::names::known;

/// What the file holds.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    extent: Extent,
    resamples: usize,
    rows: Vec<KeptRow>,
}

#[derive(Serialize, Deserialize)]
struct KeptRow {
    split: String,
    name: String,
    /// Which of [`known`] has its card: names alone do not tell classification from regression.
    card: usize,
    n: usize,
    value: Result<Number, String>,
    note: Option<String>,
    interval: Option<(Number, Number)>,
    /// Values of the resamples, eight bytes each: a thousand decimal numbers take longer to read than to work out.
    replicates: String,
}

/// A number, or its name where JSON has none for it.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Other(Other),
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Other {
    #[serde(rename = "inf")]
    Infinity,
    #[serde(rename = "-inf")]
    MinusInfinity,
    #[serde(rename = "nan")]
    NaN,
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        match value {
            f64::INFINITY => Self::Other(Other::Infinity),
            f64::NEG_INFINITY => Self::Other(Other::MinusInfinity),
            value if value.is_nan() => Self::Other(Other::NaN),
            value => Self::Finite(value),
        }
    }
}

impl From<Number> for f64 {
    fn from(number: Number) -> Self {
        match number {
            Number::Finite(value) => value,
            Number::Other(Other::Infinity) => Self::INFINITY,
            Number::Other(Other::MinusInfinity) => Self::NEG_INFINITY,
            Number::Other(Other::NaN) => Self::NAN,
        }
    }
}

impl Kept {
    /// The form of these scores; `None` where one of them is unknown.
    pub(super) fn of(rows: &[Row], extent: Extent, resamples: usize) -> Option<Self> {
        let cards: Vec<&Card> = known().into_iter().map(|known| known.card).collect();
        let row = |row: &Row| {
            let entry = &row.entry;
            let same =
                |card: &&Card| (card.name, card.summary) == (entry.card.name, entry.card.summary);
            let bytes: Vec<u8> = entry.replicates.iter().flat_map(|v| v.to_le_bytes()).collect();
            Some(KeptRow {
                split: row.split.clone(),
                name: entry.name.clone(),
                card: cards.iter().position(same)?,
                n: entry.n,
                value: entry.value.as_ref().map(|v| Number::from(*v)).map_err(|why| why.0.clone()),
                note: entry.note.clone(),
                interval: entry.interval.map(|(lo, hi)| (lo.into(), hi.into())),
                replicates: BASE64_STANDARD.encode(bytes),
            })
        };
        Some(Self { extent, resamples, rows: rows.iter().map(row).collect::<Option<_>>()? })
    }

    /// The scores of a run; `None` where the file does not hold all that are wanted.
    pub(super) fn rows(self, run: &str, extent: Extent, resamples: usize) -> Option<Vec<Row>> {
        if self.extent < extent || (self.resamples != resamples && resamples != 0) {
            return None;
        }
        let cards: Vec<&'static Card> = known().into_iter().map(|known| known.card).collect();
        let row = |row: KeptRow| {
            let bytes = BASE64_STANDARD.decode(row.replicates).ok()?;
            let (numbers, []) = bytes.as_chunks::<8>() else { return None };
            let mut entry = Entry {
                name: row.name,
                card: cards.get(row.card)?,
                n: row.n,
                value: row.value.map(f64::from).map_err(Undefined),
                note: row.note,
                interval: row.interval.map(|(lo, hi)| (lo.into(), hi.into())),
                replicates: numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
            };
            if resamples == 0 && !entry.replicates.is_empty() {
                (entry.interval, entry.replicates) = (None, Vec::new());
            }
            Some(Row { run: run.to_string(), split: row.split, entry })
        };
        let rows: Vec<Row> = self.rows.into_iter().map(row).collect::<Option<_>>()?;
        Some(rows.into_iter().filter(|row| extent.wants(&row.split, &row.entry.name)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: Result<f64, Undefined>, replicates: Vec<f64>) -> Row {
        let score = known().into_iter().find(|known| known.task == "regression").expect("a score");
        let interval = (!replicates.is_empty()).then_some((f64::MIN_POSITIVE, 0.1 + 0.2));
        let (name, card, note) = (score.name, score.card, Some("a note".to_string()));
        let entry = Entry { name, card, n: 7, value, note, interval, replicates };
        Row { run: "run".to_string(), split: "test".to_string(), entry }
    }

    fn again(rows: &[Row], resamples: usize) -> Vec<Row> {
        let kept = Kept::of(rows, Extent::Everything, 3).expect("known scores");
        let text = serde_json::to_string(&kept).expect("JSON");
        let kept: Kept = serde_json::from_str(&text).expect("JSON");
        kept.rows("run", Extent::Everything, resamples).expect("as many as there are")
    }

    #[test]
    fn every_number_is_read_as_it_was() {
        let numbers = [0.1 + 0.2, -0.0, f64::MIN_POSITIVE / 3.0, f64::INFINITY, f64::NEG_INFINITY];
        let mut rows: Vec<Row> =
            numbers.map(|value| row(Ok(value), vec![value, f64::NAN, -value])).to_vec();
        rows.push(row(Err(Undefined::because("nobody knows")), Vec::new()));
        // Debug tells all of a number's digits and its sign; the card is found by name and summary.
        assert_eq!(format!("{:?}", again(&rows, 3)), format!("{rows:?}"));
    }

    #[test]
    fn less_is_found_in_more_and_not_more_in_less() {
        let rows = [row(Ok(1.0), vec![1.0, 2.0, 3.0])];
        let plain = again(&rows, 0);
        assert_eq!((plain[0].entry.interval, plain[0].entry.replicates.len()), (None, 0));
        let kept = |extent| Kept::of(&rows, extent, 3).expect("known scores");
        assert!(kept(Extent::Everything).rows("run", Extent::Reported, 3).is_some());
        assert!(kept(Extent::Reported).rows("run", Extent::Everything, 3).is_none());
        assert!(kept(Extent::Everything).rows("run", Extent::Everything, 4).is_none());
    }
}
