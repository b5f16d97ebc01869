//! What a page declares about its language, weighed against what its text looks like.

use whatlang::Script;

use super::{DETECTION_BYTES, Language, TAGS, head, is_english, sample};

/// Languages that the detector does not know and takes for a neighbour, with the script that they are written in.
pub(super) const UNDETECTED: &[(&str, Script)] = &[
    ("is", Script::Latin),
    ("sw", Script::Latin),
    ("xh", Script::Latin),
    ("fo", Script::Latin),
    ("ga", Script::Latin),
    ("gd", Script::Latin),
    ("gl", Script::Latin),
    ("eu", Script::Latin),
    ("ast", Script::Latin),
    ("oc", Script::Latin),
    ("br", Script::Latin),
    ("lb", Script::Latin),
    ("fy", Script::Latin),
    ("mt", Script::Latin),
    ("sq", Script::Latin),
    ("bs", Script::Latin),
    ("ms", Script::Latin),
    ("su", Script::Latin),
    ("ceb", Script::Latin),
    ("mg", Script::Latin),
    ("so", Script::Latin),
    ("ha", Script::Latin),
    ("yo", Script::Latin),
    ("ig", Script::Latin),
    ("rw", Script::Latin),
    ("st", Script::Latin),
    ("tn", Script::Latin),
    ("ny", Script::Latin),
    ("ht", Script::Latin),
    ("mi", Script::Latin),
    ("haw", Script::Latin),
    ("sm", Script::Latin),
    ("ku", Script::Latin),
    ("kk", Script::Cyrillic),
    ("ky", Script::Cyrillic),
    ("mn", Script::Cyrillic),
    ("tg", Script::Cyrillic),
    ("tt", Script::Cyrillic),
    ("ba", Script::Cyrillic),
    ("ckb", Script::Arabic),
    ("ps", Script::Arabic),
    ("sd", Script::Arabic),
    ("ug", Script::Arabic),
    ("sa", Script::Devanagari),
    ("as", Script::Bengali),
    ("ti", Script::Ethiopic),
];

/// Fewer bytes of text say little by themselves.
const SHORT_BYTES: usize = 200;

impl Language {
    /// The language of a page's main text. What the page declares decides where the text cannot: where it is short,
    /// where the detector hesitates, and for languages that the detector does not know.
    pub(crate) fn of_page(text: &str, declared: Option<&str>) -> Option<Language> {
        let found = Language::of(text);
        let Some((found, declared)) = found.zip(declared.and_then(Language::from_tag)) else { return found };
        let by_characters = found.is_chinese() || found == Language::JAPANESE;
        if found == declared || by_characters || is_english(&sample(text)) {
            return Some(found);
        }
        let Some(seen) = whatlang::detect(head(text.trim_start(), DETECTION_BYTES)) else { return Some(found) };
        let undetected = UNDETECTED.iter().find(|(tag, _)| *tag == declared.tag());
        let fits = match undetected {
            Some((_, script)) => *script == seen.script(),
            None => TAGS.iter().any(|(lang, tag)| *tag == declared.tag() && seen.script().langs().contains(lang)),
        };
        let unsure = text.len() < SHORT_BYTES || !seen.is_reliable();
        Some(if fits && (unsure || undetected.is_some()) { declared } else { found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, declared: Option<&str>, expected: &str) {
        assert_eq!(Language::of_page(text, declared).map(Language::tag), Some(expected), "{text}");
    }

    const ICELANDIC: &str = "Það rigndi allan daginn í bænum og enginn fór út fyrr en það var orðið dimmt. Áin náði upp að \
        brúnni og markaðurinn var lokaður í fyrsta sinn í mörg ár, en um kvöldið stytti upp og fólkið kom aftur út á götu.";
    const SWAHILI: &str = "Mvua ilinyesha siku nzima mjini, na hakuna mtu aliyetoka nje hadi giza lilipoingia. Mto ulifika \
        darajani na soko lilifungwa kwa mara ya kwanza kwa miaka mingi, lakini jioni mvua ilikatika na watu wakatoka tena.";

    #[test]
    fn languages_unknown_to_the_detector_are_believed() {
        check(ICELANDIC, Some("is"), "is");
        check(SWAHILI, Some("sw-KE"), "sw");
    }

    #[test]
    fn a_wrong_declaration_is_not_believed() {
        let english = "It rained all day in the town, and nobody went out until it was dark. The river rose to the bridge \
            and the market was closed for the first time in many years, but in the evening the rain stopped and the people \
            came back to the streets of the town with their children.";
        check(english, Some("is"), "en");
        check(english, Some("de"), "en");
        check(
            "Весь день в городе шёл дождь, и никто не выходил из дома, пока не стемнело. Река поднялась до моста, и рынок впервые за много лет был закрыт, но вечером дождь кончился, и люди снова вышли на улицы города.",
            Some("is"),
            "ru",
        );
        check("采用修正的参数建立了飞行器姿态控制系统的数学模型", Some("en"), "zh-Hans");
    }

    #[test]
    fn short_texts_are_in_the_declared_language() {
        check("Domů Kontakt Produkty", Some("cs"), "cs");
        check("Hem Kontakt", Some("sv-SE"), "sv");
    }
}
