//! Document types, and whether they put a page into quirks mode.

use super::tokenizer::{Range, is_space};

/// A `<!DOCTYPE …>` declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Doctype {
    /// The name in lower case: `html`.
    pub name: String,
    /// The public identifier.
    pub public: Option<String>,
    /// The system identifier.
    pub system: Option<String>,
    /// The force-quirks flag of the standard: the declaration is incomplete or malformed.
    pub force_quirks: bool,
}

impl Doctype {
    /// Parses the range of the source between `<!DOCTYPE` and `>` or the end of the page.
    pub(super) fn read(page: &str, range: Range) -> Doctype {
        let source = range.of(page);
        let mut doctype = Doctype { force_quirks: range.end as usize == page.len(), ..Doctype::default() };
        let rest = source.trim_start_matches(space);
        let name_end = rest.find(space).unwrap_or(rest.len());
        doctype.name = clean(&rest[..name_end]).to_ascii_lowercase();
        if name_end == 0 {
            doctype.force_quirks = true;
            return doctype;
        }
        let rest = rest[name_end..].trim_start_matches(space);
        if rest.is_empty() {
            return doctype;
        }
        let keyword = rest.get(..6).unwrap_or_default();
        if keyword.eq_ignore_ascii_case("public") {
            let Some(rest) = quoted(&rest[6..], &mut doctype.public, &mut doctype.force_quirks) else { return doctype };
            if !rest.trim_start_matches(space).is_empty() {
                doctype.read_system(rest);
            }
        } else if keyword.eq_ignore_ascii_case("system") {
            doctype.read_system(&rest[6..]);
        } else {
            doctype.force_quirks = true;
        }
        doctype
    }

    fn read_system(&mut self, source: &str) {
        let rest = quoted(source, &mut self.system, &mut self.force_quirks);
        // Whatever follows a whole system identifier is forgiven, even the end of the page.
        if rest.is_some_and(|rest| !rest.trim_start_matches(space).is_empty()) {
            self.force_quirks = false;
        }
    }

    /// Whether the page is in quirks mode. It matters for one thing here: a table then does not end a paragraph.
    pub(super) fn is_quirks_mode(&self) -> bool {
        if self.force_quirks || self.name != "html" {
            return true;
        }
        let starts =
            |text: &str, start: &str| text.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start));
        let public = self.public.as_deref().unwrap_or_default();
        let by_system = self.system.as_deref().is_some_and(|system| {
            system.eq_ignore_ascii_case("http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd")
        });
        by_system
            || QUIRKS_IDS.iter().any(|known| public.eq_ignore_ascii_case(known))
            || QUIRKS_PREFIXES.iter().any(|start| starts(public, start))
            || (self.system.is_none() && QUIRKS_PREFIXES_WITHOUT_SYSTEM.iter().any(|start| starts(public, start)))
    }
}

/// Reads a quoted string after optional space; answers what follows it, or nothing when it is not closed.
fn quoted<'a>(source: &'a str, into: &mut Option<String>, force_quirks: &mut bool) -> Option<&'a str> {
    let rest = source.trim_start_matches(space);
    let quote = match rest.as_bytes().first() {
        Some(&quote @ (b'"' | b'\'')) => quote,
        _ => {
            *force_quirks = true;
            return None;
        }
    };
    let rest = &rest[1..];
    match memchr::memchr(quote, rest.as_bytes()) {
        Some(end) => {
            *into = Some(clean(&rest[..end]));
            Some(&rest[end + 1..])
        }
        None => {
            *into = Some(clean(rest));
            *force_quirks = true;
            None
        }
    }
}

fn clean(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "\u{FFFD}")
}

fn space(character: char) -> bool {
    u8::try_from(character).is_ok_and(is_space)
}

const QUIRKS_IDS: &[&str] = &["-//W3O//DTD W3 HTML Strict 3.0//EN//", "-/W3C/DTD HTML 4.0 Transitional/EN", "HTML"];

const QUIRKS_PREFIXES_WITHOUT_SYSTEM: &[&str] =
    &["-//W3C//DTD HTML 4.01 Frameset//", "-//W3C//DTD HTML 4.01 Transitional//"];

const QUIRKS_PREFIXES: &[&str] = &[
    "+//Silmaril//dtd html Pro v0r11 19970101//",
    "-//AS//DTD HTML 3.0 asWedit + extensions//",
    "-//AdvaSoft Ltd//DTD HTML 3.0 asWedit + extensions//",
    "-//IETF//DTD HTML 2.0 Level 1//",
    "-//IETF//DTD HTML 2.0 Level 2//",
    "-//IETF//DTD HTML 2.0 Strict Level 1//",
    "-//IETF//DTD HTML 2.0 Strict Level 2//",
    "-//IETF//DTD HTML 2.0 Strict//",
    "-//IETF//DTD HTML 2.0//",
    "-//IETF//DTD HTML 2.1E//",
    "-//IETF//DTD HTML 3.0//",
    "-//IETF//DTD HTML 3.2 Final//",
    "-//IETF//DTD HTML 3.2//",
    "-//IETF//DTD HTML 3//",
    "-//IETF//DTD HTML Level 0//",
    "-//IETF//DTD HTML Level 1//",
    "-//IETF//DTD HTML Level 2//",
    "-//IETF//DTD HTML Level 3//",
    "-//IETF//DTD HTML Strict Level 0//",
    "-//IETF//DTD HTML Strict Level 1//",
    "-//IETF//DTD HTML Strict Level 2//",
    "-//IETF//DTD HTML Strict Level 3//",
    "-//IETF//DTD HTML Strict//",
    "-//IETF//DTD HTML//",
    "-//Metrius//DTD Metrius Presentational//",
    "-//Microsoft//DTD Internet Explorer 2.0 HTML Strict//",
    "-//Microsoft//DTD Internet Explorer 2.0 HTML//",
    "-//Microsoft//DTD Internet Explorer 2.0 Tables//",
    "-//Microsoft//DTD Internet Explorer 3.0 HTML Strict//",
    "-//Microsoft//DTD Internet Explorer 3.0 HTML//",
    "-//Microsoft//DTD Internet Explorer 3.0 Tables//",
    "-//Netscape Comm. Corp.//DTD HTML//",
    "-//Netscape Comm. Corp.//DTD Strict HTML//",
    "-//O'Reilly and Associates//DTD HTML 2.0//",
    "-//O'Reilly and Associates//DTD HTML Extended 1.0//",
    "-//O'Reilly and Associates//DTD HTML Extended Relaxed 1.0//",
    "-//SQ//DTD HTML 2.0 HoTMetaL + extensions//",
    "-//SoftQuad Software//DTD HoTMetaL PRO 6.0::19990601::extensions to HTML 4.0//",
    "-//SoftQuad//DTD HoTMetaL PRO 4.0::19971010::extensions to HTML 4.0//",
    "-//Spyglass//DTD HTML 2.0 Extended//",
    "-//Sun Microsystems Corp.//DTD HotJava HTML//",
    "-//Sun Microsystems Corp.//DTD HotJava Strict HTML//",
    "-//W3C//DTD HTML 3 1995-03-24//",
    "-//W3C//DTD HTML 3.2 Draft//",
    "-//W3C//DTD HTML 3.2 Final//",
    "-//W3C//DTD HTML 3.2//",
    "-//W3C//DTD HTML 3.2S Draft//",
    "-//W3C//DTD HTML 4.0 Frameset//",
    "-//W3C//DTD HTML 4.0 Transitional//",
    "-//W3C//DTD HTML Experimental 19960712//",
    "-//W3C//DTD HTML Experimental 970421//",
    "-//W3C//DTD W3 HTML//",
    "-//W3O//DTD W3 HTML 3.0//",
    "-//WebTechs//DTD Mozilla HTML 2.0//",
    "-//WebTechs//DTD Mozilla HTML//",
];
