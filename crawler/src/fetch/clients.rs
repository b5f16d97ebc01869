//! The HTTP clients of a crawl: one that keeps connections open, and one that does not.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, HeaderMap, HeaderValue};
use reqwest::{Client, ClientBuilder};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use crate::connections::{Connections, IDLE_TIME};
use crate::error::Error;
use crate::plan::Plan;
use crate::resolve::Resolver;

/// How much of a response a server may send over HTTP/2 before it was read.
const HTTP2_WINDOW_BYTES: u32 = 1 << 18;

/// The clients of one crawl.
pub(super) struct Clients {
    keeping: Client,
    /// For when enough connections are open.
    closing: Client,
    connections: RefCell<Connections>,
}

impl Clients {
    pub(super) fn new(plan: &Plan, resolver: &Resolver) -> Result<Clients, Error> {
        // The client asks for the provider of the process; one that the program has chosen before stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let build = |max_idle: usize| {
            let client = builder(plan, resolver).pool_max_idle_per_host(max_idle);
            let client = match &plan.network.proxy {
                Some(proxy) => client.proxy(reqwest::Proxy::all(proxy).map_err(Error::Client)?),
                None => client.no_proxy(),
            };
            client.build().map_err(Error::Client)
        };
        let connections = RefCell::new(Connections::new(plan.network.max_idle));
        Ok(Clients { keeping: build(1)?, closing: build(0)?, connections })
    }

    /// The client for a request to this URL.
    pub(super) fn client_for(&self, url: &Url) -> &Client {
        let origin = xxh3_64(url[..url::Position::BeforePath].as_bytes());
        match self.connections.borrow_mut().may_keep(origin, Instant::now()) {
            true => &self.keeping,
            false => &self.closing,
        }
    }
}

fn builder(plan: &Plan, resolver: &Resolver) -> ClientBuilder {
    let mut headers = HeaderMap::new();
    let accept = "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.1";
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(pith_notation::ACCEPT_ENCODING));
    headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_static("*"));
    Client::builder()
        .user_agent(&plan.identity.user_agent)
        .default_headers(headers)
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .dns_resolver(Arc::new(resolver.clone()))
        .connect_timeout(plan.response_limits.connect_time)
        .read_timeout(plan.response_limits.silence)
        .timeout(plan.response_limits.max_time)
        .pool_idle_timeout(IDLE_TIME)
        .http2_initial_stream_window_size(HTTP2_WINDOW_BYTES)
        .http2_initial_connection_window_size(HTTP2_WINDOW_BYTES * 2)
        .tcp_nodelay(true)
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
}
