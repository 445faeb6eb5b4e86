//! Files that are published inside an archive, from a server on this machine.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dubio_data::Error;
use dubio_data::fetch::{Downloader, fetch_files};
use dubio_data::sets::{Archive, File, Measured, Origin, Size};
use flate2::Compression;
use flate2::write::GzEncoder;

/// A `.tar.gz` of two members and of one that climbs out of its folder.
fn packed() -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, data) in [("./batches/a.bin", "aaaa"), ("batches/b.bin", "bb"), ("evil", "eeee")] {
        let mut header = tar::Header::new_gnu();
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        if name == "evil" {
            header.as_gnu_mut().expect("gnu").name[..7].copy_from_slice(b"../evil");
        } else {
            header.set_path(name).expect("a path");
        }
        header.set_cksum();
        tar.append(&header, data.as_bytes()).expect("memory");
    }
    tar.into_inner().and_then(GzEncoder::finish).expect("memory")
}

/// A server of one body, which counts how often it was asked.
fn serve(body: Vec<u8>) -> (&'static Archive, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/set.tar.gz", listener.local_addr().expect("an address"));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
            lines.map_while(Result::ok).find(String::is_empty);
            count.fetch_add(1, Ordering::SeqCst);
            let length = body.len();
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    let archive = Archive { url: String::leak(url), size: Size::AtMost(1 << 20), sha256: None };
    (Box::leak(Box::new(archive)), asked)
}

fn member(archive: &'static Archive, path: &'static str, size: u64, name: &'static str) -> File {
    File {
        path: path.into(),
        measured: Measured::AsIs,
        size: Size::Exactly(size),
        sha256: None,
        origin: Origin::Member(archive, name),
    }
}

fn fetch(files: Vec<File>, root: &Path) -> Result<usize, Error> {
    fetch_files(&Downloader::new(Duration::from_secs(2)), files, root, &mut |_| {})
}

#[test]
fn members_come_to_their_places_and_the_archive_goes() {
    let (archive, asked) = serve(packed());
    let root = tempfile::tempdir().expect("a folder");
    let files = || {
        vec![
            member(archive, "set/a.bin", 4, "batches/a.bin"),
            member(archive, "set/b.bin", 2, "batches/b.bin"),
        ]
    };
    assert_eq!(fetch(files(), root.path()).expect("both"), 2);
    let read = |name: &str| std::fs::read_to_string(root.path().join(name)).expect(name);
    assert_eq!((read("set/a.bin").as_str(), read("set/b.bin").as_str()), ("aaaa", "bb"));
    let left: Vec<_> = std::fs::read_dir(root.path()).expect("a folder").flatten().collect();
    assert_eq!(left.len(), 1, "only the folder of the set: {left:?}");
    assert_eq!(fetch(files(), root.path()).expect("nothing to do"), 0);
    assert_eq!(asked.load(Ordering::SeqCst), 1, "one archive, once");
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_member_is_not_followed() {
    let (archive, _) = serve(packed());
    let root = tempfile::tempdir().expect("a folder");
    let victim = root.path().join("victim");
    std::fs::write(&victim, "mine").expect("room");
    std::fs::create_dir(root.path().join("set")).expect("a folder");
    std::os::unix::fs::symlink(&victim, root.path().join("set/b.bin.part")).expect("a link");
    fetch(vec![member(archive, "set/b.bin", 2, "batches/b.bin")], root.path()).expect("one file");
    assert_eq!(std::fs::read_to_string(&victim).expect("the victim"), "mine");
}

#[test]
fn a_member_that_is_missing_or_of_another_size_is_refused() {
    let (archive, _) = serve(packed());
    let root = tempfile::tempdir().expect("a folder");
    let error = fetch(vec![member(archive, "set/c.bin", 4, "batches/c.bin")], root.path());
    assert!(error.expect_err("no such member").to_string().contains("no batches/c.bin in it"));
    let error = fetch(vec![member(archive, "set/a.bin", 3, "batches/a.bin")], root.path());
    let error = error.expect_err("longer").to_string();
    assert!(error.contains("4 bytes arrived, not 3"), "{error}");
    assert!(!root.path().join("set/a.bin").exists());
}

#[test]
fn an_archive_that_is_none_is_refused() {
    let (archive, _) = serve(b"<html>moved</html>".to_vec());
    let root = tempfile::tempdir().expect("a folder");
    let error = fetch(vec![member(archive, "set/a.bin", 4, "batches/a.bin")], root.path());
    let error = error.expect_err("no archive").to_string();
    assert!(error.contains("the archive is damaged"), "{error}");
}

#[test]
fn what_cannot_be_fetched_is_said_before_anything_is() {
    let (archive, asked) = serve(packed());
    let root = tempfile::tempdir().expect("a folder");
    let by_hand = Origin::ByHand("ask its author");
    let files = vec![
        member(archive, "set/a.bin", 4, "batches/a.bin"),
        File { origin: by_hand, ..member(archive, "set/x.bin", 4, "x") },
    ];
    let error = fetch(files, root.path()).expect_err("by hand").to_string();
    assert!(error.contains("cannot be fetched") && error.contains("ask its author"), "{error}");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}
