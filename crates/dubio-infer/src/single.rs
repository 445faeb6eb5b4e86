//! Training in single precision, built once for all crates that train: a generic function that is never inlined is
//! shared with them if it is used here. Otherwise each of them would build all of it once more.

use dubio_data::dataset::Dataset;
use dubio_nn::Single;
use dubio_random::stream::Stream;

use crate::attack::Attack;
use crate::error::Error;
use crate::fit::{Options, Outcome};
use crate::fitted::{Fitted, Numbers};
use crate::predict::{Predicted, TestTime};
use crate::recipe::Recipe;

type Trained = Fitted<Single>;
type Fit = fn(
    &Recipe,
    &Single,
    &str,
    &Dataset,
    &Stream,
    &Options<'_>,
) -> Outcome<Trained, Option<Trained>>;
type Predict<How> = fn(&Trained, &Dataset, &How, &Stream) -> Result<Predicted, Error>;
type Restore = fn(&Recipe, &Single, &str, &Dataset, &Numbers<f32>) -> Result<Trained, Error>;
type Read = fn(&Trained) -> Numbers<f32>;
type Weights = fn(&Trained) -> Result<Vec<Vec<u8>>, Error>;

#[used]
static BUILT: (Fit, Restore, Read, Predict<TestTime>, Predict<Attack>, Weights) = (
    Recipe::fit,
    Recipe::restore,
    Fitted::numbers,
    Fitted::predict,
    Fitted::predict_attacked,
    Fitted::weights,
);
