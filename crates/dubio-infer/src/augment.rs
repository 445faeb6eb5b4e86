//! Random changes of images, for training and for predicting several times over.

use std::str::FromStr;

use dubio_data::transforms::horizontal_flip::HorizontalFlip;
use dubio_data::transforms::pipeline::Pipeline;
use dubio_data::transforms::random_crop::RandomCrop;
use serde::{Deserialize, Serialize};

/// A random change of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Augmentation {
    /// Four pixels of black on every side, then a crop of the old size anywhere.
    Crop,
    /// Left and right exchanged, every other time.
    Flip,
}

impl FromStr for Augmentation {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "crop" => Ok(Self::Crop),
            "flip" => Ok(Self::Flip),
            _ => Err(format!("no augmentation is called `{name}`; there are crop and flip")),
        }
    }
}

impl Augmentation {
    /// A pipeline with this change at its end.
    pub fn then(self, pipeline: Pipeline) -> Pipeline {
        match self {
            Self::Crop => pipeline.then(RandomCrop { padding: 4 }),
            Self::Flip => pipeline.then(HorizontalFlip { chance: 0.5 }),
        }
    }
}
