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
        let text = page.text.get(start..end.max(start)).map(collapse).unwrap_or_default();
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
    let plain = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-_.~=&?%+,:;@!$'()*".contains(&byte))
            && !text.contains("/.")
    };
    // Most targets are a path from the root and need no parser.
    if let Some(origin) = origin.filter(|_| target.starts_with('/') && !target.starts_with("//") && plain(target)) {
        return Some(format!("{origin}{target}"));
    }
    let url = match base {
        Some(base) => base.join(target).ok()?,
        None => Url::parse(target).ok()?,
    };
    matches!(url.scheme(), "http" | "https").then(|| url.into())
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
    fn targets_become_absolute() {
        check("/x/y?z=1", Some("https://example.com/x/y?z=1"));
        check("/x/../y", Some("https://example.com/y"));
        check("//other.org/p", Some("https://other.org/p"));
        check("e", Some("https://example.com/a/e"));
        check("/ä b", Some("https://example.com/%C3%A4%20b"));
        check("#top", None);
        check("mailto:x@y.z", None);
        check("javascript:void(0)", None);
    }
}
