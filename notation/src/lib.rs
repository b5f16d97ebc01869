//! How the web writes things down, as far as more than one stage must read it in the same sense.
//!
//! [`HttpHead`] and [`Headers`] are heads of HTTP answers; [`Body`] undoes content encodings within budgets (feature
//! `encodings`); [`reference()`] reads the character references of HTML; [`is_han`], [`is_kana`] and [`is_spaceless`] tell
//! writing systems apart.
//!
//! It is not: an HTTP client, an HTML parser, or a place for what only one stage needs. It does no I/O. Every function
//! takes any bytes, in time linear in them.
//!
//! ```
//! let (head, body) = pith_notation::HttpHead::parse(b"HTTP/1.1 200 OK\r\nServer: quay\r\n\r\n<p>rain").unwrap();
//! assert_eq!((head.status, head.header("server"), body), (Some(200), Some(&b"quay"[..]), &b"<p>rain"[..]));
//! ```

#[cfg(feature = "encodings")]
mod content;
mod head;
mod headers;
mod references;
mod script;
#[cfg(feature = "encodings")]
mod stored;

#[cfg(feature = "encodings")]
pub use content::{ACCEPT_ENCODING, Body, Fed};
pub use head::HttpHead;
pub use headers::Headers;
pub use references::{Context, Replacement, decode_references, reference};
pub use script::{is_han, is_kana, is_spaceless};
