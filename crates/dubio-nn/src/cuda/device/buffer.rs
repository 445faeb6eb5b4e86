//! Memory of a GPU, and copies to it, from it and within it.

use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::result as driver;

use super::{Device, Place};

impl Device {
    /// Copies f32 from one place to another.
    pub(in crate::cuda) fn copy(&self, from: Place, to: Place, numbers: usize) {
        if numbers == 0 {
            return;
        }
        let _own = self.bind();
        // SAFETY: both places hold this many numbers; the stream keeps the order.
        self.check(unsafe { driver::memcpy_dtod_async(to.0, from.0, 4 * numbers, self.stream) });
    }

    /// Sets f32 to 0.
    pub(in crate::cuda) fn zero(&self, place: Place, numbers: usize) {
        if numbers == 0 {
            return;
        }
        let _own = self.bind();
        // SAFETY: the place holds this many numbers.
        self.check(unsafe { driver::memset_d8_async(place.0, 0, 4 * numbers, self.stream) });
    }

    /// Copies the host's numbers to a place.
    pub(in crate::cuda) fn upload<T: Copy>(&self, values: &[T], to: Place) {
        if values.is_empty() {
            return;
        }
        let _own = self.bind();
        // SAFETY: the place holds this many numbers. Memory of the host that is not pinned is copied before this
        // returns.
        self.check(unsafe { driver::memcpy_htod_async(to.0, values, self.stream) });
    }

    /// Copies numbers to the host. Waits.
    pub(in crate::cuda) fn download<T: Copy + Default>(&self, from: Place, count: usize) -> Vec<T> {
        let mut values = vec![T::default(); count];
        if count > 0 {
            let _own = self.bind();
            // SAFETY: the place holds this many numbers, and the host waits before it looks.
            self.check(unsafe { driver::memcpy_dtoh_async(&mut values, from.0, self.stream) });
            self.check(unsafe { driver::stream::synchronize(self.stream) });
        }
        values
    }
}

/// Numbers of a type on a GPU.
pub(in crate::cuda) struct Buffer<T> {
    place: Place,
    len: usize,
    device: Arc<Device>,
    of: PhantomData<T>,
}

impl<T: Copy> Buffer<T> {
    /// Zeros.
    pub(in crate::cuda) fn zeros(device: &Arc<Device>, len: usize) -> Self {
        let _own = device.bind();
        let bytes = (len * size_of::<T>()).max(16);
        // SAFETY: memory is used on this stream alone, and is set before it is read.
        let place = device.check(unsafe { driver::malloc_async(device.stream, bytes) });
        device.check(unsafe { driver::memset_d8_async(place, 0, bytes, device.stream) });
        Self { place: Place(place), len, device: Arc::clone(device), of: PhantomData }
    }

    /// These numbers.
    pub(in crate::cuda) fn of(device: &Arc<Device>, values: &[T]) -> Self {
        let buffer = Self::zeros(device, values.len());
        buffer.put(values);
        buffer
    }

    /// Where they are.
    pub(in crate::cuda) fn place(&self) -> Place {
        self.place
    }

    /// Copies the host's numbers to the front.
    pub(in crate::cuda) fn put(&self, values: &[T]) {
        assert!(
            values.len() <= self.len,
            "{} numbers where there is room for {}",
            values.len(),
            self.len
        );
        self.device.upload(values, self.place);
    }

    /// How many.
    pub(in crate::cuda) fn len(&self) -> usize {
        self.len
    }

    /// Its device.
    pub(in crate::cuda) fn device(&self) -> &Arc<Device> {
        &self.device
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        // If another thread records on the stream, this must not become part of the recording.
        let _own = self.device.gpu.bind();
        // SAFETY: nobody else has this memory; work that was asked for before can still use it. A device that is lost
        // has nothing to give back.
        let _ = unsafe { driver::free_async(self.place.0, self.device.stream) };
    }
}
