//! Data sets by name, one file per set with its card.
//!
//! Adding one: write the file with its `SET`, add a line here.
//!
//! ```
//! use dubio_data::{dataset::Inputs, sets};
//!
//! let name = sets::parse("digits:train")?;
//! let digits = name.set.load("".as_ref(), name.part.unwrap())?;
//! let Inputs::Images(images) = &digits.inputs else { unreachable!() };
//! let ink = |pixel: &u8| b" .:-=+*#%"[*pixel as usize / 2] as char;
//! let lines: Vec<String> =
//!     images.image(0).chunks(8).map(|row| row.iter().map(ink).collect()).collect();
//! assert_eq!(lines.join("\n"), [
//!     "  :*=   ",
//!     "  *#+#: ",
//!     " .#. += ",
//!     " :*  == ",
//!     " :=  == ",
//!     " :+  *- ",
//!     " .#:+*  ",
//!     "  -*+   ",
//! ].join("\n"));
//! # Ok::<(), dubio_data::Error>(())
//! ```

mod card;
pub mod cifar_10;
pub mod cifar_100;
pub mod digits;
pub mod fashion8;
pub mod fashion_mnist;
mod file;
pub mod kmnist;
pub mod mnist;
mod name;
pub mod notmnist;
pub mod own;
pub mod parabola;
mod part;
pub mod stl10;
pub mod svhn;
pub mod uci;

pub use card::{Counts, Files, InputKind, Set, Task};
pub use file::{Archive, File, Measured, Origin, Size};
pub use name::{Halves, Name, canonical, find, halves, parse, replicate};
pub use part::{Kind, Part};

use std::path::Path;

use crate::dataset::Dataset;
use crate::error::Error;
use crate::formats::{idx, open};

/// Every set, images first and tables last.
pub fn list() -> Vec<&'static Set> {
    let mut all: Vec<&'static Set> = vec![
        &digits::SET,
        &fashion8::SET,
        &mnist::SET,
        &fashion_mnist::SET,
        &kmnist::SET,
        &notmnist::SET,
        &cifar_10::SET,
        &cifar_100::SET,
        &svhn::SET,
        &stl10::SET,
        &parabola::SET,
        &parabola::GAP,
    ];
    all.extend(&uci::SETS);
    all
}

impl Set {
    /// The files of the set, in the order in which they are fetched; none when it is embedded.
    pub fn files(&self) -> Vec<File> {
        match self.files {
            Files::Embedded | Files::Own => Vec::new(),
            Files::Listed(files) => files.to_vec(),
            Files::Uci { folder, origin } => uci::files(folder, origin),
        }
    }

    /// Whether it is part of the program; a table's gap splits never are.
    pub fn is_embedded(&self) -> bool {
        matches!(self.files, Files::Embedded) || uci::is_embedded(self.name)
    }
}

/// A part of one of the many sets with the file layout of MNIST.
fn like_mnist(set: &Set, root: &Path, part: Part) -> Result<Dataset, Error> {
    let prefix = if part == Part::Train { "train" } else { "t10k" };
    let file = |kind: &str| {
        let path = root.join(set.name).join(format!("{prefix}-{kind}-ubyte.gz"));
        // Some users keep the files unpacked, under the same name without the extension.
        let path = if path.exists() { path } else { path.with_extension("") };
        let named = if path.exists() { path } else { path.with_extension("gz") };
        open(&named).map(|bytes| (named, bytes))
    };
    let ((images, bytes), (labels, truth)) = (file("images-idx3")?, file("labels-idx1")?);
    let classes = set.classes().unwrap_or(0);
    idx::dataset((&images, &bytes), (&labels, &truth), classes)
}
