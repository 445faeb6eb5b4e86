//! Decisions under a cost matrix.

use crate::softmax;

/// What each decision costs for each true class, `K[decision, truth]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    classes: usize,
    rows: Vec<f64>,
}

impl Costs {
    /// Rows of decisions, each with a finite cost per class. There may be more or fewer decisions
    /// than classes (for example one to abstain).
    pub fn new(rows: Vec<Vec<f64>>) -> Result<Self, String> {
        let classes = rows.first().map_or(0, Vec::len);
        if classes == 0 {
            return Err("the cost matrix is empty".to_string());
        }
        for (decision, row) in rows.iter().enumerate() {
            if row.len() != classes {
                return Err(format!(
                    "row {decision} of the cost matrix has {} columns, the first has {classes}",
                    row.len()
                ));
            }
            if let Some(class) = row.iter().position(|cost| !cost.is_finite()) {
                return Err(format!("cost [{decision}, {class}] is {}", row[class]));
            }
        }
        Ok(Self { classes, rows: rows.concat() })
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The decision of least expected cost, `argmin_h sum_c p_c K[h, c]`. The lowest wins a tie; `p`
    /// need not be normalised.
    pub fn decision(&self, p: &[f64]) -> usize {
        let mut best = (f64::INFINITY, 0);
        for (decision, row) in self.rows.chunks_exact(self.classes).enumerate() {
            let expected = softmax::dot(p, row);
            if expected < best.0 {
                best = (expected, decision);
            }
        }
        best.1
    }

    /// What a decision costs when the truth is `label`.
    pub fn cost(&self, decision: usize, label: usize) -> f64 {
        self.rows[decision * self.classes + label]
    }

    /// What is paid for [`Costs::decision`] when the truth is `label`.
    pub fn paid(&self, p: &[f64], label: usize) -> f64 {
        self.cost(self.decision(p), label)
    }
}
