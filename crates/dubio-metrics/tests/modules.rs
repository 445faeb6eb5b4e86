//! No module needs one that needs it: of the modules of a folder, each with all that is below it, no two
//! reach one another. A folder and what is in it may: that is one subject.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module or something in one, from the root of the crate.
type Name = Vec<String>;

/// The sources of a crate, by module.
type Sources = BTreeMap<Name, String>;

/// Which modules use which, with the file that does.
type Uses = BTreeMap<Name, BTreeSet<Name>>;

#[test]
fn no_module_needs_one_that_needs_it() {
    let crates = [
        "dubio-random",
        "dubio-words",
        "dubio-progress",
        "dubio-metrics",
        "dubio-predictions",
        "dubio-data",
        "dubio-nn",
        "dubio-infer",
        "dubio-api",
        "dubio-bench",
        "dubio-report",
        "dubio",
    ];
    for name in crates {
        let mut sources = Sources::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        read(&root, &[], &mut sources);
        assert!(!sources.is_empty());
        let cycle = cycle(&uses(&sources));
        assert_eq!(cycle, None, "modules of {name} need one another; move what they share");
    }
}

#[test]
fn cycles_are_found_through_folders_and_through_names_that_a_folder_passes_on() {
    let sources = |files: &[(&str, &str)]| {
        let name =
            |path: &str| path.split('/').filter(|s| !s.is_empty()).map(String::from).collect();
        files.iter().map(|(path, text)| (name(path), text.to_string())).collect::<Sources>()
    };
    let of = |files: &[(&str, &str)]| cycle(&uses(&sources(files)));
    let folder = ("b", "mod c; pub(crate) use c::{C, D};");
    let straight =
        [("a", "use crate::b::C;"), folder, ("b/c", "use super::other;"), ("", "mod a;")];
    assert_eq!(of(&straight), None);
    let around = [("a", "use crate::b::c::C;"), folder, ("b/c", "fn f() { crate::a::g() }")];
    assert_eq!(of(&around).as_deref(), Some("a -> b -> a"));
    let sibling =
        [folder, ("b/c", "use std::mem; use crate::{b::d::E, x};"), ("b/d", "use super::D;")];
    assert_eq!(of(&sibling).as_deref(), Some("b::c -> b::d -> b::c"));
    let in_words =
        [("a", "use crate::b::C;"), ("b", "// use crate::a;\n#[cfg(test)]\nuse crate::a;")];
    assert_eq!(of(&in_words), None);
}

fn read(folder: &Path, module: &[String], sources: &mut Sources) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_string();
        let child = [module, std::slice::from_ref(&stem)].concat();
        if path.is_dir() {
            read(&path, &child, sources);
        } else {
            let root = ["lib", "main", "mod"].contains(&stem.as_str());
            let text = std::fs::read_to_string(&path).expect("a source");
            sources.insert(if root { module.to_vec() } else { child }, text);
        }
    }
}

/// Who uses whom among the modules of each folder.
fn uses(sources: &Sources) -> Uses {
    let code: Sources = sources.iter().map(|(name, text)| (name.clone(), code(text))).collect();
    let mut passed_on = BTreeMap::new();
    for (module, text) in &code {
        let public = text.split("pub").skip(1).filter_map(|rest| {
            rest.trim_start_matches("(crate)").trim_start_matches("(super)").strip_prefix(" use ")
        });
        for path in public.flat_map(|rest| paths(rest).0) {
            let name = path.last().cloned().into_iter();
            passed_on.insert(module.iter().cloned().chain(name).collect(), absolute(module, path));
        }
    }
    let mut uses = Uses::new();
    for (module, text) in &code {
        for path in ["crate::", "super::"].iter().flat_map(|start| starting(text, start)) {
            let used = owner(absolute(module, path), sources, &passed_on);
            let same = module.iter().zip(&used).take_while(|(a, b)| a == b).count();
            if same < module.len().min(used.len()) {
                uses.entry(module[..=same].to_vec()).or_default().insert(used[..=same].to_vec());
            }
        }
    }
    uses
}

/// Without comments and tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines()
        .map(|line| line.split("//").next().unwrap_or_default().to_string() + "\n")
        .collect()
}

/// Every path in the text that starts so.
fn starting(text: &str, start: &str) -> Vec<Name> {
    let inside = |before: &str| before.ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
    let found = text.match_indices(start).filter(|(at, _)| !inside(&text[..*at]));
    found.flat_map(|(at, _)| paths(&text[at..]).0).collect()
}

/// The paths that a path with braces stands for, and the text behind it.
fn paths(text: &str) -> (Vec<Name>, &str) {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        let mut all = Vec::new();
        while !rest.trim_start().starts_with('}') {
            let (some, behind) = paths(rest);
            all.extend(some);
            rest = behind.find([',', '}']).map_or("}", |end| behind[end..].trim_start_matches(','));
        }
        return (all, rest.trim_start().trim_start_matches('}'));
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (own, rest) = text.split_at(end);
    let (below, rest) = match rest.strip_prefix("::") {
        Some(rest) => paths(rest),
        None => (vec![Vec::new()], rest),
    };
    let named = |path: Name| [own.to_string()].into_iter().chain(path).collect();
    (below.into_iter().map(named).collect(), rest)
}

/// The path from the root of the crate, as seen in a module.
fn absolute(module: &[String], path: Name) -> Name {
    let above = path.iter().take_while(|part| *part == "super").count();
    match path.first().map(String::as_str) {
        Some("crate") => path[1..].to_vec(),
        _ => [&module[..module.len().saturating_sub(above)], &path[above..]].concat(),
    }
}

/// The module that something is defined in.
fn owner(mut path: Name, sources: &Sources, passed_on: &BTreeMap<Name, Name>) -> Name {
    while !sources.contains_key(&path) && !path.is_empty() {
        path = match passed_on.get(&path) {
            Some(behind) if *behind != path => behind.clone(),
            _ => path[..path.len() - 1].to_vec(),
        };
    }
    path
}

/// A way from a module back to it, if there is one.
fn cycle(uses: &Uses) -> Option<String> {
    let mut clear = BTreeSet::new();
    uses.keys().find_map(|module| back(module, uses, &mut Vec::new(), &mut clear))
}

fn back(
    module: &Name,
    uses: &Uses,
    way: &mut Vec<Name>,
    clear: &mut BTreeSet<Name>,
) -> Option<String> {
    if let Some(first) = way.iter().position(|seen| seen == module) {
        let names = way[first..].iter().chain([module]).map(|name| name.join("::"));
        return Some(names.collect::<Vec<_>>().join(" -> "));
    }
    if clear.contains(module) {
        return None;
    }
    way.push(module.clone());
    let found =
        uses.get(module).into_iter().flatten().find_map(|used| back(used, uses, way, clear));
    way.pop();
    clear.insert(module.clone());
    found
}
