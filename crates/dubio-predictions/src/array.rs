//! Arrays as they lie in a file: bytes, dtype, shape, order.

use std::io;
use std::ops::Range;

use crate::bytes::{BLOCK, Bytes};
use crate::dtype::{Dtype, Integer, decode, whole};
use crate::error::Fault;
use crate::view::View;

/// An array of a predictions file.
#[derive(Clone, Debug)]
pub struct Array {
    bytes: Bytes,
    dtype: Dtype,
    shape: Vec<usize>,
    /// Elements from one index to the next, per axis; for a view, those of `view` count.
    strides: Vec<usize>,
    /// Where the elements lie, if they do not fill their memory in either order.
    view: Option<View>,
}

/// Order of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last index runs fastest.
    C,
    /// The first index runs fastest.
    Fortran,
}

/// Bytes that an array of this shape takes; `None` when that is beyond any memory.
pub(crate) fn byte_len(shape: &[u64], dtype: Dtype) -> Option<usize> {
    // Without the empty axes, so that strides are in range for an empty array too.
    let mut axes = shape.iter().filter(|&&axis| axis > 0);
    let bytes = axes.try_fold(dtype.size() as u64, |product, &axis| product.checked_mul(axis))?;
    let bytes = usize::try_from(bytes).ok().filter(|&bytes| bytes <= isize::MAX as usize)?;
    Some(if shape.contains(&0) { 0 } else { bytes })
}

impl Array {
    /// `bytes` must be exactly as long as the shape says.
    pub(crate) fn new(
        bytes: Bytes,
        dtype: Dtype,
        shape: &[u64],
        order: Order,
    ) -> Result<Self, Fault> {
        let needed = byte_len(shape, dtype);
        if needed != Some(bytes.len()) {
            return Err(Fault::new(
                format!("shape {shape:?} does not fit {} bytes", bytes.len()),
                "the file is damaged: write it again",
            ));
        }
        let shape: Vec<usize> = shape.iter().map(|&axis| axis as usize).collect();
        let mut strides = vec![1; shape.len()];
        let axes: Vec<usize> = match order {
            Order::C => (0..shape.len()).rev().collect(),
            Order::Fortran => (0..shape.len()).collect(),
        };
        for pair in axes.windows(2) {
            strides[pair[1]] = strides[pair[0]] * shape[pair[0]];
        }
        Ok(Self { bytes, dtype, shape, strides, view: None })
    }

    /// A view: `bytes` must reach from its lowest element to its highest.
    pub(crate) fn viewed(
        bytes: Bytes,
        dtype: Dtype,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Self, Fault> {
        match View::new(shape, strides) {
            Some((view, span)) if span.checked_mul(dtype.size()) == Some(bytes.len()) => {
                let (shape, view) = (shape.to_vec(), Some(view));
                Ok(Self { bytes, dtype, strides: vec![0; shape.len()], shape, view })
            }
            _ => Err(Fault::new(
                format!("shape {shape:?} and strides {strides:?} do not fit {} bytes", bytes.len()),
                "copy the array first",
            )),
        }
    }

    /// An array in memory, in C order.
    pub(crate) fn in_memory(bytes: Vec<u8>, dtype: Dtype, shape: &[usize]) -> Result<Self, Fault> {
        let shape: Vec<u64> = shape.iter().map(|&axis| axis as u64).collect();
        Self::new(Bytes::owned(bytes), dtype, &shape, Order::C)
    }

    /// Length of each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Type of the elements.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The same array with a leading axis of length 1.
    pub(crate) fn with_leading_axis(mut self) -> Self {
        self.shape.insert(0, 1);
        self.strides.insert(0, 0);
        self.view = self.view.map(View::with_leading_axis);
        self
    }

    /// The same array with a trailing axis of length 1.
    pub(crate) fn with_trailing_axis(mut self) -> Self {
        self.shape.push(1);
        self.strides.push(1);
        self.view = self.view.map(View::with_trailing_axis);
        self
    }

    /// The only element of an array, repeated in a larger one; `None` where it has several.
    pub(crate) fn repeated(mut self, shape: &[usize]) -> Option<Self> {
        if self.shape.iter().product::<usize>() != 1 {
            return None;
        }
        self.shape = shape.to_vec();
        self.strides = vec![0; shape.len()];
        self.view = None; // its one element fills its memory
        Some(self)
    }

    /// Reads `[member, rows, all]` of an array of three axes, row after row.
    pub(crate) fn read_rows(
        &self,
        member: usize,
        rows: Range<usize>,
        out: &mut [f64],
    ) -> io::Result<()> {
        if let Some(view) = &self.view {
            return self.read_view(view, &[member..member + 1, rows, 0..self.shape[2]], out);
        }
        let (width, size) = (self.shape[2], self.dtype.size());
        if self.strides.iter().all(|&stride| stride == 0) {
            let mut one = [0.0];
            self.bytes.with(0..size, |bytes| decode(self.dtype, bytes, &mut one))?;
            out.fill(one[0]);
            return Ok(());
        }
        let base = member * self.strides[0] + rows.start * self.strides[1];
        let rows_adjoin = self.strides[1] == width || rows.len() == 1;
        if self.strides[2] == 1 && rows_adjoin || width == 1 && self.strides[1] == 1 {
            let mut done = 0;
            return self.bytes.each_block(base * size..(base + out.len()) * size, |block| {
                let count = block.len() / size;
                decode(self.dtype, block, &mut out[done..done + count]);
                done += count;
            });
        }
        let some = (BLOCK / (self.strides[1] * size)).max(1);
        for (index, out) in out.chunks_mut(some * width).enumerate() {
            let start = rows.start + index * some;
            let rows = start..start + out.len() / width;
            (0..width)
                .try_for_each(|column| self.read_column(member, rows.clone(), column, out))?;
        }
        Ok(())
    }

    /// Reads a block of a view, the last axis fastest.
    fn read_view(&self, view: &View, block: &[Range<usize>], out: &mut [f64]) -> io::Result<()> {
        let (size, mut done) = (self.dtype.size(), 0);
        self.bytes.with(0..self.bytes.len(), |bytes| {
            let mut take = |places: Range<usize>| {
                let element = &bytes[places.start * size..places.end * size];
                decode(self.dtype, element, &mut out[done..done + places.len()]);
                done += places.len();
            };
            view.each_run(block, |run| match run.adjoining() {
                Some(places) => take(places),
                None => run.places().for_each(|at| take(at..at + 1)),
            });
        })
    }

    /// Reads one column of some rows of an array in Fortran order: all members of a row lie side by
    /// side, and all rows of a column.
    fn read_column(
        &self,
        member: usize,
        rows: Range<usize>,
        column: usize,
        out: &mut [f64],
    ) -> io::Result<()> {
        let (width, size, step) = (self.shape[2], self.dtype.size(), self.strides[1]);
        let start = rows.start * step + column * self.strides[2];
        let own = member * self.strides[0] * size;
        self.bytes.with(start * size..(start + rows.len() * step) * size, |bytes| {
            let elements = bytes.chunks_exact(step * size).map(|row| &row[own..own + size]);
            for (element, out) in elements.zip(out[column..].iter_mut().step_by(width)) {
                decode(self.dtype, element, std::slice::from_mut(out));
            }
        })
    }

    /// Reads what has not been read yet, so that the checksum of the whole is compared.
    pub(crate) fn read_rest(&self) -> io::Result<()> {
        self.bytes.read_rest()
    }

    /// All elements of an array with one axis.
    pub(crate) fn numbers(&self) -> Result<Vec<f64>, Fault> {
        self.one_axis()?;
        self.to_f64().map_err(|e| Fault::unread(&e))
    }

    /// All elements of an array of whole numbers with one axis, each converted by `convert`. The first
    /// element that it refuses is returned with its place.
    pub(crate) fn integers<T>(
        &self,
        mut convert: impl FnMut(i128) -> Option<T>,
    ) -> Result<Result<Vec<T>, (usize, i128)>, Fault> {
        self.one_axis()?;
        let Dtype::Integer(kind, endian) = self.dtype else {
            return Err(Fault::new(
                format!("{}, where integers are needed", self.dtype.name()),
                "convert it to an integer dtype, for example with .astype('int64')",
            ));
        };
        let mut all = Vec::with_capacity(self.shape[0]);
        let mut refused = None;
        let read = self.each_element(|bytes| {
            let value = whole(kind, endian, bytes);
            match convert(value) {
                Some(converted) => all.push(converted),
                None => refused = refused.or(Some((all.len(), value))),
            }
        });
        read.map_err(|e| Fault::unread(&e))?;
        Ok(refused.map_or(Ok(all), Err))
    }

    /// All elements as f64, the last axis fastest; whole numbers beyond 2^53 are rounded.
    pub fn to_f64(&self) -> io::Result<Vec<f64>> {
        let mut all = Vec::with_capacity(self.shape.iter().product());
        self.each_element(|bytes| {
            let mut one = [0.0];
            decode(self.dtype, bytes, &mut one);
            all.push(one[0]);
        })?;
        Ok(all)
    }

    /// All elements of an array of whole numbers, the last axis fastest; `None` for floats, and where an `i64` does not
    /// hold one of them.
    pub fn to_i64(&self) -> io::Result<Option<Vec<i64>>> {
        let Dtype::Integer(kind, endian) = self.dtype else { return Ok(None) };
        let mut all = Some(Vec::with_capacity(self.shape.iter().product()));
        self.each_element(|bytes| match (i64::try_from(whole(kind, endian, bytes)), &mut all) {
            (Ok(value), Some(all)) => all.push(value),
            _ => all = None,
        })?;
        Ok(all)
    }

    /// All elements of an array of unsigned bytes, the last axis fastest; `None` for any other.
    pub fn to_bytes(&self) -> io::Result<Option<Vec<u8>>> {
        if !matches!(self.dtype, Dtype::Integer(Integer::U8, _)) {
            return Ok(None);
        }
        let mut all = Vec::with_capacity(self.bytes.len());
        self.each_element(|element| all.push(element[0]))?;
        Ok(Some(all))
    }

    /// Calls `f` with the bytes of each element, the last axis fastest.
    fn each_element(&self, mut f: impl FnMut(&[u8])) -> io::Result<()> {
        let size = self.dtype.size();
        if let Some(view) = &self.view {
            let all: Vec<_> = self.shape.iter().map(|&axis| 0..axis).collect();
            return self.bytes.with(0..self.bytes.len(), |bytes| {
                view.each_run(&all, |run| {
                    run.places().for_each(|at| f(&bytes[at * size..(at + 1) * size]));
                });
            });
        }
        if self.strides.is_sorted_by(|a, b| a >= b) {
            return self.bytes.each_block(0..self.bytes.len(), |block| {
                block.chunks_exact(size).for_each(&mut f)
            });
        }
        let mut bytes = Vec::with_capacity(self.bytes.len());
        self.bytes.each_block(0..self.bytes.len(), |block| bytes.extend_from_slice(block))?;
        for index in 0..bytes.len() / size {
            let mut rest = index;
            let mut at = 0;
            for (axis, stride) in self.shape.iter().zip(&self.strides).rev() {
                at += rest % axis * stride;
                rest /= axis;
            }
            f(&bytes[at * size..(at + 1) * size]);
        }
        Ok(())
    }

    /// Checks that the elements are floats.
    pub(crate) fn need_floats(&self) -> Result<(), Fault> {
        match self.dtype {
            Dtype::Float(..) => Ok(()),
            Dtype::Integer(..) => Err(Fault::new(
                format!("{}, where floats are needed", self.dtype.name()),
                "convert it to float32 or float64",
            )),
        }
    }

    fn one_axis(&self) -> Result<(), Fault> {
        if self.shape.len() == 1 {
            return Ok(());
        }
        let advice = match self.shape[..] {
            [_, 1] => "squeeze it to one axis, shape [examples]: .squeeze(1)",
            [1, _] => "squeeze it to one axis, shape [examples]: .squeeze(0)",
            _ => "give one number per example, shape [examples]",
        };
        Err(Fault::new(format!("shape {:?}, where one axis is needed", self.shape), advice))
    }
}
