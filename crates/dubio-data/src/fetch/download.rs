//! One file over HTTPS: resumed, watched, compared, renamed.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::Agent;
use ureq::http::{HeaderMap, Response};

use crate::check::verify;
use crate::error::Error;
use crate::sets::{File, Measured};

/// How far a file has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Path of the file below the data folder.
    pub file: &'a str,
    /// Bytes that are there.
    pub done: u64,
    /// Bytes there will be, if the server says.
    pub total: Option<u64>,
}

/// Fetches files; keeps connections open between them.
pub struct Downloader {
    agent: Agent,
    patience: Duration,
    attempts: u32,
}

impl Default for Downloader {
    fn default() -> Self {
        Self::new(Duration::from_secs(30))
    }
}

/// Why an attempt ended: whether another one may help.
enum End {
    Again(Error),
    Never(Error),
}

/// The name of a file while it is being written.
pub(super) fn part_of(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

impl Downloader {
    /// A downloader that gives up when no byte comes for so long.
    pub fn new(patience: Duration) -> Self {
        let config = Agent::config_builder()
            .timeout_connect(Some(patience))
            .timeout_recv_response(Some(patience))
            .timeout_per_read(Some(patience))
            .http_status_as_error(false)
            .user_agent(concat!("dubio/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: Agent::new_with_config(config), patience, attempts: 3 }
    }

    /// Fetches a file to `target`, through `target.part`. Three attempts, each from where the one
    /// before stopped. Without a checksum nothing proves that the rest is of the same file as a
    /// beginning of another day, so that is then fetched anew, and only over HTTPS.
    pub fn download(
        &self,
        url: &str,
        target: &Path,
        file: &File,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), Error> {
        let part = part_of(target);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
        }
        if file.sha256.is_none() {
            let _ = fs::remove_file(&part);
        }
        let mut attempt = 1;
        loop {
            match self.attempt(url, &part, file, progress) {
                Ok(()) => break,
                Err(End::Again(_)) if attempt < self.attempts => {
                    std::thread::sleep(self.patience / 30 * attempt);
                    attempt += 1;
                }
                Err(End::Again(error) | End::Never(error)) => return Err(error),
            }
        }
        verify(file, &part, url).inspect_err(|_| {
            let _ = fs::remove_file(&part);
        })?;
        fs::rename(&part, target).map_err(|error| Error::io(target, &error))
    }

    fn attempt(
        &self,
        url: &str,
        part: &Path,
        file: &File,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), End> {
        let io = |error: std::io::Error| End::Never(Error::io(part, &error));
        let have = fs::metadata(part).map_or(0, |metadata| metadata.len());
        let mut response = self.request(url, have, file)?;
        let status = response.status().as_u16();
        let start = match status {
            200 => 0,
            206 if resumes_at(response.headers(), have) => have,
            // There is nothing behind what we have: it is all there, or it is of another file.
            416 if have > 0 => return Ok(()),
            206 => {
                fs::remove_file(part).map_err(io)?;
                let what = "the server sent another stretch than the one asked for";
                return Err(End::Again(Error::new(url, what, "fetch it again")));
            }
            _ => return Err(refused(url, status)),
        };
        let length = response.headers().get("content-length");
        let length: Option<u64> = length.and_then(|text| text.to_str().ok()?.parse().ok());
        let total = length.map(|length| start + length);
        let expected = file.size.filter(|_| file.measured == Measured::AsIs);
        if let (Some(total), Some(expected)) = (total, expected)
            && total != expected
        {
            let _ = fs::remove_file(part);
            let what = format!("the server has {total} bytes, and {expected} were published");
            return Err(End::Never(Error::new(url, what, "the published file has changed")));
        }
        let mut out = fs::OpenOptions::new().create(true).append(true).open(part).map_err(io)?;
        out.set_len(start).map_err(io)?;
        let mut done = start;
        let mut reader = response.body_mut().as_reader();
        let mut buffer = vec![0; 1 << 16];
        loop {
            progress(Progress { file: &file.path, done, total });
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    out.write_all(&buffer[..read]).map_err(io)?;
                    done += read as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(url, done, total, &error)),
            }
            if expected.is_some_and(|expected| done > expected) {
                break; // more than was published: no need for the rest
            }
        }
        match total {
            Some(total) if done < total => Err(cut(url, done, total)),
            _ => Ok(()),
        }
    }

    fn request(&self, url: &str, have: u64, file: &File) -> Result<Response<ureq::Body>, End> {
        let here = url.starts_with("http://127.0.0.1:");
        let mut request = self.agent.get(url);
        if have > 0 {
            request = request.header("Range", format!("bytes={have}-"));
        }
        let mut config = request.config().https_only(file.sha256.is_none() && !here);
        if here {
            config = config.proxy(None);
        }
        config.build().call().map_err(|error| {
            let what = match error {
                ureq::Error::Timeout(_) => self.silence(),
                ref error => format!("cannot be reached: {error}"),
            };
            let advice = "check the connection, or fetch the file by hand and put it into the \
                          data folder";
            End::Again(Error::new(url, what, advice))
        })
    }

    fn silence(&self) -> String {
        format!("the server has sent nothing for {} s", self.patience.as_secs_f64())
    }

    fn broken(&self, url: &str, done: u64, total: Option<u64>, error: &std::io::Error) -> End {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
        let stalled = matches!(inner, Some(ureq::Error::Timeout(_)));
        if stalled || matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) {
            let what = format!("{}, after {}", self.silence(), amount(done, total));
            return End::Again(Error::new(
                url,
                what,
                "fetch it again: it goes on where it stopped",
            ));
        }
        match total {
            Some(total) => cut(url, done, total),
            None => End::Again(Error::new(url, error, "fetch it again")),
        }
    }
}

fn resumes_at(headers: &HeaderMap, have: u64) -> bool {
    let range = headers.get("content-range").and_then(|text| text.to_str().ok());
    range.is_some_and(|range| range.starts_with(&format!("bytes {have}-")))
}

fn amount(done: u64, total: Option<u64>) -> String {
    match total {
        Some(total) => format!("{done} of {total} bytes"),
        None => format!("{done} bytes"),
    }
}

fn cut(url: &str, done: u64, total: u64) -> End {
    let what = format!("the connection ended after {done} of {total} bytes");
    End::Again(Error::new(url, what, "fetch it again: it goes on where it stopped"))
}

fn refused(url: &str, status: u16) -> End {
    let by_hand = "find the file elsewhere and put it into the data folder; its checksum tells \
                   whether it is the right one";
    match status {
        404 | 410 => {
            End::Never(Error::new(url, format!("not there any more (HTTP {status})"), by_hand))
        }
        429 | 500..=599 => {
            End::Again(Error::new(url, format!("the server is busy (HTTP {status})"), "try later"))
        }
        _ => End::Never(Error::new(url, format!("the server refused (HTTP {status})"), by_hand)),
    }
}
