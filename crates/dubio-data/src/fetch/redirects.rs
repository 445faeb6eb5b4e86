//! Tests of where an HTTPS server may redirect to, with a server that speaks TLS.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::Downloader;
use crate::sets::{File, Measured, Origin, Size};

/// A certificate for 127.0.0.1 and its key, from `openssl req -x509`; nobody trusts it.
const CERTIFICATE: &[u8] = include_bytes!("../../tests/fixtures/tls/certificate.der");
const KEY: &[u8] = include_bytes!("../../tests/fixtures/tls/key.der");

/// Reads a request and sends an answer.
fn answer(mut stream: impl Read + Write, text: &str) -> std::io::Result<()> {
    let lines = BufReader::new(&mut stream).lines();
    let _request: Vec<String> =
        lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// A server that gives everybody one answer; its address without a scheme, and how often it was
/// asked.
fn serve(tls: Option<Arc<ServerConfig>>, text: String) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("{}/file.bin", listener.local_addr().expect("an address"));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            let _ = match &tls {
                None => answer(stream, &text),
                Some(config) => {
                    let connection = ServerConnection::new(Arc::clone(config)).expect("a config");
                    answer(StreamOwned::new(connection, stream), &text)
                }
            };
        }
    });
    (address, asked)
}

fn secure(text: String) -> (String, Arc<AtomicUsize>) {
    let key = KEY.to_vec().try_into().expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.expect("versions").with_no_client_auth();
    let config = config.with_single_cert(vec![CERTIFICATE.to_vec().into()], key);
    serve(Some(Arc::new(config.expect("a certificate"))), text)
}

fn redirect(to: &str) -> String {
    format!(
        "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
}

const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nabc\n";
/// From `printf 'abc\n' | sha256sum`.
const SHA256: &str = "edeaaff3f1774ad2888673770c6d64097e391bc362d7d6fb34982ddf0efd18cb";

fn fetch(url: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = File {
        path: "file.bin".into(),
        measured: Measured::AsIs,
        size: Size::Exactly(4),
        sha256: Some(SHA256.into()),
        origin: Origin::Address(url.to_string().into()),
    };
    let target = folder.path().join("file.bin");
    Downloader::credulous().download(url, &target, &file, &mut |_| {}).map_err(|e| e.to_string())
}

#[test]
fn https_leads_to_https_and_never_to_http_whatever_checksum_is_known() {
    let (plain, plain_asked) = serve(None, GOOD.into());
    let (good, _) = secure(GOOD.into());
    let (to_good, _) = secure(redirect(&format!("https://{good}")));
    let (to_plain, _) = secure(redirect(&format!("http://{plain}")));
    assert_eq!(fetch(&format!("https://{to_good}")), Ok(()));
    let error = fetch(&format!("https://{to_plain}")).expect_err("not HTTPS");
    assert!(error.contains(&format!("leads to http://{plain}, which is not HTTPS")), "{error}");
    assert_eq!(plain_asked.load(Ordering::SeqCst), 0);
    assert_eq!(fetch(&format!("http://{plain}")), Ok(()), "asked for by its own address");
}
