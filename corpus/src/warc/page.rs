//! Pages: the records of an archive that hold what a URL gave, with the body ready to be read.

use jiff::Timestamp;
use pith_notation::HttpHead;

use super::reader::Reader;
use super::record::{Record, RecordType};
use super::response::PREFERENCES_FIELD;
use crate::error::Result;

/// What a URL gave, as an archive holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// What kind of record held it.
    pub kind: PageKind,
    /// The address.
    pub url: String,
    /// When it was fetched; `None` if the record does not say.
    pub fetched_at: Option<Timestamp>,
    /// The HTTP status, where there was an HTTP head.
    pub status: Option<u16>,
    /// The HTTP headers in order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, chunks joined and compression undone. Empty for a revisit.
    pub body: Vec<u8>,
    /// False if the end of the body could not be had: it was cut by the crawler, by a limit, or is damaged inside.
    pub is_whole: bool,
    /// The payload digest that the record gives, such as `sha256:…`.
    pub digest: Option<String>,
    /// What was known before of the owner's wishes, as a line of JSON, where the record says.
    pub preferences: Option<String>,
    /// Where the record begins in its file.
    pub offset: u64,
}

/// The kinds of record that are pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PageKind {
    /// A server response.
    Response,
    /// A body without HTTP headers.
    Resource,
    /// Extracted text, as in WET files.
    Text,
    /// A repeat of a stored response; the body is stored there.
    Revisit,
}

impl Page {
    /// Makes a page of a record; `None` if the record is none. At most `max_bytes` of the body are decoded.
    pub fn from_record(record: &Record<'_>, max_bytes: usize) -> Option<Page> {
        let kind = match record.kind {
            RecordType::Response => PageKind::Response,
            RecordType::Resource => PageKind::Resource,
            RecordType::Conversion => PageKind::Text,
            RecordType::Revisit => PageKind::Revisit,
            _ => return None,
        };
        let url = record.url()?.into_owned();
        let mut page = Page {
            kind,
            url,
            fetched_at: record.date(),
            status: None,
            headers: Vec::new(),
            body: Vec::new(),
            is_whole: !record.is_cut() && record.field("WARC-Truncated").is_none(),
            digest: record.text("WARC-Payload-Digest").map(|digest| digest.into_owned()),
            preferences: record.text(PREFERENCES_FIELD).map(|line| line.into_owned()),
            offset: record.offset,
        };
        match HttpHead::parse(record.block) {
            Some((head, body)) if matches!(kind, PageKind::Response | PageKind::Revisit) => {
                page.status = head.status;
                if kind == PageKind::Response {
                    let (body, whole) = head.decode(body, max_bytes);
                    page.body = body.into_owned();
                    page.is_whole &= whole;
                }
                let owned =
                    |(name, value): &(&[u8], &[u8])| (String::from_utf8_lossy(name).into_owned(), value.to_vec());
                page.headers = head.headers.iter().map(owned).collect();
            }
            _ if kind == PageKind::Revisit => {}
            _ => {
                let count = record.block.len().min(max_bytes);
                page.is_whole &= count == record.block.len();
                page.body = record.block[..count].to_vec();
                if let Some(media_type) = record.field("Content-Type") {
                    page.headers.push(("Content-Type".to_owned(), media_type.to_vec()));
                }
            }
        }
        Some(page)
    }

    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_slice())
    }

    /// The media type in lower case without its parameters, such as `text/html`.
    pub fn media_type(&self) -> Option<String> {
        let value = String::from_utf8_lossy(self.header("Content-Type")?);
        let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        (!media_type.is_empty()).then_some(media_type)
    }
}

impl Reader {
    /// The next page, records of other kinds stepped over; `None` at the end.
    ///
    /// # Errors
    ///
    /// Only if the system cannot read on.
    pub fn next_page(&mut self) -> Result<Option<Page>> {
        let max_bytes = self.max_block_bytes();
        while let Some(record) = self.next()? {
            if let Some(page) = Page::from_record(&record, max_bytes) {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    /// The pages as an iterator. The reader keeps its count of damage: pass it by reference to ask for it afterwards.
    pub fn pages(&mut self) -> impl Iterator<Item = Result<Page>> + '_ {
        std::iter::from_fn(|| self.next_page().transpose())
    }
}
