//! Formulas: their TeX where the page has it, once, and else MathML in one line.

use super::markup::{Reading, kind, kinds_of_class};
use crate::tree::{Kind, Namespace, NodeId, Tag, Tree};

/// How far a formula is searched for its TeX.
const MAX_NODES: usize = 4096;

/// Deeper MathML is read as text.
const MAX_DEPTH: usize = 32;

/// How far behind what a script has drawn its source may stand.
const MAX_SIBLINGS: usize = 3;

/// How an element that is called a formula is read.
pub(super) fn reading(tree: &Tree<'_>, node: NodeId) -> Reading {
    if let Some(tex) = find_tex(tree, node) {
        return Reading::Text(tex);
    }
    let math = tree.subtree(node).take(MAX_NODES).find(|inner| is_math(tree, *inner));
    if let Some(math) = math {
        let mut line = String::new();
        write_math(tree, math, 0, &mut line);
        return Reading::Text(line.trim_end_matches([' ', ';']).to_owned());
    }
    let mut next = tree.next_sibling(node);
    for _ in 0..MAX_SIBLINGS {
        let Some(sibling) = next else { break };
        if of_script(tree, sibling).is_some() {
            return Reading::Skipped;
        }
        next = tree.next_sibling(sibling);
    }
    Reading::Whole
}

/// The TeX in a `<script type="math/tex">`.
pub(super) fn of_script(tree: &Tree<'_>, node: NodeId) -> Option<String> {
    let is_tex = tree.tag(node) == Tag::Script
        && tree.attribute(node, "type").is_some_and(|kind| kind.trim_start().starts_with("math/tex"));
    is_tex.then(|| clean(&tree.text_content(node))).flatten()
}

/// The alternative text of an image that shows a formula.
pub(super) fn of_image(tree: &Tree<'_>, node: NodeId) -> Option<String> {
    let class = tree.attribute(node, "class")?;
    if kinds_of_class(&class) & kind::FORMULA == 0 {
        return None;
    }
    clean(&tree.attribute(node, "alt")?)
}

fn find_tex(tree: &Tree<'_>, node: NodeId) -> Option<String> {
    tree.subtree(node).take(MAX_NODES).filter(|inner| tree.is_element(*inner)).find_map(|inner| match tree.tag(inner) {
        Tag::Math => clean(&tree.attribute(inner, "alttext")?).filter(|_| !has_annotation(tree, inner)),
        Tag::Script => of_script(tree, inner),
        Tag::Img => of_image(tree, inner),
        Tag::Unknown if is_tex_annotation(tree, inner) => clean(&tree.text_content(inner)),
        _ => None,
    })
}

fn has_annotation(tree: &Tree<'_>, math: NodeId) -> bool {
    tree.subtree(math).take(MAX_NODES).any(|inner| is_tex_annotation(tree, inner))
}

fn is_tex_annotation(tree: &Tree<'_>, node: NodeId) -> bool {
    tree.is_element(node)
        && tree.namespace(node) == Namespace::MathMl
        && tree.name(node) == "annotation"
        && tree.attribute(node, "encoding").is_some_and(|encoding| encoding.to_ascii_lowercase().contains("tex"))
}

fn is_math(tree: &Tree<'_>, node: NodeId) -> bool {
    tree.tag(node) == Tag::Math && tree.namespace(node) == Namespace::MathMl
}

/// TeX in one line, without the command that only sets its size.
fn clean(tex: &str) -> Option<String> {
    let mut tex = tex.trim();
    if let Some(inner) = tex.strip_prefix("{\\displaystyle").or_else(|| tex.strip_prefix("{\\textstyle"))
        && let Some(inner) = inner.strip_suffix('}')
    {
        tex = inner.trim();
    }
    let words: Vec<&str> = tex.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Writes MathML as a line: `a/b`, `x^2`, `x_i`, `√(x)`.
fn write_math(tree: &Tree<'_>, node: NodeId, depth: usize, line: &mut String) {
    if tree.kind(node) == Kind::Text {
        let text = tree.text(node);
        line.extend(text.split_whitespace());
        return;
    }
    if !tree.is_element(node) {
        return;
    }
    if depth > MAX_DEPTH {
        line.extend(tree.text_content(node).split_whitespace());
        return;
    }
    let part = |index: usize| {
        let mut text = String::new();
        let children = || tree.children(node).filter(|child| tree.is_element(*child));
        if let Some(child) = children().nth(index) {
            write_math(tree, child, depth + 1, &mut text);
        }
        text
    };
    match &*tree.name(node) {
        "mfrac" => *line += &format!("{}/{}", grouped(part(0)), grouped(part(1))),
        "msup" => write_scripts(line, part(0), "", &part(1)),
        "msub" => write_scripts(line, part(0), &part(1), ""),
        "msubsup" => write_scripts(line, part(0), &part(1), &part(2)),
        "mover" => write_over(line, part(0), &part(1)),
        "munder" | "munderover" => {
            write_scripts(line, part(0), &part(1), &part(2));
            line.push(' ');
        }
        "mroot" => *line += &format!("{}√({})", part(1), part(0)),
        "msqrt" => {
            line.push_str("√(");
            write_children(tree, node, depth, line);
            line.push(')');
        }
        "mtext" => line.push_str(&tree.text_content(node).split_whitespace().collect::<Vec<_>>().join(" ")),
        "mspace" if !line.ends_with(' ') => line.push(' '),
        "mtr" => {
            write_children(tree, node, depth, line);
            line.push_str("; ");
        }
        "mtd" => {
            write_children(tree, node, depth, line);
            line.push(' ');
        }
        "annotation" | "annotation-xml" | "mphantom" => {}
        _ => write_children(tree, node, depth, line),
    }
}

fn write_children(tree: &Tree<'_>, node: NodeId, depth: usize, line: &mut String) {
    for child in tree.children(node) {
        write_math(tree, child, depth + 1, line);
    }
}

fn write_scripts(line: &mut String, base: String, below: &str, above: &str) {
    line.push_str(&base);
    for (sign, script) in [('_', below), ('^', above)] {
        if !script.is_empty() {
            line.push(sign);
            line.push_str(&grouped(script.to_owned()));
        }
    }
}

/// An accent is written behind its letter; a limit is a power, with a space behind it.
fn write_over(line: &mut String, base: String, over: &str) {
    if over.chars().any(char::is_alphanumeric) {
        write_scripts(line, base, "", over);
        line.push(' ');
    } else {
        line.push_str(&base);
        line.push_str(over);
    }
}

/// In parentheses, unless it is one name or number.
fn grouped(text: String) -> String {
    let text = text.trim().to_owned();
    let is_single = text.chars().count() == 1 || text.chars().all(|character| character.is_alphanumeric());
    if is_single || (text.starts_with('(') && text.ends_with(')')) { text } else { format!("({text})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expected: &str) {
        let tree = Tree::parse(html);
        let body = tree.elements(Tag::Body).next().unwrap();
        let first = tree.first_child(body).unwrap();
        assert_eq!(reading(&tree, first), Reading::Text(expected.to_owned()), "{html}");
    }

    #[test]
    fn tex_is_preferred() {
        check(
            "<span class=katex><span class=katex-mathml><math><semantics><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow>\
             <annotation encoding=application/x-tex>x^2</annotation></semantics></math></span>\
             <span class=katex-html aria-hidden=true>x2</span></span>",
            "x^2",
        );
        check("<math alttext='{\\displaystyle a+b}'><mi>a</mi><mo>+</mo><mi>b</mi></math>", "a+b");
        check(
            "<span class=mwe-math-element><img class=mwe-math-fallback-image-inline alt='{\\displaystyle E}'></span>",
            "E",
        );
    }

    #[test]
    fn mathml_without_tex_is_a_line() {
        check("<math><mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac></math>", "a/(b+1)");
        check("<math><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup></math>", "x_i^2");
        check(
            "<math><munderover><mo>∑</mo><mi>k</mi><mi>n</mi></munderover><mover><mi>x</mi><mo>˙</mo></mover></math>",
            "∑_k^n x˙",
        );
        check("<math><msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt></math>", "√(x+1)");
    }
}
