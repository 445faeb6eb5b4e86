//! Downloads, from a server on this machine that behaves in the ways servers do.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dubio_data::Error;
use dubio_data::fetch::{Downloader, Progress};
use dubio_data::sets::{File, Measured, Origin, Size};

/// What is to be fetched: a hundred thousand bytes, and their SHA-256 (from `sha256sum`).
fn body() -> Vec<u8> {
    (0..100_000_u32).map(|i| (i % 251) as u8).collect()
}
const SHA256: &str = "cd2df694e424bc7968cc37f47751019e5ca0cd1bdf2e479ea537c3a1c32ee1aa";

#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// Does what it is asked.
    Good,
    /// Ends the first answer half way.
    CutOnce,
    /// Ends every answer after 30,000 bytes of it.
    CutAlways,
    /// Sends a byte that is not right.
    Alters,
    /// Sends half, then nothing, and keeps the connection.
    Stalls,
    /// Takes the request and never answers.
    Silent,
    /// Has no such file.
    NotFound,
    /// Is busy the first time.
    BusyOnce,
    /// Sends everything whatever part it is asked for.
    IgnoresRange,
    /// Sends another part than the one it is asked for.
    WrongRange,
    /// Has a file of another length.
    Longer,
    /// Does not say how long the file is, and never ends it.
    Endless,
    /// Says that the file is a hundred gigabytes.
    Huge,
    /// Sends a part though nobody asked for one.
    Unasked,
    /// Ends the first answer half way, and then says that there is no more.
    CutThenNoMore,
}

/// A server and the `Range` headers it has seen.
struct Server {
    url: String,
    asked: Arc<Mutex<Vec<Option<String>>>>,
}

fn serve(manner: Manner) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/folder/file.bin", listener.local_addr().expect("an address"));
    let asked: Arc<Mutex<Vec<Option<String>>>> = Arc::default();
    let seen = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let seen = Arc::clone(&seen);
            std::thread::spawn(move || {
                let _ = answer(&stream, manner, &seen);
            });
        }
    });
    Server { url, asked }
}

fn range_of(stream: &TcpStream) -> std::io::Result<Option<String>> {
    let mut range = None;
    for line in BufReader::new(stream).lines() {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("range: ") {
            range = Some(value.to_string());
        }
    }
    Ok(range)
}

fn answer(
    mut stream: &TcpStream,
    manner: Manner,
    seen: &Mutex<Vec<Option<String>>>,
) -> std::io::Result<()> {
    let range = range_of(stream)?;
    let turn = {
        let mut seen = seen.lock().expect("no panic");
        seen.push(range.clone());
        seen.len()
    };
    let mut body = body();
    match manner {
        Manner::Alters => body[77_777] ^= 1,
        Manner::Longer => body.push(0),
        Manner::Silent => return wait(stream),
        Manner::Endless => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            loop {
                stream.write_all(&body)?;
            }
        }
        Manner::Huge => {
            return stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n");
        }
        Manner::Unasked if range.is_none() => {
            let head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/100000\r\n";
            return write!(stream, "{head}Content-Length: 10\r\n\r\n0123456789");
        }
        Manner::CutThenNoMore if turn == 2 => {
            return stream.write_all(b"HTTP/1.1 416 Range\r\nContent-Length: 0\r\n\r\n");
        }
        Manner::NotFound => {
            return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        }
        Manner::BusyOnce if turn == 1 => {
            return stream.write_all(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
        }
        _ => {}
    }
    let start = range.filter(|_| manner != Manner::IgnoresRange);
    let start = start.map(|range| range["bytes=".len()..range.len() - 1].parse::<usize>().unwrap());
    let (total, from) = (body.len(), start.unwrap_or(0));
    if from >= total {
        return stream.write_all(b"HTTP/1.1 416 Range\r\nContent-Length: 0\r\n\r\n");
    }
    let length = total - from;
    let shown = if manner == Manner::WrongRange { from + 1 } else { from };
    let head = match start {
        None => "HTTP/1.1 200 OK\r\n".to_string(),
        Some(_) => format!(
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {shown}-{}/{total}\r\n",
            total - 1
        ),
    };
    write!(stream, "{head}Content-Length: {length}\r\nConnection: close\r\n\r\n")?;
    let sent = match manner {
        Manner::CutOnce | Manner::CutThenNoMore if turn == 1 => length / 2,
        Manner::CutAlways => length.min(30_000),
        Manner::Stalls => length / 2,
        _ => length,
    };
    stream.write_all(&body[from..from + sent])?;
    if manner == Manner::Stalls { wait(stream) } else { Ok(()) }
}

/// Until the other side has gone.
fn wait(mut stream: &TcpStream) -> std::io::Result<()> {
    stream.read(&mut [0]).map(|_| ())
}

struct Fetched {
    result: Result<(), Error>,
    folder: tempfile::TempDir,
    asked: Vec<Option<String>>,
    progress: Vec<(u64, Option<u64>)>,
}

impl Fetched {
    fn target(&self) -> PathBuf {
        self.folder.path().join("set/file.bin")
    }

    fn part(&self) -> PathBuf {
        self.folder.path().join("set/file.bin.part")
    }

    #[track_caller]
    fn is_whole(&self) {
        assert!(self.result.is_ok(), "{:?}", self.result);
        assert_eq!(fs::read(self.target()).expect("the file"), body());
        assert!(!self.part().exists());
    }

    #[track_caller]
    fn failed(&self, words: &str) {
        let error = self.result.as_ref().expect_err("an error").to_string();
        assert!(error.starts_with("http://127.0.0.1:") && error.contains(words), "{error}");
        assert!(!self.target().exists(), "nothing half done under the file's own name");
    }
}

fn card(url: &str, sha256: Option<&'static str>, size: Option<u64>) -> File {
    File {
        path: "set/file.bin".into(),
        measured: Measured::AsIs,
        size: size.map_or(Size::AtMost(1_000_000), Size::Exactly),
        sha256: sha256.map(Into::into),
        origin: Origin::Address(url.to_string().into()),
    }
}

fn fetch_with(manner: Manner, there: &[u8], sha256: Option<&'static str>) -> Fetched {
    let server = serve(manner);
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("set/file.bin");
    if !there.is_empty() {
        fs::create_dir_all(target.parent().expect("a parent")).expect("a folder");
        fs::write(folder.path().join("set/file.bin.part"), there).expect("a beginning");
    }
    let mut progress = Vec::new();
    let file = card(&server.url, sha256, sha256.map(|_| 100_000));
    let downloader = Downloader::new(Duration::from_millis(300));
    let result = downloader.download(&server.url, &target, &file, &mut |now: Progress<'_>| {
        progress.push((now.done, now.total));
    });
    let asked = server.asked.lock().expect("no panic").clone();
    Fetched { result, folder, asked, progress }
}

fn fetch(manner: Manner) -> Fetched {
    fetch_with(manner, &[], Some(SHA256))
}

fn range(start: usize) -> Option<String> {
    Some(format!("bytes={start}-"))
}

#[test]
fn a_good_server_gives_the_file_and_progress_to_its_end() {
    let fetched = fetch(Manner::Good);
    fetched.is_whole();
    assert_eq!(fetched.asked, [None]);
    assert_eq!(fetched.progress.first(), Some(&(0, Some(100_000))));
    assert_eq!(fetched.progress.last(), Some(&(100_000, Some(100_000))));
}

#[test]
fn what_was_cut_short_goes_on_where_it_stopped() {
    let fetched = fetch(Manner::CutOnce);
    fetched.is_whole();
    assert_eq!(fetched.asked, [None, range(50_000)]);
}

#[test]
fn what_an_earlier_run_left_is_used() {
    let fetched = fetch_with(Manner::Good, &body()[..70_000], Some(SHA256));
    fetched.is_whole();
    assert_eq!(fetched.asked, [range(70_000)]);
    let all = fetch_with(Manner::Good, &body(), Some(SHA256));
    all.is_whole();
    assert_eq!(all.asked, [range(100_000)], "answered by 416: there is no more");
}

#[test]
fn without_a_checksum_nothing_of_an_earlier_run_is_used() {
    let fetched = fetch_with(Manner::Good, &[9; 70_000], None);
    fetched.is_whole();
    assert_eq!(fetched.asked, [None]);
}

#[test]
fn a_server_that_always_breaks_off_is_given_up_and_the_beginning_kept() {
    let fetched = fetch(Manner::CutAlways);
    fetched.failed("the connection ended after 90000 of 100000 bytes");
    assert_eq!(fetched.asked, [None, range(30_000), range(60_000)]);
    assert_eq!(fs::read(fetched.part()).expect("the beginning"), body()[..90_000]);
}

#[test]
fn an_altered_file_is_refused_and_removed() {
    let fetched = fetch(Manner::Alters);
    fetched.failed("not the published file: SHA-256 ");
    assert!(!fetched.part().exists());
}

#[test]
fn a_wrong_beginning_is_found_by_the_checksum_and_removed() {
    let fetched = fetch_with(Manner::Good, &[9; 70_000], Some(SHA256));
    fetched.failed("not the published file");
    assert!(!fetched.part().exists(), "the next run starts anew");
}

#[test]
fn a_file_of_another_length_is_refused_before_it_is_fetched() {
    let fetched = fetch(Manner::Longer);
    fetched.failed("the server has 100001 bytes, and 100000 were published");
    assert!(fetched.progress.is_empty());
}

#[test]
fn a_server_that_stalls_is_given_up_in_time_with_what_came_kept() {
    let began = Instant::now();
    let fetched = fetch(Manner::Stalls);
    fetched.failed("the server has sent nothing for 0.3 s, after ");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let kept = fs::read(fetched.part()).expect("the beginning");
    assert_eq!(kept, body()[..kept.len()], "halves of what was left: 50, 75, 87.5 thousand");
    assert_eq!(kept.len(), 87_500);
}

#[test]
fn a_server_that_never_answers_is_given_up_in_time() {
    let began = Instant::now();
    fetch(Manner::Silent).failed("the server has sent nothing for 0.3 s");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn a_missing_file_is_not_asked_for_twice() {
    let fetched = fetch(Manner::NotFound);
    fetched.failed("not there any more (HTTP 404)");
    assert_eq!(fetched.asked.len(), 1);
}

#[test]
fn a_busy_server_is_asked_again() {
    fetch(Manner::BusyOnce).is_whole();
}

#[test]
fn a_server_without_ranges_gives_the_file_from_its_start() {
    let fetched = fetch_with(Manner::IgnoresRange, &[9; 70_000], Some(SHA256));
    fetched.is_whole();
    assert_eq!(fetched.asked, [range(70_000)]);
}

#[test]
fn another_stretch_than_the_one_asked_for_is_not_mixed_in() {
    let fetched = fetch_with(Manner::WrongRange, &body()[..70_000], Some(SHA256));
    fetched.is_whole();
    assert_eq!(fetched.asked, [range(70_000), None]);
}

#[test]
fn a_download_without_an_end_is_ended_whether_the_length_is_known_or_not() {
    for (sha256, says) in [
        (Some(SHA256), "the server sends more, and 100000 were published"),
        (None, "the server sends more, and at most 1000000 are taken"),
    ] {
        let fetched = fetch_with(Manner::Endless, &[], sha256);
        fetched.failed(says);
        assert_eq!(fetched.asked.len(), 1, "asking again helps nobody");
        assert!(!fetched.part().exists());
    }
    let fetched = fetch_with(Manner::Huge, &[], None);
    fetched.failed("the server has 100000000000 bytes, and at most 1000000 are taken");
    assert!(fetched.progress.is_empty(), "refused before it is fetched");
}

#[test]
fn a_part_that_nobody_asked_for_is_not_taken_for_the_file() {
    for sha256 in [Some(SHA256), None] {
        let fetched = fetch_with(Manner::Unasked, &[], sha256);
        fetched.failed("another stretch than the one asked for");
        assert!(!fetched.part().exists());
    }
}

#[test]
fn a_beginning_is_not_taken_for_the_file_where_nothing_proves_that_it_is() {
    let fetched = fetch_with(Manner::CutThenNoMore, &[], None);
    fetched.is_whole();
    assert_eq!(fetched.asked, [None, range(50_000), None]);
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_partial_download_is_not_followed() {
    let server = serve(Manner::Good);
    let folder = tempfile::tempdir().expect("a folder");
    let [victim, target] = ["victim", "file.bin"].map(|name| folder.path().join(name));
    for (sha256, there) in [(Some(SHA256), body()[..9].to_vec()), (None, Vec::new())] {
        fs::write(&victim, &there).expect("room");
        let _ = fs::remove_file(&target);
        std::os::unix::fs::symlink(&victim, folder.path().join("file.bin.part")).expect("a link");
        let file = card(&server.url, sha256, None);
        let downloader = Downloader::new(Duration::from_millis(300));
        downloader.download(&server.url, &target, &file, &mut |_| {}).expect("a good server");
        assert_eq!(fs::read(&victim).expect("the victim"), there, "untouched");
        assert_eq!(fs::read(&target).expect("the file"), body());
        assert!(!fs::symlink_metadata(&target).expect("the file").is_symlink());
    }
}

#[test]
fn nobody_there_is_an_error_that_says_what_to_do() {
    // A port that was ours a moment ago and is closed now.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/x", listener.local_addr().expect("an address"));
    drop(listener);
    let folder = tempfile::tempdir().expect("a folder");
    let downloader = Downloader::new(Duration::from_millis(300));
    let file = card(&url, Some(SHA256), None);
    let result = downloader.download(&url, &folder.path().join("x"), &file, &mut |_| {});
    let error = result.expect_err("nobody").to_string();
    assert!(error.contains("cannot be reached") && error.contains("by hand"), "{error}");
}

#[test]
fn a_server_that_cannot_prove_who_it_is_is_refused() {
    let server = serve(Manner::Good); // speaks no TLS at all
    let url = server.url.replace("http://", "https://");
    let folder = tempfile::tempdir().expect("a folder");
    let downloader = Downloader::new(Duration::from_millis(300));
    let file = card(&url, Some(SHA256), None);
    let result = downloader.download(&url, &folder.path().join("x"), &file, &mut |_| {});
    let error = result.expect_err("no TLS").to_string();
    assert!(error.contains("cannot be reached") || error.contains("sent nothing"), "{error}");
}

#[test]
fn without_a_checksum_only_https_is_trusted() {
    let folder = tempfile::tempdir().expect("a folder");
    let downloader = Downloader::new(Duration::from_millis(300));
    let url = "http://localhost:9/x"; // refused before anything is connected to
    let file = card(url, None, None);
    let result = downloader.download(url, &folder.path().join("x"), &file, &mut |_| {});
    let error = result.expect_err("not https").to_string();
    assert!(error.to_lowercase().contains("https"), "{error}");
}
