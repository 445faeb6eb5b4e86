//! Where runs and data sets are.

use std::path::PathBuf;

/// Where runs and data sets are.
#[derive(clap::Args)]
pub(crate) struct Folders {
    /// Folder of the runs.
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    runs: PathBuf,
    /// Folder of the data sets, instead of $DUBIO_DATA.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

impl Folders {
    pub(crate) fn plain(&self) -> dubio_api::suite::Places {
        dubio_api::suite::Places { runs: self.runs.clone(), data: self.dir.clone() }
    }
}

/// What `--yes` says of the number of runs.
pub(crate) fn count(yes: bool) -> dubio_api::suite::Count {
    match yes {
        true => dubio_api::suite::Count::AsWritten,
        false => dubio_api::suite::Count::Usual,
    }
}
