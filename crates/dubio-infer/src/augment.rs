//! Random changes of images, for training and for test-time augmentation.

use std::str::FromStr;

use dubio_data::transforms::Draws;
use dubio_data::transforms::horizontal_flip::HorizontalFlip;
use dubio_data::transforms::pipeline::Pipeline;
use dubio_data::transforms::random_crop::RandomCrop;
use dubio_nn::examples::Move;
use serde::{Deserialize, Serialize};

/// A random change of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Augmentation {
    /// Four black pixels of padding on every side, then a crop of the old size at a random place.
    Crop,
    /// Left and right exchanged, with probability 1/2.
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
            Self::Crop => pipeline.then(CROP),
            Self::Flip => pipeline.then(FLIP),
        }
    }

    /// The move `before`, followed by this change, for images of this width; by the same random numbers as in the
    /// pipeline.
    fn moved(self, before: Move, width: usize, draws: &mut Draws) -> Move {
        match self {
            Self::Crop => {
                let (down, right) = CROP.draw(draws);
                let right = before.right + before.step * right as i32;
                Move { down: before.down + down as i32, right, ..before }
            }
            Self::Flip if FLIP.draw(draws) => {
                let right = before.right + before.step * (width as i32 - 1);
                Move { right, step: -before.step, ..before }
            }
            Self::Flip => before,
        }
    }
}

const CROP: RandomCrop = RandomCrop { padding: 4 };
const FLIP: HorizontalFlip = HorizontalFlip { chance: 0.5 };

/// Whether these changes together amount to one move. Two crops do not: the second could bring back pixels that the
/// first has cut off.
pub(crate) fn is_a_move(changes: &[Augmentation]) -> bool {
    changes.iter().filter(|&&change| change == Augmentation::Crop).count() <= 1
}

/// How these changes together move an image of this width.
pub(crate) fn moved(changes: &[Augmentation], width: usize, draws: &mut Draws) -> Move {
    changes.iter().fold(Move::NONE, |before, change| change.moved(before, width, draws))
}
