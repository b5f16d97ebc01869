//! The author that a page shows: bylines, links to authors, names of those who post.

use super::names::{NameKind, clean_name, is_name, strip_by};
use crate::blocks::lexicon::{Role, hash};
use crate::blocks::{Element, MAX_NAMES, Page};
use crate::tree::{Kind, NodeId, Step, Tag, Tree};

/// Elements with more text than this are no bylines.
const MAX_BYTES: usize = 400;

/// Elements with more nodes than this are no bylines.
const MAX_NODES: usize = 120;

/// Further candidates stand far below the title.
const MAX_CANDIDATES: usize = 80;

/// How an element says that it holds an author. The weights are those of [`Mark::weight`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark(u8);

impl Mark {
    /// `rel=author`.
    const REL: u8 = 1;
    /// `itemprop=author`.
    const ITEMPROP: u8 = 1 << 1;
    /// A link to a page about an author.
    const LINK: u8 = 1 << 2;
    /// A link to a profile, which may be any reader's.
    const PROFILE: u8 = 1 << 3;
    /// A class name with `byline`.
    const BYLINE: u8 = 1 << 4;
    /// A class name with `author`.
    const AUTHOR: u8 = 1 << 5;
    /// A class name with `username` and the like.
    const USER: u8 = 1 << 6;
    /// A text that begins with `By`.
    const TEXT: u8 = 1 << 7;

    fn has(self, bits: u8) -> bool {
        self.0 & bits != 0
    }

    /// How sure the mark is of itself.
    fn weight(self) -> i32 {
        const WEIGHTS: [i32; 8] = [3, 3, 2, 1, 3, 2, 2, 2];
        (0..8).filter(|bit| self.0 & (1 << bit) != 0).map(|bit| WEIGHTS[bit as usize]).sum()
    }

    /// Forums mark whoever posts, under any name; elsewhere a name looks like one.
    fn kind(self) -> NameKind {
        let posts = self.has(Mark::PROFILE | Mark::USER | Mark::ITEMPROP);
        let writes = self.has(Mark::BYLINE | Mark::AUTHOR | Mark::LINK | Mark::TEXT);
        if posts && !writes { NameKind::Handle } else { NameKind::Person }
    }
}

/// An author that the page shows.
#[derive(Clone, Debug)]
pub(super) struct ShownAuthor {
    /// The name, or several.
    pub name: String,
    /// How sure it is: below 0 hardly.
    pub score: i32,
}

/// The likeliest author among the bylines of a page: well marked and near the title.
pub(super) fn shown_author(page: &Page<'_>, title: Option<NodeId>) -> Option<ShownAuthor> {
    let mut best: Option<ShownAuthor> = None;
    for (node, mark, element) in candidates(page, title) {
        let is_better = |score: i32, best: &Option<ShownAuthor>| best.as_ref().is_none_or(|best| score > best.score);
        // What is announced and inside the article scores the most; whatever cannot be better is not read.
        let most = mark.weight() + ANNOUNCED - nearness(node, title);
        if !is_better(most, &best) {
            continue;
        }
        let Some((name, announced)) = name_in(&page.tree, node, mark) else { continue };
        let elsewhere = is_outside_of_article(page, element, title);
        let score = most - if announced { 0 } else { ANNOUNCED } - if elsewhere { 12 } else { 0 };
        if is_better(score, &best) {
            best = Some(ShownAuthor { name, score });
        }
    }
    best
}

/// What the word `By` before a name is worth.
const ANNOUNCED: i32 = 2;

/// How far a byline is from the title, as what it costs.
fn nearness(node: NodeId, title: Option<NodeId>) -> i32 {
    let Some(title) = title else { return 2 };
    let distance = node.index() as i64 - title.index() as i64;
    match distance {
        0..=120 => 0,
        121..=400 => 2,
        -80..0 => 3,
        401..=3000 => 4,
        _ => 6,
    }
}

/// The elements, links and blocks that may hold an author, each with the recorded element that it stands in.
fn candidates(page: &Page<'_>, title: Option<NodeId>) -> Vec<(NodeId, Mark, u32)> {
    let tree = &page.tree;
    let mut found: Vec<(NodeId, Mark, u32)> = Vec::new();
    for (index, element) in page.elements.iter().enumerate().skip(1) {
        let mark = mark_of_names(page, element);
        if mark != 0 && found.len() < MAX_CANDIDATES {
            found.push((element.node, Mark(mark), index as u32));
        }
    }
    for link in page.links.iter().take(MAX_LINKS) {
        let mark = mark_of_link(tree, link.node, link.target);
        let element = page.blocks.get(link.block as usize).map_or(0, |block| block.element);
        if mark == 0 {
            continue;
        }
        match found.iter().position(|(node, ..)| *node == link.node) {
            Some(index) => found[index].1.0 |= mark,
            None if found.len() < 2 * MAX_CANDIDATES => found.push((link.node, Mark(mark), element)),
            None => {}
        }
    }
    found.extend(announced_blocks(page, title).into_iter().map(|(node, element)| (node, Mark(Mark::TEXT), element)));
    found.sort_by_key(|(node, ..)| *node);
    found
}

/// The links to the author come before the comments, so that the first links are enough.
const MAX_LINKS: usize = 600;

/// The words that a name with a mark has, `line` for `by-line`; and the same as the bits of a filter.
const MARKING_WORDS: [u32; 14] = [
    hash("byline"),
    hash("bylines"),
    hash("line"),
    hash("lines"),
    hash("author"),
    hash("authors"),
    hash("writer"),
    hash("autor"),
    hash("auteur"),
    hash("writtenby"),
    hash("username"),
    hash("creator"),
    hash("poster"),
    hash("nickname"),
];
const MARKING_FILTER: u64 = {
    let (mut filter, mut at) = (0, 0);
    while at < MARKING_WORDS.len() {
        filter |= 1 << (MARKING_WORDS[at] & 63);
        at += 1;
    }
    filter
};

/// Whether the names of an element may have a mark. All of its words are known by their hashes, unless it has very many.
fn may_be_marked(page: &Page<'_>, element: &Element) -> bool {
    let words = page.names_of(element);
    let is_marking = |word: &u32| MARKING_FILTER & (1 << (word & 63)) != 0 && MARKING_WORDS.contains(word);
    words.len() >= MAX_NAMES || words.iter().any(is_marking)
}

/// Whether `rel=author` is looked for on an element that no name marks: on those that hold a name and no more.
fn may_have_rel(tag: Tag) -> bool {
    matches!(tag, Tag::A | Tag::Span | Tag::Address | Tag::P | Tag::Strong | Tag::B | Tag::Em | Tag::Cite | Tag::Link)
}

/// The marks of an element's class names, id, itemprop and rel.
fn mark_of_names(page: &Page<'_>, element: &Element) -> u8 {
    let is_named = may_be_marked(page, element);
    let [class, id, itemprop, rel] = match is_named {
        true => page.tree.find_raw(element.node, ["class", "id", "itemprop", "rel"]),
        false if may_have_rel(element.tag) => [None, None, None, page.tree.find_raw(element.node, ["rel"])[0]],
        false => return 0,
    };
    let mut mark = 0;
    let word = |value: Option<&str>, word: &str| {
        value.is_some_and(|value| value.split_ascii_whitespace().any(|found| found.eq_ignore_ascii_case(word)))
    };
    if word(itemprop, "author") || word(itemprop, "creator") {
        mark |= Mark::ITEMPROP;
    }
    if word(rel, "author") {
        mark |= Mark::REL;
    }
    for name in [class, id].into_iter().flatten() {
        mark |= mark_of_name(name);
    }
    if matches!(element.tag, Tag::Body | Tag::Html | Tag::Form | Tag::Main | Tag::Img) { 0 } else { mark }
}

/// The marks of the words of a class name: `post-author`, `AuthorName`, `by_line`.
fn mark_of_name(name: &str) -> u8 {
    // Most names hold none of these; the first letter may be a capital.
    const PARTS: [&str; 9] = ["uthor", "utor", "uteur", "line", "rit", "sername", "reator", "oster", "ickname"];
    if !PARTS.iter().any(|part| name.contains(part)) {
        return 0;
    }
    let mut mark = 0;
    let bytes = name.as_bytes();
    let mut start = 0;
    for at in 0..=bytes.len() {
        let ends = at == bytes.len()
            || !bytes[at].is_ascii_alphanumeric()
            || (at > start && bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase());
        if ends {
            let skipped = usize::from(at < bytes.len() && !bytes[at].is_ascii_alphanumeric());
            // Words are runs of ASCII letters, so that any byte may stand beside them.
            mark |= match bytes[start..at].to_ascii_lowercase().as_slice() {
                b"byline" | b"bylines" => Mark::BYLINE,
                b"author" | b"authors" | b"writer" | b"autor" | b"auteur" | b"writtenby" => Mark::AUTHOR,
                b"username" | b"creator" | b"poster" | b"nickname" => Mark::USER,
                _ => 0,
            };
            start = at + skipped;
        }
    }
    if name.contains("by-line") || name.contains("by_line") { mark | Mark::BYLINE } else { mark }
}

/// The marks of a link: `rel=author`, or an address below `/author/`.
fn mark_of_link(tree: &Tree<'_>, node: NodeId, target: &str) -> u8 {
    const AUTHORS: [&str; 11] = [
        "author",
        "authors",
        "contributor",
        "contributors",
        "staff",
        "writer",
        "writers",
        "columnist",
        "autor",
        "auteur",
        "autori",
    ];
    const PROFILES: [&str; 7] = ["profile", "profiles", "user", "users", "member", "members", "people"];
    let mut mark = 0;
    if let [Some(rel)] = tree.find_raw(node, ["rel"])
        && rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("author"))
    {
        mark |= Mark::REL;
    }
    let web = || target.strip_prefix("https://").or_else(|| target.strip_prefix("http://"));
    let path = web().unwrap_or_else(|| target.split_once("://").map_or(target, |(_, rest)| rest));
    let mut segments = path.as_bytes().split(|byte| matches!(byte, b'/' | b'?' | b'#')).take(8).peekable();
    while let Some(segment) = segments.next() {
        // Most segments neither begin nor end like one of the names.
        let may_be = matches!(segment, [b'a' | b'c' | b's' | b'w' | b'p' | b'u' | b'm' | b'A'..=b'Z', .., last]
            if matches!(last, b'r' | b's' | b'f' | b't' | b'i' | b'e' | b'A'..=b'Z'));
        if !may_be || segments.peek().is_none_or(|next| next.is_empty()) {
            continue;
        }
        let is = |names: &[&str]| names.iter().any(|name| segment.eq_ignore_ascii_case(name.as_bytes()));
        if is(&AUTHORS) {
            mark |= Mark::LINK;
        }
        if is(&PROFILES) {
            mark |= Mark::PROFILE;
        }
    }
    mark
}

/// Short blocks near the title that begin with `By`, as nodes with their recorded elements.
fn announced_blocks(page: &Page<'_>, title: Option<NodeId>) -> Vec<(NodeId, u32)> {
    const N_BLOCKS: usize = 30;
    let Some(title) = title else { return Vec::new() };
    let heading = page.blocks.partition_point(|block| page.elements[block.element as usize].node < title);
    let near = heading.saturating_sub(6)..page.blocks.len().min(heading + N_BLOCKS);
    let blocks = page.blocks[near].iter().filter(|block| block.n_words() <= 16 && block.heading != 1);
    let announced = blocks.filter(|block| {
        let text = page.block_text(block);
        strip_by(text).len() < text.trim().len()
    });
    announced.map(|block| (page.elements[block.element as usize].node, block.element)).collect()
}

/// Whether a recorded element stands in comments, footers or lists of other pages, the title not with it.
fn is_outside_of_article(page: &Page<'_>, element: u32, title: Option<NodeId>) -> bool {
    const ROLES: u32 = 1 << Role::Comment as u32
        | 1 << Role::Related as u32
        | 1 << Role::Sidebar as u32
        | 1 << Role::Footer as u32
        | 1 << Role::Review as u32
        | 1 << Role::Navigation as u32;
    let parent = |index: &u32| Some(page.elements[*index as usize].parent);
    let mut around = std::iter::successors(Some(element), parent).take_while(|index| *index > 1);
    around.any(|index| {
        let element = &page.elements[index as usize];
        let may_be_apart = element.roles & ROLES != 0 || matches!(element.tag, Tag::Footer | Tag::Nav);
        may_be_apart
            && !title.is_some_and(|title| page.tree.contains(element.node, title))
            && (matches!(element.tag, Tag::Footer | Tag::Nav) || is_apart(&page.tree, element))
    })
}

/// Whether the names of an element say that it holds comments, reviews or other pages.
///
/// The roles of names are broader than this: a list of icons below a title may well hold the byline.
fn is_apart(tree: &Tree<'_>, element: &Element) -> bool {
    const PARTS: [&str; 8] =
        ["comment", "related", "recommend", "sidebar", "footer", "popular", "testimonial", "review"];
    let [class, id] = tree.find_raw(element.node, ["class", "id"]);
    let says = |names: &str| {
        let names = names.to_ascii_lowercase();
        PARTS.iter().any(|part| names.contains(part))
    };
    class.is_some_and(says) || id.is_some_and(says)
}

/// The name in an element, and whether words as `By` stand before it.
fn name_in(tree: &Tree<'_>, node: NodeId, mark: Mark) -> Option<(String, bool)> {
    const N_LINES: usize = 3;
    let lines = lines(tree, node)?;
    for line in lines.iter().take(N_LINES) {
        let announced = strip_by(line).len() < line.len();
        if mark == Mark(Mark::TEXT) && !announced {
            continue;
        }
        let name = clean_name(line);
        let kind = if announced && name.split_whitespace().count() == 1 { NameKind::Handle } else { mark.kind() };
        if is_name(name, kind) {
            return Some((name.to_owned(), announced));
        }
    }
    None
}

/// The lines of text in an element; nothing where it holds too much.
fn lines(tree: &Tree<'_>, node: NodeId) -> Option<Vec<String>> {
    if tree.end(node).index() - node.index() > MAX_NODES {
        return None;
    }
    let mut lines = vec![String::new()];
    let mut n_bytes = 0;
    let mut walk = tree.walk_from(node);
    while let Some(step) = walk.next() {
        match step {
            Step::Open(inner) | Step::Close(inner) => {
                let tag = tree.tag(inner);
                if inner != node && (tag.is_not_rendered() || matches!(tag, Tag::Button | Tag::Svg)) {
                    walk.skip_children();
                }
                if tag.is_block() || matches!(tag, Tag::Br | Tag::Time) {
                    lines.push(String::new());
                }
            }
            Step::Leaf(leaf) if tree.kind(leaf) == Kind::Text => {
                let text = tree.text(leaf);
                n_bytes += text.trim().len();
                lines.last_mut()?.push_str(&text);
            }
            Step::Leaf(_) => {}
        }
        if n_bytes > MAX_BYTES {
            return None;
        }
    }
    let collapsed = lines.iter().map(|line| super::collapse(line)).filter(|line| !line.is_empty());
    Some(collapsed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expected: Option<&str>) {
        let page = Page::read(Tree::parse(html));
        let title = page.elements.iter().find(|element| element.tag == Tag::H1).map(|element| element.node);
        assert_eq!(shown_author(&page, title).map(|author| author.name).as_deref(), expected, "{html}");
    }

    #[test]
    fn bylines_are_found_by_their_marks() {
        for byline in [
            "<span class='author vcard'><a class=fn href=/a>Ana Lima</a></span>",
            "<span itemprop=author>Ana Lima</span>",
            "<a href='https://example.com/author/ana/'>Ana Lima</a>",
            "<a rel='nofollow author' href=/x>Ana Lima</a>",
            "<div class=byline>By Ana Lima<br>May 3, 2024</div>",
            "<div class=postAuthor>Ana Lima</div>",
            "<p>By Ana Lima</p>",
            "<p>Von Ana Lima | 3. Mai 2024</p>",
        ] {
            check(&format!("<h1>Rain in May</h1>{byline}<p>It rained all day in the town."), Some("Ana Lima"));
        }
        check("<h1>Rain</h1><p class=\"before:content-['·'] é-author·\">Ana Lima</p><p>It rains.", Some("Ana Lima"));
        check("<h1>Rain</h1><a class=username href=/members/7>rain_42</a><p>It rains.", Some("rain_42"));
    }

    #[test]
    fn the_author_stands_near_the_title() {
        check(
            "<h1>Rain in May</h1><p class=author>Ana Lima</p><p>It rained.</p><div class=comments>\
            <p class='author byline' itemprop=author>By Bea Sun</p></div>",
            Some("Ana Lima"),
        );
        check("<h1>Rain</h1><p>By submitting this form you agree.</p><a href=/users/login>Log in</a>", None);
    }
}
