//! Words that end in a full stop without ending a sentence.

/// No abbreviation in the lists has more characters.
pub(super) const LONGEST: usize = 12;

/// The most letters of an abbreviation that is written in ASCII without full stops.
const MAX_ASCII_LETTERS: usize = 6;

/// Stand before a name or a number: what follows belongs to them, whatever its case.
const BEFORE_NAMES: &[&str] = &[
    // English
    "mr", "mrs", "ms", "messrs", "dr", "prof", "st", "mt", "ft", "gen", "sen", "rep", "reps", "gov", "col", "capt",
    "cmdr", "lt", "sgt", "maj", "cpl", "adm", "hon", "rev", "pres", "supt", "det", "insp", "vs", "viz", "e.g", "i.e",
    "cf", "fig", "figs", "eq", "eqs", "sec", "ch", "ref", "refs", "approx", "ca", "al",
    // Portuguese, Spanish, Catalan, Italian
    "sr", "sra", "srs", "sras", "srta", "dra", "drs", "dras", "profa", "exmo", "exma", "ilmo", "eng", "engº", "arq",
    "av", "pe", "art", "arts", "pág", "págs", "pag", "pags", "cap", "séc", "fl", "fls", "inc", "ud", "uds", "vd",
    "lic", "gral", "sto", "sta", "sig", "sigg", "dott", "avv", "ing", "on", "mons", "nº", "núm", "num", "tel", "cel",
    "v.exa", "p.ex", "ex", "ob.cit", "op.cit", // French
    "mm", "mme", "mmes", "mlle", "mlles", "me", "ste", // German, Dutch
    "hr", "fr", "frl", "nr", "str", "bd", "abs", "z.b", "d.h", "u.a", "bzw", "vgl", "sog", "geb", "evtl", "ggf",
    "inkl", "mio", "mrd", "dhr", "mevr", "mw", "ir", "bijv", "blz", "o.a", "d.w.z", "resp",
    // Scandinavian, Polish, Czech, Russian
    "t.ex", "f.eks", "bl.a", "kl", "m.fl", "np", "tzw", "ul", "prof", "inż", "mgr", "např", "tzv", "ул", "им", "т.е",
    "т.д", "г-н",
];

/// Mean a number only where one follows.
const BEFORE_NUMBERS: &[&str] = &[
    "no", "nos", "nr", "vol", "vols", "p", "pp", "pt", "pts", "sect", "par", "art", "n", "jan", "feb", "mar", "apr",
    "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "fev", "abr", "ago", "set", "out", "dez", "ene", "dic",
    "janv", "févr", "juil", "déc", "okt", "dez",
];

/// May stand at the end of a sentence as well: what follows decides.
const EITHER: &[&str] = &[
    "inc", "ltd", "co", "corp", "bros", "jr", "sr", "etc", "ltda", "cia", "s.a", "usw", "enz", "a.m", "p.m", "u.s",
    "u.k", "u.n", "e.u", "u.s.a", "d.c", "b.c", "a.d", "ph.d", "ee.uu", "est", "dept", "univ", "assn",
];

/// Words that begin sentences and seldom names, in the languages above.
const STARTERS: &[&str] = &[
    "the", "a", "an", "it", "its", "he", "she", "they", "we", "i", "in", "on", "at", "but", "and", "this", "that",
    "these", "those", "there", "his", "her", "their", "our", "if", "when", "while", "after", "before", "as", "for",
    "with", "by", "to", "from", "however", "you", "what", "one", "some", "o", "os", "as", "um", "uma", "ele", "ela",
    "eles", "em", "no", "na", "nos", "mas", "para", "por", "com", "se", "não", "é", "el", "la", "los", "las", "un",
    "una", "en", "pero", "le", "les", "il", "elle", "ils", "des", "une", "der", "die", "das", "er", "sie", "es", "ein",
    "eine", "und", "de", "het", "een", "ook",
];

/// Whether `word`, which a full stop and space follow, is an abbreviation that goes on with `next`.
pub(super) fn is_abbreviation(word: &str, next: &str) -> bool {
    if word.chars().count() > LONGEST {
        return false;
    }
    let mut letters = word.chars().filter(|c| c.is_alphabetic());
    let (first, second) = (letters.next(), letters.next());
    // The initial of a name, but not the English word.
    if let (Some(initial), None) = (first, second)
        && initial.is_uppercase()
        && word.chars().count() == 1
    {
        return initial != 'I' || !starts_with_starter(next);
    }
    if word.len() > MAX_ASCII_LETTERS && word.is_ascii() && !word.contains('.') {
        return false;
    }
    let lower = word.to_lowercase();
    let before_number = next.starts_with(|c: char| c.is_numeric());
    if BEFORE_NUMBERS.contains(&lower.as_str()) {
        return before_number;
    }
    // `U.S.`, `J.R.R.` and the like: letters and full stops in turn.
    let dotted = word.contains('.') && word.split('.').all(|part| part.chars().count() <= 2);
    if EITHER.contains(&lower.as_str()) || (dotted && !BEFORE_NAMES.contains(&lower.as_str())) {
        return !starts_with_starter(next) && !next.is_empty();
    }
    BEFORE_NAMES.contains(&lower.as_str())
}

fn starts_with_starter(next: &str) -> bool {
    let word: String = next.chars().take_while(|c| c.is_alphabetic()).take(LONGEST).collect();
    STARTERS.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_hold() {
        for known in [BEFORE_NAMES, BEFORE_NUMBERS, EITHER].concat() {
            assert!(known.chars().count() <= LONGEST, "{known}");
            assert!(known.len() <= MAX_ASCII_LETTERS || !known.is_ascii() || known.contains('.'), "{known}");
        }
    }
}
