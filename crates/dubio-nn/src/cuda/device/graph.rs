//! Work that is recorded once and replayed.

use std::sync::{Arc, PoisonError};

use cudarc::driver::{result as driver, sys};

use super::{Device, NOBODY_RECORDS, RECORDING, lock};

impl Device {
    /// Records what a function asks of the device, without doing it.
    pub(in crate::cuda) fn record(self: &Arc<Self>, work: impl FnOnce()) -> Graph {
        let recording = NOBODY_RECORDS.write().unwrap_or_else(PoisonError::into_inner);
        self.check(self.gpu.context.bind_to_thread());
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        let flags = sys::CUgraphInstantiate_flags(0);
        // SAFETY: nobody else uses the stream meanwhile; the graph to be launched is a copy of its recipe, which may
        // go.
        let graph = unsafe {
            self.check(driver::stream::begin_capture(self.stream, mode));
            let records = Records::begin();
            work();
            drop(records);
            let recipe = self.check(driver::stream::end_capture(self.stream));
            let graph = self.check(driver::graph::instantiate(recipe, flags));
            self.check(driver::graph::destroy(recipe));
            graph
        };
        drop(recording);
        Graph { graph, device: Arc::clone(self) }
    }
}

/// This thread records until this is dropped, even if its work is given up.
struct Records;

impl Records {
    fn begin() -> Self {
        RECORDING.set(true);
        Self
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        RECORDING.set(false);
    }
}

/// Work that was recorded, to be done again as a whole.
pub(in crate::cuda) struct Graph {
    graph: sys::CUgraphExec,
    device: Arc<Device>,
}

// SAFETY: as the device.
unsafe impl Send for Graph {}
unsafe impl Sync for Graph {}

impl Graph {
    /// Does it.
    pub(in crate::cuda) fn launch(&self) {
        let _own = self.device.bind();
        // A matrix product is one kernel or several, which share cuBLAS's workspace: this must not come in between.
        let _alone = lock(&self.device.blas);
        // SAFETY: the memory that it touches is there for as long as the recording: see `Replays`.
        self.device.check(unsafe { driver::graph::launch(self.graph, self.device.stream) });
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let _own = self.device.gpu.bind();
        // SAFETY: nobody else has it.
        let _ = unsafe { driver::graph::exec_destroy(self.graph) };
    }
}
