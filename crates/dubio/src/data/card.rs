//! A data set's card, as JSON.

use std::path::Path;

use dubio_data::sets::{Counts, File, InputKind, Origin, Set, Task};
use serde_json::{Value, json};

/// Whether the files are there, by their names alone.
pub(super) fn here(set: &Set, root: &Path) -> &'static str {
    let files = set.files();
    let there = files.iter().filter(|file| root.join(&*file.path).is_file()).count();
    match there {
        _ if set.is_embedded() => "embedded",
        0 => "—",
        _ if there == files.len() => "here",
        _ => "partly",
    }
}

/// All that a set says of itself.
pub(super) fn card(set: &Set, root: &Path) -> Value {
    let counts = match set.counts {
        Counts::Parts { train, test } => json!({"train": train, "test": test}),
        Counts::Splits { rows, standard, gap } => {
            json!({"rows": rows, "standard_splits": standard, "gap_splits": gap})
        }
    };
    let (task, classes, target) = match set.task {
        Task::Classification(names) => ("classification", json!(names), json!(null)),
        Task::Regression(target) => ("regression", json!(null), json!(target)),
        Task::Unlabelled => ("unlabelled", json!(null), json!(null)),
    };
    let shape = match set.inputs {
        InputKind::Images { channels, height, width, .. } => json!([channels, height, width]),
        InputKind::Features(width) => json!([width]),
    };
    json!({
        "name": set.name,
        "summary": set.summary,
        "task": task,
        "classes": classes,
        "target": target,
        "shape": shape,
        "counts": counts,
        "licence": set.licence,
        "citation": set.citation,
        "home": set.home,
        "note": set.note,
        "here": here(set, root),
        "files": set.files().iter().map(file_card).collect::<Vec<_>>(),
    })
}

fn file_card(file: &File) -> Value {
    let (url, member) = match &file.origin {
        Origin::Address(url) => (json!(url), json!(null)),
        Origin::Member(archive, member) => (json!(archive.url), json!(member)),
        Origin::ByHand(_) => (json!(null), json!(null)),
    };
    json!({
        "path": file.path,
        "bytes": file.size.known(),
        "most_bytes": file.packed().most(),
        "sha256": file.sha256,
        "url": url,
        "member": member,
    })
}
