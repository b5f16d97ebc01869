//! The kinds of ancestors that a block may have, one bit each.
#![expect(missing_docs, reason = "each is the element or state of that name")]

use crate::tree::Tag;

pub const NAV: u32 = 1;
pub const HEADER: u32 = 1 << 1;
pub const FOOTER: u32 = 1 << 2;
pub const ASIDE: u32 = 1 << 3;
pub const MAIN: u32 = 1 << 4;
pub const ARTICLE: u32 = 1 << 5;
pub const FORM: u32 = 1 << 6;
pub const LIST: u32 = 1 << 7;
pub const TABLE: u32 = 1 << 8;
pub const FIGURE: u32 = 1 << 9;
pub const QUOTE: u32 = 1 << 10;
pub const CODE: u32 = 1 << 11;
pub const BUTTON: u32 = 1 << 12;
pub const HIDDEN: u32 = 1 << 13;
pub const NOSCRIPT: u32 = 1 << 14;
pub const PARAGRAPH: u32 = 1 << 15;
pub const HEADING: u32 = 1 << 16;
pub const ADDRESS: u32 = 1 << 17;
pub const TIME: u32 = 1 << 18;
pub const DETAILS: u32 = 1 << 19;
pub const DEFINITION: u32 = 1 << 20;
pub const SECTION: u32 = 1 << 21;
pub const TABLE_HEAD: u32 = 1 << 22;
pub const ITEM: u32 = 1 << 23;
pub const DIALOG: u32 = 1 << 24;
/// How many of the bits are features.
pub const COUNT: usize = 25;
/// None of its text is shown. `HIDDEN` is also set by `aria-hidden`, which speaks to screen readers, and by an element
/// around the first words alone.
pub const NOT_SHOWN: u32 = 1 << 25;

/// The bit of an ARIA role.
pub(super) fn of_role(role: Option<&str>) -> u32 {
    match role {
        Some("navigation" | "menu" | "menubar") => NAV,
        Some("banner") => HEADER,
        Some("contentinfo") => FOOTER,
        Some("complementary") => ASIDE,
        Some("main") => MAIN,
        Some("article") => ARTICLE,
        Some("search" | "form") => FORM,
        Some("dialog" | "alertdialog") => DIALOG,
        Some("button" | "tab") => BUTTON,
        _ => 0,
    }
}

/// The bits of a tag, and its level as a heading.
pub(super) fn of_tag(tag: Tag) -> (u32, u8) {
    let ancestors = match tag {
        Tag::Nav | Tag::Menu => NAV,
        Tag::Header => HEADER,
        Tag::Footer => FOOTER,
        Tag::Aside => ASIDE,
        Tag::Main => MAIN,
        Tag::Article => ARTICLE,
        Tag::Form | Tag::Fieldset | Tag::Label => FORM,
        Tag::Ul | Tag::Ol => LIST,
        Tag::Li => ITEM,
        Tag::Table => TABLE,
        Tag::Th | Tag::Caption => TABLE_HEAD,
        Tag::Figure | Tag::Figcaption => FIGURE,
        Tag::Blockquote | Tag::Q => QUOTE,
        Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext => CODE,
        Tag::Button | Tag::Option => BUTTON,
        Tag::Noscript => NOSCRIPT,
        Tag::P => PARAGRAPH,
        Tag::Address => ADDRESS,
        Tag::Time => TIME,
        Tag::Details | Tag::Summary => DETAILS,
        Tag::Dl | Tag::Dt | Tag::Dd => DEFINITION,
        Tag::Section => SECTION,
        Tag::Dialog => DIALOG,
        _ => 0,
    };
    let heading = match tag {
        Tag::H1 => 1,
        Tag::H2 => 2,
        Tag::H3 => 3,
        Tag::H4 => 4,
        Tag::H5 => 5,
        Tag::H6 => 6,
        _ => return (ancestors, 0),
    };
    (HEADING, heading)
}
