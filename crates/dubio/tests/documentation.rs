//! What the README and the guide show is what the program prints. `DUBIO_SNAPSHOTS=write cargo test` writes
//! down what is printed now, to be read and committed.
//!
//! A block ```` ```text ```` right below a block ```` ```sh ```` is the output of its commands, typed at the top
//! of the repository; a last line `...` stands for the rest. (`.ci/run` runs all other blocks, too.)

use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README and the pages of the guide.
fn pages() -> Vec<PathBuf> {
    let guide = std::fs::read_dir(repository().join("docs/guide")).expect("the guide");
    let guide = guide.map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<PathBuf> =
        guide.filter(|p| p.extension().is_some_and(|e| e == "md")).collect();
    pages.sort();
    pages.insert(0, repository().join("README.md"));
    pages
}

/// The lines of a block of this kind, if one begins here: from the first line in it to that of its end.
fn block(lines: &[&str], at: usize, kind: &str) -> Option<std::ops::Range<usize>> {
    let begins = lines.get(at).is_some_and(|line| *line == format!("```{kind}"));
    let end = (at + 1..lines.len()).find(|&line| lines[line] == "```")?;
    begins.then_some(at + 1..end)
}

/// What a shell prints for these commands, without spaces at the ends of lines.
fn typed(commands: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_dubio")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("a PATH"));
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", commands]).current_dir(repository()).env("PATH", path);
    let output = shell.output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{commands}\n{said}");
    let printed = String::from_utf8(output.stdout).expect("text");
    printed.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

/// The lines to show of what was printed: as many as were shown, if not all were.
fn shown(printed: &str, before: &[&str]) -> String {
    match before.split_last() {
        Some((&"...", first)) => {
            let lines = first.len().max(8);
            let first: String = printed.lines().take(lines).map(|l| l.to_string() + "\n").collect();
            first + "...\n"
        }
        _ => printed.to_string(),
    }
}

/// A page with the output of its commands as it is now, and how many blocks of output it has.
fn now(page: &str) -> (String, usize) {
    let lines: Vec<&str> = page.lines().collect();
    let (mut text, mut at, mut outputs) = (String::new(), 0, 0);
    while at < lines.len() {
        let below = block(&lines, at, "sh").and_then(|commands| {
            let next = (commands.end + 1..lines.len()).find(|&line| !lines[line].is_empty())?;
            Some((commands, block(&lines, next, "text")?))
        });
        let end = below.as_ref().map_or(at + 1, |(_, output)| output.start);
        lines[at..end].iter().for_each(|line| text += &format!("{line}\n"));
        at = end;
        if let Some((commands, output)) = below {
            text += &shown(&typed(&lines[commands].join("\n")), &lines[output.clone()]);
            (at, outputs) = (output.end, outputs + 1);
        }
    }
    (text, outputs)
}

#[test]
fn output_in_the_documentation_is_what_the_commands_print() {
    let write = std::env::var("DUBIO_SNAPSHOTS").is_ok_and(|v| v == "write");
    let mut outputs = 0;
    for path in pages() {
        let page = std::fs::read_to_string(&path).expect("a page");
        let (now, found) = now(&page);
        outputs += found;
        if write {
            std::fs::write(&path, now).expect("written");
        } else {
            let differs = page.lines().zip(now.lines()).find(|(was, is)| was != is);
            assert!(page == now, "{}: was, is now: {differs:#?}", path.display());
        }
    }
    assert!(outputs >= 5, "{outputs} outputs in all: the blocks are not found any more");
}

#[test]
fn links_in_the_documentation_lead_somewhere() {
    for path in pages() {
        let page = std::fs::read_to_string(&path).expect("a page");
        let links = page.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        for link in links.filter(|link| !link.is_empty() && !link.contains("://")) {
            let place = path.parent().expect("a folder").join(link);
            assert!(place.exists(), "{}: {link}", path.display());
        }
    }
}

#[test]
fn the_readme_fits_two_screens() {
    let readme = std::fs::read_to_string(repository().join("README.md")).expect("the README");
    assert!(readme.lines().count() <= 110, "{} lines", readme.lines().count());
}
