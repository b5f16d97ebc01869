//! Document types: which page is laid out by which rules.

use super::tokenizer::{Range, is_space};

/// What a `<!DOCTYPE …>` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Doctype {
    /// The name in small letters: `html`.
    pub name: String,
    /// The public identifier.
    pub public: Option<String>,
    /// The system identifier.
    pub system: Option<String>,
    /// Whether something is missing, which makes the page an old one.
    pub broken: bool,
}

impl Doctype {
    /// Reads what stands at `range`, between `<!DOCTYPE` and `>` or the end of the page.
    pub(super) fn read(page: &str, range: Range) -> Doctype {
        let source = range.of(page);
        let mut doctype = Doctype { broken: range.end as usize == page.len(), ..Doctype::default() };
        let rest = source.trim_start_matches(space);
        let name_end = rest.find(space).unwrap_or(rest.len());
        doctype.name = clean(&rest[..name_end]).to_ascii_lowercase();
        if name_end == 0 {
            doctype.broken = true;
            return doctype;
        }
        let rest = rest[name_end..].trim_start_matches(space);
        if rest.is_empty() {
            return doctype;
        }
        let keyword = rest.get(..6).unwrap_or_default();
        if keyword.eq_ignore_ascii_case("public") {
            let Some(rest) = quoted(&rest[6..], &mut doctype.public, &mut doctype.broken) else { return doctype };
            if !rest.trim_start_matches(space).is_empty() {
                doctype.read_system(rest);
            }
        } else if keyword.eq_ignore_ascii_case("system") {
            doctype.read_system(&rest[6..]);
        } else {
            doctype.broken = true;
        }
        doctype
    }

    fn read_system(&mut self, source: &str) {
        let rest = quoted(source, &mut self.system, &mut self.broken);
        // Whatever follows a whole system identifier is forgiven, even the end of the page.
        if rest.is_some_and(|rest| !rest.trim_start_matches(space).is_empty()) {
            self.broken = false;
        }
    }

    /// Whether browsers lay the page out as they did in the last century. It matters for one thing here: a table
    /// then does not end a paragraph.
    pub(super) fn is_quirky(&self) -> bool {
        if self.broken || self.name != "html" {
            return true;
        }
        let starts =
            |text: &str, start: &str| text.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start));
        let public = self.public.as_deref().unwrap_or_default();
        let by_system = self.system.as_deref().is_some_and(|system| {
            system.eq_ignore_ascii_case("http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd")
        });
        by_system
            || QUIRKY.iter().any(|known| public.eq_ignore_ascii_case(known))
            || QUIRKY_STARTS.iter().any(|start| starts(public, start))
            || (self.system.is_none() && QUIRKY_STARTS_ALONE.iter().any(|start| starts(public, start)))
    }
}

/// Reads a quoted string after optional space; answers what follows it, or nothing when it is not closed.
fn quoted<'a>(source: &'a str, into: &mut Option<String>, broken: &mut bool) -> Option<&'a str> {
    let rest = source.trim_start_matches(space);
    let quote = match rest.as_bytes().first() {
        Some(&quote @ (b'"' | b'\'')) => quote,
        _ => {
            *broken = true;
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
            *broken = true;
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

const QUIRKY: &[&str] = &["-//W3O//DTD W3 HTML Strict 3.0//EN//", "-/W3C/DTD HTML 4.0 Transitional/EN", "HTML"];

const QUIRKY_STARTS_ALONE: &[&str] = &["-//W3C//DTD HTML 4.01 Frameset//", "-//W3C//DTD HTML 4.01 Transitional//"];

const QUIRKY_STARTS: &[&str] = &[
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
