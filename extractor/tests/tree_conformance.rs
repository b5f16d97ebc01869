//! The tree against our own cases, and against the tree-construction cases that browsers are tested with.
//!
//! Every case of theirs that comes out differently belongs to one of the kinds listed in [`accepted`], with its count: a new
//! miss fails the test, and so does one that went away without the table being changed.

mod shared;

use std::collections::BTreeMap;

use pith_extractor::tree::{Kind, Namespace, NodeId, Step, Tag, Tree};
use serde_json::Value;

const FRAGMENT: &str = "fragment: pith parses pages, never parts of one";
const SCRIPTING: &str = "scripting on: pith runs no scripts, so noscript is read";
const SVG_NAMES: &str = "svg and math names keep lower-case letters and their prefix: no text depends on them";
const SELECTED: &str = "selectedcontent: a copy of the chosen option would be the same text twice";
const NOT_ACCEPTED: &str = "not accepted";

/// Why a case may come out differently, and how many do.
fn accepted() -> BTreeMap<&'static str, usize> {
    BTreeMap::from([(FRAGMENT, 139), (SCRIPTING, 9), (SVG_NAMES, 22), (SELECTED, 2)])
}

fn kind_of_miss(case: &Value, expected: &str, found: &str) -> &'static str {
    if !case["fragment_context"].is_null() {
        FRAGMENT
    } else if case["scripting"] == true {
        SCRIPTING
    } else if plain_names(expected) == plain_names(found) {
        SVG_NAMES
    } else if case["data"].as_str().is_some_and(|data| data.contains("<selectedcontent>")) {
        SELECTED
    } else {
        NOT_ACCEPTED
    }
}

/// A dump in which names of svg and math are written as they stand in a page; attributes are sorted anew.
fn plain_names(dump: &str) -> Vec<String> {
    let mut lines: Vec<String> =
        dump.lines().map(|line| line.to_lowercase().replace("xlink ", "xlink:").replace("xml ", "xml:")).collect();
    lines.sort();
    lines
}

/// Our own cases, in the layout of html5lib's `.dat` files. None may differ.
#[test]
fn trees_are_those_worked_out_by_the_standard() {
    let cases = shared::own("trees.dat");
    let mut n_cases = 0;
    for case in cases.trim_end().split("\n\n") {
        let (data, expected) = case.split_once("\n#document\n").expect("a case has a document");
        let data = data.strip_prefix("#data\n").expect("a case begins with its data");
        assert_eq!(dump(&Tree::parse(data)), expected, "{data:?}");
        n_cases += 1;
    }
    assert!(n_cases >= 10, "{n_cases} cases");
}

#[test]
fn trees_are_those_of_browsers() {
    let Some(cases) = shared::cases("html_tree_construction") else { return };
    let mut misses: BTreeMap<&str, usize> = BTreeMap::new();
    let mut passed = 0;
    for case in &cases {
        let data = case["data"].as_str().expect("data");
        let expected = case["document"].as_str().expect("document");
        let skipped = !case["fragment_context"].is_null() || case["scripting"] == true;
        let found = if skipped { String::new() } else { dump(&Tree::parse(data)) };
        if found == expected {
            passed += 1;
            continue;
        }
        let kind = kind_of_miss(case, expected, &found);
        if kind == NOT_ACCEPTED {
            println!("{} {}\n{data:?}\nexpected\n{expected}\nfound\n{found}\n", case["id"], case["file"]);
        }
        *misses.entry(kind).or_default() += 1;
    }
    println!("html_tree_construction: {passed} of {} passed", cases.len());
    for (kind, count) in &misses {
        println!("  {count:4} {kind}");
    }
    assert_eq!(misses, accepted());
}

/// The tree in the notation of the test suite.
fn dump(tree: &Tree<'_>) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut depth = 0usize;
    // Neighbouring texts are one.
    let mut text = String::new();
    for step in tree.walk() {
        if let Step::Leaf(node) = step
            && tree.kind(node) == Kind::Text
        {
            text.push_str(&tree.text(node));
            continue;
        }
        if !text.is_empty() {
            lines.push(format!("| {}\"{text}\"", "  ".repeat(depth)));
            text.clear();
        }
        match step {
            Step::Open(NodeId::DOCUMENT) | Step::Close(NodeId::DOCUMENT) => {}
            Step::Open(node) => {
                open(tree, node, depth, &mut lines);
                depth += 1;
                if is_template(tree, node) {
                    lines.push(format!("| {}content", "  ".repeat(depth)));
                    depth += 1;
                }
            }
            Step::Close(node) => depth -= 1 + usize::from(is_template(tree, node)),
            Step::Leaf(node) => lines.push(format!("| {}{}", "  ".repeat(depth), leaf(tree, node))),
        }
    }
    lines.join("\n")
}

fn is_template(tree: &Tree<'_>, node: NodeId) -> bool {
    tree.tag(node) == Tag::Template && tree.namespace(node) == Namespace::Html
}

fn open(tree: &Tree<'_>, node: NodeId, depth: usize, lines: &mut Vec<String>) {
    let prefix = match tree.namespace(node) {
        Namespace::Html => "",
        Namespace::Svg => "svg ",
        Namespace::MathMl => "math ",
    };
    lines.push(format!("| {}<{prefix}{}>", "  ".repeat(depth), tree.name(node)));
    let line = |name: &str, value: &str| format!("| {}{name}=\"{value}\"", "  ".repeat(depth + 1));
    let mut attributes: Vec<String> =
        tree.attributes(node).map(|attribute| line(&attribute.name, &attribute.value)).collect();
    attributes.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
    lines.append(&mut attributes);
}

fn leaf(tree: &Tree<'_>, node: NodeId) -> String {
    match tree.kind(node) {
        Kind::Comment => format!("<!-- {} -->", tree.text(node)),
        Kind::Instruction => {
            let text = tree.text(node);
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            let name_end = text.find(|c| !is_name(c)).unwrap_or(text.len());
            let data = text[name_end..].trim_start_matches([' ', '\t', '\n', '\x0C']);
            format!("<?{} {data}?>", &text[..name_end])
        }
        _ => {
            let doctype = tree.doctype().expect("a leaf that is neither text nor comment");
            if doctype.public.is_none() && doctype.system.is_none() {
                return format!("<!DOCTYPE {}>", doctype.name);
            }
            let [public, system] = [doctype.public, doctype.system].map(Option::unwrap_or_default);
            format!("<!DOCTYPE {} \"{public}\" \"{system}\">", doctype.name)
        }
    }
}
