//! Text that was UTF-8, was read as windows-1252 and was written as UTF-8 again: `Ã©` for `é`.

use std::borrow::Cow;

use encoding_rs::WINDOWS_1252;

/// So many places must be damaged alike before a page is repaired.
const MIN_REPAIRS: usize = 3;

/// The text with double encoding undone, where that is certain: several runs of characters are UTF-8 read as
/// windows-1252, and no letter of the page contradicts it.
pub(super) fn repair(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.is_ascii() || !has_lead(&text) {
        return text;
    }
    match repaired(&text) {
        Some(repaired) => Cow::Owned(repaired),
        None => text,
    }
}

/// Whether a character stands somewhere that would be the first byte of a sequence, another one of them behind it.
fn has_lead(text: &str) -> bool {
    // U+00C2 to U+00F4 are written C3 82 to C3 B4; the next character begins with C2 to E2.
    let bytes = text.as_bytes();
    memchr::memchr_iter(0xC3, bytes).any(|at| {
        bytes.get(at + 1).is_some_and(|byte| (0x82..=0xB4).contains(byte))
            && bytes.get(at + 2).is_some_and(|byte| matches!(byte, 0xC2 | 0xC5 | 0xC6 | 0xCB | 0xE2))
    })
}

fn repaired(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut n_repairs = 0;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| !c.is_ascii()) {
        crate::cancel::check();
        let (before, run) = rest.split_at(at);
        let end = run.find(|c: char| c.is_ascii()).unwrap_or(run.len());
        let (run, after) = run.split_at(end);
        out.push_str(before);
        match undo(run) {
            Run::Double(original) => {
                n_repairs += 1;
                out.push_str(&original);
            }
            Run::Neutral => out.push_str(run),
            Run::Contradicts => return None,
        }
        rest = after;
    }
    out.push_str(rest);
    (n_repairs >= MIN_REPAIRS).then_some(out)
}

/// What a run of characters beyond ASCII says.
enum Run {
    /// It is UTF-8 read as windows-1252.
    Double(String),
    /// Signs and letters that windows-1252 does not have: they may stand on any page.
    Neutral,
    /// Letters as a page that was read rightly has them.
    Contradicts,
}

fn undo(run: &str) -> Run {
    let is_letter = |c: char| ('\u{C0}'..='\u{FF}').contains(&c) && !matches!(c, '×' | '÷');
    if !run.contains(is_letter) {
        return Run::Neutral;
    }
    let (bytes, _, unmappable) = WINDOWS_1252.encode(run);
    if unmappable {
        return Run::Contradicts;
    }
    match std::str::from_utf8(&bytes) {
        Ok(original) => Run::Double(original.to_owned()),
        Err(_) => Run::Contradicts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the UTF-8 of a text as windows-1252.
    fn doubled(text: &str) -> String {
        WINDOWS_1252.decode_without_bom_handling(text.as_bytes()).0.into_owned()
    }

    #[test]
    fn double_encoding_is_undone() {
        for text in
            ["Não é pão — “sim”.", "Привет, мир, как дела?", "¿Qué más? Años después, él rió.", "这是 中文 网页 吗"]
        {
            assert_eq!(repair(doubled(text).into()), text);
        }
        assert_eq!(repair(format!("{} © 2024 · 中", doubled("é, à, ü")).into()), "é, à, ü © 2024 · 中");
    }

    #[test]
    fn what_is_not_certain_stays() {
        for text in [
            "plain",
            "Não é pão — “sim”.",
            "Write Ã© for é, Ã¨ for è, Ã¼ for ü.",
            "Ã© twice: Ã©",
            "“A IRMÔ, “A MAÇÔ, “A LÃ”",
            "中文",
        ] {
            assert_eq!(repair(text.into()), text);
        }
    }
}
