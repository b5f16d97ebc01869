//! The links of a page with absolute targets, and whether they are in the main content.

use url::{Position, Url};

use crate::Link;
use crate::blocks::Page;
use crate::meta::collapse;
use crate::tree::decode_value;

/// Further links are left out.
const MAX_LINKS: usize = 10_000;

/// The links of a page in document order; those that lead nowhere else (`#`, `javascript:`, `mailto:`) are left out.
pub(crate) fn links(page: &Page<'_>, kept: &[bool], url: Option<&Url>, base: Option<&str>) -> Vec<Link> {
    let base = base_url(url, base);
    let mut base = Base::new(base.as_ref());
    let mut links = Vec::with_capacity(page.links.len().min(MAX_LINKS));
    for raw in page.links.iter().take(MAX_LINKS) {
        crate::cancel::check();
        let Some(url) = base.resolve(trim(&decode_value(raw.target))) else { continue };
        let (start, end) = (raw.start as usize, (raw.end as usize).min(page.text.len()));
        let text = page.text.get(start..end.max(start)).map(link_text).unwrap_or_default();
        let main = kept.get(raw.block as usize).copied().unwrap_or(false);
        links.push(Link { url, text, main });
    }
    links
}

/// The address that the relative ones of a page start from. A `<base>` that is no address of the web is not obeyed.
pub(crate) fn base_url(url: Option<&Url>, base: Option<&str>) -> Option<Url> {
    let joined = base.and_then(|base| match url {
        Some(url) => url.join(base).ok(),
        None => Url::parse(base).ok(),
    });
    joined.filter(is_web).or_else(|| url.cloned())
}

/// Whether an address leads to the web.
pub(crate) fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// The base URL of relative targets. Most targets are a path or an absolute URL in normal form already; those are
/// resolved without the URL parser.
pub(crate) struct Base<'a> {
    url: Option<&'a Url>,
    /// `https` or `http`; empty where it is neither.
    scheme: &'a str,
    /// `https://example.com`; nothing where the scheme is neither.
    origin: Option<&'a str>,
    /// `https://example.com/a/`; empty where the scheme is.
    folder: &'a str,
    /// The last host that was found to be in normal form: most links of a page have few hosts.
    normalized_host: String,
}

impl<'a> Base<'a> {
    pub(crate) fn new(url: Option<&'a Url>) -> Base<'a> {
        let web = url.filter(|url| is_web(url));
        let part = |end| web.map_or("", |url| &url[..end]);
        let path = part(Position::AfterPath);
        Base {
            url,
            scheme: part(Position::AfterScheme),
            origin: web.map(|url| &url[..Position::BeforePath]),
            folder: &path[..memchr::memrchr(b'/', path.as_bytes()).map_or(0, |slash| slash + 1)],
            normalized_host: String::new(),
        }
    }

    /// The absolute form of a target, or nothing when it leads to no page.
    pub(crate) fn resolve(&mut self, target: &str) -> Option<String> {
        if target.is_empty() || target.len() > 4096 || is_fragment_or_action(target) {
            return None;
        }
        self.resolve_fast(target).or_else(|| self.parse(target))
    }

    fn parse(&self, target: &str) -> Option<String> {
        let url = match self.url {
            Some(base) => base.join(target).ok()?,
            None => Url::parse(target).ok()?,
        };
        is_web(&url).then(|| url.into())
    }

    /// What the URL parser would give, for targets in normal form; nothing for others.
    fn resolve_fast(&mut self, target: &str) -> Option<String> {
        if let Some(rest) = target.strip_prefix("https://").or_else(|| target.strip_prefix("http://")) {
            let slash = self.normalized_path_start(rest)?;
            return Some(if slash == rest.len() { [target, "/"].concat() } else { target.to_owned() });
        }
        if target.starts_with('/') && !target.starts_with("//") {
            let origin = self.origin.filter(|_| is_normalized_path(target))?;
            return Some([origin, target].concat());
        }
        if self.scheme.is_empty() {
            return None;
        }
        if let Some(rest) = target.strip_prefix("//") {
            let slash = self.normalized_path_start(rest)?;
            return Some([self.scheme, ":", target, if slash == rest.len() { "/" } else { "" }].concat());
        }
        let bytes = target.as_bytes();
        let is_name = bytes.first().is_some_and(u8::is_ascii_alphanumeric) && memchr::memchr(b':', bytes).is_none();
        (is_name && is_normalized_path(target)).then(|| [self.folder, target].concat())
    }

    /// The offset of the path in the text after `https://`, if all of it is in normal form.
    fn normalized_path_start(&mut self, rest: &str) -> Option<usize> {
        let slash = memchr::memchr(b'/', rest.as_bytes()).unwrap_or(rest.len());
        let (host, path) = rest.split_at(slash);
        if host != self.normalized_host || host.is_empty() {
            if !is_normalized_host(host) {
                return None;
            }
            self.normalized_host.clear();
            self.normalized_host.push_str(host);
        }
        is_normalized_path(path).then_some(slash)
    }
}

/// Whether a target is a fragment of the page or an action.
fn is_fragment_or_action(target: &str) -> bool {
    ["#", "javascript:", "mailto:", "tel:"].iter().any(|beginning| target.starts_with(beginning))
}

/// What the URL parser does with a byte of a path, query or fragment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Normalization {
    Unchanged,
    /// It depends on the neighbouring bytes.
    ContextDependent,
    Changed,
}

const NORMALIZATION: [Normalization; 256] = {
    let mut table = [Normalization::Changed; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => Normalization::Unchanged,
            b'/' | b'-' | b'_' | b'~' | b'=' | b'&' | b'?' | b'+' | b',' | b':' | b';' | b'@' => {
                Normalization::Unchanged
            }
            b'!' | b'$' | b'(' | b')' | b'*' | b'#' => Normalization::Unchanged,
            b'.' | b'%' => Normalization::ContextDependent,
            _ => Normalization::Changed,
        };
        byte += 1;
    }
    table
};

/// Whether the URL parser would leave path, query and fragment unchanged.
fn is_normalized_path(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.iter().enumerate().all(|(at, byte)| match NORMALIZATION[usize::from(*byte)] {
        Normalization::Unchanged => true,
        Normalization::Changed => false,
        // `/./` and `/../`, of which each stop may be written `%2e`.
        Normalization::ContextDependent if *byte == b'.' => at > 0 && bytes[at - 1] != b'/',
        Normalization::ContextDependent => !bytes[at..].starts_with(b"%2e") && !bytes[at..].starts_with(b"%2E"),
    })
}

/// Whether the URL parser would leave a host unchanged: a name in lower case that is not an IP address.
fn is_normalized_host(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or("");
    host.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
        && last.bytes().all(|byte| byte.is_ascii_lowercase())
        && !last.is_empty()
        && !host.contains("xn--")
        && !host.contains("..")
        && !host.starts_with(['.', '-'])
}

/// The target without surrounding white space; most have none.
pub(crate) fn trim(target: &str) -> &str {
    let bytes = target.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    if ends.iter().flatten().all(|byte| byte.is_ascii_graphic()) { target } else { target.trim() }
}

/// The text of a link with white space collapsed. Only texts that join two blocks or hold control characters need work.
fn link_text(text: &str) -> String {
    let mut last = 0;
    let clean = text.bytes().all(|byte| {
        let before = std::mem::replace(&mut last, byte);
        (b' '..0x7F).contains(&byte) && (byte != b' ' || before != b' ')
    });
    if clean { text.trim_ascii().to_owned() } else { collapse(text) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tree::Tree;

    #[track_caller]
    fn check(target: &str, expected: Option<&str>) {
        let base = Url::parse("https://example.com/a/b?c#d").unwrap();
        assert_eq!(Base::new(Some(&base)).resolve(target).as_deref(), expected, "{target}");
        let slow = base.join(target).ok().filter(|url| expected.is_some() && url.scheme().starts_with("http"));
        assert_eq!(slow.map(String::from).as_deref(), expected, "the fast resolution and the parser agree on {target}");
    }

    #[test]
    fn texts_are_collapsed() {
        for text in ["to the shop", " a ", "a\nb", "a\u{a0}b", "a  b", "a\u{85}b", "中 文", "\u{7f}x"] {
            assert_eq!(link_text(text), collapse(text), "{text:?}");
        }
    }

    #[test]
    fn targets_become_absolute() {
        check("/x/y?z=1", Some("https://example.com/x/y?z=1"));
        check("/x/../y", Some("https://example.com/y"));
        check("//other.org/p", Some("https://other.org/p"));
        check("e", Some("https://example.com/a/e"));
        check("/ä b", Some("https://example.com/%C3%A4%20b"));
        check("/x?q='a'", Some("https://example.com/x?q=%27a%27"));
        check("/x/.hidden", Some("https://example.com/x/.hidden"));
        check("/a/%2e%2e/b", Some("https://example.com/b"));
        check("https://Other.org/p", Some("https://other.org/p"));
        check("http://other.org:80/p", Some("http://other.org/p"));
        check("https://other.org/a-b_c/?d=e&f", Some("https://other.org/a-b_c/?d=e&f"));
        check("https://other.org/a/../b", Some("https://other.org/b"));
        check("https://other.org", Some("https://other.org/"));
        check("https://1.2.3/p", Some("https://1.2.0.3/p"));
        check("http://0x7f.1/p", Some("http://127.0.0.1/p"));
        check("https://user@other.org/p", Some("https://user@other.org/p"));
        check("https://a_b.org/p", Some("https://a_b.org/p"));
        check("https://other.org/a#b/c", Some("https://other.org/a#b/c"));
        check("//other.org", Some("https://other.org/"));
        check("//other.org/a%20b", Some("https://other.org/a%20b"));
        check("e/f.html?g#h", Some("https://example.com/a/e/f.html?g#h"));
        check("e/./f", Some("https://example.com/a/e/f"));
        check("e:80/f", None);
        check("e/f:g", Some("https://example.com/a/e/f:g"));
        check("?e", Some("https://example.com/a/b?e"));
        check("/a/.%2E/b", Some("https://example.com/b"));
        check("/a/%2/b%", Some("https://example.com/a/%2/b%"));
        check("#top", None);
        check("tel:123", None);
        check("mailto:x@y.z", None);
        check("javascript:void(0)", None);
    }

    #[test]
    fn a_base_that_is_no_address_of_the_web_is_not_obeyed() {
        let page = Page::read(Tree::parse("<a href=/news>News</a><a href=more>More</a>"));
        let found = |url: Option<&str>, base: &str| {
            let url = url.map(|url| Url::parse(url).unwrap());
            let links = links(&page, &[], url.as_ref(), Some(base));
            links.into_iter().map(|link| link.url).collect::<Vec<_>>()
        };
        let address = Some("https://example.com/a/b");
        assert_eq!(found(address, "hard:/"), ["https://example.com/news", "https://example.com/a/more"]);
        assert_eq!(found(address, "/c/"), ["https://example.com/news", "https://example.com/c/more"]);
        assert_eq!(found(None, "http://other.org/c/"), ["http://other.org/news", "http://other.org/c/more"]);
        assert_eq!(found(None, "hard:/"), [""; 0]);
        assert_eq!(found(Some("ftp://example.com/a"), "b"), [""; 0]);
    }

    proptest! {
        #[test]
        fn the_fast_resolution_is_what_the_parser_says(
            target in "(https?://|//|/|)[a-cA-C0-9.-]{0,6}([/?#.%2eE:@a-d&=+~-]{0,4}[a-f]{0,2}){0,4}",
            base in "(https?://a\\.b(:81)?(/c/d\\?e|/|))"
        ) {
            let base = Url::parse(&base).unwrap();
            let mut base = Base::new(Some(&base));
            if let Some(found) = base.resolve_fast(&target) {
                prop_assert_eq!(Some(found), base.parse(&target), "{}", target);
            }
        }
    }
}
