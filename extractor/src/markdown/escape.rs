//! Characters that Markdown would read as markup are escaped, and no others: `2 * 3` and `snake_case` stay as they are.

/// What stands around a piece of text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    /// The text begins a line.
    pub line_start: bool,
    /// The text is that of a link or an image, where brackets end it.
    pub in_link: bool,
    /// The text stands in a cell of a table, which a pipe ends.
    pub in_table: bool,
    /// The character before it, a space at the start of a line; nothing where markup is.
    pub before: Option<char>,
    /// The character after it, a space at the end of a line; nothing where markup is.
    pub after: Option<char>,
}

/// Adds text so that Markdown reads it as it is.
pub(super) fn push_escaped(text: &str, context: Context, out: &mut String) {
    let mut written = 0;
    if context.line_start
        && let Some(at) = line_start_markup(text)
    {
        out.push_str(&text[..at]);
        out.push('\\');
        // The character itself is ASCII; it is not escaped twice.
        out.push_str(&text[at..at + 1]);
        written = at + 1;
    }
    let mut at = written;
    while let Some(offset) = text.as_bytes()[at..].iter().position(|byte| SPECIAL[usize::from(*byte)]) {
        at += offset;
        let before = text[..at].chars().next_back().or(context.before);
        if is_markup(&text[at..], before, context) {
            out.push_str(&text[written..at]);
            out.push('\\');
            written = at;
        }
        at += 1;
    }
    out.push_str(&text[written..]);
}

/// The bytes that may be markup anywhere in a line.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let bytes = b"\\`*_[]<&~|!";
    let mut index = 0;
    while index < bytes.len() {
        special[bytes[index] as usize] = true;
        index += 1;
    }
    special
};

/// Whether the first character of `rest` would be read as markup.
fn is_markup(rest: &str, before: Option<char>, context: Context) -> bool {
    let mut characters = rest.chars();
    let character = characters.next();
    let after = characters.next().or(context.after);
    let is_space = |neighbour: Option<char>| neighbour.is_some_and(char::is_whitespace);
    let is_word = |neighbour: Option<char>| neighbour.is_some_and(char::is_alphanumeric);
    match character {
        Some('`') => true,
        Some('\\') => after.is_none_or(|after| after.is_ascii_punctuation()),
        Some('*') => !(is_space(before) && is_space(after)),
        Some('_') => !((is_space(before) && is_space(after)) || (is_word(before) && is_word(after))),
        // A tilde after a space begins a deletion that no unescaped one ends.
        Some('~') => matches!(after, None | Some('~')) || !is_space(before),
        Some('[') => context.in_link,
        Some(']') => context.in_link || matches!(after, None | Some('(')),
        Some('!') => after.is_none(),
        Some('<') => after.is_none_or(|after| after.is_ascii_alphabetic() || matches!(after, '/' | '!' | '?')),
        Some('&') => is_reference(&rest.as_bytes()[1..]),
        Some('|') => context.in_table,
        _ => false,
    }
}

/// Whether these bytes after `&` make a character reference.
pub(super) fn is_reference(bytes: &[u8]) -> bool {
    let length = bytes.iter().take(40).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'#').count();
    length > 0 && bytes.get(length) == Some(&b';')
}

/// The offset of a character that makes the line a heading, a quote, a list, a rule, a table or a definition.
fn line_start_markup(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let ends_word = |at: usize| bytes.get(at).is_none_or(u8::is_ascii_whitespace);
    let is_start = match bytes.first()? {
        b'#' => ends_word(bytes.iter().take_while(|byte| **byte == b'#').count()),
        b'>' | b'|' => true,
        b'+' | b'*' => ends_word(1),
        b'-' => ends_word(1) || matches!(bytes[1], b'-' | b':' | b'|'),
        b'=' => ends_word(1) || bytes[1] == b'=',
        b':' => ends_word(1) || bytes[1] == b'-',
        // The label of a definition may end in a later text, on a later line.
        b'[' => bytes.get(2) == Some(&b']') || text.contains("]:") || !text.contains(']'),
        b'0'..=b'9' => {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let is_number = digits <= 9 && matches!(bytes.get(digits), Some(b'.' | b')')) && ends_word(digits + 1);
            return is_number.then_some(digits);
        }
        _ => false,
    };
    is_start.then_some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut out = String::new();
        let line = Context { line_start: true, in_link: false, in_table: false, before: Some(' '), after: Some(' ') };
        push_escaped(text, line, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn only_what_would_be_markup_is_escaped() {
        check("a vector<int> and <b>not bold</b>", "a vector\\<int> and \\<b>not bold\\</b>");
        check("1. no list", "1\\. no list");
        check("1.5 is a number, 2 * 3 too", "1.5 is a number, 2 * 3 too");
        check("snake_case and __init__ and *x*", "snake_case and \\_\\_init\\_\\_ and \\*x\\*");
        check("# no heading", "\\# no heading");
        check("#hashtag", "#hashtag");
        check("- no list", "\\- no list");
        check("-5 degrees", "-5 degrees");
        check("see [1] and [a](b)", "see [1] and [a\\](b)");
        check("[x]: y", "\\[x]: y");
        check("[x", "\\[x");
        check("AT&T &amp; R&D;", "AT&T \\&amp; R\\&D;");
        check("~5 km, ~~no~~ a~b~", "~5 km, \\~\\~no\\~\\~ a\\~b\\~");
        check(r"C:\dir \* \\", r"C:\dir \\\* \\\");
        check("`x` | y", "\\`x\\` | y");
        check("=== ---", "\\=== ---");
    }
}
