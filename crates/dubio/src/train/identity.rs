//! What a checkpoint belongs to.

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_infer::recipe::Recipe;
use dubio_predictions::input;
use serde_json::json;

use super::Args;

/// What a checkpoint belongs to: everything that the result depends on.
pub(super) fn identity(args: &Args, recipe: &Recipe, data: &Dataset) -> String {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    match &data.inputs {
        Inputs::Images(images) => hash.add(images.pixels.iter().copied()),
        Inputs::Features { values, .. } => hash.add(values.iter().flat_map(|v| v.to_le_bytes())),
    }
    match &data.answers {
        Answers::Classes { labels, .. } => hash.add(labels.iter().flat_map(|y| y.to_le_bytes())),
        Answers::Targets(targets) => hash.add(targets.iter().flat_map(|y| y.to_le_bytes())),
        Answers::Unlabelled(_) => {}
    }
    // A start that cannot be read is reported by the fit.
    for path in &recipe.setup.start {
        hash.add(input::read(path).unwrap_or_default().into_iter());
    }
    let (network, seed) = (&args.network, args.seed);
    let data = format!("{:016x}", hash.0);
    let version = env!("CARGO_PKG_VERSION");
    json!({"recipe": recipe, "network": network, "seed": seed, "data": data, "version": version})
        .to_string()
}

/// FNV-1a: tells one data set from another, no more.
struct Fnv(u64);

impl Fnv {
    fn add(&mut self, bytes: impl Iterator<Item = u8>) {
        self.0 = bytes.fold(self.0, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    }
}
