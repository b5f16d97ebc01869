//! A few pages with the headers that a test wants, served on loopback over HTTP/1.1, or over TLS with HTTP/2.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto};

/// A path, the headers of its answer, and its page. A header `status` gives the status.
pub type Entry = (&'static str, &'static [(&'static str, &'static str)], &'static str);

/// What carries the pages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    Plain,
    /// TLS, with HTTP/2 for whoever wants it.
    Tls,
    /// TLS that knows nothing of HTTP/2.
    TlsWithoutHttp2,
}

/// Pages that are being served for as long as this lives.
pub struct Pages {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    _runtime: tokio::runtime::Runtime,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Asked {
    pub path: String,
    pub version: hyper::Version,
    pub headers: hyper::HeaderMap,
}

impl Asked {
    /// The value of a header; empty when there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// A file of the test's own certificates: `authority.pem` signed `server.pem` for secure.test and www.secure.test.
pub fn certificate(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls").join(name)
}

impl Pages {
    pub fn serve(carrier: Carrier, entries: &'static [Entry]) -> Pages {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let tls = (carrier != Carrier::Plain).then(|| acceptor(carrier == Carrier::Tls));
        runtime.spawn(accept(listener, tls, entries, asked.clone()));
        Pages { address, asked, _runtime: runtime }
    }

    /// Paths that were asked for, in their order.
    pub fn asked(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.path).collect()
    }

    /// All requests, in their order.
    pub fn requests(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The version of HTTP that every request came in; nothing when they differ.
    pub fn version(&self) -> Option<hyper::Version> {
        let asked = self.asked.lock().unwrap();
        let first = asked.first()?.version;
        asked.iter().all(|request| request.version == first).then_some(first)
    }
}

fn acceptor(http2: bool) -> TlsAcceptor {
    let chain = CertificateDer::pem_file_iter(certificate("server.pem")).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(certificate("server.key")).unwrap();
    let provider = Arc::new(crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_no_client_auth().with_single_cert(chain, key).unwrap();
    config.alpn_protocols = if http2 { vec![b"h2".to_vec(), b"http/1.1".to_vec()] } else { Vec::new() };
    TlsAcceptor::from(Arc::new(config))
}

async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    entries: &'static [Entry],
    asked: Arc<Mutex<Vec<Asked>>>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let (tls, asked) = (tls.clone(), asked.clone());
        tokio::spawn(async move {
            let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let path = request.uri().path().to_owned();
                let headers = request.headers().clone();
                asked.lock().unwrap().push(Asked { path: path.clone(), version: request.version(), headers });
                async move { Ok::<_, Infallible>(answer(entries, &path)) }
            });
            let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            // A client that does not trust the certificate goes away in the middle of the handshake.
            let _ = match tls {
                None => server.serve_connection(TokioIo::new(stream), service).await,
                Some(tls) => match tls.accept(stream).await {
                    Ok(stream) => server.serve_connection(TokioIo::new(stream), service).await,
                    Err(_) => Ok(()),
                },
            };
        });
    }
}

fn answer(entries: &[Entry], path: &str) -> hyper::Response<Full<Bytes>> {
    let Some((_, headers, page)) = entries.iter().find(|(known, ..)| *known == path) else {
        return hyper::Response::builder().status(404).body(Full::default()).unwrap();
    };
    // Whoever names another place sends there.
    let usual = if headers.iter().any(|(name, _)| *name == "location") { 301 } else { 200 };
    let status =
        headers.iter().find(|(name, _)| *name == "status").map_or(usual, |(_, status)| status.parse().unwrap());
    let headers = headers.iter().filter(|(name, _)| *name != "status");
    let start = hyper::Response::builder().status(status).header("content-type", "text/html; charset=utf-8");
    let with_headers = headers.fold(start, |response, (name, value)| response.header(*name, *value));
    with_headers.body(Full::from(*page)).unwrap()
}
