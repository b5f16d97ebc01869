//! Builds blocks from pieces of text: collapses white space, hashes words and counts characters, in one pass.

use pith_notation::is_spaceless;

use super::lexicon::{HashBits, N_THEMES, SEED, THEMES, Theme, mix};
use super::markup::is_zero_width;
use super::{Block, Break, ancestor};
use crate::tree::Tag;

/// The position in the tree at which a block begins.
#[derive(Clone, Copy)]
pub(super) struct Context {
    pub element: u32,
    pub tag: Option<Tag>,
    pub ancestors: u32,
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
    /// In code: a line has ended, and its line break is not written yet.
    pending_line: bool,
    pending_links: u32,
    break_before: Break,
    /// The word being read: its hash, whether there is one, whether it began with a capital, in a link, in bold.
    word: u32,
    in_word: bool,
    capital: bool,
    word_in_link: bool,
    word_in_bold: bool,
    /// The last character of a script without spaces, if it is the previous character.
    last_unspaced: Option<char>,
}

impl Reader {
    /// A reader for a page of so many bytes; on most pages a tenth of them is text.
    pub(super) fn for_page(n_bytes: usize) -> Self {
        Reader {
            text: String::with_capacity(n_bytes / 10),
            words: Vec::with_capacity(n_bytes / 64),
            blocks: Vec::with_capacity(n_bytes / 512),
            block: Block::default(),
            themes: &THEMES,
            open: false,
            pending_space: false,
            pending_line: false,
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

    /// Ends the current word for the counts; the text goes on without a space.
    pub(super) fn end_word_here(&mut self) {
        self.between_words();
    }

    /// What has been written of the block that is being read, with the space that comes next.
    pub(super) fn block_so_far(&self) -> &str {
        match (self.open, self.pending_space) {
            (false, _) => "",
            (true, true) => " ",
            (true, false) => &self.text[self.block.start as usize..],
        }
    }

    /// Writes a sign that is no part of the page's own text; for the counts it is not there.
    pub(super) fn write_mark(&mut self, mark: char) {
        self.write_space();
        self.text.push(mark);
    }

    /// In code: a line break as soon as more text comes, unless the line is empty.
    pub(super) fn end_line(&mut self) {
        if self.open && self.text.len() > self.block.start as usize && !self.text.ends_with('\n') {
            self.pending_line = true;
        }
    }

    /// In code: an empty line.
    pub(super) fn empty_line(&mut self) {
        if self.open {
            if self.pending_line {
                self.text.push('\n');
            }
            self.pending_line = true;
        }
    }

    /// In code: a cell begins behind another one of its line.
    pub(super) fn next_cell(&mut self) {
        if self.open && !self.pending_line && self.text.len() > self.block.start as usize && !self.text.ends_with('\n')
        {
            self.between_words();
            self.text.push('\t');
        }
    }

    /// Reads a piece of code, every character of it.
    pub(super) fn push_code(&mut self, piece: &str, link: bool, bold: bool) {
        if std::mem::take(&mut self.pending_line) {
            self.between_words();
            if !piece.starts_with('\n') {
                self.text.push('\n');
            }
        }
        self.push(piece, link, bold, true);
    }

    /// The block that is being read is shown, if only in part.
    pub(super) fn show(&mut self) {
        self.block.ancestors &= !ancestor::NOT_SHOWN;
    }

    /// Begins a block at this position, unless one is open.
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
            ancestors: context.ancestors,
            heading: context.heading,
            break_before: self.break_before,
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
        self.pending_line = false;
        let kept = self.text[self.block.start as usize..].trim_end().len();
        self.text.truncate(self.block.start as usize + kept);
        if kept == 0 {
            // A line of spaces that do not break: what comes next begins as it would have begun.
            if kind == Break::Line {
                self.break_before = self.block.break_before;
            }
            return;
        }
        if self.block.ancestors & ancestor::CODE != 0 {
            self.block.start += blank_lines(&self.text[self.block.start as usize..]) as u32;
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
                    if !(single && bytes.get(at).is_some_and(|next| is_visible(*next))) {
                        self.text.push_str(&piece[run..at - 1]);
                        self.pending_space = true;
                        run = at;
                    }
                }
                Kind::NonAscii => {
                    let character = piece[at..].chars().next().expect("a character starts here");
                    if preformatted && character.is_whitespace() {
                        self.between_words();
                    } else if !preformatted && self.is_invisible(character, &piece[..at]) {
                        self.text.push_str(&piece[run..at]);
                        run = at + character.len_utf8();
                    } else if character.is_whitespace() {
                        self.between_words();
                        self.text.push_str(&piece[run..at]);
                        self.pending_space = true;
                        run = at + character.len_utf8();
                    } else {
                        self.non_ascii(character, link, bold);
                    }
                    at += character.len_utf8();
                }
                sign => {
                    self.punctuation(sign);
                    at += 1;
                }
            }
        }
        self.text.push_str(&piece[run..]);
    }

    /// Whether a character shows nothing: of zero width, and no part of how its neighbours are shaped.
    fn is_invisible(&self, character: char, before: &str) -> bool {
        match character {
            // They join or part the letters of Arabic and Indic scripts and the signs of an emoji.
            '\u{200c}' | '\u{200d}' => {
                let last = before.chars().next_back().or_else(|| self.text.chars().next_back());
                !last.is_some_and(|last| last >= '\u{590}' && !matches!(last, '\u{2000}'..='\u{206f}'))
            }
            _ => is_zero_width(character),
        }
    }

    /// Reads the letters and digits that some bytes begin with, all at once; answers how many there are.
    #[inline]
    fn ascii_word(&mut self, bytes: &[u8], link: bool, bold: bool) -> usize {
        self.write_space();
        self.begin_word(bytes[0].is_ascii_uppercase(), link, bold);
        let (mut word, mut all_bits, mut length) = (self.word, u8::MAX, 0);
        for &byte in bytes {
            let lower = LOWERCASE[usize::from(byte)];
            if lower == 0 {
                break;
            }
            word = mix(word, lower);
            all_bits &= lower;
            length += 1;
        }
        self.word = word;
        if all_bits & LETTER_BIT == 0 {
            self.block.digits += bytes[..length].iter().map(|byte| u32::from(byte.is_ascii_digit())).sum::<u32>();
        }
        self.block.characters += length as u32;
        length
    }

    #[inline]
    fn punctuation(&mut self, kind: Kind) {
        self.write_space();
        self.block.characters += 1;
        self.between_words();
        match kind {
            Kind::SentenceMark => self.block.sentence_marks += 1,
            Kind::Comma => self.block.commas += 1,
            Kind::Currency => self.block.currency_signs += 1,
            Kind::Separator => self.block.separators += 1,
            _ => {}
        }
    }

    /// A character beyond ASCII that is no space.
    fn non_ascii(&mut self, character: char, link: bool, bold: bool) {
        self.write_space();
        self.block.characters += 1;
        if is_spaceless(character) {
            self.unspaced_character(character, link, bold);
            return;
        }
        if character.is_alphanumeric() {
            self.begin_word(character.is_uppercase(), link, bold);
            let lower = character.to_lowercase().next().unwrap_or(character);
            let mut buffer = [0; 4];
            self.word = lower.encode_utf8(&mut buffer).bytes().fold(self.word, mix);
            return;
        }
        self.between_words();
        match character {
            '。' | '！' | '？' | '…' | '।' | '؟' | '۔' => self.block.sentence_marks += 1,
            '，' | '、' | '；' | '،' => self.block.commas += 1,
            '€' | '£' | '¥' | '￥' | '₹' | '₽' => self.block.currency_signs += 1,
            '»' | '›' | '·' | '•' | '｜' | '→' => self.block.separators += 1,
            _ => {}
        }
    }

    /// Ends the current word and the current pair of unspaced characters.
    #[inline]
    fn between_words(&mut self) {
        self.end_word();
        self.last_unspaced = None;
    }

    /// Adds a character that is a word by itself; with the one before it, it may be a word of the lexicon.
    fn unspaced_character(&mut self, character: char, link: bool, bold: bool) {
        self.end_word();
        self.block.unspaced += 1;
        let mut buffer = [0; 4];
        let single = character.encode_utf8(&mut buffer).bytes().fold(SEED, mix);
        if let Some(last) = self.last_unspaced {
            let pair = last.encode_utf8(&mut buffer).bytes().fold(SEED, mix);
            let pair = character.encode_utf8(&mut buffer).bytes().fold(pair, mix);
            let bits = self.themes.get(pair);
            self.count_themes(bits & !(1 << Theme::StopWord as u32));
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
        // Every third word is a stop word, which branch prediction cannot guess: they are counted without a branch.
        const STOP: u32 = 1 << Theme::StopWord as u32;
        let stop = &mut self.block.themes[Theme::StopWord as usize];
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

/// The class of a byte of text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A part of an ASCII word.
    Word,
    Space,
    SentenceMark,
    Comma,
    Currency,
    Separator,
    /// Any other ASCII character.
    Other,
    /// The beginning of a character beyond ASCII.
    NonAscii,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::NonAscii; 256];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => Kind::Word,
            b'.' | b'!' | b'?' => Kind::SentenceMark,
            b',' | b';' => Kind::Comma,
            b'$' => Kind::Currency,
            b'|' | b'/' | b'>' => Kind::Separator,
            byte if byte.is_ascii_whitespace() => Kind::Space,
            _ => Kind::Other,
        };
        byte += 1;
    }
    kinds
};

/// Whether a byte is an ASCII character other than white space.
#[inline]
fn is_visible(byte: u8) -> bool {
    !matches!(KINDS[usize::from(byte)], Kind::Space | Kind::NonAscii)
}

/// The lower case of each byte of an ASCII word, 0 for all other bytes: one look-up instead of five comparisons.
const LOWERCASE: [u8; 256] = {
    let mut lower = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        if matches!(KINDS[byte], Kind::Word) {
            lower[byte] = (byte as u8).to_ascii_lowercase();
        }
        byte += 1;
    }
    lower
};

/// The lower case of an ASCII character that belongs to a word; `None` for all others.
#[inline]
pub(crate) fn lowercase_ascii(character: char) -> Option<u8> {
    u8::try_from(character).ok().map(|byte| LOWERCASE[usize::from(byte)]).filter(|lower| *lower != 0)
}

/// The bit that lower-case letters have and digits have not.
const LETTER_BIT: u8 = 0x40;

/// How many bytes of a text are blank lines at its beginning.
fn blank_lines(text: &str) -> usize {
    let indented = text.trim_start();
    text[..text.len() - indented.len()].rfind('\n').map_or(0, |at| at + 1)
}

fn ending(text: &str) -> u8 {
    match text.trim_end_matches(['"', '\'', ')', ']', '”', '’', '」', '』', '）', '»']).chars().next_back() {
        Some('.' | '!' | '?' | '。' | '！' | '？' | '…' | '।' | '؟' | '۔') => 2,
        Some(':' | ',' | ';' | '：' | '，' | '；') => 1,
        _ => 0,
    }
}
