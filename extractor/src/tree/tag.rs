//! The element names that the HTML standard treats in some special way, and the categories it sorts them into.

/// Bits of [`Tag::is`], named after the lists of the standard.
pub(super) mod category {
    /// "Special" elements: an end tag does not reach through them.
    pub const SPECIAL: u16 = 1;
    /// Elements that never have children.
    pub const VOID: u16 = 1 << 1;
    /// Elements that are opened again after a block closed them.
    pub const FORMATTING: u16 = 1 << 2;
    /// Elements that close by themselves where their parent closes.
    pub const IMPLIED: u16 = 1 << 3;
    /// As [`IMPLIED`], at the end of a template.
    pub const IMPLIED_THOROUGHLY: u16 = 1 << 4;
    /// Elements that hide what is outside from "is there an open …?".
    pub const SCOPE: u16 = 1 << 5;
    /// h1 to h6.
    pub const HEADING: u16 = 1 << 6;
    /// Start tags that leave svg and math.
    pub const BREAKOUT: u16 = 1 << 7;
    /// Elements that a browser starts on a new line.
    pub const BLOCK: u16 = 1 << 8;
}

use category::*;

macro_rules! tags {
    ($($variant:ident $name:literal $category:expr,)*) => {
        /// The name of an element, for names that some part of pith asks about.
        ///
        /// Elements of svg and math share these names; [`Tree::namespace`](super::Tree::namespace) tells them apart.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[expect(missing_docs, reason = "each variant is the element of that name")]
        pub enum Tag {
            $($variant,)*
            /// Any other name; [`Tree::name`](super::Tree::name) has its letters.
            Unknown,
        }

        const NAMES: &[&str] = &[$($name,)* ""];
        const TAGS: &[Tag] = &[$(Tag::$variant,)* Tag::Unknown];
        const CATEGORIES: &[u16] = &[$($category,)* 0];
    };
}

tags! {
    A "a" FORMATTING,
    Abbr "abbr" 0,
    Acronym "acronym" 0,
    Address "address" SPECIAL | BLOCK,
    AnnotationXml "annotation-xml" 0,
    Applet "applet" SPECIAL | SCOPE,
    Area "area" SPECIAL | VOID,
    Article "article" SPECIAL | BLOCK,
    Aside "aside" SPECIAL | BLOCK,
    Audio "audio" 0,
    B "b" FORMATTING | BREAKOUT,
    Base "base" SPECIAL | VOID,
    Basefont "basefont" SPECIAL | VOID,
    Bdi "bdi" 0,
    Bdo "bdo" 0,
    Bgsound "bgsound" SPECIAL | VOID,
    Big "big" FORMATTING | BREAKOUT,
    Blockquote "blockquote" SPECIAL | BREAKOUT | BLOCK,
    Body "body" SPECIAL | BREAKOUT | BLOCK,
    Br "br" SPECIAL | VOID | BREAKOUT,
    Button "button" SPECIAL,
    Canvas "canvas" 0,
    Caption "caption" SPECIAL | SCOPE | IMPLIED_THOROUGHLY | BLOCK,
    Center "center" SPECIAL | BREAKOUT | BLOCK,
    Cite "cite" 0,
    Code "code" FORMATTING | BREAKOUT,
    Col "col" SPECIAL | VOID,
    Colgroup "colgroup" SPECIAL | IMPLIED_THOROUGHLY | BLOCK,
    Data "data" 0,
    Datalist "datalist" 0,
    Dd "dd" SPECIAL | IMPLIED | BREAKOUT | BLOCK,
    Del "del" 0,
    Desc "desc" 0,
    Details "details" SPECIAL | BLOCK,
    Dfn "dfn" 0,
    Dialog "dialog" BLOCK,
    Dir "dir" SPECIAL | BLOCK,
    Div "div" SPECIAL | BREAKOUT | BLOCK,
    Dl "dl" SPECIAL | BREAKOUT | BLOCK,
    Dt "dt" SPECIAL | IMPLIED | BREAKOUT | BLOCK,
    Em "em" FORMATTING | BREAKOUT,
    Embed "embed" SPECIAL | VOID | BREAKOUT,
    Fieldset "fieldset" SPECIAL | BLOCK,
    Figcaption "figcaption" SPECIAL | BLOCK,
    Figure "figure" SPECIAL | BLOCK,
    Font "font" FORMATTING,
    Footer "footer" SPECIAL | BLOCK,
    ForeignObject "foreignobject" 0,
    Form "form" SPECIAL | BLOCK,
    Frame "frame" SPECIAL | VOID,
    Frameset "frameset" SPECIAL | BLOCK,
    H1 "h1" SPECIAL | HEADING | BREAKOUT | BLOCK,
    H2 "h2" SPECIAL | HEADING | BREAKOUT | BLOCK,
    H3 "h3" SPECIAL | HEADING | BREAKOUT | BLOCK,
    H4 "h4" SPECIAL | HEADING | BREAKOUT | BLOCK,
    H5 "h5" SPECIAL | HEADING | BREAKOUT | BLOCK,
    H6 "h6" SPECIAL | HEADING | BREAKOUT | BLOCK,
    Head "head" SPECIAL | BREAKOUT | BLOCK,
    Header "header" SPECIAL | BLOCK,
    Hgroup "hgroup" SPECIAL | BLOCK,
    Hr "hr" SPECIAL | VOID | BREAKOUT | BLOCK,
    Html "html" SPECIAL | SCOPE | BLOCK,
    I "i" FORMATTING | BREAKOUT,
    Iframe "iframe" SPECIAL,
    Image "image" 0,
    Img "img" SPECIAL | VOID | BREAKOUT,
    Input "input" SPECIAL | VOID,
    Ins "ins" 0,
    Kbd "kbd" 0,
    Keygen "keygen" SPECIAL | VOID,
    Label "label" 0,
    Legend "legend" BLOCK,
    Li "li" SPECIAL | IMPLIED | BREAKOUT | BLOCK,
    Link "link" SPECIAL | VOID,
    Listing "listing" SPECIAL | BREAKOUT | BLOCK,
    Main "main" SPECIAL | BLOCK,
    Malignmark "malignmark" 0,
    Map "map" 0,
    Mark "mark" 0,
    Marquee "marquee" SPECIAL | SCOPE,
    Math "math" 0,
    Menu "menu" SPECIAL | BREAKOUT | BLOCK,
    Meta "meta" SPECIAL | VOID | BREAKOUT,
    Meter "meter" 0,
    Mglyph "mglyph" 0,
    Mi "mi" 0,
    Mn "mn" 0,
    Mo "mo" 0,
    Ms "ms" 0,
    Mtext "mtext" 0,
    Nav "nav" SPECIAL | BLOCK,
    Nobr "nobr" FORMATTING | BREAKOUT,
    Noembed "noembed" SPECIAL,
    Noframes "noframes" SPECIAL,
    Noscript "noscript" SPECIAL,
    Object "object" SPECIAL | SCOPE,
    Ol "ol" SPECIAL | BREAKOUT | BLOCK,
    Optgroup "optgroup" IMPLIED,
    Option "option" IMPLIED,
    Output "output" 0,
    P "p" SPECIAL | IMPLIED | BREAKOUT | BLOCK,
    Param "param" SPECIAL | VOID,
    Picture "picture" 0,
    Plaintext "plaintext" SPECIAL | BLOCK,
    Pre "pre" SPECIAL | BREAKOUT | BLOCK,
    Progress "progress" 0,
    Q "q" 0,
    Rb "rb" IMPLIED,
    Rp "rp" IMPLIED,
    Rt "rt" IMPLIED,
    Rtc "rtc" IMPLIED,
    Ruby "ruby" BREAKOUT,
    S "s" FORMATTING | BREAKOUT,
    Samp "samp" 0,
    Script "script" SPECIAL,
    Search "search" SPECIAL | BLOCK,
    Section "section" SPECIAL | BLOCK,
    Select "select" SPECIAL | SCOPE,
    Slot "slot" 0,
    Small "small" FORMATTING | BREAKOUT,
    Source "source" SPECIAL | VOID,
    Span "span" BREAKOUT,
    Strike "strike" FORMATTING | BREAKOUT,
    Strong "strong" FORMATTING | BREAKOUT,
    Style "style" SPECIAL,
    Sub "sub" BREAKOUT,
    Summary "summary" SPECIAL | BLOCK,
    Sup "sup" BREAKOUT,
    Svg "svg" 0,
    Table "table" SPECIAL | SCOPE | BREAKOUT | BLOCK,
    Tbody "tbody" SPECIAL | IMPLIED_THOROUGHLY | BLOCK,
    Td "td" SPECIAL | SCOPE | IMPLIED_THOROUGHLY | BLOCK,
    Template "template" SPECIAL | SCOPE,
    Textarea "textarea" SPECIAL,
    Tfoot "tfoot" SPECIAL | IMPLIED_THOROUGHLY | BLOCK,
    Th "th" SPECIAL | SCOPE | IMPLIED_THOROUGHLY | BLOCK,
    Thead "thead" SPECIAL | IMPLIED_THOROUGHLY | BLOCK,
    Time "time" 0,
    Title "title" SPECIAL,
    Tr "tr" SPECIAL | IMPLIED_THOROUGHLY | BLOCK,
    Track "track" SPECIAL | VOID,
    Tt "tt" FORMATTING | BREAKOUT,
    U "u" FORMATTING | BREAKOUT,
    Ul "ul" SPECIAL | BREAKOUT | BLOCK,
    Var "var" BREAKOUT,
    Video "video" 0,
    Wbr "wbr" SPECIAL | VOID,
    Xmp "xmp" SPECIAL | BLOCK,
}

impl Tag {
    /// How many tags there are, [`Tag::Unknown`] among them.
    pub const COUNT: usize = TAGS.len();

    /// The name in lower case; empty for [`Tag::Unknown`].
    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// The tag of a name in lower case.
    pub fn of(name: &str) -> Tag {
        if name.len() > LONGEST {
            return Tag::Unknown;
        }
        Tag::of_key(key(name.as_bytes()))
    }

    /// The tag of a name of up to [`LONGEST`] bytes in letters of any case, which `source` begins with.
    #[inline]
    pub(super) fn of_name(source: &[u8], length: usize) -> Tag {
        let Some(name) = source.first_chunk::<LONGEST>() else {
            let mut name = [0; LONGEST];
            name[..length].copy_from_slice(&source[..length]);
            return Tag::of_key(lower_case(u128::from_le_bytes(name)));
        };
        if length <= 8 {
            let (low, _) = name.split_at(8);
            let low = u64::from_le_bytes(low.try_into().expect("eight bytes"));
            let kept = u64::MAX.checked_shr(64 - 8 * length as u32).unwrap_or(0);
            return Tag::of_key(u128::from(lower_case_short(low & kept)));
        }
        let kept = u128::MAX >> (128 - 8 * length as u32);
        Tag::of_key(lower_case(u128::from_le_bytes(*name) & kept))
    }

    /// Whether a browser starts this element on a new line by default.
    pub fn is_block(self) -> bool {
        self.is(BLOCK)
    }

    /// Whether this is one of h1 to h6.
    pub fn is_heading(self) -> bool {
        self.is(HEADING)
    }

    /// Whether this element can have no children (`br`, `img`, …).
    pub fn is_void(self) -> bool {
        self.is(VOID)
    }

    /// Whether its content is never rendered as text: scripts, styles, templates and embedded documents.
    pub fn is_not_rendered(self) -> bool {
        matches!(
            self,
            Tag::Script | Tag::Style | Tag::Template | Tag::Iframe | Tag::Noembed | Tag::Noframes | Tag::Head
        )
    }

    pub(super) fn is(self, category: u16) -> bool {
        CATEGORIES[self as usize] & category != 0
    }

    /// The tag of a name packed by [`key`]; longer names are not packed at all.
    #[inline]
    pub(super) fn of_key(key: u128) -> Tag {
        let mut slot = hash(key);
        loop {
            let index = SLOTS[slot] as usize;
            if index == EMPTY as usize {
                return Tag::Unknown;
            }
            if KEYS[index] == key {
                return TAGS[index];
            }
            slot = (slot + 1) % SLOTS.len();
        }
    }
}

/// The longest known name in bytes, and what fits into a key.
pub(super) const LONGEST: usize = 16;
const EMPTY: u8 = u8::MAX;
const SLOT_BITS: u32 = 10;
static KEYS: [u128; Tag::COUNT] = keys();
static SLOTS: [u8; 1 << SLOT_BITS] = slots();

/// Up to sixteen bytes as one number, the first byte lowest.
const fn key(name: &[u8]) -> u128 {
    let mut key = 0;
    let mut i = 0;
    while i < name.len() {
        key |= (name[i] as u128) << (8 * i);
        i += 1;
    }
    key
}

/// Eight letters at once: capital ones become small ones, all else stays.
#[inline]
fn lower_case_short(name: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    let low_bits = name & !HIGH;
    // The high bit of a byte says: at least `A`; beyond `Z`.
    let from_a = low_bits + (0x80 - b'A' as u64) * EACH;
    let beyond_z = low_bits + (0x80 - b'Z' as u64 - 1) * EACH;
    let capital = (from_a & !beyond_z) & !name & HIGH;
    name | (capital >> 2)
}

fn lower_case(name: u128) -> u128 {
    u128::from(lower_case_short(name as u64)) | u128::from(lower_case_short((name >> 64) as u64)) << 64
}

const fn hash(key: u128) -> usize {
    let folded = (key as u64) ^ ((key >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (folded.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> (64 - SLOT_BITS)) as usize
}

const fn keys() -> [u128; Tag::COUNT] {
    let mut keys = [0; Tag::COUNT];
    let mut i = 0;
    while i < NAMES.len() {
        keys[i] = key(NAMES[i].as_bytes());
        i += 1;
    }
    keys
}

const fn slots() -> [u8; 1 << SLOT_BITS] {
    let mut slots = [EMPTY; 1 << SLOT_BITS];
    let mut i = 0;
    while i + 1 < NAMES.len() {
        let mut slot = hash(key(NAMES[i].as_bytes()));
        while slots[slot] != EMPTY {
            slot = (slot + 1) % (1 << SLOT_BITS);
        }
        slots[slot] = i as u8;
        i += 1;
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_tag() {
        for (name, tag) in NAMES.iter().zip(TAGS).take(Tag::COUNT - 1) {
            assert_eq!(Tag::of(name), *tag);
            assert_eq!(tag.name(), *name);
        }
        for (name, tag) in NAMES.iter().zip(TAGS).take(Tag::COUNT - 1) {
            let source = format!("{} class=some>", name.to_ascii_uppercase());
            assert_eq!(Tag::of_name(source.as_bytes(), name.len()), *tag);
            assert_eq!(Tag::of_name(&source.as_bytes()[..name.len()], name.len()), *tag);
        }
        assert_eq!(Tag::of_name(b"h\x11>", 2), Tag::Unknown);
        assert_eq!(Tag::of_name(b"[{@`\xC1", 5), Tag::Unknown);
        for name in ["", "x", "divs", "my-element", "annotation-xmlx", "a-name-of-more-than-sixteen-letters"] {
            assert_eq!(Tag::of(name), Tag::Unknown, "{name}");
        }
    }
}
