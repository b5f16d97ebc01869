//! A response on its way into a shard: all of its record but the digest, so that it can be packed on another thread.

use std::net::IpAddr;

use jiff::Timestamp;

use super::digest;
use super::response::{Response, Revisit, RevisitTarget, Truncated, encode_http_head};

/// What the record of a response is made from.
pub(super) struct Draft {
    pub(super) url: String,
    pub(super) fetched_at: Timestamp,
    pub(super) ip: Option<IpAddr>,
    /// The status line and the headers as they are stored.
    pub(super) http_head: Vec<u8>,
    pub(super) status: Option<u16>,
    pub(super) content_type: Option<Vec<u8>>,
    pub(super) body: Vec<u8>,
    pub(super) truncated: Option<Truncated>,
    pub(super) revisit: DraftRevisit,
    /// Which response of its writer it is; part of its record's identity.
    pub(super) serial: u64,
    /// The request, for a record of its own; empty where it is not kept.
    pub(super) request: Vec<u8>,
}

/// [`Revisit`], owned.
pub(super) enum DraftRevisit {
    Detect,
    NotModified { since: Timestamp },
    Of { url: String, date: Timestamp },
    Never,
}

impl Draft {
    pub(super) fn new(response: &Response<'_>, serial: u64) -> Draft {
        let mut http_head = Vec::with_capacity(1024);
        encode_http_head(response, &mut http_head);
        let mut headers = response.headers.iter();
        let content_type = headers.find(|(name, _)| name.eq_ignore_ascii_case("Content-Type"));
        Draft {
            url: response.url.to_owned(),
            fetched_at: response.fetched_at,
            ip: response.ip,
            http_head,
            status: response.status_line.split_ascii_whitespace().nth(1).and_then(|word| word.parse().ok()),
            content_type: content_type.map(|(_, value)| value.to_vec()),
            body: response.body.to_vec(),
            truncated: response.truncated,
            revisit: match response.revisit {
                Revisit::Detect => DraftRevisit::Detect,
                Revisit::NotModified { since } => DraftRevisit::NotModified { since },
                Revisit::Of { url, date } => DraftRevisit::Of { url: url.to_owned(), date },
                Revisit::Never => DraftRevisit::Never,
            },
            serial,
            request: Vec::new(),
        }
    }

    /// The digest of the body.
    pub(super) fn digest(&self) -> [u8; 32] {
        digest::sha256(&[&self.body])
    }

    /// What the caller said that it repeats.
    pub(super) fn target(&self) -> Option<RevisitTarget<'_>> {
        match &self.revisit {
            DraftRevisit::NotModified { since } => Some(RevisitTarget::NotModified { since: *since }),
            DraftRevisit::Of { url, date } => Some(RevisitTarget::Same { url, date: *date }),
            DraftRevisit::Detect | DraftRevisit::Never => None,
        }
    }
}
