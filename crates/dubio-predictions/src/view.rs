//! Where the elements of a view of a larger array lie: every other row, some columns, axes in another order.

use std::ops::Range;

/// The first element lies at `first`; each further index of an axis lies that axis's stride further on.
#[derive(Clone, Debug)]
pub(crate) struct View {
    first: usize,
    strides: Vec<isize>,
}

/// Elements that lie at equal distances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    first: usize,
    step: isize,
    count: usize,
}

impl Run {
    /// The range of the elements, if they lie one after the other.
    pub(crate) fn adjoining(self) -> Option<Range<usize>> {
        (self.step == 1).then_some(self.first..self.first + self.count)
    }

    /// Where each lies.
    pub(crate) fn places(self) -> impl Iterator<Item = usize> {
        (0..self.count as isize).map(move |i| self.first.wrapping_add_signed(i * self.step))
    }
}

impl View {
    /// A view with these axes, none of them empty, and how many elements it spans in memory, from the lowest to
    /// the highest; `None` when that is beyond any memory.
    pub(crate) fn new(shape: &[usize], strides: &[isize]) -> Option<(Self, usize)> {
        let (mut before, mut behind) = (0_isize, 0_isize);
        for (&axis, &stride) in shape.iter().zip(strides) {
            let reach = isize::try_from(axis.checked_sub(1)?).ok()?.checked_mul(stride)?;
            let end = if reach < 0 { &mut before } else { &mut behind };
            *end = end.checked_add(reach)?;
        }
        let span = behind.checked_sub(before)?.checked_add(1)?;
        let view = Self { first: before.unsigned_abs(), strides: strides.to_vec() };
        (shape.len() == strides.len()).then_some((view, span as usize))
    }

    pub(crate) fn with_leading_axis(mut self) -> Self {
        self.strides.insert(0, 0);
        self
    }

    pub(crate) fn with_trailing_axis(mut self) -> Self {
        self.strides.push(0);
        self
    }

    /// Calls `f` with the elements of a block, the last axis fastest: a run of it at a time.
    pub(crate) fn each_run(&self, block: &[Range<usize>], mut f: impl FnMut(Run)) {
        let (Some((last, outer)), Some(&step)) = (block.split_last(), self.strides.last()) else {
            return f(Run { first: self.first, step: 0, count: 1 });
        };
        let mut index: Vec<usize> = outer.iter().map(|axis| axis.start).collect();
        for _ in 0..outer.iter().map(Range::len).product() {
            let all = index.iter().chain([&last.start]).zip(&self.strides);
            let offset: isize = all.map(|(&at, stride)| at as isize * stride).sum();
            f(Run { first: self.first.wrapping_add_signed(offset), step, count: last.len() });
            for (at, axis) in index.iter_mut().zip(outer).rev() {
                *at += 1;
                if *at < axis.end {
                    break;
                }
                *at = axis.start;
            }
        }
    }
}
