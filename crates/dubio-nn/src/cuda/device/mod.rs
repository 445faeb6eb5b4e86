//! A GPU through NVIDIA's driver: memory, kernels, matrix products. All unsafe code of the engine is in this folder
//! and in `libraries.rs`.
//!
//! Everything that is asked of a device runs on its one stream, in the order in which it is asked for, so a step
//! waits for nothing and nothing overtakes anything. Copies to the host wait. Members of an ensemble have a device each
//! ([`Device::beside`]): the same GPU, another stream.

#![allow(unsafe_code)]

mod buffer;
mod graph;
mod kernels;
mod product;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ffi::{CString, c_void};
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use cudarc::cublas::sys as blas;
use cudarc::driver::{CudaContext, result as driver, sys};
use rayon::prelude::*;

pub(super) use self::buffer::Buffer;
pub(super) use self::graph::Graph;
pub(super) use self::kernels::{DEPTH, HOPPER_DEPTH, Multiply, Program, Role, Tile, compile};
pub(super) use self::product::{Factor, Then};
use super::error::{Error, give_up};
use super::libraries;
use crate::precision::Precision;

/// Bytes of cuBLAS's workspace. Every member of an ensemble has one.
const WORKSPACE: usize = 32 << 20;

/// More than any kernel takes.
const MOST_ARGUMENTS: usize = 16;

thread_local! {
    /// Whether this thread records.
    static RECORDING: Cell<bool> = const { Cell::new(false) };
}

/// Locked for writing while a thread records. There is one for the whole program: the driver's memory is shared by all
/// streams, even by those of a GPU that was opened twice, and cuBLAS fails if other threads set up a stream, a handle
/// or memory meanwhile.
static NOBODY_RECORDS: RwLock<()> = RwLock::new(());

/// Waits while another thread records. A thread must not hold it twice: one that waits to record would come between,
/// and block both.
fn while_nobody_records() -> Option<RwLockReadGuard<'static, ()>> {
    let own = || NOBODY_RECORDS.read().unwrap_or_else(PoisonError::into_inner);
    (!RECORDING.get()).then(own)
}

/// An address on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u64);

impl Place {
    /// No address at all.
    pub(super) const NOWHERE: Self = Self(0);

    /// Whether four f32 can be copied from here at once.
    pub(super) fn is_aligned(self) -> bool {
        self.0.is_multiple_of(16)
    }

    /// The address this many f32 further on.
    pub(super) fn plus(self, numbers: usize) -> Self {
        Self(self.0 + 4 * numbers as u64)
    }
}

/// An argument of a kernel, in the lowest bytes: as many as its type has.
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

/// A GPU, and the kernels that were compiled for it.
struct Gpu {
    context: Arc<CudaContext>,
    functions: Mutex<HashMap<&'static str, sys::CUfunction>>,
    module: sys::CUmodule,
    /// Kernels that are compiled when they are first asked for, for this kind of GPU.
    programs: Mutex<HashMap<Program, sys::CUfunction>>,
    architecture: String,
    precision: Precision,
    /// What it is called.
    name: String,
}

impl Gpu {
    fn open(ordinal: usize, precision: Precision) -> Result<Self, Error> {
        libraries::load()?;
        let count = Device::count()?;
        if ordinal >= count {
            return Err(Error::NoSuchDevice { ordinal, count });
        }
        Device::check_age_of(ordinal)?;
        let _own = while_nobody_records();
        let context = CudaContext::new(ordinal).map_err(Error::driver)?;
        let name = context.name().map_err(Error::driver)?;
        let (major, minor) = context.compute_capability().map_err(Error::driver)?;
        let architecture = format!("compute_{major}{minor}");
        let ptx = compile(&architecture, precision)?;
        // SAFETY: the context is bound by its creation; the text ends in a zero.
        let module = unsafe { driver::module::load_data(ptx.as_ptr().cast()) };
        let module = module.map_err(Error::driver)?;
        keep_memory(&context);
        let (functions, programs) = (Mutex::default(), Mutex::default());
        Ok(Self { context, functions, module, programs, architecture, precision, name })
    }

    /// Binds the GPU to this thread, while nobody records.
    fn bind(&self) -> Result<Option<RwLockReadGuard<'static, ()>>, driver::DriverError> {
        let own = while_nobody_records();
        self.context.bind_to_thread()?;
        Ok(own)
    }
}

/// A GPU at work on one stream.
pub(super) struct Device {
    gpu: Arc<Gpu>,
    stream: sys::CUstream,
    /// One call at a time: a handle is not to be shared by threads.
    blas: Mutex<blas::cublasHandle_t>,
    /// What cuBLAS works in.
    workspace: u64,
}

// SAFETY: stream, functions and module belong to the context, which every call binds to its thread first; the
// driver allows them from any thread.
unsafe impl Send for Gpu {}
unsafe impl Sync for Gpu {}
unsafe impl Send for Device {}
unsafe impl Sync for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _own = self.gpu.bind();
        // SAFETY: nobody else has them. A device that is lost has nothing to give back, and none of these calls minds a
        // null, which stands for what was never there.
        unsafe {
            let _ = driver::stream::synchronize(self.stream);
            if let Ok(handle) = self.blas.get_mut() {
                let _ = cudarc::cublas::result::destroy_handle(*handle);
            }
            let _ = driver::free_sync(self.workspace);
            let _ = driver::stream::destroy(self.stream);
        }
    }
}

impl Device {
    /// The GPU of this number, if it and the libraries that it needs are there.
    pub(super) fn open(ordinal: usize, precision: Precision) -> Result<Arc<Self>, Error> {
        Self::on(Arc::new(Gpu::open(ordinal, precision)?))
    }

    /// The same GPU with a stream of its own, for work beside this device's, whose work so far is done by then.
    pub(super) fn beside(&self) -> Arc<Self> {
        self.wait();
        self.expect(Self::on(Arc::clone(&self.gpu)))
    }

    /// Waits until everything that was asked for is done.
    pub(super) fn wait(&self) {
        let _own = self.bind();
        // SAFETY: the stream is there as long as the device.
        self.check(unsafe { driver::stream::synchronize(self.stream) });
    }

    fn on(gpu: Arc<Gpu>) -> Result<Arc<Self>, Error> {
        // Whatever fails, `drop` gives back what there is by then.
        let (stream, blas) = (ptr::null_mut(), Mutex::new(ptr::null_mut()));
        let mut device = Self { gpu, stream, blas, workspace: 0 };
        let own = device.gpu.bind().map_err(Error::driver)?;
        let kind = driver::stream::StreamKind::NonBlocking;
        device.stream = driver::stream::create(kind).map_err(Error::driver)?;
        // SAFETY: the context is bound; handles are used as cuBLAS says.
        unsafe {
            device.workspace = driver::malloc_sync(WORKSPACE).map_err(Error::driver)?;
            let handle = cudarc::cublas::result::create_handle().map_err(Error::blas)?;
            device.blas = Mutex::new(handle);
            blas::cublasSetStream_v2(handle, device.stream.cast()).result().map_err(Error::blas)?;
            // Setting a stream forgets the workspace, so it comes second.
            blas::cublasSetWorkspace_v2(handle, device.workspace as *mut c_void, WORKSPACE)
                .result()
                .map_err(Error::blas)?;
        }
        drop(own);
        Ok(Arc::new(device))
    }

    /// Whether it has the instructions of compute capability 9.0 and is asked for bfloat16.
    pub(super) fn is_hopper_in_bf16(&self) -> bool {
        self.gpu.architecture == "compute_90" && self.gpu.precision == Precision::Bf16
    }

    /// What the GPU is called.
    pub(super) fn name(&self) -> &str {
        &self.gpu.name
    }

    /// What its results depend on besides the seed: the GPU, and the versions of the driver and of cuBLAS.
    pub(super) fn described(&self) -> String {
        let (mut driver, mut library) = (0, 0);
        let handle = lock(&self.blas);
        // SAFETY: both write one number; the handle is the device's own.
        unsafe {
            self.check(sys::cuDriverGetVersion(&raw mut driver).result());
            let got = blas::cublasGetVersion_v2(*handle, &raw mut library).result();
            self.expect(got.map_err(Error::blas));
        }
        let (major, minor) = (driver / 1000, driver % 1000 / 10);
        let [of_cublas, rest] = [library / 10_000, library % 10_000 / 100];
        format!("{}, driver of CUDA {major}.{minor}, cuBLAS {of_cublas}.{rest}", self.name())
    }

    /// How many GPUs the driver sees, once it is known to have the functions that are called.
    pub(super) fn count() -> Result<usize, Error> {
        let mut version = 0;
        // SAFETY: the driver's library is loaded; every version has this function, which writes one number.
        unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().map_err(Error::driver)?;
        Error::check_driver(version)?;
        CudaContext::device_count().map(|count| count as usize).map_err(Error::driver)
    }

    /// Checks that the GPU of this number has the instructions that kernels use. Takes none of its memory.
    pub(super) fn check_age_of(ordinal: usize) -> Result<(), Error> {
        use sys::CUdevice_attribute as Attribute;
        let gpu = driver::device::get(ordinal as i32).map_err(Error::driver)?;
        // SAFETY: the driver gave the device.
        let of = |attribute| unsafe { driver::device::get_attribute(gpu, attribute) };
        let major = of(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        let minor = of(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        match (major.map_err(Error::driver)?, minor.map_err(Error::driver)?) {
            (major, minor) if major < 8 => {
                let name = driver::device::get_name(gpu).map_err(Error::driver)?;
                Err(Error::TooOld { name, major, minor })
            }
            _ => Ok(()),
        }
    }

    /// Bytes of the memory of the GPU of this number that are free.
    pub(super) fn free_bytes_of(ordinal: usize) -> Result<u64, Error> {
        let _own = while_nobody_records();
        let context = CudaContext::new(ordinal).map_err(Error::driver)?;
        context.bind_to_thread().map_err(Error::driver)?;
        driver::mem_get_info().map(|(free, _)| free as u64).map_err(Error::driver)
    }

    /// Binds the GPU to this thread: see [`Gpu::bind`].
    fn bind(&self) -> Option<RwLockReadGuard<'static, ()>> {
        self.check(self.gpu.bind())
    }

    /// Bytes of its memory that are free, where the driver tells.
    pub(super) fn free_bytes(&self) -> Option<u64> {
        let _own = self.bind();
        driver::mem_get_info().ok().map(|(free, _)| free as u64)
    }

    /// What a call gave. Deep inside a step there is no going on without the GPU: after an error, the work is given up.
    fn check<T>(&self, result: Result<T, driver::DriverError>) -> T {
        self.expect(result.map_err(Error::driver))
    }

    /// The same for any call.
    pub(super) fn expect<T>(&self, result: Result<T, Error>) -> T {
        result.unwrap_or_else(|error| give_up(self.name(), &error))
    }

    fn function(&self, name: &'static str) -> sys::CUfunction {
        let mut functions = lock(&self.gpu.functions);
        *functions.entry(name).or_insert_with(|| {
            let text = CString::new(name).expect("names have no zeros");
            // SAFETY: the module is loaded as long as the device is.
            self.check(unsafe { driver::module::get_function(self.gpu.module, text) })
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
        self.start(self.function(name), [blocks.0, blocks.1, 1], threads, 0, arguments);
    }

    /// Runs a program on blocks of threads.
    pub(super) fn run(&self, program: &Program, blocks: [usize; 3], arguments: &[Arg]) {
        let (threads, bytes) = ((program.threads() as u32, 1), program.shared_bytes());
        let function = self.program(program);
        let _own = self.bind();
        self.start(function, blocks, threads, bytes, arguments);
    }

    /// Runs a function on blocks of threads, each with this many bytes of shared memory.
    fn start(
        &self,
        function: sys::CUfunction,
        blocks: [usize; 3],
        threads: (u32, u32),
        shared_bytes: usize,
        arguments: &[Arg],
    ) {
        let mut pointers: [*mut c_void; MOST_ARGUMENTS] = [std::ptr::null_mut(); MOST_ARGUMENTS];
        for (pointer, argument) in pointers.iter_mut().zip(arguments) {
            *pointer = std::ptr::from_ref(&argument.0).cast_mut().cast();
        }
        let [x, y, z] = blocks.map(|side| side as u32);
        let (threads, used) = ((threads.0, threads.1, 1), &mut pointers[..arguments.len()]);
        // SAFETY: arguments are those of the kernel's signature, and point to as many numbers as it touches: each
        // call stands next to the sizes that it depends on. They are copied before this returns.
        self.check(unsafe {
            let bytes = shared_bytes as u32;
            driver::launch_kernel(function, (x, y, z), threads, bytes, self.stream, used)
        });
    }

    /// Compiles programs that are not there yet, side by side: each takes some tenths of a second. No lock is held
    /// meanwhile, because a thread that waits for the others may be given other work of this GPU.
    pub(super) fn make_ready(&self, programs: impl Iterator<Item = Program>) {
        let missing: HashSet<Program> = {
            let ready = lock(&self.gpu.programs);
            programs.filter(|one| !ready.contains_key(one)).collect()
        };
        let missing: Vec<Program> = missing.into_iter().collect();
        let compile = |one: &Program| one.compile(&self.gpu.architecture, self.gpu.precision);
        let texts: Vec<_> = missing.par_iter().map(compile).collect();
        let _own = self.bind();
        let mut ready = lock(&self.gpu.programs);
        for (program, text) in missing.into_iter().zip(texts) {
            let text = self.expect(text);
            ready.entry(program).or_insert_with(|| self.check(loaded(&program, &text)));
        }
    }

    /// A program, compiled when it is first asked for.
    fn program(&self, program: &Program) -> sys::CUfunction {
        let known = || lock(&self.gpu.programs).get(program).copied();
        known().unwrap_or_else(|| {
            self.make_ready(std::iter::once(*program));
            known().expect("it is ready")
        })
    }

    /// Runs a kernel whose last argument is how many numbers there are, a thread for each.
    pub(super) fn each(&self, name: &'static str, count: usize, arguments: &[Arg]) {
        assert!(i32::try_from(count).is_ok(), "see `can_count`");
        let mut all = [Arg(0); MOST_ARGUMENTS];
        all[..arguments.len()].copy_from_slice(arguments);
        all[arguments.len()] = count.into();
        self.launch(name, (count.div_ceil(256), 1), (256, 1), &all[..=arguments.len()]);
    }
}

/// Work that was given up leaves what it had locked intact: each change to it is all or nothing.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program's function, from its text. The module stays as long as the context.
fn loaded(program: &Program, text: &CString) -> Result<sys::CUfunction, driver::DriverError> {
    let name = CString::new(Program::ENTRY).expect("names have no zeros");
    let most = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: the context is bound, the text ends in a zero, and the module has a function of this name.
    unsafe {
        let module = driver::module::load_data(text.as_ptr().cast())?;
        let function = driver::module::get_function(module, name)?;
        driver::function::set_function_attribute(function, most, program.shared_bytes() as i32)?;
        Ok(function)
    }
}

/// Keeps freed memory for the next request. By default the driver returns it to the system whenever a stream is waited
/// for, and allocating gigabytes anew costs more than what is done with them. If this fails, everything is only slower.
fn keep_memory(context: &CudaContext) {
    let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    let mut pool = std::ptr::null_mut();
    let mut all = u64::MAX;
    // SAFETY: the pool is the device's own, and the attribute is a number of 64 bits.
    unsafe {
        if sys::cuDeviceGetDefaultMemPool(&raw mut pool, context.cu_device()).result().is_ok() {
            let _ = sys::cuMemPoolSetAttribute(pool, attribute, (&raw mut all).cast()).result();
        }
    }
}
