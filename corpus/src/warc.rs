//! Page shards: WARC in and out.
//!
//! [`ShardWriter`] stores answers of servers; [`read`] opens what it or anybody else wrote. A reader steps over damage,
//! goes on at the next record, and counts what was lost in [`Damage`]; memory stays bounded whatever a file says.
//!
//! ```
//! use pith_corpus::warc::{self, Repeat, Response, ShardWriter, WriterOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let mut writer = ShardWriter::open(folder, WriterOptions::default())?;
//! writer.put(&Response {
//!     url: "http://example.com/",
//!     fetched_at: "2026-01-01T00:00:00Z".parse()?,
//!     ip: None,
//!     status_line: "HTTP/1.1 200 OK",
//!     headers: &[("Content-Type", b"text/html")],
//!     body: b"<p>Hello.</p>",
//!     truncated: None,
//!     repeat: Repeat::Detect,
//! })?;
//! writer.commit()?; // now the page survives a crash
//! writer.finish()?;
//!
//! let mut reader = warc::read(folder.join("pages-00000.warc.zst"))?;
//! let page = reader.next_page()?.expect("one page was put");
//! assert_eq!(page.url, "http://example.com/");
//! assert_eq!(page.body, b"<p>Hello.</p>");
//! assert!(!reader.damage().any());
//! # Ok(())
//! # }
//! ```

mod damage;
mod decoder;
mod dialect;
mod dictionary;
mod digest;
mod frame;
mod http;
mod index;
mod member;
mod pack;
mod page;
mod reader;
mod record;
mod repair;
mod response;
mod rollback;
mod source;
mod stream;
mod summary;
mod wrapping;
mod writer;

pub use damage::{Damage, DamagedPlace, Reason};
pub use http::HttpHead;
pub use index::{find, parts};
pub use page::{Page, PageKind};
pub use reader::{Reader, ReaderOptions, Verify, read};
pub use record::{Record, RecordType};
pub use response::{Repeat, Response, Truncated};
pub use rollback::{Mark, roll_back};
pub use summary::Summary;
pub use writer::{DictionaryUse, Format, Place, ShardWriter, WriterOptions};
