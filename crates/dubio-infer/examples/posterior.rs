//! A posterior over the weights of a network, and what it says of digits that it has not seen.

use dubio_data::sets::{self, Part};
use dubio_infer::fit::Options;
use dubio_infer::methods::{Method, swag::Swag};
use dubio_infer::predict::TestTime;
use dubio_infer::recipe::Recipe;
use dubio_nn::Single;
use dubio_random::stream::Stream;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let digits = sets::find("digits")?;
    let train = digits.load("".as_ref(), Part::Train)?;
    let test = digits.load("".as_ref(), Part::Test)?;

    let mut swag = Swag { samples: 20, ..Swag::default() };
    swag.path.descent.epochs = 10;
    let recipe = Recipe::from(Method::Swag(swag));
    let engine = Single::default(); // the processor, in single precision
    let stream = Stream::root(0); // all that is random hangs on it
    let fitted =
        recipe.fit(&engine, "mlp-50", &train, &stream.child("fit"), &Options::default())?;
    let predicted = fitted.predict(&test, &TestTime::default(), &stream.child("predict"))?;

    let file = std::env::temp_dir().join("posterior.npz");
    predicted.write(&file)?;
    println!("dubio evaluate {}", file.display());
    Ok(())
}
