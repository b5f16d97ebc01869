//! Applies the rules of a site: the tree is copied for the CSS selectors, and their matches are mapped back to our nodes.

use html5ever::{Attribute, LocalName, Namespace, QualName};
use scraper::node::{Element, Text};
use scraper::{ElementRef, Html, Node, Selector};

use super::matches::RuleMatches;
use super::parse::Site;
use crate::meta::{collapse, parse_date};
use crate::tree::{Kind, NodeId, Tree};

/// Matching may take quadratic time; on pages with more nodes no rules are applied.
const MAX_NODES: usize = 200_000;

impl Site {
    /// Everything that the rules match.
    pub(crate) fn find(&self, tree: &Tree<'_>) -> RuleMatches {
        if tree.n_nodes() > MAX_NODES {
            return RuleMatches::default();
        }
        let selector_tree = SelectorTree::of(tree);
        let first = |selector: &Option<Selector>| selector_tree.all(selector.as_slice()).first().copied();
        let text = |node: NodeId| {
            let attribute = tree.attribute(node, "content").map(|value| collapse(&value));
            let text = attribute.unwrap_or_else(|| collapse(&tree.text_content(node)));
            Some(text).filter(|text| !text.is_empty())
        };
        let date = |node: NodeId| {
            let attribute = tree.attribute(node, "datetime").and_then(|value| parse_date(&value));
            attribute.or_else(|| parse_date(&text(node)?))
        };
        RuleMatches {
            content: outermost(tree, selector_tree.all(&self.content)),
            dropped: selector_tree.all(&self.drop),
            title: first(&self.title).and_then(text),
            author: first(&self.author).and_then(text),
            published: first(&self.date).and_then(date),
        }
    }
}

/// The nodes that lie in none of the others.
fn outermost(tree: &Tree<'_>, nodes: Vec<NodeId>) -> Vec<NodeId> {
    let mut outermost: Vec<NodeId> = Vec::new();
    for node in nodes {
        if outermost.last().is_none_or(|last| !tree.contains(*last, node)) {
            outermost.push(node);
        }
    }
    outermost
}

/// A copy of our tree in the form that selectors work on, built in linear time.
struct SelectorTree {
    html: Html,
    /// Our node for each element of the copy, in document order.
    elements: Vec<NodeId>,
}

impl SelectorTree {
    fn of(tree: &Tree<'_>) -> SelectorTree {
        let mut html = Html::new_document();
        let mut elements = Vec::new();
        let mut theirs = vec![html.tree.root().id(); tree.n_nodes()];
        for node in tree.nodes().skip(1) {
            let value = match tree.kind(node) {
                Kind::Element => {
                    elements.push(node);
                    Node::Element(element(tree, node))
                }
                // Only whether there is text can matter to a selector.
                Kind::Text => Node::Text(Text { text: "x".into() }),
                _ => continue,
            };
            let parent = tree.parent(node).map_or(theirs[0], |parent| theirs[parent.index()]);
            if let Some(mut parent) = html.tree.get_mut(parent) {
                theirs[node.index()] = parent.append(value).id();
            }
        }
        SelectorTree { html, elements }
    }

    /// Our nodes that any of the selectors matches, in document order.
    fn all(&self, selectors: &[Selector]) -> Vec<NodeId> {
        if selectors.is_empty() {
            return Vec::new();
        }
        // Both lists are in document order, so that they match one to one.
        let theirs = self.html.tree.root().descendants().filter_map(ElementRef::wrap);
        let matched = theirs
            .zip(&self.elements)
            .filter(|(element, _)| selectors.iter().any(|selector| selector.matches(element)));
        matched.map(|(_, node)| *node).collect()
    }
}

fn element(tree: &Tree<'_>, node: NodeId) -> Element {
    let name = |text: &str| QualName::new(None, Namespace::from(""), LocalName::from(text));
    let attributes = tree
        .attributes(node)
        .map(|attribute| Attribute { name: name(&attribute.name), value: attribute.value.as_ref().into() });
    let html = Namespace::from("http://www.w3.org/1999/xhtml");
    Element::new(QualName::new(None, html, LocalName::from(tree.name(node).as_ref())), attributes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rules;
    use url::Url;

    fn find(rules: &str, html: &str) -> RuleMatches {
        let rules = Rules::parse(&format!("[\"a.com\"]\n{rules}")).unwrap();
        rules.site(&Url::parse("http://a.com/").unwrap()).unwrap().find(&Tree::parse(html))
    }

    #[test]
    fn selectors_find_our_nodes() {
        let html = "<p id=x>a</p><!-- c --><div class='b c'><p>d</p><p></p></div><table>y<tr><td>z</table>";
        let tree = Tree::parse(html);
        for (selector, names) in [
            ("#x", vec!["p"]),
            ("div.c > p", vec!["p", "p"]),
            ("p:empty", vec!["p"]),
            ("tbody td, #x", vec!["p", "td"]),
            ("p:nth-child(2)", vec!["p"]),
            ("[class~=b]", vec!["div"]),
            ("video", vec![]),
        ] {
            let found = find(&format!("content = [\"{selector}\"]"), html).content;
            assert_eq!(found.iter().map(|node| tree.name(*node)).collect::<Vec<_>>(), names, "{selector}");
        }
    }

    #[test]
    fn who_and_when_come_from_attributes_or_text() {
        let html = "<meta name=a content='Ana  Lima'><h1>Rain <i>falls</i></h1><time datetime=2022-06-10>Friday</time>";
        let found = find("title = \"h1\"\nauthor = \"meta[name=a]\"\ndate = \"time\"", html);
        assert_eq!(found.title.as_deref(), Some("Rain falls"));
        assert_eq!(found.author.as_deref(), Some("Ana Lima"));
        assert_eq!(found.published.as_deref(), Some("2022-06-10"));
    }
}
