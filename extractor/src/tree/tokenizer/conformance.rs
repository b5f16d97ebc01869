//! The tokenizer against our own cases, and against the tokenizer cases that browsers are tested with.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Range, TagToken, Token, Tokenizer, lower_case, tag_name_length};
use crate::tree::doctype::Doctype;
use crate::tree::entities::{DecodeOptions, Nul, References, decode};
use crate::tree::tag::Tag;

#[path = "../../../tests/shared/mod.rs"]
mod shared;

const INSTRUCTION: &str =
    "processing instruction: this suite still calls it a comment, the newer one for trees does not";
const NOT_ACCEPTED: &str = "not accepted";

/// Why a case may come out differently, and how many do.
fn accepted() -> BTreeMap<&'static str, usize> {
    BTreeMap::from([(INSTRUCTION, 9)])
}

#[test]
fn tokens_are_those_of_browsers() {
    let Some(cases) = shared::cases("html_tokenizer") else { return };
    assert_eq!(misses("html_tokenizer", &cases), accepted());
}

#[test]
fn tokens_are_those_worked_out_by_the_standard() {
    let cases = shared::own_cases("tokens");
    assert_eq!(misses("tokens", &cases), BTreeMap::new());
}

/// How many cases come out differently, by kind.
fn misses(suite: &str, cases: &[Value]) -> BTreeMap<&'static str, usize> {
    let mut misses: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut n_cases = 0;
    let mut passed = 0;
    for case in cases {
        let default = [json!("Data state")];
        let states = case["initialStates"].as_array().map_or(&default[..], Vec::as_slice);
        for state in states.iter().filter_map(Value::as_str) {
            n_cases += 1;
            let unescape = case["doubleEscaped"] == true;
            let source = text_of(&case["input"], unescape);
            let found = tokens(&source, state, case["lastStartTag"].as_str());
            let expected = expected(&case["output"], unescape);
            if found == expected {
                passed += 1;
                continue;
            }
            let kind = if source.contains("<?") { INSTRUCTION } else { NOT_ACCEPTED };
            if kind == NOT_ACCEPTED {
                println!(
                    "{} {state} {}\n  {source:?}\n  expected {expected:?}\n  found    {found:?}",
                    case["id"], case["description"]
                );
            }
            *misses.entry(kind).or_default() += 1;
        }
    }
    println!("{suite}: {passed} of {n_cases} passed ({} cases, some from several states)", cases.len());
    for (kind, count) in &misses {
        println!("  {count:4} {kind}");
    }
    misses
}

/// The tokens of the source as the suite writes them. NUL in text is dropped, as the tree builder does.
fn tokens(source: &str, state: &str, last_start_tag: Option<&str>) -> Vec<Value> {
    let mut tokenizer = Tokenizer::new(source);
    let mut found = Vec::new();
    let last = Tag::of(last_start_tag.unwrap_or_default());
    match state {
        "Data state" => {}
        "PLAINTEXT state" => {
            let range = tokenizer.rest();
            push_text(&mut found, source, range, References::Kept, Nul::Replaced);
        }
        "CDATA section state" => {
            let end = memchr::memmem::find(source.as_bytes(), b"]]>");
            push_text(&mut found, source, Range::new(0, end.unwrap_or(source.len())), References::Kept, Nul::Dropped);
            tokenizer.position = end.map_or(source.len(), |end| end + 3);
        }
        _ => {
            let tag = match state {
                _ if last != Tag::Unknown => last,
                "Script data state" => Tag::Script,
                _ => Tag::Xmp,
            };
            let range = tokenizer.raw_text(tag);
            let references = if state == "RCDATA state" { References::Text } else { References::Kept };
            push_text(&mut found, source, range, references, Nul::Replaced);
            if (range.end as usize) < source.len() && source.ends_with('>') | (tokenizer.position < source.len()) {
                found.push(json!(["EndTag", tag.name()]));
            }
        }
    }
    loop {
        match tokenizer.next(false) {
            Token::Text(range) => push_text(&mut found, source, range, References::Text, Nul::Dropped),
            Token::Cdata(range) => push_text(&mut found, source, range, References::Kept, Nul::Dropped),
            Token::Start(token) => {
                let mut start = json!(["StartTag", name(source, &token, 1), attributes(&tokenizer, &token)]);
                if token.self_closing {
                    start.as_array_mut().expect("an array").push(json!(true));
                }
                found.push(start);
            }
            Token::End(token) => found.push(json!(["EndTag", name(source, &token, 2)])),
            Token::Comment(range) => found.push(json!(["Comment", plain(range.of(source))])),
            Token::Instruction(range) => found.push(instruction(&plain(range.of(source)))),
            Token::Doctype(range) => {
                let doctype = Doctype::read(source, range);
                let name = (!doctype.name.is_empty()).then_some(doctype.name);
                found.push(json!(["DOCTYPE", name, doctype.public, doctype.system, !doctype.force_quirks]));
            }
            Token::Eof => return found,
        }
    }
}

fn instruction(text: &str) -> Value {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name_end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let data = text[name_end..].trim_start_matches([' ', '\t', '\n', '\x0C']);
    json!(["ProcessingInstruction", &text[..name_end], data])
}

fn push_text(found: &mut Vec<Value>, source: &str, range: Range, references: References, nul: Nul) {
    let text = decode(range.of(source), DecodeOptions { references, nul });
    if text.is_empty() {
        return;
    }
    if let Some(last) = found.last_mut()
        && last[0] == "Character"
    {
        let together = format!("{}{text}", last[1].as_str().expect("text"));
        last[1] = json!(together);
        return;
    }
    found.push(json!(["Character", text]));
}

fn plain(raw: &str) -> String {
    decode(raw, DecodeOptions { references: References::Kept, nul: Nul::Replaced }).into_owned()
}

fn name(source: &str, token: &TagToken, skipped: usize) -> String {
    let rest = &source[token.start as usize + skipped..];
    lower_case(&rest[..tag_name_length(rest.as_bytes())]).into_owned()
}

fn attributes(tokenizer: &Tokenizer<'_>, token: &TagToken) -> Value {
    let mut map = serde_json::Map::new();
    let source = tokenizer.source;
    for span in &tokenizer.attributes[token.first_attribute as usize..][..token.n_attributes as usize] {
        let name = lower_case(&source[span.name_start as usize..span.name_end as usize]).into_owned();
        let reading = DecodeOptions { references: References::Attribute, nul: Nul::Replaced };
        let value = decode(&source[span.value_start as usize..span.value_end as usize], reading);
        map.entry(name).or_insert_with(|| json!(value));
    }
    Value::Object(map)
}

/// What the suite expects, with NUL taken out of text, in our order of attributes.
fn expected(output: &Value, unescape: bool) -> Vec<Value> {
    let mut tokens: Vec<Value> = Vec::new();
    for token in output.as_array().expect("a list of tokens") {
        let mut token = token.clone();
        for part in token.as_array_mut().expect("a token").iter_mut() {
            if part.is_string() {
                *part = json!(text_of(part, unescape));
            } else if let Some(map) = part.as_object() {
                *part = map.iter().map(|(k, v)| (text_of(&json!(k), unescape), json!(text_of(v, unescape)))).collect();
            }
        }
        if token[0] == "Character" {
            token[1] = json!(token[1].as_str().expect("text").replace('\0', ""));
            if token[1] == "" {
                continue;
            }
        }
        tokens.push(token);
    }
    tokens
}

fn text_of(value: &Value, unescape: bool) -> String {
    let text = value.as_str().unwrap_or_default();
    if !unescape {
        return text.to_owned();
    }
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\u") {
        plain.push_str(&rest[..at]);
        let code = u32::from_str_radix(&rest[at + 2..at + 6], 16).expect("four digits");
        plain.push(char::from_u32(code).unwrap_or('\u{FFFD}'));
        rest = &rest[at + 6..];
    }
    plain + rest
}
