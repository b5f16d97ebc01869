//! Where a page points: its links with absolute targets, and whether they stand in the main content.

use url::Url;

use crate::Link;
use crate::blocks::Page;
use crate::meta::collapse;

/// More links than this are a flood.
const MAX_LINKS: usize = 10_000;

/// The links of a page in document order; those that lead nowhere else (`#`, `javascript:`, `mailto:`) are left out.
pub(crate) fn links(page: &Page<'_>, kept: &[bool], url: Option<&Url>, base: Option<&str>) -> Vec<Link> {
    let joined = base.and_then(|base| match url {
        Some(url) => url.join(base).ok(),
        None => Url::parse(base).ok(),
    });
    let base = joined.as_ref().or(url);
    let origin = base.map(|base| base[..url::Position::BeforePath].to_owned());
    let mut links = Vec::with_capacity(page.links.len().min(MAX_LINKS));
    for raw in page.links.iter().take(MAX_LINKS) {
        let Some(target) = page.tree.attribute(raw.node, "href") else { continue };
        let Some(url) = resolve(target.trim(), base, origin.as_deref()) else { continue };
        let (start, end) = (raw.start as usize, (raw.end as usize).min(page.text.len()));
        let text = page.text.get(start..end.max(start)).map(link_text).unwrap_or_default();
        let main = kept.get(raw.block as usize).copied().unwrap_or(false);
        links.push(Link { url, text, main });
    }
    links
}

/// The absolute form of a target, or nothing when it leads to no page.
fn resolve(target: &str, base: Option<&Url>, origin: Option<&str>) -> Option<String> {
    if target.is_empty() || target.starts_with('#') || target.len() > 4096 {
        return None;
    }
    // Most targets are a path from the root or a whole address as the parser would write it.
    let rooted = || origin.filter(|_| target.starts_with('/') && !target.starts_with("//"));
    if let Some(origin) = rooted().filter(|_| is_settled_path(target)) {
        return Some([origin, target].concat());
    }
    if is_settled_address(target) {
        return Some(target.to_owned());
    }
    let url = match base {
        Some(base) => base.join(target).ok()?,
        None => Url::parse(target).ok()?,
    };
    matches!(url.scheme(), "http" | "https").then(|| url.into())
}

/// Whether the parser would leave a path and what follows it as they are.
fn is_settled_path(path: &str) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_.~=&?+,:;@!$()*".contains(byte);
    let bytes = path.as_bytes();
    bytes.iter().all(plain) && !bytes.windows(2).any(|pair| pair == b"/.")
}

/// Whether the parser would leave an address as it is: small letters in a name that is no number, and a settled path.
fn is_settled_address(address: &str) -> bool {
    let Some(rest) = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://")) else { return false };
    let Some(slash) = memchr::memchr(b'/', rest.as_bytes()) else { return false };
    let (host, path) = rest.split_at(slash);
    let last = host.rsplit('.').next().unwrap_or("");
    host.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
        && last.bytes().all(|byte| byte.is_ascii_lowercase())
        && !last.is_empty()
        && !host.contains("xn--")
        && !host.contains("..")
        && !host.starts_with(['.', '-'])
        && is_settled_path(path)
}

/// The text of a link. Blocks are collapsed already; only what joins two of them, or a sign that nobody sees, is not.
fn link_text(text: &str) -> String {
    let bytes = text.as_bytes();
    let seen = |byte: &u8| *byte >= b' ' && *byte != 0x7F && *byte != 0xC2;
    let clean = bytes.iter().all(seen) && !bytes.windows(2).any(|pair| pair == b"  ");
    if clean && text.is_ascii() { text.trim().to_owned() } else { collapse(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(target: &str, expected: Option<&str>) {
        let base = Url::parse("https://example.com/a/b?c#d").unwrap();
        let origin = base[..url::Position::BeforePath].to_owned();
        assert_eq!(resolve(target, Some(&base), Some(&origin)).as_deref(), expected, "{target}");
        let slow = base.join(target).ok().filter(|url| expected.is_some() && url.scheme().starts_with("http"));
        assert_eq!(slow.map(String::from).as_deref(), expected, "the short way and the parser agree on {target}");
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
        check("#top", None);
        check("mailto:x@y.z", None);
        check("javascript:void(0)", None);
    }
}
