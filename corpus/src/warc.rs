//! Page shards: WARC in and out.
//!
//! [`ShardWriter`] stores server responses; [`read`] opens archives of any writer. A reader skips damaged bytes,
//! continues at the next record, and counts the damage in [`Damage`]; memory is bounded for any input.
//!
//! ```
//! use pith_corpus::warc::{self, Revisit, Response, ShardWriter, WriterOptions};
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
//!     revisit: Revisit::Detect,
//!     preferences: None,
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

mod budget;
mod compressor;
mod container;
mod damage;
mod decoder;
mod dictionary;
mod digest;
mod draft;
mod frame;
mod index;
mod member;
mod packer;
mod page;
mod position;
mod reader;
mod record;
mod record_format;
mod repair;
mod response;
mod roll_back;
mod seen;
mod shard;
mod shard_list;
mod source;
mod stream;
mod summary;
mod trainer;
mod writer;

pub use damage::{Damage, DamageEntry, Reason};
pub use index::{find, parts};
pub use page::{Page, PageKind};
pub use pith_notation::HttpHead;
pub use position::{PagesAfter, ShardPosition, pages_after};
pub use reader::{Reader, ReaderOptions, Verify, read};
pub use record::{Record, RecordType};
pub use repair::{Repaired, is_shard_name, repair_shards};
pub use response::{Response, Revisit, Truncated};
pub use roll_back::roll_back;
pub use shard_list::{LostShard, lost_shards};
pub use summary::Summary;
pub use writer::{DictionaryUse, Format, ShardWriter, WriterOptions};
