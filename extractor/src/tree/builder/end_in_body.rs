//! End tags in the body.

use super::{Builder, Mode, Scope};
use crate::tree::arena::NONE;
use crate::tree::tag::{Tag, category};
use crate::tree::tokenizer::TagToken;

const HEADINGS: [Tag; 6] = [Tag::H1, Tag::H2, Tag::H3, Tag::H4, Tag::H5, Tag::H6];

impl Builder<'_> {
    pub(super) fn end_in_body(&mut self, token: &TagToken) {
        match token.tag {
            Tag::Div
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
            | Tag::Button
            | Tag::Center
            | Tag::Address
            | Tag::Details
            | Tag::Dialog
            | Tag::Dir
            | Tag::Dl
            | Tag::Fieldset
            | Tag::Hgroup
            | Tag::Listing
            | Tag::Menu
            | Tag::Pre
            | Tag::Search
            | Tag::Select
            | Tag::Summary => self.end_in_scope(token.tag, Scope::Default),
            Tag::P => {
                if !self.stack.in_scope(Tag::P, Scope::Button) {
                    self.insert_implied(Tag::P);
                }
                self.close_paragraph();
            }
            Tag::A
            | Tag::B
            | Tag::Big
            | Tag::Code
            | Tag::Em
            | Tag::Font
            | Tag::I
            | Tag::Nobr
            | Tag::S
            | Tag::Small
            | Tag::Strike
            | Tag::Strong
            | Tag::Tt
            | Tag::U => self.run_adoption_agency(token),
            Tag::Li => self.end_in_scope(Tag::Li, Scope::ListItem),
            Tag::Dd | Tag::Dt => self.end_in_scope(token.tag, Scope::Default),
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => {
                let innermost = HEADINGS.iter().filter_map(|&tag| self.stack.find(tag)).max();
                if let Some(index) = innermost.filter(|&index| index >= self.stack.barrier(Scope::Default)) {
                    self.pop_to(index);
                }
            }
            Tag::Form => self.end_form(),
            Tag::Body | Tag::Html => {
                if self.stack.in_scope(Tag::Body, Scope::Default) {
                    self.mode = Mode::AfterBody;
                    if token.tag == Tag::Html {
                        self.mode = Mode::AfterAfterBody;
                    }
                }
            }
            Tag::Template => self.end_template(),
            Tag::Applet | Tag::Marquee | Tag::Object => {
                if self.stack.in_scope(token.tag, Scope::Default) {
                    self.pop_until(token.tag);
                    self.formatting.clear_to_marker();
                }
            }
            Tag::Br => {
                self.reconstruct_formatting();
                self.insert_void(&TagToken { n_attributes: 0, ..*token });
                self.frameset_ok = false;
            }
            _ => self.end_any_other(token),
        }
    }

    /// Closes the innermost element of this name, if nothing hides it.
    #[inline]
    fn end_in_scope(&mut self, tag: Tag, scope: Scope) {
        if self.stack.in_scope(tag, scope) {
            self.pop_until(tag);
        }
    }

    /// Closes the innermost element of the tag's name, if no special element is open inside it.
    pub(super) fn end_any_other(&mut self, token: &TagToken) {
        if let Some(index) = self.stack.find_name(token.name)
            && index >= self.stack.barrier(Scope::Special)
        {
            self.pop_to(index);
        }
    }

    fn end_form(&mut self) {
        if self.stack.find(Tag::Template).is_some() {
            if self.stack.in_scope(Tag::Form, Scope::Default) {
                self.pop_until(Tag::Form);
            }
            return;
        }
        let form = std::mem::replace(&mut self.form, NONE);
        if form == NONE {
            return;
        }
        let Some(index) = self.stack.find_node(Tag::Form as u16, form) else { return };
        if index < self.stack.barrier(Scope::Default) {
            return;
        }
        self.close_while(|open| open.tag.is(category::IMPLIED));
        self.remove_open(index);
    }
}
