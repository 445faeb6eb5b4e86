//! Figures as standalone PDF: one page each, lines and letters, no bitmaps.

use serde_json::Value;

use super::engine::{DrawingError, Engine};
use super::svg::{named, specification};
use crate::report::Report;

/// Every figure of a report: the name of its file without an ending, and the bytes.
pub fn pdf(report: &Report<'_>) -> Result<Vec<(String, Vec<u8>)>, DrawingError> {
    let engine = Engine::new()?;
    let mut all = Vec::new();
    for (name, figure) in named(report) {
        let failed = |why: String| DrawingError { figure: name.clone(), why };
        let drawn = engine.call("toPDF", &specification(figure)).map_err(failed)?;
        let drawing: Value = serde_json::from_str(&drawn).map_err(|e| failed(e.to_string()))?;
        all.push((name, document(&drawing)));
    }
    Ok(all)
}

/// A document of one page: objects one after the other, and a table of where each begins. The fonts are
/// two of those that every reader has.
fn document(drawing: &Value) -> Vec<u8> {
    let size = |side: &str| drawing[side].as_f64().unwrap_or(0.0);
    let opacities = drawing["opacities"].as_array().into_iter().flatten().filter_map(Value::as_u64);
    let states: String = opacities
        .map(|percent| {
            let alpha = percent as f64 / 100.0;
            format!("/A{percent} << /ca {alpha} /CA {alpha} >> ")
        })
        .collect();
    let font = |name: &str| {
        format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>")
    };
    let operators = drawing["operators"].as_str().unwrap_or_default();
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_string(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_string(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {} {}] /Contents 6 0 R /Resources << /Font << /F1 4 0 R \
             /F2 5 0 R >> /ExtGState << {states}>> >> >>",
            size("width"),
            size("height")
        ),
        font("Helvetica"),
        font("Helvetica-Bold"),
        format!("<< /Length {} >>\nstream\n{operators}\nendstream", operators.len() + 1),
    ];
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        offsets.push(out.len());
        out.extend(format!("{} 0 obj\n{object}\nendobj\n", index + 1).into_bytes());
    }
    let start = out.len();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for offset in offsets {
        table += &format!("{offset:010} 00000 n \n");
    }
    let trailer = format!(
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    );
    out.extend((table + &trailer).into_bytes());
    out
}
