//! URL canonicalization: one form for each URL, so that a page is fetched once however it is linked.

use std::borrow::Cow;

use encoding_rs::{EncoderResult, Encoding};
use url::{Position, Url};

/// Longer URLs are refused, wherever they come from: a server may send a `Location` of hundreds of kilobytes.
const MAX_URL_BYTES: usize = 8192;
/// A query with more parameters is left as it is; sorting and looking through thousands would take milliseconds.
const MAX_PARAMETERS: usize = 256;

/// The canonical form of `reference` as found in a page at `base`; `None` for what a crawler cannot fetch (`mailto:`,
/// `javascript:`, no host, not a URL at all).
///
/// ```
/// use pith_crawler::resolve;
/// use url::Url;
///
/// let base = Url::parse("http://Example.org:80/a/b.html").unwrap();
/// let page = resolve(&base, "../c/./d.php?z=1&PHPSESSID=0f3&a=2#top").unwrap();
/// assert_eq!(page.as_str(), "http://example.org/c/d.php?a=2&z=1");
/// ```
pub fn resolve(base: &Url, reference: &str) -> Option<Url> {
    canonicalize(join(base, reference, encoding_rs::UTF_8)?)
}

/// Resolves `reference` as a browser does in a page at `base` that is written in `encoding`: the query is encoded in
/// it, the rest in UTF-8, as the WHATWG standard says.
pub fn join(base: &Url, reference: &str, encoding: &'static Encoding) -> Option<Url> {
    // The standard accepts any number of slashes before a host; the parser accepts two.
    let slashes = reference.bytes().take_while(|byte| matches!(byte, b'/' | b'\\')).count();
    let reference = if slashes > 2 && matches!(base.scheme(), "http" | "https") {
        Cow::Owned(format!("//{}", &reference[slashes..]))
    } else {
        Cow::Borrowed(reference)
    };
    let encoding = encoding.output_encoding();
    if encoding == encoding_rs::UTF_8 || (encoding.is_ascii_compatible() && reference.is_ascii()) {
        return base.join(&reference).ok();
    }
    let encode = any_lifetime(|text| encode_query(text, encoding).into());
    Url::options().base_url(Some(base)).encoding_override(Some(&encode)).parse(&reference).ok()
}

/// Makes the compiler infer a closure over text of any lifetime.
fn any_lifetime<F: Fn(&str) -> Cow<'_, [u8]>>(encode: F) -> F {
    encode
}

/// Encodes a query; characters that the encoding lacks become a percent-encoded `&#number;`.
fn encode_query(text: &str, encoding: &'static Encoding) -> Vec<u8> {
    let mut encoder = encoding.new_encoder();
    let mut encoded = Vec::with_capacity(text.len());
    let mut rest = text;
    loop {
        let room = encoder.max_buffer_length_from_utf8_without_replacement(rest.len()).unwrap_or(rest.len() * 4 + 16);
        encoded.reserve(room);
        let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut encoded, true);
        rest = &rest[read..];
        match result {
            EncoderResult::InputEmpty => return encoded,
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(letter) => {
                encoded.extend(format!("%26%23{}%3B", u32::from(letter)).into_bytes());
            }
        }
    }
}

/// The canonical form of a URL as a user types it; without a scheme it is `http://`.
pub fn parse_seed(text: &str) -> Option<Url> {
    let text = text.trim();
    // `example.org:8080/a` parses as a URL of the scheme `example.org`; a digit after the colon means a port.
    let has_scheme = text.find(':').is_some_and(|colon| {
        !text[..colon].contains(['/', '?', '#', '['])
            && !text[colon + 1..].starts_with(|after: char| after.is_ascii_digit())
    });
    if has_scheme {
        return canonicalize(Url::parse(text).ok()?);
    }
    canonicalize(Url::parse(&format!("http://{}", text.trim_start_matches('/'))).ok()?)
}

/// Canonicalizes a URL: the WHATWG serialisation (lower-case host, default port left out, dot segments resolved)
/// without fragment and user info, without the last dot of the host, with `%XX` decoded where it need not be encoded
/// and encoded where it should be, doubled slashes made one, session ids and tracking parameters removed and the query
/// sorted. `None` when it is not `http` or `https`, or longer than 8 KiB.
///
/// Canonicalization is idempotent.
pub fn canonicalize(mut url: Url) -> Option<Url> {
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return None;
    }
    url.set_fragment(None);
    if url.as_str().len() > MAX_URL_BYTES {
        return None;
    }
    let path = clean_path(url.path());
    let query = url.query().map(clean_query);
    let keeps_query = match (&query, url.query()) {
        (Some(Cow::Borrowed(new)), Some(old)) => new.len() == old.len() && !old.is_empty(),
        (None, None) => true,
        _ => false,
    };
    let plain_host = !url.host_str().is_some_and(|host| host.ends_with('.'));
    let has_user = !url.username().is_empty() || url.password().is_some();
    if matches!(path, Cow::Borrowed(_)) && keeps_query && plain_host && !has_user {
        return Some(url);
    }

    // Without the host `.` the first segment of the path would be the host.
    let host = url.host_str()?.trim_end_matches('.');
    if host.is_empty() {
        return None;
    }
    let mut text = String::with_capacity(url.as_str().len());
    text.push_str(&url[..Position::AfterScheme]);
    text.push_str("://");
    text.push_str(host);
    if let Some(port) = url.port() {
        text.push_str(&format!(":{port}"));
    }
    text.push_str(&path);
    if let Some(query) = query.filter(|query| !query.is_empty()) {
        text.push('?');
        text.push_str(&query);
    }
    Url::parse(&text).ok().filter(|url| url.has_host() && url.as_str().len() <= MAX_URL_BYTES)
}

/// The unreserved byte that `%XX` at the start of `bytes` encodes.
pub(crate) fn unreserved(bytes: &[u8]) -> Option<u8> {
    let byte = escaped(bytes)?;
    (byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')).then_some(byte)
}

fn escaped(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = *bytes else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// Bytes that need no encoding in a path: RFC 3986 `pchar` and the slash.
const fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'.'
                | b'_'
                | b'~'
                | b'!'
                | b'$'
                | b'&'
                | b'\''
                | b'('
                | b')'
                | b'*'
                | b'+'
                | b','
                | b';'
                | b'='
                | b':'
                | b'@'
                | b'/'
        )
}

fn clean_path(path: &str) -> Cow<'_, str> {
    let bytes = path.as_bytes();
    let clean = bytes.iter().all(|&byte| is_path_byte(byte) && byte != b';' && byte != b'(')
        && memchr::memmem::find(bytes, b"//").is_none();
    if clean {
        return Cow::Borrowed(path);
    }
    let mut cleaned = String::with_capacity(path.len() + 8);
    // A path is never empty here: `/` at least.
    for segment in path.split('/').skip(1) {
        let segment = without_session(segment);
        // Empty segments are doubled slashes, except after `http:`, where web archives put the original URL.
        if segment.is_empty() && !cleaned.ends_with(':') {
            continue;
        }
        cleaned.push('/');
        push_escaped(segment, is_path_byte, &mut cleaned);
    }
    if path.ends_with('/') || cleaned.is_empty() {
        cleaned.push('/');
    }
    if cleaned == path { Cow::Borrowed(path) } else { Cow::Owned(cleaned) }
}

/// A path segment without `;jsessionid=…`, and without the session segment of ASP.NET: `(S(…))`.
fn without_session(segment: &str) -> &str {
    if segment.starts_with('(') && segment.ends_with("))") && segment.as_bytes().get(2) == Some(&b'(') {
        return "";
    }
    match segment.find(';') {
        Some(at) if is_session(segment[at + 1..].split('=').next().unwrap_or(""), "") => &segment[..at],
        _ => segment,
    }
}

fn clean_query(query: &str) -> Cow<'_, str> {
    if memchr::memchr_iter(b'&', query.as_bytes()).count() >= MAX_PARAMETERS {
        return Cow::Borrowed(query);
    }
    let mut parts: Vec<(Cow<'_, str>, Cow<'_, str>)> = Vec::new();
    for part in query.split('&') {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        if name.is_empty() || is_session(name, value) || is_tracking(name) {
            continue;
        }
        parts.push((clean_part(name), clean_part(value)));
    }
    parts.sort();
    let mut cleaned = String::with_capacity(query.len());
    for (name, value) in &parts {
        if !cleaned.is_empty() {
            cleaned.push('&');
        }
        cleaned.push_str(name);
        if !value.is_empty() {
            cleaned.push('=');
            cleaned.push_str(value);
        }
    }
    if cleaned == query { Cow::Borrowed(query) } else { Cow::Owned(cleaned) }
}

const fn is_query_byte(byte: u8) -> bool {
    (is_path_byte(byte) && byte != b'\'') || byte == b'?'
}

fn clean_part(part: &str) -> Cow<'_, str> {
    if part.bytes().all(is_query_byte) {
        return Cow::Borrowed(part);
    }
    let mut cleaned = String::with_capacity(part.len() + 8);
    push_escaped(part, is_query_byte, &mut cleaned);
    // In a query `%20` and `+` both mean a space.
    if cleaned.contains("%20") {
        cleaned = cleaned.replace("%20", "+");
    }
    Cow::Owned(cleaned)
}

/// Appends `text` with `%XX` decoded where it encodes an unreserved byte and in upper case elsewhere, and other bytes
/// encoded where needed.
fn push_escaped(text: &str, is_plain: impl Fn(u8) -> bool, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let push_hex = |byte: u8, out: &mut String| {
        out.push('%');
        out.push(char::from(HEX[usize::from(byte >> 4)]));
        out.push(char::from(HEX[usize::from(byte & 15)]));
    };
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if let Some(byte) = unreserved(&bytes[at..]) {
            out.push(char::from(byte));
            at += 3;
        } else if let Some(byte) = escaped(&bytes[at..]) {
            push_hex(byte, out);
            at += 3;
        } else if is_plain(bytes[at]) {
            out.push(char::from(bytes[at]));
            at += 1;
        } else {
            push_hex(bytes[at], out);
            at += 1;
        }
    }
}

/// Whether a parameter names a session. Ambiguous names (`sid` is also a story) count only with a value that looks
/// random.
fn is_session(name: &str, value: &str) -> bool {
    const ALWAYS: &[&str] = &[
        "jsessionid",
        "phpsessid",
        "sessionid",
        "session_id",
        "session-id",
        "sessid",
        "bv_sessionid",
        "oscsid",
        "zenid",
        "cfid",
        "cftoken",
        "lsid",
        "jsid",
    ];
    const PERHAPS: &[&str] = &["sid", "s", "sess", "session", "token"];
    let is = |wanted: &&str| name.eq_ignore_ascii_case(wanted);
    let begins = |prefix: &str| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    ALWAYS.iter().any(is) || begins("aspsessionid") || (PERHAPS.iter().any(is) && looks_random(value))
}

/// Eight or more hexadecimal digits with letters and decimal digits among them, or sixteen or more characters with a
/// decimal digit.
fn looks_random(value: &str) -> bool {
    let has_figure = value.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_hex = value.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_word = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    has_figure && ((is_hex && value.len() >= 8 && has_letter) || (is_word && value.len() >= 16))
}

/// Tracking parameters, which do not change the page.
fn is_tracking(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "gclid",
        "gclsrc",
        "dclid",
        "gbraid",
        "wbraid",
        "fbclid",
        "msclkid",
        "yclid",
        "ysclid",
        "twclid",
        "ttclid",
        "igshid",
        "igsh",
        "mc_cid",
        "mc_eid",
        "mkt_tok",
        "_ga",
        "_gl",
        "_hsenc",
        "_hsmi",
        "_openstat",
        "vero_id",
        "oly_anon_id",
        "oly_enc_id",
        "wickedid",
        "srsltid",
        "xtor",
    ];
    let begins = |prefix: &str| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    begins("utm_") || NAMES.iter().any(|wanted| name.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let url = canonicalize(Url::parse(text).unwrap()).unwrap();
        assert_eq!(url.as_str(), expected, "{text}");
        assert_eq!(canonicalize(url.clone()).unwrap(), url, "twice");
    }

    #[test]
    fn a_host_of_dots_is_none() {
        for text in
            ["http://./example.org/a", "http://../example.org/a", "./example.org./a", "http://.//ttp://example.org"]
        {
            assert_eq!(parse_seed(text), None, "{text}");
        }
    }

    #[test]
    fn session_ids_are_removed_wherever_they_hide() {
        check("http://x.org/a.jsp;jsessionid=1E6FEC?b=1", "http://x.org/a.jsp?b=1");
        check("http://x.org/(S(x4k2aq55))/a.aspx", "http://x.org/a.aspx");
        check("http://x.org/?PHPSESSID=77&sid=9af3c27d11", "http://x.org/");
        check("http://x.org/?sid=23", "http://x.org/?sid=23");
        check("http://x.org/a;v=1/b", "http://x.org/a;v=1/b");
    }

    #[test]
    fn the_query_is_sorted_and_tracking_goes() {
        check("http://x.org/?b=2&a=3&a=1&&utm_source=z&c=", "http://x.org/?a=1&a=3&b=2&c");
        check("http://x.org/?", "http://x.org/");
        check("http://x.org/?q=a%20b&r=a+b", "http://x.org/?q=a+b&r=a+b");
    }

    #[test]
    fn what_is_far_too_long_is_left_alone_or_refused() {
        let many = format!("http://x.org/?{}", "b=%61&a&".repeat(300));
        check(&many, &many);
        assert_eq!(canonicalize(Url::parse(&format!("http://x.org/{}", "a".repeat(9000))).unwrap()), None);
        check(&format!("http://x.org/a#{}", "b".repeat(9000)), "http://x.org/a");
    }

    #[test]
    fn percent_signs_have_one_spelling() {
        check("http://x.org/%7ejoe/%c3%a9%2f[1]", "http://x.org/~joe/%C3%A9%2F%5B1%5D");
        check("http://x.org/90%/a", "http://x.org/90%25/a");
    }

    #[test]
    fn slashes_ports_users_and_dots_go() {
        check("http://me:pw@X.org.:80//a///b/#c", "http://x.org/a/b/");
        check("https://x.org:443/web/http://y.org/", "https://x.org/web/http://y.org/");
        check("http://x.org//", "http://x.org/");
    }

    #[test]
    fn seeds_may_lack_a_scheme() {
        assert_eq!(parse_seed("Example.org/a").unwrap().as_str(), "http://example.org/a");
        assert_eq!(parse_seed("localhost:8080").unwrap().as_str(), "http://localhost:8080/");
        assert_eq!(parse_seed("mailto:a@b.c"), None);
        assert_eq!(parse_seed("ftp://b.c/"), None);
    }
}
