//! M. F. Porter's stemmer (*An algorithm for suffix stripping*, 1980) with NLTK's departures from it, because Python's
//! `rouge-score` stems with them.

/// The stem of a word of small ASCII letters and digits.
pub(super) fn stem(word: &str) -> String {
    if let Some((_, stem)) = IRREGULAR.iter().find(|(form, _)| *form == word) {
        return (*stem).to_owned();
    }
    if word.len() <= 2 {
        return word.to_owned();
    }
    let word = step_1a(word);
    let word = step_1b(word);
    let word = apply(word, &[("y", "i")], |stem| stem.len() > 1 && is_consonant(stem, stem.len() - 1));
    let word = step_2(word);
    let word = apply(word, STEP_3, |stem| measure(stem) > 0);
    let word = step_4(word);
    step_5(word)
}

const IRREGULAR: &[(&str, &str)] = &[
    ("sky", "sky"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
    ("succeed", "succeed"),
];

fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u')
}

/// A consonant is a letter that is no vowel, and a `y` that follows none.
fn consonants(word: &str) -> Vec<bool> {
    let mut flags: Vec<bool> = Vec::with_capacity(word.len());
    for letter in word.bytes() {
        let flag = match letter {
            b'y' => flags.last().is_none_or(|before| !before),
            letter => !is_vowel(letter),
        };
        flags.push(flag);
    }
    flags
}

fn is_consonant(word: &str, at: usize) -> bool {
    consonants(word)[at]
}

/// How often a consonant follows a vowel.
fn measure(stem: &str) -> usize {
    consonants(stem).windows(2).filter(|pair| !pair[0] && pair[1]).count()
}

fn ends_with_double_consonant(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 2 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] && is_consonant(word, bytes.len() - 1)
}

/// Consonant, vowel, consonant at the end, the last not `w`, `x` or `y`; NLTK adds words of vowel and consonant.
fn ends_like_hop(word: &str) -> bool {
    let flags = consonants(word);
    match flags[..] {
        [.., true, false, true] => !word.ends_with(['w', 'x', 'y']),
        [false, true] => true,
        _ => false,
    }
}

/// Replaces the first ending that fits, if what stands before it passes.
fn apply(word: String, rules: &[(&str, &str)], passes: impl Fn(&str) -> bool) -> String {
    for (ending, replacement) in rules {
        if let Some(stem) = word.strip_suffix(ending) {
            return if passes(stem) { format!("{stem}{replacement}") } else { word };
        }
    }
    word
}

fn step_1a(word: &str) -> String {
    if word.len() == 4 && word.ends_with("ies") {
        return word[..3].to_owned();
    }
    apply(word.to_owned(), &[("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")], |_| true)
}

fn step_1b(word: String) -> String {
    if let Some(stem) = word.strip_suffix("ied") {
        return format!("{stem}{}", if word.len() == 4 { "ie" } else { "i" });
    }
    if let Some(stem) = word.strip_suffix("eed") {
        return if measure(stem) > 0 { format!("{stem}ee") } else { word };
    }
    let has_vowel = |stem: &&str| consonants(stem).contains(&false);
    let stem = word.strip_suffix("ed").filter(has_vowel).or_else(|| word.strip_suffix("ing").filter(has_vowel));
    let Some(stem) = stem else { return word };
    if ["at", "bl", "iz"].iter().any(|ending| stem.ends_with(ending)) {
        return format!("{stem}e");
    }
    if ends_with_double_consonant(stem) {
        let kept = if stem.ends_with(['l', 's', 'z']) { stem.len() } else { stem.len() - 1 };
        return stem[..kept].to_owned();
    }
    if measure(stem) == 1 && ends_like_hop(stem) { format!("{stem}e") } else { stem.to_owned() }
}

fn step_2(mut word: String) -> String {
    while let Some(stem) = word.strip_suffix("alli").filter(|stem| measure(stem) > 0) {
        word = format!("{stem}al");
    }
    // Here NLTK measures the `l` as well.
    if !STEP_2.iter().any(|(ending, _)| word.ends_with(ending))
        && let Some(stem) = word.strip_suffix("logi")
    {
        return if measure(&word[..word.len() - 3]) > 0 { format!("{stem}log") } else { word };
    }
    apply(word, STEP_2, |stem| measure(stem) > 0)
}

const STEP_2: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
];

const STEP_3: &[(&str, &str)] =
    &[("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];

const STEP_4: &[&str] = &[
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
];

fn step_4(word: String) -> String {
    for ending in STEP_4 {
        if let Some(stem) = word.strip_suffix(ending) {
            let passes = measure(stem) > 1 && (*ending != "ion" || stem.ends_with(['s', 't']));
            return if passes { stem.to_owned() } else { word };
        }
    }
    word
}

fn step_5(word: String) -> String {
    let word = match word.strip_suffix('e') {
        Some(stem) if measure(stem) > 1 || (measure(stem) == 1 && !ends_like_hop(stem)) => stem.to_owned(),
        _ => word,
    };
    if word.ends_with("ll") && measure(&word[..word.len() - 1]) > 1 { word[..word.len() - 1].to_owned() } else { word }
}

#[cfg(test)]
mod tests {
    use super::stem;

    /// Recorded from NLTK 3.9.
    #[test]
    fn stems_are_those_of_nltk() {
        for line in include_str!("stems.txt").lines() {
            let (word, expected) = line.split_once(' ').unwrap();
            assert_eq!(stem(word), expected, "{word}");
        }
    }
}
