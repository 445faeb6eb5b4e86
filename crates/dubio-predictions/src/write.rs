//! Writing predictions: `.npz`, `.safetensors` or a folder of `.npy`, all of which can be read back.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use safetensors::tensor::{Dtype, TensorView};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::error::Error;
use crate::npy;

/// An array of numbers to be written.
pub struct Floats<'a> {
    /// What they are: `logits`, `log_probs`, `mean`.
    pub name: &'static str,
    /// The last axis runs fastest.
    pub values: &'a [f32],
    /// Lengths of the axes.
    pub shape: Vec<usize>,
}

impl Floats<'_> {
    /// Checks that the numbers fill the shape.
    fn check(&self, path: &Path) -> Result<(), Error> {
        let (count, shape) = (self.values.len(), &self.shape);
        if shape.iter().try_fold(1_usize, |product, &axis| product.checked_mul(axis)) == Some(count)
        {
            return Ok(());
        }
        let what = format!("{count} numbers for shape {shape:?}");
        Err(Error::array(path, self.name, what, "give as many numbers as the shape holds"))
    }
}

/// Predictions to be written.
pub struct Output<'a> {
    /// What is predicted.
    pub floats: Vec<Floats<'a>>,
    /// Further arrays, of whole numbers: labels, groups.
    pub integers: Vec<(String, Vec<i64>)>,
}

/// Writes predictions to `.npz`, `.safetensors` or, where the name has no extension, to a folder of
/// `.npy`. A file is written beside its place and then renamed, so that it is there whole or not at all.
pub fn write(path: &Path, output: &Output<'_>) -> Result<(), Error> {
    output.floats.iter().try_for_each(|array| array.check(path))?;
    let written = match path.extension().and_then(|e| e.to_str()) {
        Some("npz") => write_whole(path, |file| npz(file, output)),
        Some("safetensors") => write_whole(path, |file| safetensors(file, output)),
        None => folder(path, output),
        Some(other) => {
            let what = format!("cannot write a .{other} file");
            let advice = "name a .npz or .safetensors file, or a folder";
            return Err(Error::file(path, what, advice));
        }
    };
    written.map_err(|e| Error::io(path, &e))
}

/// Temporary files are private by default; this one is to become an ordinary file.
fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666)); // less the umask
    }
    builder
}

/// Writes a file beside its place and then renames it: it is there whole or not at all.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = builder().prefix(".dubio-").tempfile_in(folder).map_err(plain)?;
    fill(file.as_file_mut())?;
    file.persist(path).map(|_| ()).map_err(|e| e.error)
}

/// The error without the name of the temporary file, which means nothing to a user.
fn plain(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source());
    let code = inner.and_then(|e| e.downcast_ref::<io::Error>()).and_then(|e| e.raw_os_error());
    code.map_or(error, io::Error::from_raw_os_error)
}

fn npy_floats(mut to: impl Write, array: &Floats<'_>) -> io::Result<()> {
    to.write_all(&npy::header("<f4", &array.shape))?;
    array.values.iter().try_for_each(|x| to.write_all(&x.to_le_bytes()))?;
    to.flush()
}

fn npy_integers(mut to: impl Write, values: &[i64]) -> io::Result<()> {
    to.write_all(&npy::header("<i8", &[values.len()]))?;
    values.iter().try_for_each(|x| to.write_all(&x.to_le_bytes()))?;
    to.flush()
}

fn npz(file: &mut File, output: &Output<'_>) -> io::Result<()> {
    // Stored, so that rows can be read in place; 64-bit sizes, since it may be large.
    let options =
        SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    let mut archive = ZipWriter::new(BufWriter::new(file));
    for array in &output.floats {
        archive.start_file(format!("{}.npy", array.name), options)?;
        npy_floats(&mut archive, array)?;
    }
    for (name, values) in &output.integers {
        archive.start_file(format!("{name}.npy"), options)?;
        npy_integers(&mut archive, values)?;
    }
    archive.finish()?.flush()
}

fn safetensors(file: &mut File, output: &Output<'_>) -> io::Result<()> {
    let floats = output.floats.iter().map(|array| {
        let bytes: Vec<u8> = array.values.iter().flat_map(|x| x.to_le_bytes()).collect();
        (array.name, Dtype::F32, array.shape.clone(), bytes)
    });
    let integers = output.integers.iter().map(|(name, values)| {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        (&name[..], Dtype::I64, vec![values.len()], bytes)
    });
    let arrays: Vec<_> = floats.chain(integers).collect();
    let other = |e: safetensors::SafeTensorError| io::Error::other(e.to_string());
    let tensors = arrays.iter().map(|(name, dtype, shape, bytes)| {
        Ok((*name, TensorView::new(*dtype, shape.clone(), bytes).map_err(other)?))
    });
    let tensors = tensors.collect::<io::Result<Vec<_>>>()?;
    file.write_all(&safetensors::serialize(tensors, None).map_err(other)?)
}

fn folder(path: &Path, output: &Output<'_>) -> io::Result<()> {
    std::fs::create_dir_all(path)?;
    for array in &output.floats {
        write_whole(&path.join(format!("{}.npy", array.name)), |file| {
            npy_floats(BufWriter::new(file), array)
        })?;
    }
    for (name, values) in &output.integers {
        write_whole(&path.join(format!("{name}.npy")), |file| {
            npy_integers(BufWriter::new(file), values)
        })?;
    }
    Ok(())
}
