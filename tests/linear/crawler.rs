//! robots.txt, sitemaps, links and addresses.

use std::hint::black_box;

use pith_crawler::{AnchorText, LinkScanner, Robots, SitemapReader, parse_seed, read_sitemap, resolve};
use url::Url;

use crate::growth::check_all;

fn address() -> Url {
    Url::parse("https://example.com/a/b.html?c=d").expect("an address")
}

#[test]
fn links_are_scanned_in_linear_time() {
    const PIECES: &[&str] = &[
        "rain ",
        "<",
        "<a href=/#>rain",
        "<a href='",
        "<a href=",
        "<a \"",
        "<a =\"",
        "\"",
        ">",
        "</a>",
        "</",
        "<!--",
        "-->",
        "--!",
        "<script>",
        "</script",
        "</script>",
        "<title>",
        "<base href=a/>",
        "<meta http-equiv=refresh content='0;url=#'>",
        "<link rel=canonical href=/#>",
        "<noscript>",
        "&amp;",
        "&",
        "../",
        "\r\n",
        "<?",
        "<plaintext>",
    ];
    let scan = |bytes: &[u8], size: usize, text: AnchorText| {
        let mut scanner = LinkScanner::new(None, "pith", text);
        bytes.chunks(size).for_each(|chunk| scanner.feed(chunk));
        black_box(scanner.finish(&address()));
    };
    let whole = |bytes: &[u8]| scan(bytes, usize::MAX, AnchorText::Keep);
    let torn = |bytes: &[u8]| scan(bytes, 7, AnchorText::Skip);
    let wide = |bytes: &[u8]| {
        let wide: Vec<u8> = bytes.iter().flat_map(|byte| [*byte, 0]).collect();
        let mut scanner = LinkScanner::new(Some("utf-16le"), "pith", AnchorText::Keep);
        wide.chunks(1000).for_each(|chunk| scanner.feed(chunk));
        black_box(scanner.finish(&address()));
    };
    check_all(PIECES, &[("links", &whole), ("links in small parts", &torn), ("links in UTF-16", &wide)]);
}

#[test]
fn sitemaps_are_read_in_linear_time() {
    const PIECES: &[&str] = &[
        "<urlset>",
        "<url><loc>http://example.com/#</loc></url>",
        "<loc>",
        "</loc>",
        "<sitemap><loc>/#",
        "<item><link>/#",
        "<entry><link href='/#'/>",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<!DOCTYPE a [",
        "<!ENTITY a 'b'>",
        "]>",
        "<a b='",
        "&amp;",
        "http://example.com/#\n",
        "<",
        ">",
        "x",
    ];
    let whole = |bytes: &[u8]| drop(black_box(read_sitemap(bytes, &address())));
    let torn = |bytes: &[u8]| {
        let mut reader = SitemapReader::new(address());
        bytes.chunks(7).for_each(|piece| reader.feed(piece));
        black_box(reader.finish());
    };
    check_all(PIECES, &[("a sitemap", &whole), ("a sitemap in small parts", &torn)]);
}

#[test]
fn robots_files_are_read_and_asked_in_linear_time() {
    const PIECES: &[&str] = &[
        "User-agent: pith\n",
        "User-agent: a#\n",
        "user-agent: *\nDisallow: /#\n",
        "Disallow: /*#*$\n",
        "Allow: /*a*b*c*\n",
        "Disallow: /%#%2f\n",
        "Allow: /a",
        "*",
        "Sitemap: /#\n",
        "Crawl-delay: 1\n",
        "# rain\n",
        "\n",
        "a:",
    ];
    let read = |bytes: &[u8]| {
        let robots = Robots::parse(bytes, "pith");
        for path in ["/", "/a/b/c", "/aaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbc?x=%2f"] {
            black_box(robots.allows(path));
        }
    };
    check_all(PIECES, &[("a robots.txt", &read)]);
}

#[test]
fn addresses_are_read_in_linear_time() {
    const PIECES: &[&str] = &[
        "http://",
        "a",
        "../",
        "./",
        "%2e",
        "%",
        "é",
        "/",
        "//",
        "?",
        "&a#=b",
        ";jsessionid=",
        "#",
        "@",
        ":",
        "[",
        ".",
    ];
    let read = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).expect("the pieces are text");
        black_box((resolve(&address(), text), parse_seed(text)));
    };
    check_all(PIECES, &[("an address", &read)]);
}
