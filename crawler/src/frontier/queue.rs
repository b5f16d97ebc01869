//! The waiting URLs of one host, on disk but for the two ends of every queue.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::files::at;
use crate::error::Error;
use crate::order::Class;

/// Entries that leave memory together.
const BLOCK_ENTRIES: usize = 7;
/// The entries, and where the block behind them stands.
const BLOCK_BYTES: usize = (BLOCK_ENTRIES + 1) * 8;

/// The middles of all queues: blocks in one file that only grows.
pub(super) struct Blocks {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Blocks {
    /// Opens the file and forgets what lies beyond `length`: no checkpoint knows of it.
    pub(super) fn open(path: &Path, length: u64) -> Result<Blocks, Error> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(at(path, "open"))?;
        file.set_len(length).map_err(at(path, "truncate"))?;
        // A place of zero means none, so the first block is left out.
        Ok(Blocks { path: path.to_owned(), file, length: length.max(BLOCK_BYTES as u64) })
    }

    /// Waits until the disk has everything; gives the length of the file.
    pub(super) fn sync(&mut self) -> Result<u64, Error> {
        self.file.sync_data().map_err(at(&self.path, "sync"))?;
        Ok(self.length)
    }

    /// A place for a block that is still to be written.
    fn reserve(&mut self) -> u64 {
        self.length += BLOCK_BYTES as u64;
        self.length - BLOCK_BYTES as u64
    }

    fn write(&self, place: u64, entries: &[u64; BLOCK_ENTRIES], next: u64) -> Result<(), Error> {
        let mut bytes = [0; BLOCK_BYTES];
        for (into, value) in bytes.chunks_exact_mut(8).zip(entries.iter().chain([&next])) {
            into.copy_from_slice(&value.to_le_bytes());
        }
        self.file.write_all_at(&bytes, place).map_err(at(&self.path, "write"))
    }

    fn read(&self, place: u64) -> Result<([u64; BLOCK_ENTRIES], u64), Error> {
        let mut bytes = [0; BLOCK_BYTES];
        self.file.read_exact_at(&mut bytes, place).map_err(at(&self.path, "read"))?;
        let mut values = bytes.chunks_exact(8).map(|value| u64::from_le_bytes(value.try_into().expect("eight bytes")));
        let entries = std::array::from_fn(|_| values.next().expect("a block has so many"));
        Ok((entries, values.next().expect("and one more")))
    }
}

/// Up to a block of entries in memory, in a place of fixed size: what a host takes does not grow with its queue.
#[derive(Clone, Debug, Default)]
pub(super) struct End {
    entries: [u64; BLOCK_ENTRIES],
    start: u8,
    length: u8,
}

impl End {
    pub(super) fn as_slice(&self) -> &[u64] {
        &self.entries[usize::from(self.start)..][..usize::from(self.length)]
    }

    /// Nothing when there are too many of them.
    pub(super) fn from_slice(entries: &[u64]) -> Option<End> {
        let mut end = End { length: entries.len() as u8, ..End::default() };
        end.entries.get_mut(..entries.len())?.copy_from_slice(entries);
        Some(end)
    }

    fn is_full(&self) -> bool {
        usize::from(self.start + self.length) == BLOCK_ENTRIES
    }

    fn push(&mut self, entry: u64) {
        self.entries[usize::from(self.start + self.length)] = entry;
        self.length += 1;
    }

    fn pop(&mut self) -> Option<u64> {
        self.length = self.length.checked_sub(1)?;
        self.start += 1;
        Some(self.entries[usize::from(self.start) - 1])
    }

    /// Puts an entry in front; `false` when there is no room there.
    fn push_front(&mut self, entry: u64) -> bool {
        if self.length == 0 {
            self.start = BLOCK_ENTRIES as u8;
        }
        let has_room = self.start > 0;
        if has_room {
            self.start -= 1;
            self.length += 1;
            self.entries[usize::from(self.start)] = entry;
        }
        has_room
    }
}

/// First in, first out, within one class. An entry is the place of a URL's record in the journal.
///
/// Every block names the next one. The place of the block behind the last is reserved before it is written, so that
/// the last can name it already.
#[derive(Debug)]
pub(super) struct ClassQueue {
    pub(super) class: Class,
    pub(super) head: End,
    pub(super) tail: End,
    pub(super) n_blocks: u32,
    /// Where the first block stands, if there is one.
    pub(super) first: u64,
    /// Where the next block will be written; 0 when no place was reserved yet.
    pub(super) reserved: u64,
}

impl ClassQueue {
    pub(super) fn new(class: Class) -> ClassQueue {
        ClassQueue { class, head: End::default(), tail: End::default(), n_blocks: 0, first: 0, reserved: 0 }
    }

    fn push(&mut self, entry: u64, blocks: &mut Blocks) -> Result<(), Error> {
        if self.tail.is_full() {
            if self.n_blocks == 0 && self.head.length == 0 {
                self.head = std::mem::take(&mut self.tail);
            } else {
                let place = self.next_place(blocks);
                self.reserved = blocks.reserve();
                blocks.write(place, &self.tail.entries, self.reserved)?;
                if self.n_blocks == 0 {
                    self.first = place;
                }
                self.n_blocks += 1;
                self.tail = End::default();
            }
        }
        self.tail.push(entry);
        Ok(())
    }

    /// The place that the last block names.
    fn next_place(&mut self, blocks: &mut Blocks) -> u64 {
        if self.reserved == 0 {
            self.reserved = blocks.reserve();
        }
        self.reserved
    }

    fn pop(&mut self, blocks: &Blocks) -> Result<Option<u64>, Error> {
        if self.head.length == 0 {
            if self.n_blocks > 0 {
                let (entries, next) = blocks.read(self.first)?;
                self.head = End { entries, start: 0, length: BLOCK_ENTRIES as u8 };
                self.first = next;
                self.n_blocks -= 1;
            } else {
                self.head = std::mem::take(&mut self.tail);
            }
        }
        Ok(self.head.pop())
    }

    fn push_front(&mut self, entry: u64, blocks: &mut Blocks) -> Result<(), Error> {
        if self.head.push_front(entry) {
            return Ok(());
        }
        if self.head.length as usize == BLOCK_ENTRIES {
            let next = if self.n_blocks == 0 { self.next_place(blocks) } else { self.first };
            let place = blocks.reserve();
            blocks.write(place, &self.head.entries, next)?;
            self.first = place;
            self.n_blocks += 1;
            self.head = End::default();
        } else {
            // There is room, but behind the entries: they move to the end of it.
            let mut moved = End::default();
            for &entry in self.head.as_slice().iter().rev() {
                moved.push_front(entry);
            }
            self.head = moved;
        }
        self.head.push_front(entry);
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.head.length == 0 && self.n_blocks == 0 && self.tail.length == 0
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
    pub(super) fn push_front(&mut self, class: Class, entry: u64, blocks: &mut Blocks) -> Result<(), Error> {
        let index = self.of(class);
        self.0[index].push_front(entry, blocks)
    }

    /// Takes the first entry of the best class.
    pub(super) fn pop(&mut self, blocks: &Blocks) -> Result<Option<(Class, u64)>, Error> {
        self.pop_at(0, blocks)
    }

    /// Takes the first entry of one of the classes that have any.
    pub(super) fn pop_at(&mut self, index: usize, blocks: &Blocks) -> Result<Option<(Class, u64)>, Error> {
        let Some(queue) = self.0.get_mut(index) else { return Ok(None) };
        let class = queue.class;
        let entry = queue.pop(blocks)?;
        if queue.is_empty() {
            self.0.remove(index);
        }
        Ok(entry.map(|entry| (class, entry)))
    }

    /// How many classes have entries.
    pub(super) fn n_classes(&self) -> usize {
        self.0.len()
    }

    /// The class of the entry that comes next.
    pub(super) fn best(&self) -> Class {
        self.0.first().map_or(Class::LAST, |queue| queue.class)
    }

    fn of(&mut self, class: Class) -> usize {
        let index = self.0.partition_point(|queue| queue.class < class);
        if self.0.get(index).is_none_or(|queue| queue.class != class) {
            // Most hosts have one class: room for four at once would be the larger part of what a host takes.
            self.0.reserve_exact(1);
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
        // More than a block goes back in front of the queue, and a few of those in turn.
        for n_back in [1, 40, 5] {
            let out: Vec<(Class, u64)> = (0..n_back).map(|_| queues.pop(&blocks).unwrap().unwrap()).collect();
            for (class, entry) in out.into_iter().rev() {
                queues.push_front(class, entry, &mut blocks).unwrap();
            }
        }
        let mut left = Vec::new();
        while let Some((_, entry)) = queues.pop(&blocks).unwrap() {
            left.push(entry);
        }
        let mut expected: Vec<u64> = (0..10_000).collect();
        expected.sort_by_key(|entry| entry % 3);
        assert_eq!(left, expected);
    }
}
