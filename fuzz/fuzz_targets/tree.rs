//! Any bytes give a tree, and its invariants hold.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pith_extractor::charset;
use pith_extractor::tree::{Kind, Step, Tree};

/// Twice the open stack and a little.
const MAX_DEPTH: usize = 1100;

fuzz_target!(|bytes: &[u8]| {
    let page = charset::decode(bytes, None);
    let tree = Tree::parse(&page.text);
    let (mut depth, mut seen, mut n_characters) = (0, 0, 0);
    for step in tree.walk() {
        match step {
            Step::Open(node) => {
                assert_eq!(node.index(), seen, "nodes come in document order");
                seen += 1;
                depth += 1;
                assert!(depth < MAX_DEPTH);
                for child in tree.children(node) {
                    assert_eq!(tree.parent(child), Some(node));
                }
                for attribute in tree.attributes(node) {
                    assert!(tree.has_attribute(node, &attribute.name) || attribute.name.contains('\u{FFFD}'));
                }
                tree.hidden(node);
                tree.name(node);
            }
            Step::Close(_) => depth -= 1,
            Step::Leaf(node) => {
                assert_eq!(node.index(), seen, "nodes come in document order");
                seen += 1;
                if tree.kind(node) == Kind::Text {
                    n_characters += tree.text(node).chars().count();
                }
            }
        }
    }
    assert_eq!(depth, 0);
    assert_eq!(seen, tree.n_nodes());
    // A reference may stand for two characters, and is never shorter than both.
    assert!(n_characters <= page.text.chars().count());
});
