//! Start tags in the body.

use super::{Builder, Mode, Namespace, Scope};
use crate::tree::arena::{Kind, NONE, Node, flag};
use crate::tree::tag::{Tag, category};
use crate::tree::tokenizer::{NameId, TagToken};

impl Builder<'_> {
    pub(super) fn start_in_body(&mut self, token: &TagToken) {
        match token.tag {
            Tag::Div
            | Tag::P
            | Tag::Ul
            | Tag::Ol
            | Tag::Section
            | Tag::Article
            | Tag::Header
            | Tag::Footer
            | Tag::Nav
            | Tag::Aside
            | Tag::Main
            | Tag::Figure
            | Tag::Figcaption
            | Tag::Blockquote
            | Tag::Center
            | Tag::Address
            | Tag::Details
            | Tag::Dialog
            | Tag::Dir
            | Tag::Dl
            | Tag::Fieldset
            | Tag::Hgroup
            | Tag::Menu
            | Tag::Search
            | Tag::Summary => {
                self.close_paragraph();
                self.insert_open(token);
            }
            Tag::A => {
                self.close_open_duplicate(token);
                self.insert_formatting(token);
            }
            Tag::B
            | Tag::Big
            | Tag::Code
            | Tag::Em
            | Tag::Font
            | Tag::I
            | Tag::S
            | Tag::Small
            | Tag::Strike
            | Tag::Strong
            | Tag::Tt
            | Tag::U => self.insert_formatting(token),
            Tag::Nobr => {
                self.reconstruct_formatting();
                if self.stack.in_scope(Tag::Nobr, Scope::Default) {
                    self.run_adoption_agency(token);
                }
                self.insert_formatting(token);
            }
            Tag::Li => self.insert_item(token, &[Tag::Li]),
            Tag::Dd | Tag::Dt => self.insert_item(token, &[Tag::Dd, Tag::Dt]),
            Tag::Img | Tag::Br | Tag::Area | Tag::Embed | Tag::Keygen | Tag::Wbr => {
                self.reconstruct_formatting();
                self.insert_void(token);
                self.frameset_ok = false;
            }
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => {
                self.close_paragraph();
                if self.stack.top().is_some_and(|top| !top.is_foreign() && top.tag.is(category::HEADING)) {
                    self.pop();
                }
                self.insert_open(token);
            }
            Tag::Base
            | Tag::Basefont
            | Tag::Bgsound
            | Tag::Link
            | Tag::Meta
            | Tag::Noframes
            | Tag::Script
            | Tag::Style
            | Tag::Template
            | Tag::Title => self.insert_into_head(token),
            Tag::Table => {
                if !self.quirks_mode {
                    self.close_paragraph();
                }
                self.insert_open(token);
                self.frameset_ok = false;
                self.mode = Mode::InTable;
            }
            Tag::Button => {
                if self.stack.in_scope(Tag::Button, Scope::Default) {
                    self.pop_until(Tag::Button);
                }
                self.reconstruct_formatting();
                self.insert_open(token);
                self.frameset_ok = false;
            }
            Tag::Form => self.start_form(token),
            Tag::Input => {
                if self.in_select() {
                    self.pop_until(Tag::Select);
                }
                self.reconstruct_formatting();
                self.frameset_ok &= self.token_has(token, "type", &["hidden"]);
                self.insert_void(token);
            }
            Tag::Select => {
                if self.in_select() {
                    self.pop_until(Tag::Select);
                    return;
                }
                self.reconstruct_formatting();
                self.insert_open(token);
                self.frameset_ok = false;
            }
            Tag::Option | Tag::Optgroup => {
                if self.in_select() {
                    self.close_implied(if token.tag == Tag::Option { Tag::Optgroup } else { Tag::Unknown });
                } else if self.stack.top_is(Tag::Option) {
                    self.pop();
                }
                self.reconstruct_formatting();
                self.insert_open(token);
            }
            Tag::Textarea => {
                self.frameset_ok = false;
                self.insert_raw(token);
            }
            Tag::Iframe => {
                self.frameset_ok = false;
                self.insert_raw(token);
            }
            Tag::Noembed => self.insert_raw(token),
            Tag::Xmp => {
                self.close_paragraph();
                self.reconstruct_formatting();
                self.frameset_ok = false;
                self.insert_raw(token);
            }
            Tag::Pre | Tag::Listing => {
                self.close_paragraph();
                self.insert_open(token);
                self.tokenizer.skip_newline();
                self.frameset_ok = false;
            }
            Tag::Hr => {
                self.close_paragraph();
                if self.in_select() {
                    self.close_implied(Tag::Unknown);
                }
                self.insert_void(token);
                self.frameset_ok = false;
            }
            Tag::Param | Tag::Source | Tag::Track => self.insert_void(token),
            Tag::Image => {
                let token = TagToken { tag: Tag::Img, name: Tag::Img as NameId, ..*token };
                self.start_in_body(&token);
            }
            Tag::Applet | Tag::Marquee | Tag::Object => {
                self.reconstruct_formatting();
                self.insert_open(token);
                self.formatting.push_marker();
                self.frameset_ok = false;
            }
            Tag::Rb | Tag::Rtc | Tag::Rp | Tag::Rt => {
                if self.stack.in_scope(Tag::Ruby, Scope::Default) {
                    let kept = matches!(token.tag, Tag::Rp | Tag::Rt);
                    self.close_implied(if kept { Tag::Rtc } else { Tag::Unknown });
                }
                self.insert_open(token);
            }
            Tag::Svg | Tag::Math => {
                self.reconstruct_formatting();
                let namespace = if token.tag == Tag::Svg { Namespace::Svg } else { Namespace::MathMl };
                self.insert_foreign(token, namespace);
            }
            Tag::Html => {
                if self.stack.find(Tag::Template).is_none() {
                    self.add_attributes(0, token);
                }
            }
            Tag::Body => {
                let has_body = self.stack.get(1).is_some_and(|open| open.is_html(Tag::Body));
                if has_body && self.stack.find(Tag::Template).is_none() {
                    self.frameset_ok = false;
                    self.add_attributes(1, token);
                }
            }
            Tag::Frameset => self.replace_body_by_frameset(token),
            Tag::Plaintext => self.start_plaintext(token),
            Tag::Caption
            | Tag::Col
            | Tag::Colgroup
            | Tag::Frame
            | Tag::Head
            | Tag::Tbody
            | Tag::Td
            | Tag::Tfoot
            | Tag::Th
            | Tag::Thead
            | Tag::Tr => {}
            _ => {
                self.reconstruct_formatting();
                self.insert_open(token);
            }
        }
    }

    #[inline]
    fn insert_formatting(&mut self, token: &TagToken) {
        self.reconstruct_formatting();
        let node = self.insert_open(token);
        self.push_formatting(node, token.tag);
    }

    /// A list item ends the item before it, unless a list begins between them.
    fn insert_item(&mut self, token: &TagToken, ended: &[Tag]) {
        self.frameset_ok = false;
        let innermost = ended.iter().filter_map(|&tag| self.stack.find(tag)).max();
        if let Some(index) = innermost.filter(|&index| index >= self.stack.barrier(Scope::Item)) {
            self.pop_to(index);
        }
        self.close_paragraph();
        self.insert_open(token);
    }

    fn start_form(&mut self, token: &TagToken) {
        let in_template = self.stack.find(Tag::Template).is_some();
        if self.form != NONE && !in_template {
            return;
        }
        self.close_paragraph();
        let form = self.insert_open(token);
        if !in_template {
            self.form = form;
        }
    }

    /// Everything that follows is text.
    fn start_plaintext(&mut self, token: &TagToken) {
        self.close_paragraph();
        self.insert_open(token);
        let range = self.tokenizer.rest();
        if !range.is_empty() {
            self.reconstruct_formatting();
            let mut text = Node::new(Kind::Text, Tag::Unknown, range.start, range.end);
            text.flags = flag::RAW | flag::NUL_SHOWN;
            self.insert(text);
        }
    }
}
