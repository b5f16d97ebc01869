//! Pages of our own for every place where frameworks leave text.

use crate::tree::Tree;
use crate::{Options, extract};

use super::Head;

#[track_caller]
fn check(html: &str, expected: &str) {
    let tree = Tree::parse(html);
    assert_eq!(Head::read(&tree).embedded_text(&tree), expected, "{html}");
}

const RAIN: &str = "It rained all day in the town, and nobody went out until it was dark.";
const RIVER: &str = "The river rose to the bridge by noon, and the market was closed for the first time in years.";
const DUCKS: &str = "Only the ducks were pleased, as the keeper of the park told everybody who asked him that week.";
const MAYOR: &str = "The mayor promised new walls, which had been promised before, and a pump for the lower streets.";
const WINTER: &str = "In winter the water came back, higher than before, and this time the pump was there and worked.";

#[test]
fn state_gives_its_prose_once_and_in_order() {
    let json = format!(
        r#"{{"props":{{"id":"a-1","url":"https://example.com/a.html?b=c","body":"<p>{RAIN}</p><p>Short.</p>",
        "again":["{RAIN}"],"style":"a {{ b: c; }} d {{ e: f; }} one two three four five six seven eight nine."}}}}"#
    );
    check(&format!("<div id=root></div><script id=__NEXT_DATA__ type=application/json>{json}</script>"), RAIN);
}

#[test]
fn structured_data_comes_first() {
    let html = format!(
        r#"<script type=application/ld+json>{{"@type":"Article","articleBody":"{RAIN}"}}</script>
        <script type=application/json>["Some other words that are many enough to be a sentence of their own here."]</script>"#
    );
    check(&html, RAIN);
}

#[test]
fn code_and_broken_data_are_nothing() {
    check("<script>var a = 'many words in a string that is not data, but more than twelve of them.'</script>", "");
    check("<script type=application/json>{\"a\": \"</script>", "");
    let deep = format!("<script type=application/json>{}</script>", "[".repeat(100_000));
    check(&deep, "");
    check("<script>window.__NUXT__={a:\"nobody closes this text of more than twelve words that is here.</script>", "");
    check(
        "<script>self.__next_f.push([1,\"1:T7fffffff,a text that is shorter than it says, in many words.\"])</script>",
        "",
    );
}

/// What frameworks write for the paragraphs of a text.
fn states(paragraphs: &[&str]) -> Vec<(&'static str, String)> {
    let html: String = paragraphs.iter().map(|text| format!("<p>{text}</p>")).collect();
    let escaped = html.replace('<', "\\u003c").replace('/', "\\u002F");
    let list = paragraphs.iter().map(|text| format!(r#"{{"type":"paragraph","text":"{text}"}}"#)).collect::<Vec<_>>();
    let list = list.join(",");
    let elements = paragraphs.iter().map(|text| {
        let (first, rest) = text.split_once(' ').unwrap();
        format!(r#"[\"$\",\"p\",null,{{\"children\":[[\"$\",\"em\",null,{{\"children\":\"{first}\"}}],\" {rest}\"]}}]"#)
    });
    let elements = elements.collect::<Vec<_>>().join(",");
    let flight = format!("1a:[\\\"$\\\",\\\"$L2\\\",null,{{\\\"body\\\":\\\"$1b\\\"}}]\\n1b:T{:x},{html}", html.len());
    let (begin, end) = flight.split_at(flight.len() / 2);
    vec![
        (
            "next",
            format!(
                r#"<script id=__NEXT_DATA__ type=application/json>{{"props":{{"pageProps":{{"html":"{html}"}}}}}}</script>"#
            ),
        ),
        (
            "next list",
            format!(r#"<script id=__NEXT_DATA__ type=application/json>{{"props":{{"blocks":[{list}]}}}}</script>"#),
        ),
        (
            "flight text",
            format!(
                r#"<script>self.__next_f.push([1,"{begin}"])</script><script>self.__next_f.push([1,"{end}"])</script>"#
            ),
        ),
        (
            "flight elements",
            format!(
                r#"<script>self.__next_f.push([1,"5:[\"$\",\"div\",null,{{\"children\":[{elements}]}}]\n"])</script>"#
            ),
        ),
        (
            "nuxt 2",
            format!(
                r#"<script>window.__NUXT__=(function(a,b){{return {{data:[{{body:"{escaped}",id:a}}]}}}}(1,null));</script>"#
            ),
        ),
        (
            "nuxt 3",
            format!(
                r#"<script id=__NUXT_DATA__ type=application/json>[["Reactive",1],{{"body":2}},"{html}"]</script>"#
            ),
        ),
        ("apollo", format!(r#"<script>window.__APOLLO_STATE__={{"Post:1":{{"body":"{escaped}"}}}};var a=1;</script>"#)),
        (
            "react query",
            format!(
                r#"<script>window.__REACT_QUERY_STATE__ = JSON.parse("{{\"queries\":[{{\"state\":{{\"data\":\"{html}\"}}}}]}}")</script>"#
            ),
        ),
        (
            "json-ld",
            format!(
                r#"<script type=application/ld+json>{{"@type":"Article","articleBody":"{}"}}</script>"#,
                paragraphs.join(" ")
            ),
        ),
    ]
}

#[test]
fn every_framework_gives_the_text_of_a_page_that_shows_nothing() {
    for (framework, script) in states(&[RAIN, RIVER, DUCKS]) {
        let tree = Tree::parse(&script);
        let text = Head::read(&tree).embedded_text(&tree);
        for sentence in [RAIN, RIVER, DUCKS] {
            assert!(text.contains(sentence), "{framework}: {text}");
        }
    }
}

fn text(html: &str) -> String {
    extract(html.as_bytes(), None, &Options::default()).text
}

/// A page that shows some paragraphs of an article.
fn page(shown: &[&str], script: &str) -> String {
    let shown: String = shown.iter().map(|text| format!("<p>{text}</p>")).collect();
    format!(
        "<title>Rain</title><nav><a href=/>Home</a></nav><article><h1>Rain in the old town</h1>{shown}</article>{script}"
    )
}

#[test]
fn a_page_that_is_cut_short_gets_its_rest_from_every_framework() {
    for (framework, script) in states(&[RAIN, RIVER, DUCKS, MAYOR, WINTER]) {
        let text = text(&page(&[RAIN, RIVER], &script));
        for sentence in [RAIN, RIVER, DUCKS, MAYOR, WINTER] {
            assert_eq!(text.matches(sentence).count(), 1, "{framework}: {text}");
        }
        assert!(text.starts_with("Rain in the old town\n\n"), "{framework}: {text}");
    }
}

#[test]
fn a_paragraph_that_is_cut_goes_on() {
    let cut = format!("{}…", &RIVER[..60]);
    for (framework, script) in states(&[RAIN, RIVER, DUCKS, MAYOR, WINTER]) {
        let text = text(&page(&[RAIN, &cut], &script));
        for sentence in [RAIN, RIVER, DUCKS, MAYOR, WINTER] {
            assert_eq!(text.matches(sentence).count(), 1, "{framework}: {text}");
        }
    }
}

#[test]
fn a_complete_page_is_not_replaced_by_another_text() {
    let all = [RAIN, RIVER, DUCKS, MAYOR, WINTER];
    for (framework, script) in states(&all) {
        let whole = text(&page(&all, ""));
        assert_eq!(text(&page(&all, &script)), whole, "{framework}");
        // Another story, and one of which the page shows the end.
        let other =
            text(&page(&["It snowed in the hills for a week, and the roads were closed until Friday evening."], ""));
        let shown = ["It snowed in the hills for a week, and the roads were closed until Friday evening."];
        assert_eq!(text(&page(&shown, &script)), other, "{framework}");
        assert_eq!(text(&page(&[WINTER], &script)), text(&page(&[WINTER], "")), "{framework}");
    }
}

#[test]
fn what_the_page_shows_elsewhere_is_not_added() {
    let (_, script) = states(&[RAIN, RIVER, DUCKS, MAYOR, WINTER]).remove(0);
    let html = page(&[RAIN, RIVER], &script);
    let html = format!("{html}<aside class=related><p>{DUCKS}</p><p>{MAYOR}</p><p>{WINTER}</p></aside>");
    let without = html.replace(&script, "");
    assert_eq!(text(&html), text(&without));
}

#[test]
fn data_behind_the_beginning_of_a_text_is_no_rest_of_it() {
    let data =
        r#"\",\"id\":\"daily\",\"title\":\"Morning\",\"summary\":\"All the news of the day\",\"at\":{\"hour\":7},"#;
    let script = format!(r#"<script type=application/json>["x{RAIN} {RIVER}{}"]</script>"#, data.repeat(8));
    assert_eq!(text(&page(&[RAIN, RIVER], &script)), text(&page(&[RAIN, RIVER], "")));
    let state = states(&[RAIN, RIVER, DUCKS, MAYOR, WINTER]).remove(0).1;
    let inner = state.split_once('>').unwrap().1.split("</script").next().unwrap().replace('"', "\\\"");
    let nested = format!(r#"<script type=application/json>{{"payload":"{inner}"}}</script>"#);
    assert!(text(&page(&[RAIN, RIVER], &nested)).ends_with(WINTER));
}

#[test]
fn markdown_goes_on_like_the_text() {
    let (_, script) = states(&[RAIN, RIVER, DUCKS, MAYOR, WINTER]).remove(0);
    let options = Options { markdown: true, ..Options::default() };
    let document = extract(page(&[RAIN, RIVER], &script).as_bytes(), None, &options);
    assert!(document.markdown.starts_with("# Rain in the old town\n\n"), "{}", document.markdown);
    assert!(document.markdown.ends_with(WINTER), "{}", document.markdown);
    assert!(document.counts.sentences >= 6);
}
