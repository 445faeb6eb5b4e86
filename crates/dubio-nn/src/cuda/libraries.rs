//! Finding NVIDIA's libraries, which are loaded when a GPU is asked for and never before.
//!
//! The driver comes with the machine. NVRTC and cuBLAS come with a CUDA toolkit or with Python's `nvidia-*`
//! packages, whose folders no loader knows: a library that is loaded by its full path first is found by its name
//! afterwards.

#![allow(unsafe_code)]

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::error::Error;

/// Loads what a GPU takes, once.
pub(super) fn load() -> Result<(), Error> {
    static LOADED: OnceLock<Result<(), Error>> = OnceLock::new();
    LOADED.get_or_init(find).clone()
}

/// Loads what compiling kernels takes, which needs no GPU.
pub(super) fn load_compiler() -> Result<(), Error> {
    // SAFETY: looking for a library runs no code but its own start.
    need("nvrtc", "NVRTC", || unsafe { cudarc::nvrtc::sys::is_culib_present() })
}

fn find() -> Result<(), Error> {
    // SAFETY: as above.
    let (driver, cublas) = unsafe {
        (cudarc::driver::sys::is_culib_present(), || cudarc::cublas::sys::is_culib_present())
    };
    if !driver {
        return Err(Error::Missing {
            what: "the NVIDIA driver",
            looked_for: "libcuda.so".into(),
            advice: "install NVIDIA's driver, or use --device cpu",
        });
    }
    load_compiler()?;
    need("cublasLt", "cuBLAS", || true)?; // cuBLAS asks for it by name
    need("cublas", "cuBLAS", cublas)
}

/// Loads a library by its full path if it is in one of the folders, and sees whether it can be found now.
fn need(name: &str, what: &'static str, present: impl Fn() -> bool) -> Result<(), Error> {
    let folders = folders();
    for file in folders.iter().flat_map(|folder| files(folder, name)) {
        // SAFETY: as above.
        if let Ok(library) = unsafe { libloading::Library::new(&file) } {
            std::mem::forget(library); // it stays for as long as the program runs
            break;
        }
    }
    if present() {
        return Ok(());
    }
    let named = folders.iter().map(|folder| folder.display().to_string());
    let looked_for =
        format!("lib{name}.so by the loader, and in {}", named.collect::<Vec<_>>().join(", "));
    Err(Error::Missing { what, looked_for, advice: INSTALL })
}

const INSTALL: &str = "install a CUDA toolkit and set CUDA_HOME, or run in a Python environment with the packages \
                       nvidia-cublas and nvidia-cuda-nvrtc, or use --device cpu";

/// Where the libraries may be.
fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for home in ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(std::env::var_os) {
        folders.extend(["lib64", "lib"].map(|lib| Path::new(&home).join(lib)));
    }
    for environment in ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(std::env::var_os) {
        for python in entries(&Path::new(&environment).join("lib")) {
            for package in entries(&python.join("site-packages/nvidia")) {
                folders.push(package.join("lib"));
            }
        }
    }
    folders.extend(["/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu"].map(PathBuf::from));
    folders
}

/// The files of a folder that are a library of this name, the newest version first.
fn files(folder: &Path, name: &str) -> Vec<PathBuf> {
    let start = format!("lib{name}.so");
    let is_one = |path: &PathBuf| {
        let file = path.file_name().and_then(|file| file.to_str());
        file.is_some_and(|file| {
            file.strip_prefix(&start).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    let mut files: Vec<PathBuf> = entries(folder).into_iter().filter(is_one).collect();
    files.sort();
    files.reverse();
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten();
    read.filter_map(|entry| Some(entry.ok()?.path())).collect()
}
