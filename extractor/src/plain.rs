//! A text file becomes a [`Document`]: its text as it is, without looking for tags.

use crate::{Counts, Document, Language, Options, PageType, charset, count_words, split_sentences, text};

/// How a text file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// Nothing but text.
    Plain,
    /// Markdown, which stays as it is.
    Markdown,
}

impl TextFormat {
    /// The format that a media type and the address of a file say; nothing for other files.
    pub fn of(media_type: &str, address: &str) -> Option<TextFormat> {
        let path = address.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
        let is_markdown = [".md", ".markdown"].iter().any(|ending| path.ends_with(ending));
        match media_type {
            "text/markdown" | "text/x-markdown" => Some(TextFormat::Markdown),
            "text/plain" if is_markdown => Some(TextFormat::Markdown),
            "text/plain" => Some(TextFormat::Plain),
            _ => None,
        }
    }
}

/// Longer lines are paragraphs.
const MAX_TITLE_CHARACTERS: usize = 160;

/// Extracts a text file. Any bytes are a text; those that are none, as images with a wrong label, give an empty one.
pub(crate) fn text_document(bytes: &[u8], format: TextFormat, options: &Options) -> Document {
    if is_binary(bytes) {
        return Document::default();
    }
    let decoded = charset::decode(bytes, options.content_type.as_deref());
    let lines = decoded.text.replace("\r\n", "\n").replace('\r', "\n");
    let text = text::without_controls(lines.trim_matches('\n').trim_end().to_owned());
    let language = Language::of(&text);
    Document {
        language: language.map(|language| language.tag().to_owned()),
        title: title(&text, format),
        page_type: PageType::Article,
        counts: Counts {
            characters: text.chars().count(),
            words: count_words(&text),
            sentences: split_sentences(&text, language).count(),
        },
        markdown: if options.markdown { text.clone() } else { String::new() },
        text,
        ..Document::default()
    }
}

/// Whether bytes are no text in any encoding that is written without a mark: they hold NUL or many control characters.
fn is_binary(bytes: &[u8]) -> bool {
    const SAMPLE: usize = 4096;
    if encoding_rs::Encoding::for_bom(bytes).is_some() {
        return false;
    }
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let is_control = |byte: &&u8| matches!(**byte, 0..=8 | 14..=26 | 28..=31);
    sample.contains(&0) || sample.iter().filter(is_control).count() * 50 > sample.len()
}

/// The first heading of Markdown, else the first line that is short enough.
fn title(text: &str, format: TextFormat) -> Option<String> {
    let usable = |line: &str| {
        let line = line.trim();
        let fits = line.chars().take(MAX_TITLE_CHARACTERS + 1).count() <= MAX_TITLE_CHARACTERS;
        (fits && line.contains(char::is_alphanumeric)).then(|| line.to_owned())
    };
    if format == TextFormat::Markdown
        && let Some(heading) = heading(text).and_then(usable)
    {
        return Some(heading);
    }
    text.lines().find(|line| line.contains(char::is_alphanumeric)).and_then(usable)
}

/// The first heading of a Markdown text: `# Rain`, or a line that is underlined. Code and front matter have none.
fn heading(text: &str) -> Option<&str> {
    const N_LINES: usize = 200;
    let mut fence: Option<&str> = None;
    let mut before = "";
    for (index, line) in text.lines().take(N_LINES).enumerate() {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~", "---"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, Some("---")) if index > 0 && !before.trim().is_empty() => return Some(before),
            // A rule at the very start opens front matter.
            (None, Some("---")) if index > 0 => {}
            (None, Some(mark)) => fence = Some(mark),
            (None, None) if trimmed.starts_with("# ") || trimmed.starts_with("## ") => {
                return Some(trimmed.trim_matches('#').trim());
            }
            (None, None) if trimmed.starts_with("==") && !before.trim().is_empty() => return Some(before),
            (None, None) => {}
        }
        before = line;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, format: TextFormat, title: Option<&str>) {
        assert_eq!(text_document(text.as_bytes(), format, &Options::default()).title.as_deref(), title, "{text}");
    }

    #[test]
    fn the_title_is_the_first_heading_or_line() {
        check("\n\nRain in May\n\nIt rained.", TextFormat::Plain, Some("Rain in May"));
        check("***\n# not a heading here\n", TextFormat::Plain, Some("# not a heading here"));
        check("[![badge](x)](y)\n\n# Rain #\n\nIt rained.", TextFormat::Markdown, Some("Rain"));
        check("---\ntitle: x\n---\n```\n# code\n```\nRain\n====\n", TextFormat::Markdown, Some("Rain"));
        check(&"rain ".repeat(200), TextFormat::Plain, None);
        check("", TextFormat::Markdown, None);
    }

    #[test]
    fn tags_are_text_and_lines_stay() {
        let document =
            text_document(b"a < b\r\n  <p>not a tag</p>\r\n\r\nend\r\n", TextFormat::Plain, &Options::default());
        assert_eq!(document.text, "a < b\n  <p>not a tag</p>\n\nend");
        assert_eq!(document.page_type, PageType::Article);
    }

    #[test]
    fn bytes_that_are_no_text_give_none() {
        assert_eq!(text_document(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", TextFormat::Plain, &Options::default()).text, "");
        let wide: Vec<u8> = [0xFF, 0xFE].into_iter().chain("Rain".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        assert_eq!(text_document(&wide, TextFormat::Plain, &Options::default()).text, "Rain");
    }

    #[test]
    fn formats_are_told_by_type_and_address() {
        assert_eq!(TextFormat::of("text/plain", "https://a.b/README.MD?raw=1"), Some(TextFormat::Markdown));
        assert_eq!(TextFormat::of("text/plain", "https://a.b/rain.txt"), Some(TextFormat::Plain));
        assert_eq!(TextFormat::of("text/markdown", ""), Some(TextFormat::Markdown));
        assert_eq!(TextFormat::of("text/css", "https://a.b/x.md"), None);
    }
}
