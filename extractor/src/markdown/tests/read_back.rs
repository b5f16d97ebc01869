//! Markdown is read back by another program and has the text and the structure of the page.

use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag as Start, TagEnd};

use super::{ALL, written};

/// A part of a page.
#[derive(Clone, Debug)]
enum Part {
    Heading(u8, String),
    /// Lines with `<br>` between them.
    Paragraph(Vec<Vec<Inline>>),
    Code(&'static str, String),
    Quote(Vec<Part>),
    List(Option<u64>, Vec<(String, Vec<Part>)>),
    /// A row of headers and rows of cells, each of some paragraphs.
    Table(Vec<String>, Vec<Vec<Vec<String>>>),
}

#[derive(Clone, Debug)]
enum Inline {
    Text(String),
    Strong(String),
    Emphasis(String),
    Strike(String),
    Code(String),
    Link(String),
}

fn html_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn html(part: &Part) -> String {
    let all = |parts: &[Part]| parts.iter().map(html).collect::<String>();
    match part {
        Part::Heading(level, text) => format!("<h{level}>{}</h{level}>", html_text(text)),
        Part::Paragraph(lines) => {
            let lines: Vec<String> =
                lines.iter().map(|line| line.iter().map(inline_html).collect::<String>()).collect();
            format!("<p>{}</p>", lines.join("<br>"))
        }
        Part::Code(language, code) => {
            format!("<pre><code class='language-{language}'>{}</code></pre>", html_text(code))
        }
        Part::Quote(parts) => format!("<blockquote>{}</blockquote>", all(parts)),
        Part::List(start, items) => {
            let items: String =
                items.iter().map(|(text, parts)| format!("<li>{}{}</li>", html_text(text), all(parts))).collect();
            match start {
                Some(start) => format!("<ol start={start}>{items}</ol>"),
                None => format!("<ul>{items}</ul>"),
            }
        }
        Part::Table(headers, rows) => {
            let headers: String = headers.iter().map(|text| format!("<th>{}</th>", html_text(text))).collect();
            let cell = |paragraphs: &Vec<String>| {
                let texts: String = paragraphs.iter().map(|text| format!("<p>{}</p>", html_text(text))).collect();
                format!("<td>{texts}</td>")
            };
            let row = |cells: &Vec<Vec<String>>| format!("<tr>{}</tr>", cells.iter().map(cell).collect::<String>());
            format!("<table><tr>{headers}</tr>{}</table>", rows.iter().map(row).collect::<String>())
        }
    }
}

fn inline_html(inline: &Inline) -> String {
    match inline {
        Inline::Text(text) => html_text(text),
        Inline::Strong(text) => format!("<b>{}</b>", html_text(text)),
        Inline::Emphasis(text) => format!("<em>{}</em>", html_text(text)),
        Inline::Strike(text) => format!("<del>{}</del>", html_text(text)),
        Inline::Code(text) => format!("<code>{}</code>", html_text(text)),
        Inline::Link(text) => format!("<a href='https://example.com/a_(b)?c=1&amp;d'>{}</a>", html_text(text)),
    }
}

/// The structure that a page should have.
fn expected(parts: &[Part], out: &mut Vec<String>) {
    for part in parts {
        match part {
            Part::Heading(level, text) => out.push(format!("h{level} {}", squeeze(text))),
            Part::Paragraph(lines) => {
                let text: String = lines.iter().flatten().map(expected_inline).collect();
                out.push(format!("p {}", squeeze(&text)));
            }
            Part::Code(language, code) => out.push(format!("code {language} {code}")),
            // A table is indented rather than quoted.
            Part::Quote(parts) if parts.iter().any(holds_table) => expected(parts, out),
            Part::Quote(parts) => {
                out.push("quote".to_owned());
                expected(parts, out);
                out.push("end quote".to_owned());
            }
            Part::List(start, items) => {
                out.push(format!("list {start:?}"));
                for (text, parts) in items {
                    out.push("item".to_owned());
                    out.push(format!("p {}", squeeze(text)));
                    expected(parts, out);
                }
                out.push("end list".to_owned());
            }
            Part::Table(headers, rows) => {
                out.extend(headers.iter().map(|text| format!("cell {}", squeeze(text))));
                out.push("row".to_owned());
                for row in rows {
                    out.extend(row.iter().map(|cell| format!("cell {}", squeeze(&cell.concat()))));
                    out.push("row".to_owned());
                }
            }
        }
    }
}

fn holds_table(part: &Part) -> bool {
    match part {
        Part::Table(..) => true,
        Part::Quote(parts) => parts.iter().any(holds_table),
        Part::List(_, items) => items.iter().flat_map(|(_, parts)| parts).any(holds_table),
        _ => false,
    }
}

fn expected_inline(inline: &Inline) -> String {
    match inline {
        Inline::Text(text) | Inline::Strong(text) | Inline::Emphasis(text) | Inline::Strike(text) => text.clone(),
        Inline::Code(text) => format!("\u{1}{text}\u{1}"),
        Inline::Link(text) => format!("\u{2}https://example.com/a_(b)?c=1&d\u{2}{text}"),
    }
}

/// Where the spaces stand is not compared: neighbouring inline elements may be set apart.
fn squeeze(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The structure that another reader finds in Markdown.
fn read(markdown: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut text = String::new();
    let mut code: Option<String> = None;
    let end = |name: &str, text: &mut String, out: &mut Vec<String>| {
        let ended = std::mem::take(text);
        if !squeeze(&ended).is_empty() {
            out.push(format!("{name} {}", squeeze(&ended)));
        }
    };
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(Start::CodeBlock(kind)) => {
                end("p", &mut text, &mut out);
                code = Some(match kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => "indented".to_owned(),
                });
            }
            Event::End(TagEnd::CodeBlock) => {
                let language = code.take().unwrap_or_default();
                out.push(format!("code {language} {}", std::mem::take(&mut text).trim_end_matches('\n')));
            }
            Event::Start(Start::List(start)) => {
                end("p", &mut text, &mut out);
                out.push(format!("list {start:?}"));
            }
            Event::End(TagEnd::List(_)) => {
                end("p", &mut text, &mut out);
                out.push("end list".to_owned());
            }
            Event::Start(Start::Item) => out.push("item".to_owned()),
            Event::Start(Start::BlockQuote(_)) => {
                end("p", &mut text, &mut out);
                out.push("quote".to_owned());
            }
            Event::End(TagEnd::BlockQuote(_)) => {
                end("p", &mut text, &mut out);
                out.push("end quote".to_owned());
            }
            Event::End(TagEnd::Heading(level)) => end(&format!("h{}", level as u8), &mut text, &mut out),
            Event::Start(Start::Heading { .. } | Start::Paragraph | Start::Table(_))
            | Event::End(TagEnd::Paragraph | TagEnd::Item) => end("p", &mut text, &mut out),
            Event::End(TagEnd::TableCell) => out.push(format!("cell {}", squeeze(&std::mem::take(&mut text)))),
            Event::End(TagEnd::TableRow | TagEnd::TableHead) => out.push("row".to_owned()),
            Event::Start(Start::Link { dest_url, .. }) => text.push_str(&format!("\u{2}{dest_url}\u{2}")),
            Event::Start(Start::Image { dest_url, .. }) => text.push_str(&format!("\u{3}{dest_url}\u{3}")),
            Event::Code(code) => text.push_str(&format!("\u{1}{code}\u{1}")),
            Event::Text(piece) => text.push_str(&piece),
            Event::InlineHtml(tag) if &*tag == "<br>" => {}
            Event::InlineHtml(tag) | Event::Html(tag) => text.push_str(&format!("unescaped markup: {tag}")),
            Event::Rule => out.push("rule".to_owned()),
            Event::TaskListMarker(done) => text.push_str(if done { "[done]" } else { "[to do]" }),
            _ => {}
        }
    }
    end("p", &mut text, &mut out);
    out
}

#[track_caller]
fn check(parts: &[Part]) {
    let page: String = parts.iter().map(html).collect();
    let markdown = written(&page, ALL);
    let mut wanted = Vec::new();
    expected(parts, &mut wanted);
    assert_eq!(read(&markdown), wanted, "page:\n{page}\nMarkdown:\n{markdown}");
}

#[track_caller]
fn check_html(page: &str, wanted: &[&str]) {
    let markdown = written(page, ALL);
    assert_eq!(read(&markdown), wanted, "page:\n{page}\nMarkdown:\n{markdown}");
}

#[test]
fn handwritten_pages_read_back() {
    check_html("<p>vector&lt;int&gt; x; &lt;b>no&lt;/b> &amp;amp;", &["p vector<int>x;<b>no</b>&amp;"]);
    check_html(
        "<p>1. one<p>+ two<p># three<p>===<p>---<p>```",
        &["p 1.one", "p +two", "p #three", "p ===", "p ---", "p ```"],
    );
    check_html("<p>a | b<br>--- | ---<br>c | d", &["p a|b---|---c|d"]);
    check_html("<p>a<br>===<br>b<br>---", &["p a===b---"]);
    check_html("<p>[x]: http://y<p>[x]", &["p [x]:http://y", "p [x]"]);
    check_html(
        "<ul><li><input type=checkbox checked>a<li>[ ] b</ul>",
        &["list None", "item", "p [done]a", "item", "p []b", "end list"],
    );
    check_html(
        "<ol><li value=3>a<li value=9>b</ol>",
        &["list Some(3)", "item", "p a", "end list", "list Some(9)", "item", "p b", "end list"],
    );
    check_html(
        "<blockquote><p>a</p><pre>b\n\n\nc</pre></blockquote>",
        &["quote", "p a", "code  b\n\n\nc", "end quote"],
    );
    check_html("<pre>```\nx\n```</pre>", &["code  ```\nx\n```"]);
    check_html("<p>x <a href=/x><img src=/i.png alt='a]b'></a>", &["p x\u{2}/x\u{2}\u{3}/i.png\u{3}a]b"]);
    check_html("<p>`tick` and <code>a`b``c</code> and <code>`</code>", &["p `tick`and\u{1}a`b``c\u{1}and\u{1}`\u{1}"]);
    check_html(
        "<table><tr><th>a|b<th>c<tr><td><code>x|y</code><td>\\|</table>",
        &["cell a|b", "cell c", "row", "cell \u{1}x|y\u{1}", "cell \\|", "row"],
    );
    check_html("<p>a <code>b</code> <code>c</code>", &["p a\u{1}b\u{1}\u{1}c\u{1}"]);
    check_html("<h2># a #</h2><h3>b ##</h3>", &["h2 #a#", "h3 b##"]);
}

fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[a-zA-Z0-9é中文]{1,6}",
        3 => r"[a-z0-9*_`~\[\]()<>#+.!|&;:=\\/'\x22-]{1,6}",
        1 => prop::sample::select(vec![
            "&amp;", "1.", "-", "```", "~~~", "[a](b)", "<b>", "|", "---", "**a**", "_b_", "<!--", "]:", "![x](y)", "#", ">",
            "1)", "*", "+", "=", "\\", "~~a~~", "<http://a>", "&#35;", "[ ]", "[x]",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(word, 1..5).prop_map(|words| words.join(" "))
}

fn inline() -> impl Strategy<Value = Inline> {
    prop_oneof![
        4 => text().prop_map(Inline::Text),
        1 => text().prop_map(Inline::Strong),
        1 => text().prop_map(Inline::Emphasis),
        1 => text().prop_map(Inline::Strike),
        1 => text().prop_map(Inline::Code),
        1 => text().prop_map(Inline::Link),
    ]
}

fn leaf() -> impl Strategy<Value = Part> {
    let line = prop::collection::vec(inline(), 1..4);
    prop_oneof![
        1 => (1u8..7, text()).prop_map(|(level, text)| Part::Heading(level, text)),
        4 => prop::collection::vec(line, 1..3).prop_map(|mut lines| {
            lines.iter_mut().for_each(separate);
            Part::Paragraph(lines)
        }),
        1 => ("[a-z`~]{0,5}", "(\n {0,4}[a-z`~#]{0,5}){0,4}").prop_map(|(first, rest)| Part::Code("rust", format!("x{first}{rest}y"))),
        1 => (2usize..4).prop_flat_map(|columns| {
            let cell = prop::collection::vec(text(), 0..3);
            let row = (text(), prop::collection::vec(cell, columns - 1)).prop_map(|(first, mut cells)| {
                cells.insert(0, vec![first]);
                cells
            });
            (prop::collection::vec(text(), columns), prop::collection::vec(row, 1..4))
        }).prop_map(|(headers, rows)| Part::Table(headers, rows)),
    ]
}

/// Code next to code and links next to links would be one.
fn separate(line: &mut Vec<Inline>) {
    let kind = |inline: &Inline| std::mem::discriminant(inline);
    line.dedup_by(|next, before| kind(next) == kind(before));
}

fn part() -> impl Strategy<Value = Part> {
    leaf().prop_recursive(3, 24, 4, |inner| {
        let item = (text(), prop::collection::vec(inner.clone(), 0..3));
        prop_oneof![
            1 => prop::collection::vec(inner, 1..4).prop_map(Part::Quote),
            3 => (prop::option::of(0u64..12), prop::collection::vec(item, 1..4))
                .prop_map(|(start, items)| Part::List(start, items)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn generated_pages_read_back(parts in prop::collection::vec(part(), 1..5)) {
        check(&parts);
    }
}
