//! The directives of `<meta name="robots">` and `X-Robots-Tag` that say something about use.

use crate::statement::{Signal, Source, Statement, clean};

/// The directives that are kept. Those that allow, and those about the looks of a search result, say nothing here.
const KEPT: [&str; 9] =
    ["noai", "noimageai", "noindex", "nofollow", "none", "noarchive", "nocache", "nosnippet", "unavailable_after"];

/// Directives with a value behind a colon, which is no name of a crawler then.
const WITH_VALUE: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// The kept directives of a list such as `noindex, noai`.
pub(crate) fn directives(list: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut keep = |directive: String| {
        if !found.contains(&directive) && found.len() <= KEPT.len() {
            found.push(directive);
        }
    };
    for part in list.split([',', ';']) {
        let part = part.trim();
        if let Some((name, value)) = part.split_once(':')
            && name.trim().eq_ignore_ascii_case("unavailable_after")
        {
            keep(format!("unavailable_after: {}", clean(value)));
            continue;
        }
        let words = part.split_ascii_whitespace().map(str::to_ascii_lowercase);
        words.filter(|word| KEPT.contains(&word.as_str())).for_each(&mut keep);
    }
    found
}

/// A statement of what a list of directives says; `None` where it says nothing about use.
pub(crate) fn statement(list: &str, source: Source, agent: &str) -> Option<Statement> {
    let found = directives(list);
    (!found.is_empty())
        .then(|| Statement { agent: agent.to_owned(), ..Statement::of_page(Signal::Robots, source, &found.join(", ")) })
}

/// An `X-Robots-Tag`, which may be addressed to one crawler: `otherbot: noindex`. `None` where it is not for `agent`.
pub(crate) fn robots_tag(value: &str, agent: &str) -> Option<Statement> {
    if let Some((name, rest)) = value.split_once(':') {
        let name = name.trim();
        let is_name = !name.contains([',', ';', ' ']) && !WITH_VALUE.iter().any(|kept| name.eq_ignore_ascii_case(kept));
        if is_name {
            return if name.eq_ignore_ascii_case(agent) {
                statement(rest, Source::Header, agent)
            } else if name == "*" {
                statement(rest, Source::Header, "*")
            } else {
                None
            };
        }
    }
    statement(value, Source::Header, "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_in_any_case_and_with_any_separator() {
        let check = |list: &str, expected: &[&str]| assert_eq!(directives(list), expected, "{list}");
        check("noai", &["noai"]);
        check("noai, noimageai", &["noai", "noimageai"]);
        check("NOINDEX,NoFollow;noarchive nosnippet", &["noindex", "nofollow", "noarchive", "nosnippet"]);
        check("index, follow, max-image-preview:large", &[]);
        check("noai, noai noai", &["noai"]);
        check(
            "unavailable_after: 25 Jun 2030 15:00:00 PST, noai",
            &["unavailable_after: 25 Jun 2030 15:00:00 PST", "noai"],
        );
        check("noaim noa i", &[]);
    }

    #[test]
    fn a_tag_may_speak_to_somebody_else() {
        let check = |value: &str, expected: Option<(&str, &str)>| {
            let found = robots_tag(value, "pith");
            assert_eq!(found.as_ref().map(|said| (&*said.agent, &*said.value)), expected, "{value}");
        };
        check("noai", Some(("*", "noai")));
        check("Pith: noai, noindex", Some(("pith", "noai, noindex")));
        check("otherbot: noai", None);
        check("*: noai", Some(("*", "noai")));
        check("noindex, unavailable_after: 2030-01-01", Some(("*", "noindex, unavailable_after: 2030-01-01")));
        check("unavailable_after: 2030-01-01", Some(("*", "unavailable_after: 2030-01-01")));
        check("max-snippet: 20, noai", Some(("*", "noai")));
        check("all", None);
    }
}
