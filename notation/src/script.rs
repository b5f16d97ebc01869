//! Writing systems of characters.

/// Whether a character is a Chinese one (Han), as Chinese and Japanese use them.
#[inline]
pub fn is_han(character: char) -> bool {
    matches!(character as u32, 0x3005 | 0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Whether a character is a Japanese syllable (hiragana, katakana, also of half width).
#[inline]
pub fn is_kana(character: char) -> bool {
    matches!(character as u32, 0x3040..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9F)
}

/// Whether words of this character's script are written without spaces between them, so that a character stands for a
/// word: Chinese, Japanese, Thai, Lao, Khmer, Burmese.
#[inline]
pub fn is_spaceless(character: char) -> bool {
    // Two comparisons decide for all letters of Europe and the Near East.
    let code = character as u32;
    if code < 0x0E00 {
        return false;
    }
    matches!(code, 0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3006)
        || is_han(character)
        || is_kana(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_told_apart_by_script() {
        for (characters, han, kana, spaceless) in [
            ("中々〇㐀豈𠀀", true, false, true),
            ("ひカーｶㇰ", false, true, true),
            ("〆ไລခក", false, false, true),
            ("aéжא한،。！", false, false, false),
        ] {
            for character in characters.chars() {
                let found = (is_han(character), is_kana(character), is_spaceless(character));
                assert_eq!(found, (han, kana, spaceless), "{character}");
            }
        }
    }
}
