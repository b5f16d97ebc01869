//! Code: fenced blocks with their language, and code within a line.

use crate::blocks::{Block, Page};
use crate::tree::{NodeId, Tag, Tree, decode_value};

/// The fence around some code: longer than any run of backticks in it.
pub(super) fn fence(code: &str) -> String {
    "`".repeat((longest_run(code) + 1).max(3))
}

/// Adds code within a line. In a table a pipe must be escaped even there.
pub(super) fn push_inline(code: &str, in_table: bool, out: &mut String) {
    let ticks = if code.contains('`') { "`".repeat(longest_run(code) + 1) } else { "`".to_owned() };
    let padded = code.starts_with('`') || code.ends_with('`');
    out.push_str(&ticks);
    out.push_str(if padded { " " } else { "" });
    for part in code.split_inclusive('|') {
        match part.strip_suffix('|') {
            Some(before) if in_table => {
                out.push_str(before);
                out.push_str("\\|");
            }
            _ => out.push_str(part),
        }
    }
    out.push_str(if padded { " " } else { "" });
    out.push_str(&ticks);
}

fn longest_run(code: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in code.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// So many elements around the code are asked for its language: highlighters name it on a `div` around the `pre`.
const MAX_WRAPPERS: usize = 3;

/// The language of a block of code, where the page names one.
pub(super) fn language(page: &Page<'_>, block: &Block, text_node: Option<NodeId>) -> Option<String> {
    let tree = &page.tree;
    let is_pre = |node: &NodeId| matches!(tree.tag(*node), Tag::Pre | Tag::Listing | Tag::Xmp);
    let element = page.elements[block.element as usize].node;
    let innermost = text_node.and_then(|node| tree.parent(node)).unwrap_or(element);
    let around = || std::iter::once(innermost).chain(tree.ancestors(innermost));
    let pre = around().take(64).find(is_pre).unwrap_or(element);
    let inside = tree.children(pre).take(8).filter(|node| tree.tag(*node) == Tag::Code).take(1);
    let outside = tree.ancestors(pre).take(MAX_WRAPPERS).filter(|node| tree.tag(*node) != Tag::Body);
    let is_own = |node: NodeId| tree.contains(pre, node);
    inside.chain([pre]).chain(outside).find_map(|node| of_element(tree, node, is_own(node)))
}

/// The language that an element names. A bare name of a language counts on the code itself only.
fn of_element(tree: &Tree<'_>, node: NodeId, is_own: bool) -> Option<String> {
    let [class, data_lang, data_language] = tree.find_raw(node, ["class", "data-lang", "data-language"]);
    let named = [data_lang, data_language].into_iter().flatten().find_map(|name| clean(&decode_value(name)));
    named.or_else(|| of_class(&decode_value(class?), is_own))
}

const PREFIXES: [&str; 7] =
    ["language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "mw-highlight-lang-", "sourceCode-"];

fn of_class(class: &str, is_own: bool) -> Option<String> {
    if let Some((_, rest)) = class.split_once("brush:") {
        return clean(rest.split([';', ' ']).find(|name| !name.is_empty())?);
    }
    let prefixed = |name: &str| PREFIXES.iter().find_map(|prefix| clean(name.strip_prefix(prefix)?));
    if let Some(language) = class.split_ascii_whitespace().find_map(prefixed) {
        return Some(language);
    }
    let mut names = class.split_ascii_whitespace();
    if names.clone().any(|name| matches!(name, "sourceCode" | "hljs" | "code" | "prettyprint" | "src")) {
        // Pandoc's `sourceCode haskell`, docutils' `code python`, Org's `src src-sh`.
        let org = names.clone().find_map(|name| clean(name.strip_prefix("src-")?));
        return org.or_else(|| names.find_map(known));
    }
    if is_own { names.find_map(known) } else { None }
}

/// A class that is the name of a widely used language.
fn known(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    LANGUAGES.contains(&lower.as_str()).then_some(lower)
}

const LANGUAGES: [&str; 74] = [
    "ada",
    "asm",
    "awk",
    "bash",
    "basic",
    "bibtex",
    "c",
    "c++",
    "clojure",
    "cmake",
    "console",
    "cpp",
    "csharp",
    "css",
    "cuda",
    "d",
    "dart",
    "diff",
    "django",
    "docker",
    "dockerfile",
    "elixir",
    "elm",
    "erlang",
    "fish",
    "fortran",
    "go",
    "graphql",
    "groovy",
    "haskell",
    "hs",
    "html",
    "ini",
    "java",
    "javascript",
    "js",
    "json",
    "jsx",
    "julia",
    "kotlin",
    "latex",
    "lisp",
    "lua",
    "makefile",
    "markdown",
    "matlab",
    "nginx",
    "nix",
    "ocaml",
    "pascal",
    "perl",
    "php",
    "powershell",
    "prolog",
    "py",
    "python",
    "qml",
    "r",
    "racket",
    "rb",
    "rs",
    "ruby",
    "rust",
    "scala",
    "scheme",
    "sh",
    "shell",
    "sql",
    "swift",
    "toml",
    "ts",
    "typescript",
    "xml",
    "yaml",
];

/// The name of a language as it may stand after a fence; nothing for names that mean none.
fn clean(name: &str) -> Option<String> {
    let name = name.trim();
    let is_name =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '+' | '#' | '-' | '_' | '.');
    let means_none =
        ["", "default", "none", "text", "plain", "plaintext", "nohighlight", "output", "unknown", "wrapper"];
    let lower = name.to_ascii_lowercase();
    let is_valid = name.len() <= 32 && name.chars().all(is_name) && !means_none.contains(&lower.as_str());
    is_valid.then_some(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expected: Option<&str>) {
        let page = Page::read(Tree::parse(html));
        assert_eq!(language(&page, &page.blocks[0], None).as_deref(), expected, "{html}");
    }

    #[test]
    fn the_language_is_read_from_the_names_that_highlighters_use() {
        check("<pre><code class='language-rust'>x</code></pre>", Some("rust"));
        check("<pre class='lang-js prettyprint'>x</pre>", Some("js"));
        check(
            "<div class='highlight-python3 notranslate'><div class=highlight><pre>x</pre></div></div>",
            Some("python3"),
        );
        check("<div class='highlight-default notranslate'><div class=highlight><pre>x</pre></div></div>", None);
        check("<div class='highlight highlight-source-shell'><pre>x</pre></div>", Some("shell"));
        check("<pre class='brush: js; toolbar: false'>x</pre>", Some("js"));
        check("<pre class='sourceCode haskell'><code>x</code></pre>", Some("haskell"));
        check("<pre class='code python literal-block'>x</pre>", Some("python"));
        check("<pre class='rust rust-example-rendered'><code>x</code></pre>", Some("rust"));
        check("<div class='mw-highlight mw-highlight-lang-lua'><pre>x</pre></div>", Some("lua"));
        check("<div class='go'><pre>x</pre></div>", None);
        check("<pre class='programlisting'>x</pre>", None);
        check("<pre class='language-<script>'>x</pre>", None);
    }

    #[test]
    fn fences_are_longer_than_those_inside() {
        assert_eq!(fence("a"), "```");
        assert_eq!(fence("````\na\n````"), "`````");
        let inline = |code| {
            let mut out = String::new();
            push_inline(code, true, &mut out);
            out
        };
        assert_eq!(inline("a|b"), "`a\\|b`");
        assert_eq!(inline("`a``b"), "``` `a``b ```");
    }
}
