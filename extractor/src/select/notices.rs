//! Pleas that are no content: to turn scripts on, to use a newer browser, to accept cookies.

use crate::blocks::lexicon::hash;
use crate::blocks::{Block, Page};

/// One kind of plea: words without which there is none, phrases that make it one, and how long it may be.
struct Subject {
    words: &'static [&'static str],
    phrases: &'static [&'static str],
    max_words: u32,
}

const SUBJECTS: [Subject; 3] = [
    Subject {
        words: &["javascript"],
        phrases: &[
            "enable javascript",
            "javascript is disabled",
            "javascript disabled",
            "javascript is not enabled",
            "javascript enabled",
            "javascript to be enabled",
            "javascript must be enabled",
            "requires javascript",
            "javascript is required",
            "need javascript",
            "turn on javascript",
            "activate javascript",
            "javascript is currently disabled",
            "javascript is turned off",
            "javascript aktivieren",
            "aktivieren sie javascript",
            "javascript ist deaktiviert",
            "activer javascript",
            "activez javascript",
            "habilite o javascript",
            "habilitar javascript",
            "habilita javascript",
            "activar javascript",
            "active javascript",
            "abilita javascript",
            "abilitare javascript",
            "włącz javascript",
            "включите javascript",
            "启用javascript",
            "启用 javascript",
            "開啟javascript",
            "javascriptを有効",
        ],
        max_words: 40,
    },
    Subject {
        words: &["browser", "browsers", "navigateur", "navegador"],
        phrases: &[
            "browser is out of date",
            "browser is outdated",
            "outdated browser",
            "browser is not supported",
            "browser isn't supported",
            "browser isn’t supported",
            "unsupported browser",
            "browser is no longer supported",
            "upgrade your browser",
            "update your browser",
            "browser not supported",
            "browser you are using is not",
            "switch to a supported browser",
            "use a modern browser",
            "use a newer browser",
            "browser ist veraltet",
            "veralteten browser",
            "browser wird nicht unterstützt",
            "navigateur n'est pas",
            "navigateur n’est pas",
            "navegador não é",
            "navegador no es compatible",
            "actualice su navegador",
            "atualize seu navegador",
            "browser non è supportato",
        ],
        max_words: 40,
    },
    Subject {
        words: &["cookie", "cookies"],
        phrases: &[
            "we use cookies",
            "uses cookies",
            "we and our partners use cookies",
            "our use of cookies",
            "the use of cookies",
            "accept cookies",
            "accept all cookies",
            "reject all cookies",
            "cookie settings",
            "cookie preferences",
            "manage cookies",
            "cookies to improve",
            "cookies to ensure",
            "cookies to give you",
            "cookies and similar technologies",
            "cookies and other technologies",
            "wir verwenden cookies",
            "verwendet cookies",
            "nutzt cookies",
            "wir nutzen cookies",
            "utilise des cookies",
            "utilisons des cookies",
            "utilizamos cookies",
            "utiliza cookies",
            "usamos cookies",
            "utilizza cookie",
            "utilizziamo i cookie",
            "maakt gebruik van cookies",
            "wij gebruiken cookies",
            "używamy plików cookie",
            "vi använder cookies",
        ],
        max_words: 90,
    },
];

/// A page that speaks of the subject in as many other blocks is about it, and its pleas are examples.
const MIN_OTHER_BLOCKS: usize = 2;

/// Drops the pleas among the kept blocks, except on a page that is about their subject.
pub(super) fn drop_notices(page: &Page<'_>, kept: &mut [bool]) {
    for subject in &SUBJECTS {
        let hashes: Vec<u32> = subject.words.iter().map(|word| hash(word)).collect();
        // Most pages have none of the words: all are compared, which is many at a time, and no loop that may end early.
        let has = |hash: &u32| page.words.iter().fold(false, |found, word| found | (word == hash));
        if hashes.iter().any(has) {
            drop_notices_of(page, subject, &hashes, kept);
        }
    }
}

fn drop_notices_of(page: &Page<'_>, subject: &Subject, hashes: &[u32], kept: &mut [bool]) {
    let mut notices = Vec::new();
    let mut n_others = 0;
    for (index, block) in page.blocks.iter().enumerate().filter(|(index, _)| kept[*index]) {
        if !page.block_words(block).iter().any(|word| hashes.contains(word)) {
            continue;
        }
        if block.heading == 0 && is_notice(page, block, subject) {
            notices.push(index);
        } else {
            n_others += if block.heading > 0 { MIN_OTHER_BLOCKS } else { 1 };
        }
    }
    if n_others < MIN_OTHER_BLOCKS {
        for index in notices {
            kept[index] = false;
        }
    }
}

fn is_notice(page: &Page<'_>, block: &Block, subject: &Subject) -> bool {
    if block.n_words() > subject.max_words {
        return false;
    }
    let text = page.block_text(block).to_lowercase();
    subject.phrases.iter().any(|phrase| text.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[track_caller]
    fn check(html: &str, expected: &[bool]) {
        let page = Page::read(Tree::parse(html));
        let mut kept = vec![true; page.blocks.len()];
        drop_notices(&page, &mut kept);
        assert_eq!(kept, expected, "{html}");
    }

    #[test]
    fn pleas_are_dropped() {
        check("<p>The town flooded.<p>Please enable JavaScript to view the comments.", &[true, false]);
        check("<p>Your browser is out of date. Please upgrade your browser.<p>Rain.", &[false, true]);
        check("<p>We use cookies to improve your experience. <p>Rain.", &[false, true]);
        check("<p>Wir verwenden Cookies.<p>Regen.", &[false, true]);
    }

    #[test]
    fn a_page_about_the_subject_keeps_them() {
        check("<h1>How to enable JavaScript in a browser</h1><p>Say: please enable JavaScript.", &[true, true]);
        check("<h1>JavaScript for all</h1><p>Some pages ask you to enable JavaScript.", &[true, true]);
        let policy = "<p>We use cookies.<p>A cookie is a file.<p>Cookies of others are set by others.";
        check(policy, &[true, true, true]);
        check("<p>Bake the cookies for ten minutes.<p>Eat a cookie.", &[true, true]);
    }
}
