//! Outputs made by hand, right and wrong: the measure must tell them apart.

use super::*;

/// The tally of a measure: all, kept and right.
fn tally(
    html: &str,
    gold: Option<&str>,
    text: &str,
    markdown: &str,
    measure: Measure,
) -> Option<(usize, usize, usize)> {
    let (fidelity, _) = Reference::read(html, gold).compare(&Output::new(text, Some(markdown)));
    fidelity.tally(measure).map(|tally| (tally.total, tally.kept, tally.right))
}

#[track_caller]
fn check(html: &str, text: &str, markdown: &str, measure: Measure, expected: (usize, usize, usize)) {
    assert_eq!(tally(html, None, text, markdown, measure), Some(expected), "{html}\n{text}\n{markdown}");
}

#[test]
fn code_is_right_when_its_lines_and_their_indentation_are() {
    let plain = "<pre>def f(x):\n    if x:\n        return 1\n</pre>";
    let right = "def f(x):\n    if x:\n        return 1";
    check(plain, right, "", Measure::PlainCode, (1, 1, 1));
    check(plain, "  def f(x):\n\n      if x:\n          return 1", "", Measure::PlainCode, (1, 1, 1));
    check(plain, "def f(x):\nif x:\nreturn 1", "", Measure::PlainCode, (1, 1, 0));
    check(plain, "def f(x):\n    if x:\n    return 1", "", Measure::PlainCode, (1, 1, 0));
    check(plain, "def f(x): if x: return 1", "", Measure::PlainCode, (1, 1, 0));
    check(plain, "def f(x):", "", Measure::PlainCode, (1, 0, 0));
    let spans = "<pre><span>def</span> <span>f</span>():\n  <span>x</span>\n  y</pre>";
    check(spans, "def f():\n  x\n  y", "", Measure::HighlightedCode, (1, 1, 1));
    check(spans, "def f ():\n  x\n  y", "", Measure::HighlightedCode, (1, 1, 0));
    check(spans, "def f():\nx\n    y", "", Measure::CodeMostLines, (1, 1, 1));
}

#[test]
fn code_in_lines_is_read_without_its_numbers() {
    let doxygen = "<div class=fragment><div class=line><span class=lineno>    1</span>&#160;int f() {</div>\
                   <div class=line><span class=lineno>    2</span>&#160;  return 0;</div><div class=line>}</div></div>";
    check(doxygen, "int f() {\n  return 0;\n}", "", Measure::CodeInLines, (1, 1, 1));
    check(doxygen, "int f() { return 0; }", "", Measure::CodeInLines, (1, 1, 0));
    let table = "<table class=highlighttable><tr><td class=linenos><pre>1\n2\n3</pre><td class=code><pre>a\n b\nccc</pre></table>";
    check(table, "a\n b\nccc", "", Measure::CodeInLines, (1, 1, 1));
}

#[test]
fn fences_and_languages_are_those_of_the_markdown() {
    let html = "<div class='highlight-rust'><pre>let rain = 1;\nlet sun = 2;</pre></div><p>See <code>rain</code> and <code>a*b</code>.";
    let markdown = "```rust\nlet rain = 1;\nlet sun = 2;\n```\n\nSee `rain` and `a*b`.";
    check(html, "", markdown, Measure::FencedCode, (1, 1, 1));
    check(html, "", markdown, Measure::CodeLanguage, (1, 1, 1));
    check(html, "", &markdown.replace("```rust", "```"), Measure::CodeLanguage, (1, 1, 0));
    check(html, "", &markdown.replace("```", ""), Measure::FencedCode, (1, 1, 0));
    let html = "<p>See the words <code>rain</code> and <code>a*b</code> here.";
    check(html, "", "See the words `rain` and `a*b` here.", Measure::InlineCode, (2, 2, 2));
    check(html, "", "See the words `rain` and a\\*b here.", Measure::InlineCode, (2, 2, 1));
    let html = "<p>It is called <code><a href=/s>String</a> rain, <i>int</i> sun</code> here.";
    check(html, "", "It is called [`String`](/s) `rain, int sun` here.", Measure::InlineCode, (1, 1, 1));
    check(html, "", "It is called `String` and `rain, int sun` here.", Measure::InlineCode, (1, 0, 0));
    let html = "<p>It is called <code>rain.</code><code>sun</code>() and <code>wind</code> <code>snow</code> here.";
    check(html, "", "It is called `rain.sun`() and `wind` `snow` here.", Measure::InlineCode, (3, 3, 3));
    check(html, "", "It is called `rain.sun`() and `wind snow` here.", Measure::InlineCode, (3, 3, 1));
}

#[test]
fn a_row_is_right_when_every_cell_is_in_its_column() {
    let html =
        "<table><tr><th>name<th>size<th>note<tr><td>smallint<td><td>2 bytes<tr><td>integer<td>4<td>4 bytes</table>";
    let right = "name\tsize\tnote\nsmallint\t\t2 bytes\ninteger\t4\t4 bytes";
    check(html, right, "", Measure::TextRows, (3, 3, 3));
    check(html, &right.replace("\t\t", "\t"), "", Measure::TextRows, (3, 3, 2));
    check(html, &right.replace("\t\t", "\t"), "", Measure::HardTextRows, (1, 1, 0));
    check(html, &right.replace('\t', " "), "", Measure::TextRows, (3, 3, 0));
    let bars =
        "| name | size | note |\n| --- | --- | --- |\n| **smallint** | | 2 bytes |\n| [integer](/i) | `4` | 4 bytes |";
    check(html, bars, bars, Measure::TextRows, (3, 3, 3));
    check(html, "", bars, Measure::MarkdownRows, (3, 3, 3));
    check(html, "", &bars.replace("`4` | ", ""), Measure::MarkdownRows, (3, 3, 2));
}

#[test]
fn spans_are_repeated_or_left_empty() {
    let html =
        "<table><tr><th>kind<th>name<tr><td rowspan=2>river<td>Neckar<tr><td>Rhine<tr><td colspan=2>and others</table>";
    check(html, "kind\tname\nriver\tNeckar\n\tRhine\nand others", "", Measure::TextRows, (4, 4, 4));
    check(html, "kind\tname\nriver\tNeckar\nriver\tRhine\nand others", "", Measure::TextRows, (4, 4, 4));
    check(html, "kind\tname\nriver\tNeckar\nRhine\nand others", "", Measure::TextRows, (4, 4, 3));
}

#[test]
fn a_table_that_was_dropped_is_not_wrong_because_each_function_is_described_below() {
    let html = "<table><tr><th>type<th>name<tr><td>void<td>rain_start<tr><td>void<td>rain_stop<tr><td>int<td>rain_count</table>\
                <pre>void\nrain_start (void);</pre><pre>void\nrain_stop (int drops);</pre><pre>int\nrain_count (void);</pre>";
    let described = "void\nrain_start (void);\n\nvoid\nrain_stop (int drops);\n\nint\nrain_count (void);";
    check(html, described, "", Measure::TextRows, (4, 0, 0));
    let table = "type\tname\nvoid\train_start\nvoid\train_stop\nint\train_count";
    check(html, &format!("{table}\n\n{described}"), "", Measure::TextRows, (4, 4, 4));
    check(html, &table.replace('\t', "\n"), "", Measure::TextRows, (4, 4, 0));
}

#[test]
fn tables_for_layout_are_not_compared() {
    let html = "<table role=presentation><tr><td>left side<td>right side<tr><td>left foot<td>right foot</table>";
    assert_eq!(tally(html, None, "left side right side", "", Measure::TextRows), None);
}

#[test]
fn items_have_their_number_and_depth() {
    let html = "<ol start=3><li>Open the gate<ul><li>Mind the step</ul><li>Close the gate</ol>";
    let right = "3. Open the gate\n   - Mind the step\n4. Close the gate";
    check(html, "", right, Measure::OrderedItems, (2, 2, 2));
    check(html, "", right, Measure::NestedItems, (1, 1, 1));
    let flat = "1. Open the gate\n\n- Mind the step\n\n4. Close the gate";
    check(html, "", flat, Measure::OrderedItems, (2, 2, 1));
    check(html, "", flat, Measure::NestedItems, (1, 1, 0));
    let contents =
        "<ul><li>Sunlight<ul><li>Rainfall<li>Snowfall</ul></ul><h3>Sunlight</h3><p>It shines.<p>Rainfall is wet.";
    check(contents, "", "### Sunlight\n\nIt shines.\n\nRainfall is wet.", Measure::NestedItems, (2, 0, 0));
    check(contents, "", "- Sunlight\n- Rainfall\n- Snowfall", Measure::NestedItems, (2, 2, 0));
}

#[test]
fn inline_text_is_compared_to_the_letter() {
    let html = "<p><b>Taylor Swift</b>, but not <i>F</i>our&nbsp;years\nof it.";
    check(html, "Taylor Swift, but not Four years of it.", "", Measure::InlineText, (1, 1, 1));
    check(html, "Taylor Swift, but not Four years of it.", "", Measure::PagesWithoutStraySpaces, (1, 1, 1));
    for wrong in ["Taylor Swift , but not Four years of it.", "Taylor Swift, but not F our years of it."] {
        check(html, wrong, "", Measure::InlineText, (1, 1, 0));
        check(html, wrong, "", Measure::PagesWithoutStraySpaces, (1, 1, 0));
    }
    let html = "<p>It is 2<sup>8</sup> drops of H<sub>2</sub>O, on the 1<sup>st</sup> of May.";
    check(html, "It is 2^8 drops of H_2O, on the 1st of May.", "", Measure::Scripts, (2, 2, 2));
    check(html, "It is 2^8 drops of H2O, on the 1st of May.", "", Measure::Scripts, (2, 2, 1));
}

#[test]
fn headings_are_headings_without_marks() {
    let html = "<h2>Rain in May<a class=headerlink href='#r'>¶</a></h2><h2>Sun</h2>";
    check(html, "Rain in May\n\nSun", "## Rain in May\n\nSun", Measure::Headings, (2, 2, 1));
    check(html, "Rain in May\n\nSun", "", Measure::HeadingsWithoutMark, (1, 1, 1));
    check(html, "Rain in May¶\n\nSun", "", Measure::HeadingsWithoutMark, (1, 1, 0));
}

#[test]
fn with_gold_only_its_elements_count_and_without_it_menus_do_not() {
    let html = "<nav><h2>Menu</h2></nav><h2>Rain</h2><h2>Related</h2>";
    assert_eq!(tally(html, Some("Rain. It rained."), "", "", Measure::Headings), Some((1, 0, 0)));
    assert_eq!(tally(html, None, "", "", Measure::Headings), Some((2, 0, 0)));
}

#[test]
fn a_method_without_markdown_has_no_tallies_of_it() {
    let (fidelity, _) = Reference::read("<h2>Rain</h2>", None).compare(&Output::new("Rain", None));
    assert!(
        Measure::ALL
            .iter()
            .filter(|measure| measure.is_of_markdown())
            .all(|measure| fidelity.tally(*measure).is_none())
    );
}

#[test]
fn a_page_nested_deeper_than_a_stack_is_read() {
    let html = format!("<p>It rains {}in the old town{}", "<b>".repeat(4_000), "</b>".repeat(4_000));
    check(&html, "It rains in the old town", "", Measure::InlineText, (1, 1, 1));
}

#[test]
fn what_is_wrong_is_remembered() {
    let (_, misses) = Reference::read("<h2>Rain</h2>", None).compare(&Output::new("Rain", Some("Rain")));
    assert_eq!(misses, [Miss { measure: Measure::Headings, element: "Rain".into() }]);
}
