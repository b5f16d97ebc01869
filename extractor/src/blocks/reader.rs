//! Text comes in by pieces and goes out as blocks: white space collapsed, words hashed, signs counted, in one pass.

use super::lexicon::{HashBits, N_THEMES, SEED, THEMES, Theme, mix};
use super::{Block, Break};
use crate::tree::Tag;

/// Where a block begins.
#[derive(Clone, Copy)]
pub(super) struct Context {
    pub element: u32,
    pub tag: Option<Tag>,
    pub places: u32,
    pub heading: u8,
}

/// Reads text into blocks.
pub(super) struct Reader {
    text: String,
    words: Vec<u32>,
    blocks: Vec<Block>,
    block: Block,
    themes: &'static HashBits,
    /// Some text of the block has been read.
    open: bool,
    pending_space: bool,
    pending_links: u32,
    break_before: Break,
    /// The word being read: its hash, whether there is one, whether it began with a capital, in a link, in bold.
    word: u32,
    in_word: bool,
    capital: bool,
    word_in_link: bool,
    word_in_bold: bool,
    /// The hash of the last character of a script without spaces, when nothing stands between.
    last_unspaced: Option<char>,
}

impl Reader {
    /// Ready for a page of so many bytes: a tenth of a page is text, on most of them.
    pub(super) fn for_page(n_bytes: usize) -> Self {
        Reader {
            text: String::with_capacity(n_bytes / 10),
            words: Vec::with_capacity(n_bytes / 64),
            blocks: Vec::with_capacity(n_bytes / 512),
            block: Block::default(),
            themes: &THEMES,
            open: false,
            pending_space: false,
            pending_links: 0,
            break_before: Break::Block,
            word: SEED,
            in_word: false,
            capital: false,
            word_in_link: false,
            word_in_bold: false,
            last_unspaced: None,
        }
    }
}

impl Reader {
    pub(super) fn n_blocks(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// The number of the block that is being read or comes next.
    pub(super) fn next_block(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// The number of the block after the one that is being read, if one is.
    pub(super) fn next_block_after_text(&self) -> u32 {
        self.blocks.len() as u32 + u32::from(self.open)
    }

    pub(super) fn text_position(&self) -> u32 {
        self.text.len() as u32
    }

    pub(super) fn open_link(&mut self) {
        if self.open {
            self.block.links += 1;
        } else {
            self.pending_links += 1;
        }
    }

    pub(super) fn space(&mut self) {
        self.between_words();
        self.pending_space = self.open;
    }

    /// Text follows that stands here; counts only for the first text of a block.
    pub(super) fn begin(&mut self, context: Context) {
        if self.open {
            return;
        }
        self.open = true;
        let at = self.text.len() as u32;
        self.block = Block {
            start: at,
            end: at,
            first_word: self.words.len() as u32,
            element: context.element,
            tag: context.tag,
            places: context.places,
            heading: context.heading,
            begins: self.break_before,
            links: std::mem::take(&mut self.pending_links),
            fingerprint: SEED,
            ..Block::default()
        };
        self.break_before = Break::Line;
        self.pending_space = false;
    }

    /// Ends the block that is being read, if one is.
    pub(super) fn end_block(&mut self, kind: Break) {
        if kind == Break::Block {
            self.break_before = Break::Block;
            self.pending_links = 0;
        }
        if !self.open {
            return;
        }
        self.between_words();
        self.open = false;
        self.pending_space = false;
        let kept = self.text[self.block.start as usize..].trim_end().len();
        self.text.truncate(self.block.start as usize + kept);
        if kept == 0 {
            return;
        }
        self.block.end = self.text.len() as u32;
        self.block.end_word = self.words.len() as u32;
        self.block.ending = ending(&self.text[self.block.start as usize..]);
        self.text.push('\n');
        self.blocks.push(std::mem::take(&mut self.block));
        self.break_before = kind;
    }

    pub(super) fn finish(self) -> (String, Vec<u32>, Vec<Block>) {
        (self.text, self.words, self.blocks)
    }

    /// Reads a piece of text. Words may go on from the piece before.
    pub(super) fn push(&mut self, piece: &str, link: bool, bold: bool, preformatted: bool) {
        let bytes = piece.as_bytes();
        // What is read and not yet written begins at `run`: text is copied by the line, not by the word. No space is
        // pending while there is any.
        let (mut run, mut at) = (0, 0);
        while let Some(&byte) = bytes.get(at) {
            match KINDS[usize::from(byte)] {
                Kind::Word => at += self.ascii_word(&bytes[at..], link, bold),
                Kind::Space if preformatted => {
                    self.between_words();
                    self.pending_space = false;
                    at += 1;
                }
                Kind::Space => {
                    self.between_words();
                    let single = byte == b' ' && at > run;
                    at += 1;
                    if !(single && bytes.get(at).is_some_and(|next| is_seen(*next))) {
                        self.text.push_str(&piece[run..at - 1]);
                        self.pending_space = true;
                        run = at;
                    }
                }
                Kind::Wide => {
                    let character = piece[at..].chars().next().expect("a character starts here");
                    if character.is_whitespace() {
                        self.between_words();
                        self.text.push_str(&piece[run..at]);
                        self.pending_space = true;
                        run = at + character.len_utf8();
                    } else {
                        self.wide(character, link, bold);
                    }
                    at += character.len_utf8();
                }
                sign => {
                    self.sign(sign);
                    at += 1;
                }
            }
        }
        self.text.push_str(&piece[run..]);
    }

    /// Reads the letters and digits that some bytes begin with, all at once; answers how many there are.
    #[inline]
    fn ascii_word(&mut self, bytes: &[u8], link: bool, bold: bool) -> usize {
        self.write_space();
        self.begin_word(bytes[0].is_ascii_uppercase(), link, bold);
        let (mut word, mut all_bits, mut length) = (self.word, u8::MAX, 0);
        for &byte in bytes {
            let small = SMALL[usize::from(byte)];
            if small == 0 {
                break;
            }
            word = mix(word, small);
            all_bits &= small;
            length += 1;
        }
        self.word = word;
        if all_bits & NO_DIGIT == 0 {
            self.block.digits += bytes[..length].iter().map(|byte| u32::from(byte.is_ascii_digit())).sum::<u32>();
        }
        self.block.characters += length as u32;
        length
    }

    #[inline]
    fn sign(&mut self, kind: Kind) {
        self.write_space();
        self.block.characters += 1;
        self.between_words();
        match kind {
            Kind::Stop => self.block.stops += 1,
            Kind::Comma => self.block.commas += 1,
            Kind::Money => self.block.money += 1,
            Kind::Separator => self.block.separators += 1,
            _ => {}
        }
    }

    /// A character beyond ASCII that is no space.
    fn wide(&mut self, character: char, link: bool, bold: bool) {
        self.write_space();
        self.block.characters += 1;
        if is_unspaced(character) {
            self.unspaced(character, link, bold);
            return;
        }
        if character.is_alphanumeric() {
            self.begin_word(character.is_uppercase(), link, bold);
            let small = character.to_lowercase().next().unwrap_or(character);
            let mut buffer = [0; 4];
            self.word = small.encode_utf8(&mut buffer).bytes().fold(self.word, mix);
            return;
        }
        self.between_words();
        match character {
            '。' | '！' | '？' | '…' | '।' | '؟' | '۔' => self.block.stops += 1,
            '，' | '、' | '；' | '،' => self.block.commas += 1,
            '€' | '£' | '¥' | '￥' | '₹' | '₽' => self.block.money += 1,
            '»' | '›' | '·' | '•' | '｜' | '→' => self.block.separators += 1,
            _ => {}
        }
    }

    /// What is read next belongs to no word before it.
    #[inline]
    fn between_words(&mut self) {
        self.end_word();
        self.last_unspaced = None;
    }

    /// A character that is a word; with the one before it, it may be a word of the lexicon.
    fn unspaced(&mut self, character: char, link: bool, bold: bool) {
        self.end_word();
        self.block.unspaced += 1;
        let mut buffer = [0; 4];
        let single = character.encode_utf8(&mut buffer).bytes().fold(SEED, mix);
        if let Some(last) = self.last_unspaced {
            let pair = last.encode_utf8(&mut buffer).bytes().fold(SEED, mix);
            let pair = character.encode_utf8(&mut buffer).bytes().fold(pair, mix);
            let bits = self.themes.get(pair);
            self.count_themes(bits & !(1 << Theme::Stop as u32));
        }
        self.last_unspaced = Some(character);
        self.add_word(single.max(1), link, bold);
    }

    #[inline]
    fn write_space(&mut self) {
        if std::mem::take(&mut self.pending_space) && self.text.len() > self.block.start as usize {
            self.text.push(' ');
        }
    }

    #[inline]
    fn begin_word(&mut self, capital: bool, link: bool, bold: bool) {
        if self.in_word {
            return;
        }
        self.in_word = true;
        self.word = SEED;
        self.capital = capital;
        self.word_in_link = link;
        self.word_in_bold = bold;
        self.last_unspaced = None;
    }

    #[inline]
    fn end_word(&mut self) {
        if !std::mem::take(&mut self.in_word) {
            return;
        }
        self.block.capitals += u32::from(self.capital);
        let (hash, link, bold) = (self.word.max(1), self.word_in_link, self.word_in_bold);
        self.add_word(hash, link, bold);
    }

    #[inline]
    fn add_word(&mut self, hash: u32, link: bool, bold: bool) {
        self.words.push(hash);
        self.block.link_words += u32::from(link);
        self.block.bold_words += u32::from(bold);
        self.block.fingerprint = (self.block.fingerprint ^ hash).wrapping_mul(0x0100_0193).rotate_left(5);
        let bits = self.themes.get(hash);
        // Every third word is a stop word, which no processor can guess: those are counted without asking.
        const STOP: u32 = 1 << Theme::Stop as u32;
        let stop = &mut self.block.themes[Theme::Stop as usize];
        *stop = stop.saturating_add(u16::from(bits & STOP != 0));
        if bits & !STOP != 0 {
            self.count_themes(bits & !STOP);
        }
    }

    fn count_themes(&mut self, mut bits: u32) {
        while bits != 0 {
            let theme = bits.trailing_zeros() as usize;
            if theme < N_THEMES {
                self.block.themes[theme] = self.block.themes[theme].saturating_add(1);
            }
            bits &= bits - 1;
        }
    }
}

/// What a byte is to a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A part of an ASCII word.
    Word,
    Space,
    Stop,
    Comma,
    Money,
    Separator,
    /// Any other ASCII sign.
    Sign,
    /// The beginning of a character beyond ASCII.
    Wide,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Wide; 256];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => Kind::Word,
            b'.' | b'!' | b'?' => Kind::Stop,
            b',' | b';' => Kind::Comma,
            b'$' => Kind::Money,
            b'|' | b'/' | b'>' => Kind::Separator,
            byte if byte.is_ascii_whitespace() => Kind::Space,
            _ => Kind::Sign,
        };
        byte += 1;
    }
    kinds
};

/// Whether a byte is an ASCII letter or sign, no space.
#[inline]
fn is_seen(byte: u8) -> bool {
    !matches!(KINDS[usize::from(byte)], Kind::Space | Kind::Wide)
}

/// The small letter of each byte that ASCII words are made of, 0 for all others: one look-up for what would be five
/// comparisons.
const SMALL: [u8; 256] = {
    let mut small = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        if matches!(KINDS[byte], Kind::Word) {
            small[byte] = (byte as u8).to_ascii_lowercase();
        }
        byte += 1;
    }
    small
};

/// The small form of an ASCII character that words are made of; nothing for all others.
#[inline]
pub(crate) fn small_letter(character: char) -> Option<u8> {
    u8::try_from(character).ok().map(|byte| SMALL[usize::from(byte)]).filter(|small| *small != 0)
}

/// The bit that letters have and digits have not.
const NO_DIGIT: u8 = 0x40;

/// Scripts whose characters count one by one: kana, Han, Thai, Burmese.
pub fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{0e00}'..='\u{0e7f}' | '\u{1000}'..='\u{109f}')
}

fn ending(text: &str) -> u8 {
    match text.trim_end_matches(['"', '\'', ')', ']', '”', '’', '」', '』', '）', '»']).chars().next_back() {
        Some('.' | '!' | '?' | '。' | '！' | '？' | '…' | '।' | '؟' | '۔') => 2,
        Some(':' | ',' | ';' | '：' | '，' | '；') => 1,
        _ => 0,
    }
}
