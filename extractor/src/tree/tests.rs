//! What the tree promises beyond the standard: rescue, bounds, order.

use proptest::prelude::*;

use super::{Kind, NodeId, Step, Tag, Tree};

fn body_text(tree: &Tree<'_>) -> String {
    let body = tree.elements(Tag::Body).next().expect("every page has a body");
    tree.text_content(body)
}

#[test]
fn an_unclosed_title_does_not_swallow_the_page() {
    let tree = Tree::parse("<title>Rain<body><p>It rained.</body></html>");
    assert!(tree.recovered());
    assert_eq!(body_text(&tree), "It rained.");
    let title = tree.elements(Tag::Title).next().unwrap();
    assert_eq!(tree.text_content(title), "Rain");
}

#[test]
fn an_unclosed_script_does_not_swallow_the_page() {
    let tree = Tree::parse("<p>a<script>if (x<y) z();<div>b</div><p>c</body>");
    assert!(tree.recovered());
    assert_eq!(body_text(&tree), "abc");
}

#[test]
fn a_page_cut_off_inside_a_script_ends_there() {
    let tree = Tree::parse("<p>a<script>document.write('<div>b</div>');");
    assert!(!tree.recovered());
    assert_eq!(body_text(&tree), "a");
}

#[test]
fn the_content_of_a_script_can_be_read() {
    let tree = Tree::parse(r#"<script type="application/ld+json">{"name":"a &amp; b"}</script>"#);
    let script = tree.elements(Tag::Script).next().unwrap();
    assert_eq!(tree.attribute(script, "type").unwrap(), "application/ld+json");
    assert_eq!(tree.text_content(script), r#"{"name":"a &amp; b"}"#);
}

#[test]
fn text_leaves_out_scripts_styles_and_templates() {
    let tree = Tree::parse("<p>a<style>b</style><script>c</script><template>d</template><noscript>e</noscript>");
    assert_eq!(body_text(&tree), "ae");
}

#[test]
fn a_subtree_is_a_range() {
    let tree = Tree::parse("<div><p>a<b>c</b></p></div><p>d");
    let div = tree.elements(Tag::Div).next().unwrap();
    let names: Vec<_> = tree.subtree(div).map(|node| tree.name(node).into_owned()).collect();
    assert_eq!(names, ["div", "p", "", "b", ""]);
    let [inside, outside] = tree.elements(Tag::P).collect::<Vec<_>>()[..] else { panic!("two paragraphs") };
    assert!(tree.contains(div, inside) && !tree.contains(div, outside));
    assert_eq!(tree.end(div), outside);
    assert_eq!(tree.next_sibling(div), Some(outside));
    assert_eq!(tree.previous_sibling(outside), Some(div));
}

#[test]
fn depth_is_flattened_and_said_so() {
    let page = format!("{}deep{}after", "<div>".repeat(2000), "</div>".repeat(2000));
    let tree = Tree::parse(&page);
    assert!(tree.truncated());
    assert_eq!(body_text(&tree), "deepafter");
    let body = tree.elements(Tag::Body).next().unwrap();
    let after = tree.last_child(body).unwrap();
    assert_eq!(tree.text(after), "after");
    assert!(!Tree::parse("<div><div>x</div></div>").truncated());
}

/// Pieces that make the rules meet each other.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z \n\r\0&;#<>/=\"'!?-]{0,6}",
        "</?(a|b|p|div|table|tr|td|li|select|option|svg|math|mi|title|script|style|template|body|html|form|x)( id=1)?/?>",
        "<!--|-->|<!\\[CDATA\\[|\\]\\]>|<!DOCTYPE html>|&amp;|&#x4e2d;|\u{4e2d}\u{6587}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_makes_a_tree_in_document_order(page in soup()) {
        let tree = Tree::parse(&page);
        let mut expected = 0;
        for step in tree.walk() {
            let (Step::Open(node) | Step::Leaf(node)) = step else { continue };
            prop_assert_eq!(node.index(), expected);
            expected += 1;
            for child in tree.children(node) {
                prop_assert_eq!(tree.parent(child), Some(node));
            }
            let last = tree.children(node).last();
            prop_assert_eq!(last, tree.last_child(node));
        }
        prop_assert_eq!(expected, tree.n_nodes());
        prop_assert_eq!(tree.end(NodeId::DOCUMENT).index(), tree.n_nodes());
    }

    #[test]
    fn no_text_is_made_up(page in soup()) {
        let tree = Tree::parse(&page);
        let texts = tree.nodes().filter(|&node| tree.kind(node) == Kind::Text);
        let length: usize = texts.map(|node| tree.raw_text(node).len()).sum();
        prop_assert!(length <= page.len());
    }
}
