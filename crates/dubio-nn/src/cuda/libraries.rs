//! Finding NVIDIA's libraries, which are loaded when a GPU is asked for and never before.
//!
//! The driver comes with the machine. NVRTC and cuBLAS come with a CUDA toolkit or with Python's `nvidia-*`
//! packages, whose folders no loader knows. A library that is first loaded by its full path is found by its name
//! afterwards.

#![allow(unsafe_code)]

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::error::Error;

/// Loads the libraries that a GPU needs, once.
pub(super) fn load() -> Result<(), Error> {
    static LOADED: OnceLock<Result<(), Error>> = OnceLock::new();
    LOADED.get_or_init(find).clone()
}

/// Loads what is needed to compile kernels, which takes no GPU.
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
        return Err(Error::NoDriver);
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
    Err(Error::Missing { what, looked_for })
}

/// Folders of Python packages that a program knows of, besides those below.
static PACKAGES: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Looks for libraries among these folders of Python packages too: an interpreter knows its own, which need not be an
/// active environment's. The first call counts.
pub fn look_among_packages(folders: Vec<PathBuf>) {
    PACKAGES.get_or_init(|| folders);
}

/// Where the libraries may be.
fn folders() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(|name| variable(name));
    let mut folders: Vec<PathBuf> =
        toolkits.flat_map(|home| ["lib64", "lib"].map(|lib| home.join(lib))).collect();
    // The environment that is active, and the one that this program was installed into, which need not be active.
    let own = std::env::current_exe().ok();
    let own = own.as_deref().and_then(|program| program.parent()?.parent());
    let conda = variable("CONDA_PREFIX");
    let environments = [variable("VIRTUAL_ENV"), conda.clone(), own.map(PathBuf::from)];
    let packages = environments.iter().flatten().flat_map(|environment| packages_of(environment));
    let given = PACKAGES.get().into_iter().flatten().cloned();
    folders.extend(packages.chain(given).flat_map(|packages| libraries_among(&packages)));
    folders.extend(conda.map(|conda| conda.join("lib")));
    folders.extend(["/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu"].map(PathBuf::from));
    folders.dedup();
    folders
}

/// Folders of Python packages of an environment.
fn packages_of(environment: &Path) -> Vec<PathBuf> {
    let pythons = entries(&environment.join("lib"));
    let both = |python: PathBuf| ["site-packages", "dist-packages"].map(|name| python.join(name));
    pythons.into_iter().flat_map(both).filter(|packages| packages.is_dir()).collect()
}

/// Folders of NVIDIA's libraries among Python packages: `nvidia/cublas/lib` of CUDA 12, `nvidia/cu13/lib` of CUDA 13.
fn libraries_among(packages: &Path) -> Vec<PathBuf> {
    let folders = entries(&packages.join("nvidia")).into_iter().map(|package| package.join("lib"));
    folders.filter(|folder| folder.is_dir()).collect()
}

/// The files of a folder that are a library of this name, the newest version first.
fn files(folder: &Path, name: &str) -> Vec<PathBuf> {
    let start = format!("lib{name}.so");
    let version = |path: &Path| -> Option<Vec<u32>> {
        let rest = path.file_name()?.to_str()?.strip_prefix(&start)?;
        match rest.strip_prefix('.') {
            Some(numbers) => numbers.split('.').map(|number| number.parse().ok()).collect(),
            None => rest.is_empty().then(Vec::new),
        }
    };
    let mut files: Vec<(Vec<u32>, PathBuf)> =
        entries(folder).into_iter().filter_map(|path| Some((version(&path)?, path))).collect();
    files.sort();
    files.into_iter().rev().map(|(_, path)| path).collect()
}

/// What is in a folder, in the order of names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_python_packages_are_found_the_newest_version_first() {
        let environment = tempfile::tempdir().expect("a folder");
        let packages = environment.path().join("lib/python3.11/site-packages");
        let folder = packages.join("nvidia/cublas/lib");
        std::fs::create_dir_all(&folder).expect("made");
        for file in ["so.9", "so.12", "so.12.8.1", "so", "so.old"] {
            std::fs::write(folder.join(format!("libcublas.{file}")), "").expect("written");
        }
        std::fs::write(folder.join("libcublasLt.so.12"), "").expect("written");
        assert_eq!(packages_of(environment.path()), std::slice::from_ref(&packages));
        assert_eq!(libraries_among(&packages), std::slice::from_ref(&folder));
        let expected = ["so.12.8.1", "so.12", "so.9", "so"];
        let expected = expected.map(|file| folder.join(format!("libcublas.{file}")));
        assert_eq!(files(&folder, "cublas"), expected);
    }
}
