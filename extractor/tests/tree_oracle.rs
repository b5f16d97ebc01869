//! The tree against html5ever's: on our own pages, on shared pages where they are there, and on random tag soup.
//!
//! By default every 40th shared page is compared; `PITH_FULL=1 cargo test --release --test tree_oracle -- --nocapture`
//! compares all of them and prints the figures.

mod shared;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};

use html5ever::driver::{ParseOpts, parse_document};
use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use pith_extractor::tree::{Kind, Namespace, Step, Tag, Tree};
use scraper::{Html, HtmlTreeSink, Node};

/// Each character that is not white space, and its offset.
#[derive(Default)]
struct Outline {
    characters: Vec<char>,
    /// A number for the block elements above, and one for all elements above.
    blocks: Vec<u64>,
    ancestors: Vec<u64>,
    /// A number for each element with its attributes, in document order.
    elements: Vec<u64>,
}

impl Outline {
    fn add_text(&mut self, text: &str, above: (u64, u64)) {
        for character in text.chars().filter(|character| !character.is_whitespace()) {
            self.characters.push(character);
            self.blocks.push(above.0);
            self.ancestors.push(above.1);
        }
    }

    fn add_element(&mut self, name: &str, mut attributes: Vec<(String, String)>) {
        attributes.sort();
        self.elements.push(hash((name, attributes)));
    }
}

/// The numbers below an element of this name.
fn below((blocks, ancestors): (u64, u64), name: &str) -> (u64, u64) {
    let tag = Tag::of(name);
    (if tag.is_block() { hash((blocks, name)) } else { blocks }, hash((ancestors, name)))
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn outline_of_ours(tree: &Tree<'_>) -> Outline {
    let mut outline = Outline::default();
    let mut above = vec![(0, 0)];
    for step in tree.walk() {
        match step {
            Step::Open(node) if tree.is_element(node) => {
                let name = tree.name(node).into_owned();
                let foreign = tree.namespace(node) != Namespace::Html;
                let plain = |name: &str| match name.split_once(':') {
                    Some(("xlink" | "xml", local) | ("xmlns", local @ "xlink")) if foreign => local.to_owned(),
                    _ => name.to_owned(),
                };
                let attributes = tree.attributes(node).map(|a| (plain(&a.name), a.value.into_owned())).collect();
                outline.add_element(&name, attributes);
                above.push(below(*above.last().expect("a root"), &name));
            }
            Step::Close(node) if tree.is_element(node) => {
                above.pop();
            }
            Step::Leaf(node) if tree.kind(node) == Kind::Text => {
                outline.add_text(&tree.text(node), *above.last().expect("a root"));
            }
            _ => {}
        }
    }
    outline
}

fn outline_of_html5ever(page: &str) -> Outline {
    use ego_tree::iter::Edge;
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() },
        ..ParseOpts::default()
    };
    let html: Html = parse_document(HtmlTreeSink::new(Html::new_document()), options).one(page);
    let mut outline = Outline::default();
    let mut above = vec![(0, 0)];
    for edge in html.tree.root().traverse() {
        match edge {
            Edge::Open(node) => match node.value() {
                Node::Element(element) => {
                    let name = element.name().to_ascii_lowercase();
                    let attributes =
                        element.attrs().map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
                    outline.add_element(&name, attributes);
                    above.push(below(*above.last().expect("a root"), &name));
                }
                Node::Text(text) => outline.add_text(text, *above.last().expect("a root")),
                _ => {}
            },
            Edge::Close(node) if node.value().is_element() => {
                above.pop();
            }
            Edge::Close(_) => {}
        }
    }
    outline
}

#[derive(Debug, Default)]
struct Figures {
    pages: usize,
    characters: usize,
    same_blocks: usize,
    same_ancestors: usize,
    pages_same_text: usize,
    pages_same_elements: usize,
    /// Pages of which html5ever takes a part for the content of an unclosed element.
    pages_recovered: usize,
}

impl Figures {
    fn compare(&mut self, page: &str) -> bool {
        let tree = Tree::parse(page);
        if tree.recovered() {
            self.pages_recovered += 1;
            return true;
        }
        let ours = outline_of_ours(&tree);
        let theirs = outline_of_html5ever(page);
        self.pages += 1;
        self.characters += ours.characters.len().max(theirs.characters.len());
        // Texts of different length are lined up at both ends.
        let n = ours.characters.len().min(theirs.characters.len());
        let head = (0..n).take_while(|&at| ours.characters[at] == theirs.characters[at]).count();
        let from_end = |outline: &Outline, at: usize| outline.characters.len() - 1 - at;
        let tail = (0..n - head)
            .take_while(|&at| ours.characters[from_end(&ours, at)] == theirs.characters[from_end(&theirs, at)])
            .count();
        let pairs = (0..head).map(|at| (at, at));
        let pairs = pairs.chain((0..tail).map(|at| (from_end(&ours, at), from_end(&theirs, at))));
        let before = (self.same_blocks, self.same_ancestors);
        for (our, their) in pairs {
            self.same_blocks += usize::from(ours.blocks[our] == theirs.blocks[their]);
            self.same_ancestors += usize::from(ours.ancestors[our] == theirs.ancestors[their]);
        }
        let same_text = ours.characters == theirs.characters;
        let same_elements = ours.elements == theirs.elements;
        self.pages_same_text += usize::from(same_text);
        self.pages_same_elements += usize::from(same_elements);
        same_text && same_elements && self.same_ancestors - before.1 == ours.characters.len()
    }

    fn share(&self, part: usize) -> f64 {
        part as f64 / self.characters.max(1) as f64
    }
}

/// Six pages of different kinds and ages, each with mistakes that pages have.
#[test]
fn our_own_pages_have_the_tree_of_html5ever() {
    let mut figures = Figures::default();
    for name in ["article", "font_tags", "japanese", "nested_tables", "shop", "svg_and_forms"] {
        let page = shared::own(&format!("pages/{name}.html"));
        assert!(figures.compare(&page), "{name} differs: {figures:?}");
    }
    assert_eq!((figures.pages, figures.pages_recovered), (6, 0));
    assert!(figures.characters > 1_500, "{figures:?}");
}

#[test]
fn real_pages_have_the_tree_of_html5ever() {
    let Some(folder) = shared::folder() else { return };
    let full = std::env::var_os("PITH_FULL").is_some();
    let every = if full { 1 } else { 40 };
    let mut sets: BTreeMap<String, Figures> = BTreeMap::new();
    let mut total = Figures::default();
    let Ok(entries) = std::fs::read_dir(folder.join("data/extraction")) else {
        println!("skipped: no data/extraction");
        return;
    };
    for set in entries.flatten().map(|entry| entry.path()) {
        let name = set.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(file) = std::fs::File::open(set.join("pages.jsonl.zst")) else { continue };
        let lines = BufReader::new(zstd::Decoder::new(file).expect("zstd")).lines();
        for line in lines.step_by(every) {
            let row: serde_json::Value = serde_json::from_str(&line.expect("a line")).expect("a page");
            let page = row["html"].as_str().expect("html");
            if !sets.entry(name.clone()).or_default().compare(page) {
                println!("{name} {} differs", row["id"]);
            }
        }
    }
    println!(
        "set               pages  characters  same blocks  same ancestors  same text  same elements and attributes"
    );
    for (name, figures) in &sets {
        print_figures(name, figures);
        total.pages += figures.pages;
        total.characters += figures.characters;
        total.same_blocks += figures.same_blocks;
        total.same_ancestors += figures.same_ancestors;
        total.pages_same_text += figures.pages_same_text;
        total.pages_same_elements += figures.pages_same_elements;
        total.pages_recovered += figures.pages_recovered;
    }
    print_figures("all", &total);
    assert!(total.share(total.same_blocks) >= 0.999, "{total:?}");
}

fn print_figures(name: &str, figures: &Figures) {
    println!(
        "{name:17} {:5}  {:10}  {:10.4}%  {:13.4}%  {:9}  {:28}  {:7}",
        figures.pages,
        figures.characters,
        100.0 * figures.share(figures.same_blocks),
        100.0 * figures.share(figures.same_ancestors),
        figures.pages_same_text,
        figures.pages_same_elements,
        figures.pages_recovered,
    );
}

/// A page of random tags: nothing that people write, everything that the rules are about.
fn soup(seed: u64) -> String {
    const TAGS: &[&str] = &[
        "a b i nobr font p div span table tr td th tbody caption colgroup col ul li dl dd dt h1 h2 form button select",
        "option optgroup input svg math mi foreignObject desc template body html head br hr pre ruby rt rp object",
        "address center x-y em main",
    ];
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as usize % below
    };
    let tags: Vec<&str> = TAGS.iter().flat_map(|line| line.split(' ')).collect();
    let mut page = String::new();
    for _ in 0..4 + next(40) {
        let tag = tags[next(tags.len())];
        match next(10) {
            0..=4 => page += &format!("<{tag}>"),
            5 => page += &format!("<{tag} id={}>", next(2)),
            6 | 7 => page += &format!("</{tag}>"),
            8 => page += "text",
            _ => page += [" ", "&amp;", "<!--c-->", "\n"][next(4)],
        }
    }
    page
}

#[test]
fn tag_soup_has_the_tree_of_html5ever() {
    let n_pages = if std::env::var_os("PITH_FULL").is_some() { 200_000 } else { 5_000 };
    let mut figures = Figures::default();
    let mut n_different = 0;
    for seed in 0..n_pages {
        let page = soup(seed);
        if !figures.compare(&page) {
            n_different += 1;
            if n_different <= 10 {
                println!("{page}");
            }
        }
    }
    println!("tag soup: {} of {n_pages} pages the same in text, attributes and every ancestor", n_pages - n_different);
    assert!(n_different * 1000 <= n_pages, "{n_different} of {n_pages} differ");
}
