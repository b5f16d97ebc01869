//! Robots directives and refreshes in `<meta>` and headers.

use std::time::Duration;

/// What `<meta name="robots">` or `X-Robots-Tag` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RobotsDirectives {
    /// The page should not be stored.
    pub noindex: bool,
    /// Its links should not be followed.
    pub nofollow: bool,
}

impl RobotsDirectives {
    /// Reads a list such as `noindex, nofollow`; `none` means both.
    pub fn parse(content: &str) -> RobotsDirectives {
        let mut directives = RobotsDirectives::default();
        for word in content.split([',', ' ', ';', '\t', '\n']) {
            match word.trim().to_ascii_lowercase().as_str() {
                "noindex" => directives.noindex = true,
                "nofollow" => directives.nofollow = true,
                "none" => directives = RobotsDirectives { noindex: true, nofollow: true },
                _ => {}
            }
        }
        directives
    }

    /// Reads one `X-Robots-Tag` header, which may be addressed to another crawler: `otherbot: noindex`.
    pub fn from_header(value: &str, agent: &str) -> RobotsDirectives {
        match value.split_once(':') {
            Some((name, rest)) if !name.contains([',', ' ']) || name.trim().eq_ignore_ascii_case(agent) => {
                let name = name.trim();
                // `max-snippet: 20` and `unavailable_after: …` are directives of their own, not names.
                let ours = name.eq_ignore_ascii_case(agent);
                if ours { RobotsDirectives::parse(rest) } else { RobotsDirectives::default() }
            }
            _ => RobotsDirectives::parse(value),
        }
    }

    /// The union of two sets of directives.
    pub fn and(self, other: RobotsDirectives) -> RobotsDirectives {
        RobotsDirectives { noindex: self.noindex || other.noindex, nofollow: self.nofollow || other.nofollow }
    }
}

/// The delay and the target in the content of a refresh, by the steps of the HTML standard.
pub fn refresh(content: &[u8]) -> Option<(Duration, &[u8])> {
    let text = content.trim_ascii_start();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    if digits == 0 {
        return None;
    }
    let seconds: f64 = std::str::from_utf8(&text[..digits]).ok()?.parse().unwrap_or(0.0);
    let after = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let rest = &text[digits..];
    if !rest.first().is_some_and(|byte| matches!(byte, b';' | b',') || byte.is_ascii_whitespace()) {
        return None;
    }
    let mut rest = rest.trim_ascii_start();
    if let [b';' | b',', after @ ..] = rest {
        rest = after.trim_ascii_start();
    }
    if rest.len() >= 3 && rest[..3].eq_ignore_ascii_case(b"url") {
        let after = rest[3..].trim_ascii_start();
        if let Some(target) = after.strip_prefix(b"=") {
            rest = target.trim_ascii_start();
        }
    }
    if let Some(quote @ (b'"' | b'\'')) = rest.first() {
        let end = memchr::memchr(*quote, &rest[1..]).unwrap_or(rest.len() - 1);
        rest = &rest[1..=end];
    }
    (!rest.is_empty()).then_some((after, rest))
}

/// The label after `charset=` in a content type.
pub fn charset_in(content: &[u8]) -> Option<&[u8]> {
    let at = content.windows(7).position(|part| part.eq_ignore_ascii_case(b"charset"))?;
    let rest = content[at + 7..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or(rest.strip_prefix(b"'")).unwrap_or(rest);
    let end = rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\'' | b';' | b' ')).count();
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_may_speak_to_somebody_else() {
        let header = |value: &str| RobotsDirectives::from_header(value, "pith");
        assert!(header("noindex, nofollow").nofollow);
        assert!(header("Pith: noindex").noindex);
        assert!(!header("otherbot: noindex").noindex);
        assert!(header("none").noindex);
    }

    #[test]
    fn a_refresh_is_read_as_browsers_do() {
        let check = |content: &str, expected: Option<(f64, &str)>| {
            let found = refresh(content.as_bytes())
                .map(|(after, url)| (after.as_secs_f64(), std::str::from_utf8(url).unwrap()));
            assert_eq!(found, expected, "{content}");
        };
        check("5;url=a", Some((5.0, "a")));
        check(" 0 , URL = 'a b' c", Some((0.0, "a b")));
        check("3.5 a", Some((3.5, "a")));
        check("5", None);
        check("url=a", None);
        check("5;url=", None);
    }
}
