//! The waiting URLs of one host, on disk but for the two ends of every queue.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::files::{at, open_append};
use crate::error::Error;
use crate::order::Class;

/// Entries that leave memory together.
const BLOCK_ENTRIES: usize = 16;
const BLOCK_BYTES: usize = BLOCK_ENTRIES * 8;
const BUFFER_BYTES: usize = 1 << 16;

/// The middles of all queues: blocks in one file that only grows.
pub(super) struct Blocks {
    path: PathBuf,
    file: File,
    written: u64,
    buffer: Vec<u8>,
}

impl Blocks {
    /// Opens the file and forgets what lies beyond `length`: no checkpoint knows of it.
    pub(super) fn open(path: &Path, length: u64) -> Result<Blocks, Error> {
        let file = open_append(path)?;
        file.set_len(length).map_err(at(path, "truncate"))?;
        Ok(Blocks { path: path.to_owned(), file, written: length, buffer: Vec::with_capacity(BUFFER_BYTES) })
    }

    /// Writes everything and waits until the disk has it; gives the length of the file.
    pub(super) fn sync(&mut self) -> Result<u64, Error> {
        self.write()?;
        self.file.sync_data().map_err(at(&self.path, "sync"))?;
        Ok(self.written)
    }

    fn write(&mut self) -> Result<(), Error> {
        self.file.write_all(&self.buffer).map_err(at(&self.path, "write"))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn push(&mut self, entries: &[u64]) -> Result<u64, Error> {
        if self.buffer.len() >= BUFFER_BYTES {
            self.write()?;
        }
        let offset = self.written + self.buffer.len() as u64;
        entries.iter().for_each(|entry| self.buffer.extend(entry.to_le_bytes()));
        Ok(offset)
    }

    fn read(&self, offset: u64, into: &mut VecDeque<u64>) -> Result<(), Error> {
        let mut bytes = [0; BLOCK_BYTES];
        if offset >= self.written {
            let start = (offset - self.written) as usize;
            bytes.copy_from_slice(&self.buffer[start..start + BLOCK_BYTES]);
        } else {
            self.file.read_exact_at(&mut bytes, offset).map_err(at(&self.path, "read"))?;
        }
        into.extend(bytes.chunks_exact(8).map(|entry| u64::from_le_bytes(entry.try_into().expect("eight bytes"))));
        Ok(())
    }
}

/// First in, first out, within one class. An entry is the place of a URL's record in the journal.
#[derive(Debug)]
pub(super) struct ClassQueue {
    pub(super) class: Class,
    pub(super) head: VecDeque<u64>,
    pub(super) blocks: VecDeque<u64>,
    pub(super) tail: Vec<u64>,
}

impl ClassQueue {
    pub(super) fn new(class: Class) -> ClassQueue {
        ClassQueue { class, head: VecDeque::new(), blocks: VecDeque::new(), tail: Vec::new() }
    }

    fn push(&mut self, entry: u64, blocks: &mut Blocks) -> Result<(), Error> {
        if self.tail.len() == BLOCK_ENTRIES {
            if self.blocks.is_empty() && self.head.is_empty() {
                self.head.extend(self.tail.iter());
            } else {
                self.blocks.push_back(blocks.push(&self.tail)?);
            }
            self.tail.clear();
        }
        self.tail.push(entry);
        Ok(())
    }

    fn pop(&mut self, blocks: &Blocks) -> Result<Option<u64>, Error> {
        if self.head.is_empty() {
            if let Some(block) = self.blocks.pop_front() {
                blocks.read(block, &mut self.head)?;
            } else {
                self.head.extend(self.tail.drain(..));
            }
        }
        Ok(self.head.pop_front())
    }

    fn is_empty(&self) -> bool {
        self.head.is_empty() && self.blocks.is_empty() && self.tail.is_empty()
    }
}

/// The queues of one host, the best class first.
#[derive(Debug, Default)]
pub(super) struct Queues(pub(super) Vec<ClassQueue>);

impl Queues {
    /// Adds an entry at the end of its class.
    pub(super) fn push(&mut self, class: Class, entry: u64, blocks: &mut Blocks) -> Result<(), Error> {
        let index = self.of(class);
        self.0[index].push(entry, blocks)
    }

    /// Puts an entry back in front of its class.
    pub(super) fn push_front(&mut self, class: Class, entry: u64) {
        let index = self.of(class);
        self.0[index].head.push_front(entry);
    }

    /// Takes the first entry of the best class.
    pub(super) fn pop(&mut self, blocks: &Blocks) -> Result<Option<(Class, u64)>, Error> {
        let Some(first) = self.0.first_mut() else { return Ok(None) };
        let class = first.class;
        let entry = first.pop(blocks)?;
        if first.is_empty() {
            self.0.remove(0);
        }
        Ok(entry.map(|entry| (class, entry)))
    }

    /// The class of the entry that comes next.
    pub(super) fn best(&self) -> Class {
        self.0.first().map_or(Class::LAST, |queue| queue.class)
    }

    fn of(&mut self, class: Class) -> usize {
        let index = self.0.partition_point(|queue| queue.class < class);
        if self.0.get(index).is_none_or(|queue| queue.class != class) {
            self.0.insert(index, ClassQueue::new(class));
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_leave_by_class_and_then_in_the_order_they_came() {
        let folder = tempfile::tempdir().unwrap();
        let mut blocks = Blocks::open(&folder.path().join("queues"), 0).unwrap();
        let mut queues = Queues::default();
        for entry in 0..10_000 {
            queues.push(Class((entry % 3) as u8), entry, &mut blocks).unwrap();
            if entry % 1_000 == 0 {
                blocks.sync().unwrap();
            }
        }
        let (class, first) = queues.pop(&blocks).unwrap().unwrap();
        queues.push_front(class, first);
        let mut left = Vec::new();
        while let Some((_, entry)) = queues.pop(&blocks).unwrap() {
            left.push(entry);
        }
        let mut expected: Vec<u64> = (0..10_000).collect();
        expected.sort_by_key(|entry| entry % 3);
        assert_eq!(left, expected);
    }
}
