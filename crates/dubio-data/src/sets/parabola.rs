//! Points around a parabola, with a gap in what is learnt from; made by the program.

use dubio_random::normal::ziggurat;
use dubio_random::stream::Stream;

use super::{Counts, Files, InputKind, Part, Set, Task};
use crate::dataset::{Answers, Dataset, Inputs};

/// `x ~ N(0, 1)` outside of the gap, `y ~ N((x - 1)^2, 1/2)`.
pub static SET: Set = Set {
    name: "parabola",
    summary: "Points around a parabola, none between -1.5 and 0",
    task: Task::Regression("y, of N((x - 1)^2, variance 0.5)"),
    inputs: InputKind::Features(1),
    counts: Counts::Parts { train: TRAIN, test: TEST },
    licence: "CC0",
    citation: CITATION,
    home: HOME,
    note: "Drawn by the program, the same numbers every time. x is of N(0, 1), and drawn again while \
           it is in the gap.",
    files: Files::Embedded,
    read: |_, _, part| {
        Ok(draw(part, if part == Part::Train { TRAIN } else { TEST }, Side::Outside))
    },
};

/// The same in the gap: out of domain for `parabola`.
pub static GAP: Set = Set {
    name: "parabola-gap",
    summary: "Points around the same parabola between -1.5 and 0",
    counts: Counts::Parts { train: 0, test: IN_GAP },
    note: "Drawn by the program, the same numbers every time. x is of N(0, 1), and drawn again while \
           it is not in the gap.",
    read: |_, _, part| Ok(draw(part, IN_GAP, Side::Gap)),
    ..SET
};

const CITATION: &str = "Gopal. Why calibration error is wrong given model uncertainty: using \
                        posterior predictive checks with deep learning. 2021, sec. 4.1";
const HOME: &str = "https://arxiv.org/abs/2112.01477";

const TRAIN: usize = 10_000;
const TEST: usize = 1_000;
const IN_GAP: usize = 10_000;

/// Which inputs are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Outside,
    Gap,
}

fn draw(part: Part, count: usize, side: Side) -> Dataset {
    let stream = Stream::root(0).child(&format!("parabola {side:?} {part}"));
    let mut generator = stream.generator();
    let mut normal = || ziggurat(&mut generator);
    let (mut values, mut targets) = (Vec::with_capacity(count), Vec::with_capacity(count));
    while values.len() < count {
        let x = normal();
        if (-1.5..=0.0).contains(&x) == (side == Side::Gap) {
            values.push(x);
            targets.push((x - 1.0) * (x - 1.0) + 0.5_f64.sqrt() * normal());
        }
    }
    Dataset {
        inputs: Inputs::Features { width: 1, values },
        answers: Answers::Targets(targets),
        groups: Default::default(),
    }
}
