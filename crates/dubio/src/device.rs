//! Where networks are trained and run: `--device` and `--precision`.

use anyhow::{Result, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dubio_api::suite::EngineChoice;
use dubio_nn::{Device, Precision, Single};

use crate::terminal::note;

/// Where networks run.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct EngineArgs {
    /// Where to run networks: on the CPU, on an NVIDIA GPU, or on a GPU if there is one [default: cpu, or what the
    /// suite says].
    #[arg(long, value_parser = PossibleValuesParser::new(Device::NAMES).map(|name| name.parse::<Device>().expect("a name")))]
    device: Option<Device>,
    /// How precisely a GPU multiplies matrices [default: f32, or what the suite says].
    #[arg(long, value_parser = PossibleValuesParser::new(Precision::NAMES).map(|name| name.parse::<Precision>().expect("a name")))]
    precision: Option<Precision>,
}

impl EngineArgs {
    /// Instead of what a suite says.
    pub(crate) fn choice(self) -> EngineChoice {
        EngineChoice { device: self.device, precision: self.precision }
    }

    /// The engine itself; an error says what is missing.
    pub(crate) fn engine(self) -> Result<Single> {
        let (device, precision) =
            (self.device.unwrap_or_default(), self.precision.unwrap_or_default());
        if device == Device::Cpu && precision != Precision::F32 {
            bail!("--precision {precision} is for a GPU; add --device cuda, or leave it out");
        }
        if let Some(why) = device.passed_over() {
            note(&format!("note: networks run on the CPU: {why}"));
        }
        Ok(device.engine(precision)?)
    }
}
