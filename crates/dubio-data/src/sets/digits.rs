//! The digits of scikit-learn: 8 x 8 pixels, part of the program.

use std::path::Path;

use super::{Counts, Files, InputKind, Part, Set, Task};
use crate::dataset::{Answers, Dataset, Images, Inputs};
use crate::error::Error;
use crate::formats::{gzip, table};

/// Small enough to learn in a second, real enough to be worth it.
pub static SET: Set = Set {
    name: "digits",
    summary: "Handwritten digits, 8 x 8",
    task: Task::Classification(&["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]),
    inputs: InputKind::Images { channels: 1, height: 8, width: 8, white: 16 },
    counts: Counts::Parts { train: 901, test: 896 },
    licence: "CC BY 4.0",
    citation: "Alpaydin, Kaynak. Optical recognition of handwritten digits. UCI Machine Learning \
               Repository, 1998",
    home: "https://archive.ics.uci.edu/dataset/80",
    note: "The 1,797 digits that scikit-learn ships, which are the test file of the UCI set. Of \
           every class, in the order of the file, each second digit is for testing: enough for \
           temperatures that are fitted on one half of the test set and used on the other.",
    files: Files::Embedded,
    read,
};

static PACKED: &[u8] = include_bytes!("../../embedded/digits.csv.gz");

fn read(_: &Set, _: &Path, part: Part) -> Result<Dataset, Error> {
    let path = Path::new("digits.csv.gz (embedded)");
    let table = table::read(path, &gzip::unpack(path, PACKED, 1 << 20)?)?;
    let rows = || (0..table.rows()).map(|row| table.row(row));
    let pixels = rows().flat_map(|row| row[..64].iter().map(|&pixel| pixel as u8)).collect();
    let labels: Vec<u32> = rows().map(|row| row[64] as u32).collect();
    let wanted = every_second(&labels, part);
    let all = Dataset {
        inputs: Inputs::Images(Images { channels: 1, height: 8, width: 8, white: 16, pixels }),
        answers: Answers::Classes { classes: 10, labels },
        groups: Default::default(),
    };
    Ok(all.subset(&wanted))
}

/// The rows of a part: of every class, the 2nd, 4th, 6th, ... is for testing. The digits come
/// writer after writer, so both parts have digits of all of them.
fn every_second(labels: &[u32], part: Part) -> Vec<u32> {
    let mut seen = [0_u32; 10];
    let mut rows = Vec::new();
    for (row, &label) in (0..).zip(labels) {
        seen[label as usize] += 1;
        if seen[label as usize].is_multiple_of(2) == (part == Part::Test) {
            rows.push(row);
        }
    }
    rows
}
