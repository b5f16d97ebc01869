mod read_back;

use super::*;
use crate::blocks::Pieces;
use crate::tree::Tree;

const ALL: Markup<'_> = Markup { base: None, links: true, images: true };

fn written(html: &str, markup: Markup<'_>) -> String {
    let page = Page::read_without(Tree::parse(html), &[], Pieces::Recorded);
    markdown(&page, &vec![true; page.blocks.len()], markup)
}

#[track_caller]
fn check(html: &str, expected: &str) {
    assert_eq!(written(html, ALL), expected, "{html}");
}

#[test]
fn headings_lists_and_code_are_marked() {
    check("<h2>Rain</h2><p>It rains.</p>", "## Rain\n\nIt rains.");
    check("<ul><li>a<li>b<ol><li>c</ol></ul>", "- a\n- b\n  1. c");
    check("<pre>x\n  y</pre>", "```\nx\n  y\n```");
    check("<blockquote>so</blockquote><p># no</p>", "> so\n\n\\# no");
    check("<h2>one<br>line</h2>", "## one line");
    check("<h2>C #</h2>", "## C \\#");
    check("<h2>Rain</h2><div><p>&nbsp;<br>It rains.</p></div>", "## Rain\n\nIt rains.");
}

#[test]
fn tables_have_a_line_below_their_first_row() {
    check("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |");
}

#[test]
fn a_cell_keeps_its_column_and_all_that_it_holds() {
    check(
        "<table><tr><th><th>b<tr><td><p>1<p>2|3<td><pre>x\ny</pre><tr><td><td><ul><li>p<li>q</ul></table>",
        "|  | b |\n| --- | --- |\n| 1<br>2\\|3 | `x`<br>`y` |\n|  | p<br>q |",
    );
    check(
        "<table><caption>c</caption><tr><th>k<td>v<tr><th>l<td>w</table>",
        "c\n\n|  |  |\n| --- | --- |\n| k | v |\n| l | w |",
    );
    check(
        "<table><tr><th colspan=2>a<th>b<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5</table>",
        "| a | | b |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| | 4 | 5 |",
    );
}

#[test]
fn layout_tables_are_no_tables() {
    check("<table><tr><td><p>a<p>b</table>", "a\n\nb");
}

#[test]
fn markup_within_a_line_is_written() {
    check("<p>a <b>b</b> <i>c</i> <s>d</s> <code>e</code>", "a **b** *c* ~~d~~ `e`");
    check("<p><b>b</b>ut", "**b**ut");
    check("<p>Say <code>sort <var>file</var></code> or <i><code>cat</code></i>.", "Say `sort file` or *`cat`*.");
    check("<p><b>注意：</b>后面", "**注意**：后面");
    check("<p>x<b>(y)</b>z", "x(**y**)z");
    check("<p>see <a href=/x>the <b>x</b></a>.", "see [the **x**](/x).");
    check("<p><a href='#a'>here</a> <a href='javascript:x'>there</a>", "here there");
    check("<p>a<br>1. b", "a  \n1\\. b");
    check("<p><code>a`b</code>", "``a`b``");
}

#[test]
fn pieces_of_code_with_a_space_between_them_are_two() {
    check("<p>Try <code>-l</code> <code>-a</code> or <kbd>Ctrl</kbd> <kbd>C</kbd>.", "Try `-l` `-a` or `Ctrl` `C`.");
    check("<p>Try <code>ls <b>-l</b> <i>file</i></code>.", "Try `ls -l file`.");
    check("<p>Press <kbd><kbd>Ctrl</kbd> + <kbd>C</kbd></kbd>.", "Press `Ctrl + C`.");
    check("<p>It is <code>a</code><code>b</code>.", "It is `ab`.");
}

#[test]
fn links_and_images_can_be_left_out() {
    let html = "<p>see <a href=/x>this</a> <img src=i.png alt='an [i]'>";
    check(html, "see [this](/x) ![an \\[i\\]](i.png)");
    assert_eq!(written(html, Markup { links: false, ..ALL }), "see this ![an \\[i\\]](i.png)");
    assert_eq!(written(html, Markup { images: false, ..ALL }), "see [this](/x)");
    let base = Url::parse("https://example.com/a/").unwrap();
    let resolved = "see [this](https://example.com/x) ![an \\[i\\]](https://example.com/a/i.png)";
    assert_eq!(written(html, Markup { base: Some(&base), ..ALL }), resolved);
}

#[test]
fn an_image_within_text_keeps_the_spaces_around_it() {
    let image = "<img src=i.png alt=i>";
    check(
        &format!("<p>see <a href=/x>this</a> {image}, and {image} too"),
        "see [this](/x) ![i](i.png), and ![i](i.png) too",
    );
    check(&format!("<p>a{image}b {image}{image} <b>c</b>"), "a![i](i.png)b ![i](i.png)![i](i.png) **c**");
    check("<p>a <img alt=i> b", "a b");
}

#[test]
fn a_long_paragraph_keeps_all_of_its_links() {
    let html = format!("<p>{}", (0..300).map(|n| format!("<a href=/{n}>{n}</a> ")).collect::<String>());
    let expected: Vec<String> = (0..300).map(|n| format!("[{n}](/{n})")).collect();
    check(&html, &expected.join(" "));
}

#[test]
fn a_long_base_does_not_make_a_page_grow() {
    let base = Url::parse(&format!("https://example.com/{}/", "a".repeat(1500))).unwrap();
    let html = "<p><a href=x>y</a>".repeat(20_000);
    let markdown = written(&html, Markup { base: Some(&base), ..ALL });
    assert!(markdown.contains("](https://example.com/aaa") && markdown.len() < 10 * html.len());
}

#[test]
fn nesting_does_not_make_a_page_grow() {
    let html = format!("{}<pre>{}x</pre>", "<blockquote>".repeat(400), "y\n".repeat(50_000));
    assert!(written(&html, ALL).len() < 10 * html.len());
}

#[test]
fn images_stand_where_they_stood() {
    check("<p>a<figure><img src=i.png alt=x><figcaption>c</figcaption></figure><p>b", "a\n\n![x](i.png)\n\nc\n\nb");
    check("<p><a href=/b><img src=i.png alt=x></a> text", "[![x](i.png)](/b) text");
    check("<p>a<p><img src=i.png width=1><p>b", "a\n\nb");
}

#[test]
fn items_hold_their_paragraphs_code_and_lists() {
    check(
        "<ol><li><p>a</p><pre>x\n\ny</pre><p>b</p><ul><li>c</ul><li>d</ol>",
        "1. a\n\n   ```\n   x\n\n   y\n   ```\n\n   b\n   - c\n2. d",
    );
    check("<ol start=9><li>a<li>b<ul><li>c</ul></ol>", "9. a\n10. b\n    - c");
    check("<ol><li>a<li value=7>b<li>c</ol>", "1. a\n\n7) b\n8) c");
    check("<ul><li>a</ul><ul><li>b</ul><ul><li>c</ul>", "- a\n\n* b\n\n- c");
    check("<ul><li>a</li><ul><li>b</ul><li>c</ul>", "- a\n\n  - b\n- c");
    check("<ul><li><input type=checkbox checked> a<li><input type=checkbox>b</ul>", "- [x] a\n- [ ] b");
    check("<ul><li>a<ol start=3><li>b</ol></ul>", "- a\n\n  3. b");
}

#[test]
fn quotes_definitions_and_details_keep_their_shape() {
    check("<blockquote><p>a<p>b<pre>c\n\nd</pre></blockquote><p>e", "> a\n>\n> b\n>\n> ```\n> c\n>\n> d\n> ```\n\ne");
    let table = "<table><tr><th>a<th>b<tr><td>1<td>2</table>";
    check(&format!("<blockquote><div>{table}</div></blockquote>"), "| a | b |\n| --- | --- |\n| 1 | 2 |");
    check("<blockquote>a</blockquote><blockquote>b</blockquote>", "> a\n\n> b");
    check("<dl><dt>t<dd>d<dd>e<dt>u<dd><p>f<p>g</dl>", "t\n: d\n\n: e\n\nu\n: f\n\ng");
    check("<details><summary>more</summary><p>text</details>", "**more**\n\ntext");
}

#[test]
fn marks_and_formulas_are_written_as_in_the_text() {
    check("<p>2<sup>8</sup> and H<sub>2</sub>O", "2^8 and H_2O");
    check("<p>so<sup><a href='#fn1'>1</a></sup> it is", "so[1] it is");
    check("<p><i>a</i><b>b</b>", "*a*b");
}

#[test]
fn what_looks_like_markup_comes_back() {
    check("<p>vector&lt;int> &lt;b>not bold&lt;/b> &amp;amp;", "vector\\<int> \\<b>not bold\\</b> \\&amp;");
    check("<p>a!<a href=/x>b</a>", "a\\![b](/x)");
}
