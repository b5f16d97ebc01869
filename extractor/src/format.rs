//! [`PageFormat`]: how the bytes of a page are read.

use crate::TextFormat;

/// How the bytes of a page are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFormat {
    /// HTML: its main content is looked for.
    Html,
    /// A text file: all of it is content, and its first line or heading the title.
    File(TextFormat),
    /// Text that was taken out of a page by somebody else, as the records of WET archives, in UTF-8.
    ExtractedText,
}

/// The start of a page that is searched for HTML where its media type says little.
const SNIFFED_BYTES: usize = 1024;

impl PageFormat {
    /// The format of a page by what its server says, or by its first bytes where that says little; nothing for images,
    /// style sheets and whatever else is no text.
    pub fn of(media_type: Option<&str>, address: &str, body: &[u8]) -> Option<PageFormat> {
        let is_html = match media_type {
            Some("text/html" | "application/xhtml+xml") => true,
            Some("text/plain" | "application/octet-stream" | "application/xml" | "text/xml") | None => {
                let start = body.trim_ascii_start();
                let start = &start[..start.len().min(SNIFFED_BYTES)];
                let start = String::from_utf8_lossy(start).to_ascii_lowercase();
                start.starts_with('<') && (start.contains("<html") || start.contains("<!doctype html"))
            }
            Some(_) => false,
        };
        match is_html {
            true => Some(PageFormat::Html),
            false => media_type.and_then(|media_type| TextFormat::of(media_type, address)).map(PageFormat::File),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_decides_where_it_says_enough_and_else_the_first_bytes() {
        let html = b"  <!DOCTYPE html><title>Rain</title>";
        for (media_type, body, format) in [
            (Some("text/html"), &b"no tags"[..], Some(PageFormat::Html)),
            (Some("text/plain"), html, Some(PageFormat::Html)),
            (Some("text/plain"), b"<p>a line of a manual", Some(PageFormat::File(TextFormat::Plain))),
            (Some("text/markdown"), html, Some(PageFormat::File(TextFormat::Markdown))),
            (Some("application/xml"), b"<rss></rss>", None),
            (Some("image/png"), html, None),
            (None, html, Some(PageFormat::Html)),
            (None, b"Rain", None),
        ] {
            assert_eq!(PageFormat::of(media_type, "https://example.com/a", body), format, "{media_type:?}");
        }
    }
}
