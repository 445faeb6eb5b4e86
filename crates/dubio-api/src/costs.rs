//! The cost matrix of `dubio evaluate --costs`.

use std::path::Path;

use dubio_metrics::costs::Costs;
use dubio_predictions::input;
use dubio_predictions::lines::{records, table};

use crate::Error;
use crate::error::refuse;

/// Reads a CSV without a header: a row per decision, a column per true class.
pub(crate) fn read_costs(path: &Path, classes: usize) -> Result<Costs, Error> {
    let place = |line: u64| format!("{}, line {line}", path.display());
    let file = input::open(path)
        .map_err(Error::file(format!("cannot read the cost matrix {}", path.display())))?;
    let (mut builder, text) = table(file, b',').map_err(Error::file(path.display().to_string()))?;
    let mut reader = builder.has_headers(false).flexible(true).from_reader(text);
    let mut rows = Vec::new();
    for record in records(&mut reader) {
        let (line, record) = record.map_err(Error::file(path.display().to_string()))?;
        let row = record.iter().enumerate().map(|(column, field)| {
            field.parse::<f64>().map_err(|_| {
                let place = place(line);
                Error::Unfit(format!("{place}, column {}: `{field}` is not a number", column + 1))
            })
        });
        rows.push(row.collect::<Result<Vec<f64>, Error>>()?);
    }
    let costs = Costs::new(rows).map_err(|e| Error::Unfit(format!("{}: {e}", path.display())))?;
    if costs.classes() != classes {
        refuse!(
            "{}: {} columns for {classes} classes; give a column per true class",
            path.display(),
            costs.classes()
        );
    }
    Ok(costs)
}
