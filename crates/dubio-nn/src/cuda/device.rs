//! A GPU through NVIDIA's driver: memory, kernels, products of matrices. All that is unsafe is here.
//!
//! Everything runs on one stream, in the order in which it is asked for, so a step waits for nothing and
//! nothing overtakes anything. Copies to the host wait.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard};

use cudarc::cublas::sys as blas;
use cudarc::driver::{CudaContext, result as driver, sys};
use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};

use super::error::Error;
use super::libraries;
use crate::precision::Precision;

/// Source of the kernels, compiled for the GPU that is there when it is first used.
const SOURCE: &str = concat!(
    include_str!("kernels/vectors.cu"),
    include_str!("kernels/layers.cu"),
    include_str!("kernels/losses.cu")
);

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
            let compute = compute(precision);
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

    /// Records what a function asks of the device, without doing it.
    pub(super) fn record(self: &Arc<Self>, work: impl FnOnce()) -> Graph {
        let recording = self.recording.write().expect("no thread died recording");
        self.check(self.context.bind_to_thread());
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        let flags = sys::CUgraphInstantiate_flags(0);
        // SAFETY: nobody else uses the stream meanwhile; a graph is what its recipe was, and the recipe may go.
        let graph = unsafe {
            self.check(driver::stream::begin_capture(self.stream, mode));
            RECORDING.set(true);
            work();
            RECORDING.set(false);
            let recipe = self.check(driver::stream::end_capture(self.stream));
            let graph = self.check(driver::graph::instantiate(recipe, flags));
            self.check(driver::graph::destroy(recipe));
            graph
        };
        drop(recording);
        Graph { graph, device: Arc::clone(self) }
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

    /// `c = op(a) op(b) + beta c` of matrices whose rows lie one after the other: `[m, k]`, `[k, n]`, `[m, n]`.
    pub(super) fn product(&self, [m, n, k]: [usize; 3], a: Factor, b: Factor, beta: f32, c: Place) {
        if m == 0 || n == 0 || k == 0 {
            return;
        }
        let _own = self.bind();
        // cuBLAS has columns one after the other: to it these are transposed, and so is the product.
        let operation = |factor: Factor, rows: usize, columns: usize| match factor {
            Factor::Plain(place) => (blas::cublasOperation_t::CUBLAS_OP_N, place, columns),
            Factor::Transposed(place) => (blas::cublasOperation_t::CUBLAS_OP_T, place, rows),
        };
        let ((op_a, a, width_a), (op_b, b, width_b)) = (operation(a, m, k), operation(b, k, n));
        let (alpha, handle) = (1_f32, self.blas.lock().expect("no thread died holding it"));
        let [m, n, k] = [m, n, k].map(|side| side as i32);
        // SAFETY: places hold as many numbers as the sides say; the handle is held alone.
        let status = unsafe {
            blas::cublasGemmEx(
                *handle,
                op_b,
                op_a,
                n,
                m,
                k,
                (&raw const alpha).cast(),
                b.0 as *const c_void,
                blas::cudaDataType_t::CUDA_R_32F,
                width_b as i32,
                a.0 as *const c_void,
                blas::cudaDataType_t::CUDA_R_32F,
                width_a as i32,
                (&raw const beta).cast(),
                c.0 as *mut c_void,
                blas::cudaDataType_t::CUDA_R_32F,
                n,
                self.compute,
                blas::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        };
        status.result().unwrap_or_else(|error| panic!("{}: {}", self.name, Error::blas(error)));
    }

    /// Copies f32 from one place to another.
    pub(super) fn copy(&self, from: Place, to: Place, numbers: usize) {
        if numbers == 0 {
            return;
        }
        let _own = self.bind();
        // SAFETY: both hold as many; the stream keeps the order.
        self.check(unsafe { driver::memcpy_dtod_async(to.0, from.0, 4 * numbers, self.stream) });
    }

    /// Sets f32 to 0.
    pub(super) fn zero(&self, place: Place, numbers: usize) {
        if numbers == 0 {
            return;
        }
        let _own = self.bind();
        // SAFETY: as many numbers are there.
        self.check(unsafe { driver::memset_d8_async(place.0, 0, 4 * numbers, self.stream) });
    }

    /// Copies the host's numbers to a place.
    pub(super) fn upload<T: Copy>(&self, values: &[T], to: Place) {
        if values.is_empty() {
            return;
        }
        let _own = self.bind();
        // SAFETY: the place holds as many. Memory of the host that is not pinned is copied before this returns.
        self.check(unsafe { driver::memcpy_htod_async(to.0, values, self.stream) });
    }

    /// Copies numbers to the host. Waits.
    pub(super) fn download<T: Copy + Default>(&self, from: Place, count: usize) -> Vec<T> {
        let mut values = vec![T::default(); count];
        if count > 0 {
            let _own = self.bind();
            // SAFETY: the place holds as many, and the host waits before it looks.
            self.check(unsafe { driver::memcpy_dtoh_async(&mut values, from.0, self.stream) });
            self.check(unsafe { driver::stream::synchronize(self.stream) });
        }
        values
    }
}

/// How cuBLAS multiplies at a precision.
fn compute(precision: Precision) -> blas::cublasComputeType_t {
    match precision {
        Precision::F32 => blas::cublasComputeType_t::CUBLAS_COMPUTE_32F,
        Precision::Tf32 => blas::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
        Precision::Bf16 => blas::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_16BF,
    }
}

/// Work that was recorded, to be done again as a whole.
pub(super) struct Graph {
    graph: sys::CUgraphExec,
    device: Arc<Device>,
}

// SAFETY: as the device.
unsafe impl Send for Graph {}
unsafe impl Sync for Graph {}

impl Graph {
    /// Does it.
    pub(super) fn launch(&self) {
        let _own = self.device.bind();
        // SAFETY: what it touches is there as long as what was recorded: see `Replays`.
        self.device.check(unsafe { driver::graph::launch(self.graph, self.device.stream) });
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let _ = self.device.context.bind_to_thread();
        // SAFETY: nobody else has it.
        let _ = unsafe { driver::graph::exec_destroy(self.graph) };
    }
}

/// A factor of a product of matrices.
#[derive(Clone, Copy)]
pub(super) enum Factor {
    /// As it lies.
    Plain(Place),
    /// Its transpose lies there.
    Transposed(Place),
}

/// Numbers of a type on a GPU.
pub(super) struct Buffer<T> {
    place: Place,
    len: usize,
    device: Arc<Device>,
    of: PhantomData<T>,
}

impl<T: Copy> Buffer<T> {
    /// Zeros.
    pub(super) fn zeros(device: &Arc<Device>, len: usize) -> Self {
        let _own = device.bind();
        let bytes = (len * size_of::<T>()).max(16);
        // SAFETY: memory is used on this stream alone, and is set before it is read.
        let place = device.check(unsafe { driver::malloc_async(device.stream, bytes) });
        device.check(unsafe { driver::memset_d8_async(place, 0, bytes, device.stream) });
        Self { place: Place(place), len, device: Arc::clone(device), of: PhantomData }
    }

    /// These numbers.
    pub(super) fn of(device: &Arc<Device>, values: &[T]) -> Self {
        let buffer = Self::zeros(device, values.len());
        device.upload(values, buffer.place);
        buffer
    }

    /// Where they are.
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Its device.
    pub(super) fn device(&self) -> &Arc<Device> {
        &self.device
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        // SAFETY: nobody else has this memory; what was asked for before still gets it. A device that is lost has
        // nothing to give back.
        let _ = self.device.context.bind_to_thread();
        let _ = unsafe { driver::free_async(self.place.0, self.device.stream) };
    }
}

/// The kernels for a kind of GPU, as text for the driver.
pub(super) fn compile(architecture: &str) -> Result<CString, Error> {
    let options = vec![format!("--gpu-architecture={architecture}")];
    match compile_ptx_with_opts(SOURCE, CompileOptions { options, ..CompileOptions::default() }) {
        Ok(ptx) => Ok(CString::new(ptx.to_src()).expect("text of kernels has no zeros")),
        Err(CompileError::CompileError { log, .. }) => {
            Err(Error::Kernels(log.to_string_lossy().into_owned()))
        }
        Err(error) => Err(Error::Kernels(format!("{error:?}"))),
    }
}
