//! What joins letters into words.

/// Whether a character joins its neighbours into a word: letters, digits, and the marks on them.
pub(crate) fn is_word_part(character: char) -> bool {
    character.is_alphanumeric() || is_mark(character)
}

/// Marks that hang on letters: combining diacritics, vowel signs of the Indic and Arabic scripts.
fn is_mark(character: char) -> bool {
    matches!(character as u32,
        0x0300..=0x036F | 0x0483..=0x0489 | 0x0591..=0x05BD | 0x0610..=0x061A | 0x064B..=0x065F | 0x0670
        | 0x06D6..=0x06DC | 0x0900..=0x0903 | 0x093A..=0x094F | 0x0980..=0x0983 | 0x09BC..=0x09CD
        | 0x0A00..=0x0D4D | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x200D | 0x20D0..=0x20FF)
        && !character.is_numeric()
}
