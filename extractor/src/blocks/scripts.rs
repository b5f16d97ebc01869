//! Text above and below the line: powers, indices, ordinals and the marks of footnotes.

/// What is written around raised or lowered text, so that `2<sup>8</sup>` is not 28.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Nothing: `1st`, `word*`.
    None,
    /// A sign before it: `2^8`, `H_2O`.
    Sign(char),
    /// A sign before it and parentheses around: `2^(n+1)`.
    Group(char),
    /// Brackets around the number of a footnote.
    Note,
}

/// Longer raised or lowered text is small print.
const MAX_CHARACTERS: usize = 24;

const ORDINALS: [&str; 22] = [
    "st", "nd", "rd", "th", "er", "re", "ère", "e", "è", "ème", "eme", "nde", "o", "a", "os", "as", "º", "ª", "™", "®",
    "tm", "sm",
];

/// Words of three letters and more that take a power and no footnote.
const FUNCTIONS: [&str; 12] =
    ["sin", "cos", "tan", "cot", "sec", "csc", "log", "sinh", "cosh", "tanh", "arcsin", "mol"];

/// The mark of raised text behind the text so far. `is_reference` says that it links to a place of the page or is
/// called a footnote.
pub(crate) fn raised(text: &str, before: &str, is_reference: bool) -> Mark {
    let text = text.trim();
    let n_characters = text.chars().count();
    if text.is_empty() || n_characters > MAX_CHARACTERS || text.starts_with(['[', '(', '{']) {
        return Mark::None;
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b' '));
    let is_letter = n_characters == 1 && text.chars().all(char::is_alphabetic);
    if is_reference {
        return if is_number || n_characters <= 4 { Mark::Note } else { Mark::None };
    }
    if ORDINALS.contains(&text.to_lowercase().as_str()) && !is_power_base(before, text)
        || !text.chars().any(char::is_alphanumeric)
    {
        return Mark::None;
    }
    match before.chars().next_back() {
        None => return if is_number || is_letter { Mark::Note } else { Mark::None },
        Some(last) if last.is_whitespace() => return if is_number { Mark::Note } else { Mark::None },
        Some('.' | ',' | ';' | ':' | '!' | '?' | '"' | '”' | '’' | '»' | '…' | '。' | '，' | '」') if is_number =>
        {
            return Mark::Note;
        }
        _ => {}
    }
    let is_word = {
        let word = last_word(before);
        word.chars().count() >= 3
            && word.chars().all(char::is_alphabetic)
            && !FUNCTIONS.contains(&word.to_lowercase().as_str())
    };
    if is_number && n_characters <= 3 && is_word { Mark::Note } else { sign('^', text) }
}

/// The mark of lowered text behind the text so far.
pub(crate) fn lowered(text: &str, before: &str) -> Mark {
    let text = text.trim();
    let is_behind_text = before.chars().next_back().is_some_and(|last| !last.is_whitespace());
    if text.is_empty() || text.chars().count() > MAX_CHARACTERS || !is_behind_text {
        return Mark::None;
    }
    if text.chars().any(char::is_alphanumeric) { sign('_', text) } else { Mark::None }
}

fn sign(sign: char, text: &str) -> Mark {
    let inner = text.strip_prefix(['-', '−', '+', '–']).unwrap_or(text);
    let is_single = inner.chars().all(|character| character.is_alphanumeric() || matches!(character, '.' | ','));
    if is_single { Mark::Sign(sign) } else { Mark::Group(sign) }
}

/// Whether letters are a power and no ordinal: `xᵃ`, `2ᵉ`, but `1ᵉʳ`.
fn is_power_base(before: &str, text: &str) -> bool {
    let word = last_word(before);
    text.is_ascii()
        && text.len() <= 2
        && word.chars().count() == 1
        && word.chars().all(char::is_alphabetic)
        && !matches!(word, "M" | "n" | "N")
}

/// The letters and digits that a text ends with.
fn last_word(text: &str) -> &str {
    let start = text.char_indices().rev().take(MAX_CHARACTERS).take_while(|(_, character)| character.is_alphanumeric());
    start.last().map_or("", |(at, _)| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_ordinals_and_notes_are_told_apart() {
        for (before, text, mark) in [
            ("2", "8", Mark::Sign('^')),
            ("e", "x", Mark::Sign('^')),
            ("x", "n+1", Mark::Group('^')),
            ("10", "-6", Mark::Sign('^')),
            ("km", "2", Mark::Sign('^')),
            ("sin", "2", Mark::Sign('^')),
            ("the 21", "st", Mark::None),
            ("le 1", "er", Mark::None),
            ("a word", "1", Mark::Note),
            ("It ends.", "12", Mark::Note),
            ("", "3", Mark::Note),
            ("word", "*", Mark::None),
            ("word", "[4]", Mark::None),
            ("Pith", "TM", Mark::None),
        ] {
            assert_eq!(raised(text, before, false), mark, "{before}{text}");
        }
        assert_eq!(raised("2", "x", true), Mark::Note);
    }

    #[test]
    fn indices_are_marked() {
        assert_eq!(lowered("2", "H"), Mark::Sign('_'));
        assert_eq!(lowered("i+1", "a"), Mark::Group('_'));
        assert_eq!(lowered("small print below", ""), Mark::None);
    }
}
