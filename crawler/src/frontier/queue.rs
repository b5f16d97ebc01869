//! The waiting URLs of one host: queues on disk, with both ends of each in memory.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::files::{self, io_error};
use crate::error::Error;
use crate::order::Priority;

/// Entries of a block, which is written to disk as a whole.
const BLOCK_ENTRIES: usize = 7;
/// The entries, and the offset of the next block.
const BLOCK_BYTES: usize = (BLOCK_ENTRIES + 1) * 8;

/// The blocks of all queues, in one append-only file.
pub(super) struct Blocks {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Blocks {
    /// Opens the file and truncates it to `length`: the rest is in no checkpoint.
    pub(super) fn open(path: &Path, length: u64) -> Result<Blocks, Error> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(io_error(path, "open"))?;
        files::set_length(&file, path, length)?;
        // An offset of zero means no block, so the first block of the file is unused.
        Ok(Blocks { path: path.to_owned(), file, length: length.max(BLOCK_BYTES as u64) })
    }

    /// Syncs the file to disk; gives its length.
    pub(super) fn sync(&mut self) -> Result<u64, Error> {
        files::sync(&self.file, &self.path)?;
        Ok(self.length)
    }

    /// Reserves the offset of a block that will be written later.
    fn reserve(&mut self) -> u64 {
        self.length += BLOCK_BYTES as u64;
        self.length - BLOCK_BYTES as u64
    }

    fn write(&self, offset: u64, entries: &[u64; BLOCK_ENTRIES], next: u64) -> Result<(), Error> {
        let mut bytes = [0; BLOCK_BYTES];
        for (into, value) in bytes.chunks_exact_mut(8).zip(entries.iter().chain([&next])) {
            into.copy_from_slice(&value.to_le_bytes());
        }
        files::write_at(&self.file, &self.path, &bytes, offset)
    }

    fn read(&self, offset: u64) -> Result<([u64; BLOCK_ENTRIES], u64), Error> {
        let mut bytes = [0; BLOCK_BYTES];
        self.file.read_exact_at(&mut bytes, offset).map_err(io_error(&self.path, "read"))?;
        let mut values = bytes.chunks_exact(8).map(|value| u64::from_le_bytes(value.try_into().expect("eight bytes")));
        let entries = std::array::from_fn(|_| values.next().expect("a block has so many"));
        Ok((entries, values.next().expect("and one more")))
    }
}

/// One end of a queue: up to a block of entries in a buffer of fixed size, so that the memory of a host does not grow
/// with its queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct EndBuffer {
    entries: [u64; BLOCK_ENTRIES],
    start: u8,
    length: u8,
}

impl EndBuffer {
    pub(super) fn as_slice(&self) -> &[u64] {
        &self.entries[usize::from(self.start)..][..usize::from(self.length)]
    }

    /// `None` when there are more entries than a block holds.
    pub(super) fn from_slice(entries: &[u64]) -> Option<EndBuffer> {
        let mut end = EndBuffer { length: entries.len() as u8, ..EndBuffer::default() };
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

    /// Puts an entry in front; `false` when there is no room before the first one.
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

/// A FIFO queue of one priority. An entry is the journal offset of a URL record.
///
/// Blocks form a linked list. The offset of the block after the last one is reserved in advance, so that the last block
/// can refer to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FifoQueue {
    pub(super) priority: Priority,
    pub(super) head: EndBuffer,
    pub(super) tail: EndBuffer,
    pub(super) n_blocks: u32,
    /// The offset of the first block, if there is one.
    pub(super) first: u64,
    /// The reserved offset of the next block; 0 when none was reserved yet.
    pub(super) reserved: u64,
}

impl Default for FifoQueue {
    fn default() -> Self {
        FifoQueue::new(Priority::FIRST)
    }
}

impl FifoQueue {
    pub(super) fn new(priority: Priority) -> FifoQueue {
        let (head, tail) = Default::default();
        FifoQueue { priority, head, tail, n_blocks: 0, first: 0, reserved: 0 }
    }

    pub(super) fn push(&mut self, entry: u64, blocks: &mut Blocks) -> Result<(), Error> {
        if self.tail.is_full() {
            if self.n_blocks == 0 && self.head.length == 0 {
                self.head = std::mem::take(&mut self.tail);
            } else {
                let offset = self.next_block_offset(blocks);
                self.reserved = blocks.reserve();
                blocks.write(offset, &self.tail.entries, self.reserved)?;
                if self.n_blocks == 0 {
                    self.first = offset;
                }
                self.n_blocks += 1;
                self.tail = EndBuffer::default();
            }
        }
        self.tail.push(entry);
        Ok(())
    }

    /// The offset to which the last block refers.
    fn next_block_offset(&mut self, blocks: &mut Blocks) -> u64 {
        if self.reserved == 0 {
            self.reserved = blocks.reserve();
        }
        self.reserved
    }

    pub(super) fn pop(&mut self, blocks: &Blocks) -> Result<Option<u64>, Error> {
        if self.head.length == 0 {
            if self.n_blocks > 0 {
                let (entries, next) = blocks.read(self.first)?;
                self.head = EndBuffer { entries, start: 0, length: BLOCK_ENTRIES as u8 };
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
            let next = if self.n_blocks == 0 { self.next_block_offset(blocks) } else { self.first };
            let offset = blocks.reserve();
            blocks.write(offset, &self.head.entries, next)?;
            self.first = offset;
            self.n_blocks += 1;
            self.head = EndBuffer::default();
        } else {
            // The free room is after the entries: move them to the end of the buffer.
            let mut moved = EndBuffer::default();
            for &entry in self.head.as_slice().iter().rev() {
                moved.push_front(entry);
            }
            self.head = moved;
        }
        self.head.push_front(entry);
        Ok(())
    }

    /// All entries, first to last.
    #[cfg(test)]
    pub(super) fn entries(&self, blocks: &Blocks) -> Result<Vec<u64>, Error> {
        let mut copy = self.clone();
        std::iter::from_fn(|| copy.pop(blocks).transpose()).collect()
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.head.length) + self.n_blocks as usize * BLOCK_ENTRIES + usize::from(self.tail.length)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head.length == 0 && self.n_blocks == 0 && self.tail.length == 0
    }
}

/// The queues of one host, smallest priority first. Most hosts that are known by links alone have one URL waiting: they
/// are many, and a queue with two ends would be most of what is kept of them.
#[derive(Debug, Default)]
pub(super) enum Queues {
    #[default]
    Empty,
    /// A single entry.
    One(Priority, u64),
    /// The priorities that have entries, in their order.
    #[expect(clippy::box_collection, reason = "most hosts have none: a list would make each of them larger")]
    Many(Box<Vec<FifoQueue>>),
}

impl Queues {
    /// The queues as they were saved.
    pub(super) fn from_saved(queues: Vec<FifoQueue>) -> Queues {
        match &queues[..] {
            [] => Queues::Empty,
            [FifoQueue { priority, head, tail, n_blocks: 0, .. }] if head.length + tail.length == 1 => {
                let entry = head.as_slice().first().or(tail.as_slice().first());
                entry.map_or(Queues::Empty, |entry| Queues::One(*priority, *entry))
            }
            _ => Queues::Many(Box::new(queues)),
        }
    }

    /// The queues as they are saved.
    pub(super) fn to_saved(&self) -> Vec<FifoQueue> {
        match self {
            Queues::Empty => Vec::new(),
            Queues::One(priority, entry) => {
                let mut queue = FifoQueue::new(*priority);
                queue.tail.push(*entry);
                vec![queue]
            }
            Queues::Many(queues) => (**queues).clone(),
        }
    }

    /// Adds an entry at the end of the queue of its priority.
    pub(super) fn push(&mut self, priority: Priority, entry: u64, blocks: &mut Blocks) -> Result<(), Error> {
        match self {
            Queues::Empty => {
                *self = Queues::One(priority, entry);
                Ok(())
            }
            _ => self.queue(priority).push(entry, blocks),
        }
    }

    /// Puts an entry at the front of the queue of its priority.
    pub(super) fn push_front(&mut self, priority: Priority, entry: u64, blocks: &mut Blocks) -> Result<(), Error> {
        match self {
            Queues::Empty => {
                *self = Queues::One(priority, entry);
                Ok(())
            }
            _ => self.queue(priority).push_front(entry, blocks),
        }
    }

    /// Removes the first entry of the smallest priority.
    pub(super) fn pop(&mut self, blocks: &Blocks) -> Result<Option<(Priority, u64)>, Error> {
        self.pop_at(0, blocks)
    }

    /// Removes the first entry of the `index`-th of the queues that have entries.
    pub(super) fn pop_at(&mut self, index: usize, blocks: &Blocks) -> Result<Option<(Priority, u64)>, Error> {
        let queues = match self {
            Queues::One(priority, entry) if index == 0 => {
                let first = (*priority, *entry);
                *self = Queues::Empty;
                return Ok(Some(first));
            }
            Queues::Many(queues) => queues,
            Queues::Empty | Queues::One(..) => return Ok(None),
        };
        let Some(queue) = queues.get_mut(index) else { return Ok(None) };
        let priority = queue.priority;
        let entry = queue.pop(blocks)?;
        if queue.is_empty() {
            queues.remove(index);
        }
        if queues.is_empty() {
            *self = Queues::Empty;
        }
        Ok(entry.map(|entry| (priority, entry)))
    }

    /// The number of priorities that have entries.
    pub(super) fn n_priorities(&self) -> usize {
        match self {
            Queues::Empty => 0,
            Queues::One(..) => 1,
            Queues::Many(queues) => queues.len(),
        }
    }

    /// The `index`-th of the priorities that have entries.
    pub(super) fn priority_at(&self, index: usize) -> Option<Priority> {
        match self {
            Queues::One(priority, _) if index == 0 => Some(*priority),
            Queues::Empty | Queues::One(..) => None,
            Queues::Many(queues) => queues.get(index).map(|queue| queue.priority),
        }
    }

    /// The priority of the next entry; [`Priority::LAST`] when there is none.
    pub(super) fn best(&self) -> Priority {
        self.priority_at(0).unwrap_or(Priority::LAST)
    }

    /// The second smallest priority that has entries, or the smallest when it is the only one.
    pub(super) fn second(&self) -> Priority {
        self.priority_at(1).unwrap_or(self.best())
    }

    /// The number of entries of the first priority.
    pub(super) fn n_first(&self) -> usize {
        match self {
            _ if self.best() != Priority::FIRST => 0,
            Queues::Empty => 0,
            Queues::One(..) => 1,
            Queues::Many(queues) => queues.first().map_or(0, FifoQueue::len),
        }
    }

    /// The queue of a priority.
    fn queue(&mut self, priority: Priority) -> &mut FifoQueue {
        if !matches!(self, Queues::Many(_)) {
            *self = Queues::Many(Box::new(self.to_saved()));
        }
        let Queues::Many(queues) = self else { unreachable!("it was made so") };
        let index = queues.partition_point(|queue| queue.priority < priority);
        if queues.get(index).is_none_or(|queue| queue.priority != priority) {
            // Most hosts use one priority: the default growth to four queues would be most of the memory of a host.
            queues.reserve_exact(1);
            queues.insert(index, FifoQueue::new(priority));
        }
        &mut queues[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_leave_by_priority_and_then_in_the_order_they_came() {
        let folder = tempfile::tempdir().unwrap();
        let mut blocks = Blocks::open(&folder.path().join("queues"), 0).unwrap();
        let mut queues = Queues::default();
        for entry in 0..10_000 {
            queues.push(Priority((entry % 3) as u8), entry, &mut blocks).unwrap();
            if entry % 1_000 == 0 {
                blocks.sync().unwrap();
            }
        }
        // More than a block of entries goes back to the front, then a few of those again.
        for n_back in [1, 40, 5] {
            queues = Queues::from_saved(queues.to_saved());
            let out: Vec<(Priority, u64)> = (0..n_back).map(|_| queues.pop(&blocks).unwrap().unwrap()).collect();
            for (priority, entry) in out.into_iter().rev() {
                queues.push_front(priority, entry, &mut blocks).unwrap();
            }
        }
        let mut left = Vec::new();
        while let Some((_, entry)) = queues.pop(&blocks).unwrap() {
            left.push(entry);
            queues = Queues::from_saved(queues.to_saved());
        }
        assert!(matches!(queues, Queues::Empty));
        let mut expected: Vec<u64> = (0..10_000).collect();
        expected.sort_by_key(|entry| entry % 3);
        assert_eq!(left, expected);
    }
}
