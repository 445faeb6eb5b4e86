//! Writing predictions: the same three formats that are read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use safetensors::tensor::{Dtype, TensorView};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::error::Error;
use crate::npy;

/// Class predictions to be written.
pub struct Output<'a> {
    /// What they are: `logits` or `log_probs`.
    pub name: &'static str,
    /// `[members, examples, classes]`, row after row.
    pub values: &'a [f32],
    /// The shape of the values.
    pub shape: [usize; 3],
    /// Whole-number arrays besides: labels, groups.
    pub integers: Vec<(String, Vec<i64>)>,
}

/// Writes predictions to `.npz`, `.safetensors`, or else to a folder of `.npy`. A file is written
/// beside its place and then renamed, so that it is there whole or not at all.
pub fn write(path: &Path, output: &Output<'_>) -> Result<(), Error> {
    let written = match path.extension().and_then(|e| e.to_str()) {
        Some("npz") => whole(path, |file| npz(file, output)),
        Some("safetensors") => whole(path, |file| safetensors(file, output)),
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

fn whole(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = builder().prefix(".dubio-").tempfile_in(folder)?;
    fill(file.as_file_mut())?;
    file.persist(path).map(|_| ()).map_err(|e| e.error)
}

fn npy_floats(mut to: impl Write, output: &Output<'_>) -> io::Result<()> {
    to.write_all(&npy::header("<f4", &output.shape))?;
    output.values.iter().try_for_each(|x| to.write_all(&x.to_le_bytes()))?;
    to.flush()
}

fn npy_integers(mut to: impl Write, values: &[i64]) -> io::Result<()> {
    to.write_all(&npy::header("<i8", &[values.len()]))?;
    values.iter().try_for_each(|x| to.write_all(&x.to_le_bytes()))?;
    to.flush()
}

fn npz(file: &mut File, output: &Output<'_>) -> io::Result<()> {
    // Stored, so that it can be mapped when it is read; 64-bit sizes, since it may be large.
    let options =
        SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    let mut archive = ZipWriter::new(BufWriter::new(file));
    archive.start_file(format!("{}.npy", output.name), options)?;
    npy_floats(&mut archive, output)?;
    for (name, values) in &output.integers {
        archive.start_file(format!("{name}.npy"), options)?;
        npy_integers(&mut archive, values)?;
    }
    archive.finish()?.flush()
}

fn safetensors(file: &mut File, output: &Output<'_>) -> io::Result<()> {
    let floats: Vec<u8> = output.values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let integers: Vec<(&str, Vec<u8>)> = output
        .integers
        .iter()
        .map(|(name, values)| (&name[..], values.iter().flat_map(|x| x.to_le_bytes()).collect()))
        .collect();
    let other = |e: safetensors::SafeTensorError| io::Error::other(e.to_string());
    let mut tensors = vec![(
        output.name,
        TensorView::new(Dtype::F32, output.shape.to_vec(), &floats).map_err(other)?,
    )];
    for (name, bytes) in &integers {
        let view = TensorView::new(Dtype::I64, vec![bytes.len() / 8], bytes).map_err(other)?;
        tensors.push((name, view));
    }
    file.write_all(&safetensors::serialize(tensors, None).map_err(other)?)
}

fn folder(path: &Path, output: &Output<'_>) -> io::Result<()> {
    std::fs::create_dir_all(path)?;
    whole(&path.join(format!("{}.npy", output.name)), |file| {
        npy_floats(BufWriter::new(file), output)
    })?;
    for (name, values) in &output.integers {
        whole(&path.join(format!("{name}.npy")), |file| {
            npy_integers(BufWriter::new(file), values)
        })?;
    }
    Ok(())
}
