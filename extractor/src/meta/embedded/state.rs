//! The state that frameworks leave in the scripts of a page: Next, Nuxt, Apollo, React Query and their like.

use memchr::memmem;
use serde_json::Value;

use super::MAX_BYTES;
use crate::tree::{Tag, Tree};

/// What a script assigns its state to. All begin with two low lines.
const NAMES: [&str; 10] = [
    "__NEXT_DATA__",
    "__NUXT__",
    "__NUXT_DATA__",
    "__APOLLO_STATE__",
    "__REACT_QUERY_STATE__",
    "__REACT_QUERY_INITIAL_QUERIES__",
    "__INITIAL_STATE__",
    "__PRELOADED_STATE__",
    "__INITIAL_DATA__",
    "__remixContext",
];

/// What a script of Next's app router calls with a part of its stream.
const FLIGHT: &str = "__next_f.push(";

/// The data of the scripts that are wanted, in their order: JSON as it is, the strings of other state.
pub(super) fn of(tree: &Tree<'_>, is_wanted: impl Fn(&str) -> bool) -> Vec<Value> {
    let mut values = Vec::new();
    let mut flight = String::new();
    let mut n_bytes = 0;
    for node in tree.nodes().filter(|node| tree.tag(*node) == Tag::Script) {
        let kind = tree.attribute(node, "type").map(|kind| kind.to_ascii_lowercase());
        let is_kind = |wanted: &str| kind.as_ref().is_some_and(|kind| kind.contains(wanted));
        if is_kind("ld+json") {
            continue;
        }
        let script = tree.script_text(node);
        n_bytes += script.len();
        if n_bytes > MAX_BYTES {
            break;
        }
        if is_kind("json") {
            values.extend(Some(&*script).filter(|script| is_wanted(script)).and_then(parse));
        } else if let Some((name, rest)) = named(&script) {
            if name == FLIGHT {
                strings(rest).for_each(|part| flight.push_str(&part));
            } else if is_wanted(rest) {
                values.extend(assigned(rest));
            }
        }
    }
    if is_wanted(&flight) {
        values.extend(flight_rows(&flight));
    }
    values
}

/// The first name of a state in a script, and what stands behind it.
fn named(script: &str) -> Option<(&'static str, &str)> {
    memmem::find_iter(script.as_bytes(), "__").find_map(|at| {
        // Programs that were made smaller are full of low lines.
        if !matches!(script.as_bytes().get(at + 2), Some(b'N' | b'A' | b'R' | b'I' | b'P' | b'r' | b'n')) {
            return None;
        }
        let here = script.get(at..)?;
        let name = NAMES.into_iter().chain([FLIGHT]).find(|name| here.starts_with(name))?;
        Some((name, &here[name.len()..]))
    })
}

fn parse(json: &str) -> Option<Value> {
    serde_json::from_str(json.trim()).ok()
}

/// The value that is assigned: JSON, whatever stands behind it, else the strings of a program.
fn assigned(script: &str) -> Vec<Value> {
    let value = script.trim_start_matches(['"', '\'', ']', ' ', '=', '\n', '\t']);
    if value.starts_with(['{', '['])
        && let Some(Ok(value)) = serde_json::Deserializer::from_str(value).into_iter::<Value>().next()
    {
        return vec![value];
    }
    // What is handed to `JSON.parse` is a string that holds JSON.
    let nested = |text: String| {
        let json = text.starts_with(['{', '[']).then(|| parse(&text)).flatten();
        json.unwrap_or(Value::String(text))
    };
    strings(script).map(nested).collect()
}

/// The string literals of a script, unescaped.
fn strings(script: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = script;
    std::iter::from_fn(move || {
        let at = memchr::memchr2(b'"', b'\'', rest.as_bytes())?;
        let (text, length) = unescape(&rest[at..]);
        rest = &rest[at + length..];
        Some(text)
    })
}

/// The text of the literal that a script begins with, and its length with both quotes.
fn unescape(literal: &str) -> (String, usize) {
    let quote = literal.as_bytes()[0];
    let mut text = String::new();
    let mut at = 1;
    while let Some(found) = memchr::memchr2(quote, b'\\', &literal.as_bytes()[at..]) {
        text.push_str(&literal[at..at + found]);
        at += found;
        if literal.as_bytes()[at] == quote {
            return (text, at + 1);
        }
        at += 1 + push_escape(&literal[at + 1..], &mut text);
    }
    // A literal that nobody closed is none.
    (String::new(), literal.len())
}

/// Adds what an escape stands for, and says how many bytes there are of it behind the backslash.
fn push_escape(escape: &str, text: &mut String) -> usize {
    let hex = |digits: std::ops::Range<usize>| u32::from_str_radix(escape.get(digits)?, 16).ok();
    let Some(sign) = escape.chars().next() else { return 0 };
    let (character, length) = match sign {
        'n' => ('\n', 1),
        't' | 'r' | 'b' | 'f' | 'v' => (' ', 1),
        'x' => (hex(1..3).and_then(char::from_u32).unwrap_or(' '), if hex(1..3).is_some() { 3 } else { 1 }),
        'u' => match (hex(1..5), hex(7..11)) {
            (Some(high @ 0xD800..0xDC00), Some(low @ 0xDC00..0xE000)) if escape.get(5..7) == Some("\\u") => {
                (char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)).unwrap_or(' '), 11)
            }
            (Some(code), _) => (char::from_u32(code).unwrap_or(' '), 5),
            (None, _) => (' ', 1),
        },
        other => (other, other.len_utf8()),
    };
    text.push(character);
    length
}

/// The rows of the stream of Next's app router: `1a:JSON`, or `1b:T` with the number of bytes of a text.
fn flight_rows(stream: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut rest = stream;
    while let Some((_, row)) = rest.split_once(':') {
        let text = row.strip_prefix('T').and_then(|row| row.split_once(','));
        let text = text.and_then(|(length, text)| text.split_at_checked(usize::from_str_radix(length, 16).ok()?));
        if let Some((text, after)) = text {
            values.push(Value::String(text.to_owned()));
            rest = after;
            continue;
        }
        let (row, after) = row.split_once('\n').unwrap_or((row, ""));
        values.extend(parse(row).map(|value| Value::Array(element_texts(&value))));
        rest = after;
    }
    values
}

/// The texts of a row: of elements the text of each block, of anything else its strings.
fn element_texts(value: &Value) -> Vec<Value> {
    let mut texts = Texts::default();
    texts.read(value);
    texts.end_line();
    texts.all
}

#[derive(Default)]
struct Texts {
    all: Vec<Value>,
    line: String,
}

impl Texts {
    /// Recursion is bounded by the depth limit of the JSON parser.
    fn read(&mut self, value: &Value) {
        match value {
            // `$L1` and `$undefined` are references.
            Value::String(text) if text.starts_with('$') => {}
            Value::String(text) => self.line.push_str(text),
            Value::Array(items) if items.first().is_some_and(|first| first == "$") => {
                let is_inline = items.get(1).and_then(Value::as_str).is_some_and(is_inline);
                if !is_inline {
                    self.end_line();
                }
                let properties = items.get(3).unwrap_or(&Value::Null);
                match properties.get("children") {
                    Some(children) => self.read(children),
                    None => self.read_properties(properties),
                }
                if !is_inline {
                    self.end_line();
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.read(item)),
            other => self.read_properties(other),
        }
    }

    /// Strings of properties are texts of their own.
    fn read_properties(&mut self, value: &Value) {
        for value in value.as_object().into_iter().flat_map(|fields| fields.values()) {
            self.end_line();
            self.read(value);
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.all.push(Value::String(std::mem::take(&mut self.line)));
        }
    }
}

fn is_inline(tag: &str) -> bool {
    [
        "a", "b", "i", "em", "strong", "span", "code", "abbr", "cite", "mark", "q", "s", "small", "sub", "sup", "time",
        "u",
    ]
    .contains(&tag)
}
