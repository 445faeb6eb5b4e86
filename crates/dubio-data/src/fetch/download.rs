//! Downloads one file: resumes, notices stalls, verifies, renames.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use ureq::Agent;
use ureq::http::{HeaderMap, Response};

use super::part::{Copied, copy, part_length, part_of};
use crate::check::verify;
use crate::error::Error;
use crate::sets::{File, Size};

/// How much of a file has been downloaded.
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

impl Downloader {
    /// A downloader whose attempts end when no byte arrives for as long as `patience`.
    pub fn new(patience: Duration) -> Self {
        let config = Agent::config_builder()
            .timeout_connect(Some(patience))
            .timeout_recv_response(Some(patience))
            .timeout_per_read(Some(patience))
            .http_status_as_error(false)
            .user_agent(concat!("dubio/", env!("CARGO_PKG_VERSION")));
        Self { agent: Agent::new_with_config(config.build()), patience, attempts: 3 }
    }

    /// One that accepts any certificate, for test servers.
    #[cfg(test)]
    pub(super) fn credulous() -> Self {
        let tls = ureq::tls::TlsConfig::builder().disable_verification(true).build();
        let agent = Agent::new_with_config(Agent::config_builder().tls_config(tls).build());
        Self { agent, patience: Duration::from_secs(5), attempts: 1 }
    }

    /// Fetches a file to `target`, through `target.part`, in up to three attempts, each from where the
    /// one before stopped. Without a checksum nothing proves that the rest belongs to the same file as
    /// a part left by an earlier call, so the part is discarded, and only HTTPS is used.
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
        let have = part_length(part);
        let mut response = self.request(url, have, file)?;
        let status = response.status().as_u16();
        let stretch = stretch(response.headers()).filter(|s| have > 0 && s.start == have);
        let (start, total) = match (status, stretch) {
            (200, _) => (0, length(response.headers())),
            (206, Some(stretch)) => (have, Some(stretch.total)),
            // Nothing follows the bytes we have: the file is complete, or they are of another file.
            (416, _) if have > 0 && is_whole(file, have) => return Ok(()),
            (206, _) | (416, _) => {
                let _ = fs::remove_file(part);
                let what = "the server sent another stretch than the one asked for";
                return Err(End::Again(Error::new(url, what, "fetch it again")));
            }
            _ => return Err(refused(url, status)),
        };
        let size = file.packed();
        if let Some(total) = total
            && size.known().unwrap_or(total.min(size.most())) != total
        {
            let _ = fs::remove_file(part);
            return Err(End::Never(of_another_length(url, &format!("has {total} bytes"), size)));
        }
        let io = |error: std::io::Error| End::Never(Error::io(part, &error));
        let mut told = |done| progress(Progress { file: &file.path, done, total });
        let mut bytes = response.body_mut().as_reader();
        let done = match copy(&mut bytes, part, start, size.most(), &mut told).map_err(io)? {
            Copied::All(done) => done,
            Copied::Broken(done, error) => return Err(self.broken(url, done, total, &error)),
            Copied::TooMuch => {
                let _ = fs::remove_file(part);
                return Err(End::Never(of_another_length(url, "sends more", size)));
            }
        };
        match total {
            Some(total) if done < total => Err(cut(url, done, total)),
            _ => Ok(()),
        }
    }

    fn request(&self, url: &str, have: u64, file: &File) -> Result<Response<ureq::Body>, End> {
        let here = ["http", "https"].iter().any(|s| url.starts_with(&format!("{s}://127.0.0.1:")));
        let mut request = self.agent.get(url);
        if have > 0 {
            request = request.header("Range", format!("bytes={have}-"));
        }
        // An HTTPS address must not redirect to HTTP; without a checksum, only HTTPS is used.
        let secure = url.starts_with("https:") || file.sha256.is_none() && !here;
        let mut config = request.config().https_only(secure);
        if here {
            config = config.proxy(None);
        }
        config.build().call().map_err(|error| {
            let what = match error {
                ureq::Error::Timeout(_) => self.silence(),
                ureq::Error::RequireHttpsOnly(to) if to != url => {
                    let what = format!("leads to {to}, which is not HTTPS");
                    return End::Never(Error::new(url, what, "fetch the file by hand"));
                }
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

/// Where in the file the bytes of a response start, and the length of the whole file.
struct Stretch {
    start: u64,
    total: u64,
}

/// As in `Content-Range: bytes 500-999/1000`; `None` if the header is incomplete or the range does not
/// reach the end of the file.
fn stretch(headers: &HeaderMap) -> Option<Stretch> {
    let text = headers.get("content-range")?.to_str().ok()?.strip_prefix("bytes ")?;
    let (range, total) = text.split_once('/')?;
    let (start, end) = range.split_once('-')?;
    let (start, end, total) = (start.parse().ok()?, end.parse().ok()?, total.parse().ok()?);
    (u64::checked_add(end, 1)? == total).then_some(Stretch { start, total })
}

fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get("content-length")?.to_str().ok()?.parse().ok()
}

/// Whether this many bytes can be the whole file: the checksum will tell, or the length is right.
fn is_whole(file: &File, bytes: u64) -> bool {
    file.sha256.is_some() || file.packed() == Size::Exactly(bytes)
}

fn of_another_length(url: &str, found: &str, size: Size) -> Error {
    let (allowed, advice) = match size {
        Size::Exactly(bytes) => {
            (format!("{bytes} were published"), "the published file has changed")
        }
        Size::AtMost(bytes) => (format!("at most {bytes} are taken"), "fetch the file by hand"),
    };
    Error::new(url, format!("the server {found}, and {allowed}"), advice)
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
