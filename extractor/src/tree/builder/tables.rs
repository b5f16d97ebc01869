//! Tables, their parts, and what does not belong in them.

use super::{Builder, Flow, Mode, Scope};
use crate::tree::arena::NONE;
use crate::tree::tag::Tag;
use crate::tree::tokenizer::TagToken;

impl Builder<'_> {
    pub(super) fn start_in_table(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Caption => {
                self.clear_to(&[Tag::Table]);
                self.formatting.push_marker();
                self.insert_open(token);
                self.mode = Mode::InCaption;
            }
            Tag::Colgroup => {
                self.clear_to(&[Tag::Table]);
                self.insert_open(token);
                self.mode = Mode::InColumnGroup;
            }
            Tag::Col => {
                self.clear_to(&[Tag::Table]);
                self.insert_implied(Tag::Colgroup);
                self.mode = Mode::InColumnGroup;
                return Flow::Reprocess;
            }
            Tag::Tbody | Tag::Tfoot | Tag::Thead => {
                self.clear_to(&[Tag::Table]);
                self.insert_open(token);
                self.mode = Mode::InTableBody;
            }
            Tag::Td | Tag::Th | Tag::Tr => {
                self.clear_to(&[Tag::Table]);
                self.insert_implied(Tag::Tbody);
                self.mode = Mode::InTableBody;
                return Flow::Reprocess;
            }
            Tag::Table => {
                if self.stack.in_scope(Tag::Table, Scope::Table) {
                    self.pop_until(Tag::Table);
                    self.reset_mode();
                    return Flow::Reprocess;
                }
            }
            Tag::Style | Tag::Script | Tag::Template => self.insert_into_head(token),
            Tag::Input if self.token_has(token, "type", &["hidden"]) => self.insert_void(token),
            Tag::Form => {
                if self.form == NONE && self.stack.find(Tag::Template).is_none() {
                    self.form = self.insert_open(token);
                    self.pop();
                }
            }
            _ => {
                self.foster_parenting = true;
                self.start_in_body(token);
                self.foster_parenting = false;
            }
        }
        Flow::Done
    }

    pub(super) fn end_in_table(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Table => {
                if self.stack.in_scope(Tag::Table, Scope::Table) {
                    self.pop_until(Tag::Table);
                    self.reset_mode();
                }
            }
            Tag::Body
            | Tag::Caption
            | Tag::Col
            | Tag::Colgroup
            | Tag::Html
            | Tag::Tbody
            | Tag::Td
            | Tag::Tfoot
            | Tag::Th
            | Tag::Thead
            | Tag::Tr => {}
            Tag::Template => self.end_template(),
            _ => {
                self.foster_parenting = true;
                self.end_in_body(token);
                self.foster_parenting = false;
            }
        }
        Flow::Done
    }

    pub(super) fn start_in_caption(&mut self, token: &TagToken) -> Flow {
        if ends_caption_or_cell(token.tag) {
            return self.end_caption();
        }
        self.start_in_body(token);
        Flow::Done
    }

    pub(super) fn end_in_caption(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Caption => {
                self.end_caption();
            }
            Tag::Table => return self.end_caption(),
            Tag::Body
            | Tag::Col
            | Tag::Colgroup
            | Tag::Html
            | Tag::Tbody
            | Tag::Td
            | Tag::Tfoot
            | Tag::Th
            | Tag::Thead
            | Tag::Tr => {}
            _ => self.end_in_body(token),
        }
        Flow::Done
    }

    /// Closes the caption; the tag that did so is looked at again only if there was one.
    fn end_caption(&mut self) -> Flow {
        if !self.stack.in_scope(Tag::Caption, Scope::Table) {
            return Flow::Done;
        }
        self.pop_until(Tag::Caption);
        self.formatting.clear_to_marker();
        self.mode = Mode::InTable;
        Flow::Reprocess
    }

    pub(super) fn start_in_column_group(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Html => self.start_in_body(token),
            Tag::Col => self.insert_void(token),
            Tag::Template => self.insert_into_head(token),
            _ => return self.end_column_group(),
        }
        Flow::Done
    }

    pub(super) fn end_in_column_group(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Colgroup => {
                self.end_column_group();
                Flow::Done
            }
            Tag::Col => Flow::Done,
            Tag::Template => {
                self.end_template();
                Flow::Done
            }
            _ => self.end_column_group(),
        }
    }

    fn end_column_group(&mut self) -> Flow {
        if !self.stack.top_is(Tag::Colgroup) {
            return Flow::Done;
        }
        self.pop();
        self.mode = Mode::InTable;
        Flow::Reprocess
    }

    pub(super) fn start_in_table_body(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Tr => {
                self.clear_to(&[Tag::Tbody, Tag::Tfoot, Tag::Thead]);
                self.insert_open(token);
                self.mode = Mode::InRow;
                Flow::Done
            }
            Tag::Th | Tag::Td => {
                self.clear_to(&[Tag::Tbody, Tag::Tfoot, Tag::Thead]);
                self.insert_implied(Tag::Tr);
                self.mode = Mode::InRow;
                Flow::Reprocess
            }
            Tag::Caption | Tag::Col | Tag::Colgroup | Tag::Tbody | Tag::Tfoot | Tag::Thead => self.end_table_body(),
            _ => self.start_in_table(token),
        }
    }

    pub(super) fn end_in_table_body(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Tbody | Tag::Tfoot | Tag::Thead => {
                if self.stack.in_scope(token.tag, Scope::Table) {
                    self.end_table_body();
                }
                Flow::Done
            }
            Tag::Table => self.end_table_body(),
            Tag::Body | Tag::Caption | Tag::Col | Tag::Colgroup | Tag::Html | Tag::Td | Tag::Th | Tag::Tr => Flow::Done,
            _ => self.end_in_table(token),
        }
    }

    fn end_table_body(&mut self) -> Flow {
        let open = [Tag::Tbody, Tag::Tfoot, Tag::Thead].iter().any(|&tag| self.stack.in_scope(tag, Scope::Table));
        if !open {
            return Flow::Done;
        }
        self.clear_to(&[Tag::Tbody, Tag::Tfoot, Tag::Thead]);
        self.pop_to(self.stack.len() - 1);
        self.mode = Mode::InTable;
        Flow::Reprocess
    }

    pub(super) fn start_in_row(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Th | Tag::Td => {
                self.clear_to(&[Tag::Tr]);
                self.insert_open(token);
                self.mode = Mode::InCell;
                self.formatting.push_marker();
                Flow::Done
            }
            tag if ends_caption_or_cell(tag) => self.end_row(),
            _ => self.start_in_table(token),
        }
    }

    pub(super) fn end_in_row(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Tr => {
                self.end_row();
                Flow::Done
            }
            Tag::Table => self.end_row(),
            Tag::Tbody | Tag::Tfoot | Tag::Thead => {
                if self.stack.in_scope(token.tag, Scope::Table) {
                    return self.end_row();
                }
                Flow::Done
            }
            Tag::Body | Tag::Caption | Tag::Col | Tag::Colgroup | Tag::Html | Tag::Td | Tag::Th => Flow::Done,
            _ => self.end_in_table(token),
        }
    }

    fn end_row(&mut self) -> Flow {
        if !self.stack.in_scope(Tag::Tr, Scope::Table) {
            return Flow::Done;
        }
        self.clear_to(&[Tag::Tr]);
        self.pop_to(self.stack.len() - 1);
        self.mode = Mode::InTableBody;
        Flow::Reprocess
    }

    pub(super) fn start_in_cell(&mut self, token: &TagToken) -> Flow {
        if ends_caption_or_cell(token.tag) {
            let open = [Tag::Td, Tag::Th].iter().any(|&tag| self.stack.in_scope(tag, Scope::Table));
            if !open {
                return Flow::Done;
            }
            self.close_cell();
            return Flow::Reprocess;
        }
        self.start_in_body(token);
        Flow::Done
    }

    pub(super) fn end_in_cell(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Td | Tag::Th => {
                if self.stack.in_scope(token.tag, Scope::Table) {
                    self.pop_until(token.tag);
                    self.formatting.clear_to_marker();
                    self.mode = Mode::InRow;
                }
            }
            Tag::Body | Tag::Caption | Tag::Col | Tag::Colgroup | Tag::Html => {}
            Tag::Table | Tag::Tbody | Tag::Tfoot | Tag::Thead | Tag::Tr => {
                if self.stack.in_scope(token.tag, Scope::Table) {
                    self.close_cell();
                    return Flow::Reprocess;
                }
            }
            _ => self.end_in_body(token),
        }
        Flow::Done
    }

    fn close_cell(&mut self) {
        let innermost = [Tag::Td, Tag::Th].iter().filter_map(|&tag| self.stack.find(tag)).max();
        if let Some(index) = innermost {
            self.pop_to(index);
        }
        self.formatting.clear_to_marker();
        self.mode = Mode::InRow;
    }

    /// Closes elements until one of these, a template or the root is on top.
    fn clear_to(&mut self, context: &[Tag]) {
        self.close_until(|tag| context.contains(&tag) || matches!(tag, Tag::Template | Tag::Html));
    }

    fn close_until(&mut self, stops: impl Fn(Tag) -> bool) {
        while self.stack.len() > 1 && self.stack.top().is_some_and(|top| top.is_foreign() || !stops(top.tag)) {
            self.pop();
        }
    }
}

/// Start tags that end a caption or a cell.
fn ends_caption_or_cell(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Caption | Tag::Col | Tag::Colgroup | Tag::Tbody | Tag::Td | Tag::Tfoot | Tag::Th | Tag::Thead | Tag::Tr
    )
}
