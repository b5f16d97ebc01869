//! Names of classes say what an element is for, but a theme may put any word on the page or on its article.

use pith_extractor::blocks::lexicon::suppressing_names;
use pith_extractor::blocks::names_of_markup;
use pith_extractor::{Comments, Options, extract};

/// Names that have emptied pages. All words of the lexicon that speak against content come in addition, and all names by
/// which elements are read in a way of their own.
const NAMES: [&str; 25] = [
    "signature",
    "tag-50-best-signature-sessions",
    "category-comments",
    "func_signature",
    "post-signature",
    "comments-open",
    "comment",
    "has-sidebar",
    "sidebar-right",
    "live-events",
    "cookie-notice-open",
    "modal-open",
    "popup",
    "paywall",
    "related-posts",
    "no-nav",
    "hidden-header",
    "footer-widgets",
    "share",
    "advert",
    "promo",
    "newsletter",
    "login",
    "print",
    "category-signature",
];

/// Ten pages of different making; `BODY` and `ARTICLE` are where the names go.
fn pages() -> Vec<String> {
    let prose = [
        "The river rose by two metres in a single night, and the bridge to the market was closed before dawn. Farmers \
         brought their animals to the hill, as their grandparents had done, and waited there for the water to fall.",
        "Nobody could say how long it would last. The mayor spoke of three days, the fishermen of a week, and the school \
         opened its gymnasium for all who could not go home. By noon, more than sixty people had come.",
        "On the third day the rain stopped. What was left of the road was covered with branches and mud, but the houses \
         stood, and the first shops opened again in the afternoon. The bridge will be examined next week.",
    ];
    let paragraphs: String = prose.iter().map(|text| format!("<p>{text}</p>")).collect();
    let menu = "<nav><a href=/>Home</a> <a href=/news>News</a> <a href=/about>About us</a></nav>";
    let footer = "<footer><p>© The Town Paper</p><a href=/privacy>Privacy</a></footer>";
    let quote = format!("<h2>What was said</h2><blockquote>{}</blockquote>", prose[1]);
    let list = "<ul><li>The bridge is closed until Monday.</li><li>The school is open to all.</li></ul>";
    let code = "<pre>let level = river.level();\nassert!(level &lt; 3.0);</pre>";
    let bodies = [
        format!("{menu}<article ARTICLE><h1>The flood</h1>{paragraphs}</article>{footer}"),
        format!("{menu}<main><article ARTICLE><h1>The flood</h1>{paragraphs}{quote}</article></main>{footer}"),
        format!(
            "<div id=wrapper>{menu}<div class=content><article ARTICLE><h1>Flood</h1>{paragraphs}{list}</article></div></div>"
        ),
        format!("<article ARTICLE><h1>The flood</h1><p><time>5 May 2021</time></p>{paragraphs}</article>"),
        format!("{menu}<article ARTICLE><h1>Levels</h1>{paragraphs}{code}{paragraphs}</article>{footer}"),
        format!(
            "<div class=page>{menu}<div class=entry-content><article ARTICLE><h2>Flood</h2>{paragraphs}</article></div>{footer}</div>"
        ),
        format!(
            "{menu}<main><section><article ARTICLE><h1>The flood</h1><p>{}</p>{quote}</article></section></main>",
            prose[0]
        ),
        format!("{menu}<article ARTICLE class=hentry><h1>The flood</h1>{paragraphs}{list}{quote}</article>{footer}"),
        format!(
            "<article ARTICLE><h1>The flood</h1><figure><img src=a.jpg><figcaption>The bridge.</figcaption></figure>{paragraphs}</article>"
        ),
        format!("{menu}<div><article ARTICLE><h1>The flood</h1>{}</article></div>{footer}", paragraphs.repeat(2)),
    ];
    bodies
        .into_iter()
        .map(|body| format!("<html><head><title>The flood</title></head><body BODY>{body}</body></html>"))
        .collect()
}

fn text(page: &str, comments: Comments) -> String {
    extract(page.as_bytes(), None, &Options { comments, ..Options::default() }).text
}

/// The first paragraph of each page that is missing, with the name and place that made it so.
fn losses(comments: Comments) -> Vec<String> {
    let mut lost = Vec::new();
    for (index, page) in pages().iter().enumerate() {
        let plain = text(&page.replace("BODY", "").replace("ARTICLE", ""), comments);
        assert!(plain.contains("closed before dawn"), "page {index} is good: {plain}");
        for name in NAMES.into_iter().chain(suppressing_names()).chain(names_of_markup()) {
            for place in ["BODY", "ARTICLE"] {
                let named =
                    page.replacen(place, &format!("class=\"{name}\""), 1).replace("BODY", "").replace("ARTICLE", "");
                let kept = text(&named, comments);
                if let Some(line) = plain.lines().find(|line| !kept.contains(line)) {
                    lost.push(format!("page {index}, {name} on {place}: {line}"));
                }
            }
        }
    }
    lost
}

#[test]
fn a_name_on_the_page_or_its_article_loses_no_text() {
    assert_eq!(losses(Comments::ByPageType), Vec::<String>::new());
    assert_eq!(losses(Comments::Drop), Vec::<String>::new());
}
