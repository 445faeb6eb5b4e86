//! A GPU through NVIDIA's driver: memory, kernels, matrix products. All unsafe code of the engine is in this folder
//! and in `libraries.rs`.
//!
//! Everything runs on one stream, in the order in which it is asked for, so a step waits for nothing and
//! nothing overtakes anything. Copies to the host wait.

#![allow(unsafe_code)]

mod buffer;
mod graph;
mod kernels;
mod product;

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::fmt;
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard};

use cudarc::cublas::sys as blas;
use cudarc::driver::{CudaContext, result as driver, sys};

pub(super) use self::buffer::Buffer;
pub(super) use self::graph::Graph;
pub(super) use self::kernels::compile;
pub(super) use self::product::Factor;
use super::error::Error;
use super::libraries;
use crate::precision::Precision;

/// Bytes of cuBLAS's workspace. Its own one would be another for every stream.
const WORKSPACE: usize = 32 << 20;

/// More than any kernel takes.
const MOST_ARGUMENTS: usize = 16;

thread_local! {
    /// Whether this thread records.
    static RECORDING: Cell<bool> = const { Cell::new(false) };
}

/// An address on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u64);

impl Place {
    /// No address at all.
    pub(super) const NOWHERE: Self = Self(0);

    /// So many f32 further on.
    pub(super) fn plus(self, numbers: usize) -> Self {
        Self(self.0 + 4 * numbers as u64)
    }
}

/// An argument of a kernel, in as many of its lowest bytes as its type has.
#[derive(Clone, Copy)]
pub(super) struct Arg(u64);

macro_rules! argument {
    ($($from:ty: |$value:ident| $bits:expr;)*) => {$(
        impl From<$from> for Arg {
            fn from($value: $from) -> Self {
                Self($bits)
            }
        }
    )*};
}
argument! {
    Place: |place| place.0;
    f32: |x| u64::from(x.to_bits());
    f64: |x| x.to_bits();
    i32: |x| u64::from(x as u32);
    u64: |x| x;
    usize: |x| x as u64;
}

/// A GPU at work.
pub(super) struct Device {
    context: Arc<CudaContext>,
    stream: sys::CUstream,
    functions: Mutex<HashMap<&'static str, sys::CUfunction>>,
    module: sys::CUmodule,
    /// Written while a thread records.
    recording: RwLock<()>,
    /// One call at a time: a handle is not to be shared by threads.
    blas: Mutex<blas::cublasHandle_t>,
    /// How cuBLAS multiplies.
    compute: blas::cublasComputeType_t,
    /// What the GPU is called.
    pub(super) name: String,
}

// SAFETY: stream, functions and module belong to the context, which every call binds to its thread first; the
// driver allows them from any thread.
unsafe impl Send for Device {}
unsafe impl Sync for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Device {
    /// The GPU of this number, if there is one and the libraries that it takes.
    pub(super) fn open(ordinal: usize, precision: Precision) -> Result<Arc<Self>, Error> {
        libraries::load()?;
        let count = Self::count()?;
        if ordinal >= count {
            return Err(Error::NoSuchDevice { ordinal, count });
        }
        let context = CudaContext::new(ordinal).map_err(Error::driver)?;
        let name = context.name().map_err(Error::driver)?;
        let (major, minor) = context.compute_capability().map_err(Error::driver)?;
        let ptx = compile(&format!("compute_{major}{minor}"))?;
        // SAFETY: the context is bound by its creation; the text ends in a zero; handles are used as cuBLAS says.
        unsafe {
            let module = driver::module::load_data(ptx.as_ptr().cast()).map_err(Error::driver)?;
            let stream = driver::stream::create(driver::stream::StreamKind::NonBlocking)
                .map_err(Error::driver)?;
            let workspace = driver::malloc_sync(WORKSPACE).map_err(Error::driver)?;
            let handle = cudarc::cublas::result::create_handle().map_err(Error::blas)?;
            blas::cublasSetStream_v2(handle, stream.cast()).result().map_err(Error::blas)?;
            // Setting a stream forgets the workspace, so it comes second.
            blas::cublasSetWorkspace_v2(handle, workspace as *mut c_void, WORKSPACE)
                .result()
                .map_err(Error::blas)?;
            let (functions, recording) = (Mutex::default(), RwLock::default());
            let blas = Mutex::new(handle);
            let compute = product::compute(precision);
            Ok(Arc::new(Self {
                context,
                stream,
                functions,
                module,
                recording,
                blas,
                compute,
                name,
            }))
        }
    }

    /// How many the driver sees.
    pub(super) fn count() -> Result<usize, Error> {
        CudaContext::device_count().map(|count| count as usize).map_err(Error::driver)
    }

    /// Bytes of the memory of the GPU of this number that are free.
    pub(super) fn free_bytes_of(ordinal: usize) -> Result<u64, Error> {
        let context = CudaContext::new(ordinal).map_err(Error::driver)?;
        context.bind_to_thread().map_err(Error::driver)?;
        driver::mem_get_info().map(|(free, _)| free as u64).map_err(Error::driver)
    }

    /// Makes the GPU this thread's. While another thread records, this one waits: the stream is one.
    fn bind(&self) -> Option<RwLockReadGuard<'_, ()>> {
        self.check(self.context.bind_to_thread());
        let recording = RECORDING.get();
        (!recording).then(|| self.recording.read().expect("no thread died recording"))
    }

    /// Bytes of its memory that are free, where the driver tells.
    pub(super) fn free_bytes(&self) -> Option<u64> {
        let _own = self.bind();
        driver::mem_get_info().ok().map(|(free, _)| free as u64)
    }

    /// What a call gave. There is no going on without the GPU, from deep inside a step: it ends the work.
    fn check<T>(&self, result: Result<T, driver::DriverError>) -> T {
        result.unwrap_or_else(|error| panic!("{}: {}", self.name, Error::driver(error)))
    }

    fn function(&self, name: &'static str) -> sys::CUfunction {
        let mut functions = self.functions.lock().expect("no thread died holding it");
        *functions.entry(name).or_insert_with(|| {
            let text = CString::new(name).expect("names have no zeros");
            // SAFETY: the module is loaded as long as the device is.
            self.check(unsafe { driver::module::get_function(self.module, text) })
        })
    }

    /// Runs a kernel on blocks of threads.
    pub(super) fn launch(
        &self,
        name: &'static str,
        blocks: (usize, usize),
        threads: (u32, u32),
        arguments: &[Arg],
    ) {
        if blocks.0 == 0 || blocks.1 == 0 {
            return;
        }
        let _own = self.bind();
        let mut pointers: [*mut c_void; MOST_ARGUMENTS] = [std::ptr::null_mut(); MOST_ARGUMENTS];
        for (pointer, argument) in pointers.iter_mut().zip(arguments) {
            *pointer = std::ptr::from_ref(&argument.0).cast_mut().cast();
        }
        let grid = (blocks.0 as u32, blocks.1 as u32, 1);
        let function = self.function(name);
        let used = &mut pointers[..arguments.len()];
        // SAFETY: arguments are those of the kernel's signature, and point to as many numbers as it touches: each
        // call stands beside the sizes that it is about. They are copied before this returns.
        self.check(unsafe {
            driver::launch_kernel(function, grid, (threads.0, threads.1, 1), 0, self.stream, used)
        });
    }

    /// Runs a kernel whose last argument is how many numbers there are, a thread for each.
    pub(super) fn each(&self, name: &'static str, count: usize, arguments: &[Arg]) {
        assert!(count <= i32::MAX as usize, "{name} of {count} numbers: at most 2^31 at a time");
        let mut all = [Arg(0); MOST_ARGUMENTS];
        all[..arguments.len()].copy_from_slice(arguments);
        all[arguments.len()] = count.into();
        self.launch(name, (count.div_ceil(256), 1), (256, 1), &all[..=arguments.len()]);
    }
}
