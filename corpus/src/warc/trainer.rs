//! The dictionary is trained on a thread of its own, while the first shard is still being written.

use std::path::Path;
use std::thread::JoinHandle;

use super::dictionary;
use crate::error::Result;

/// The training of a dictionary that is under way.
pub(super) struct Trainer {
    thread: JoinHandle<Result<Option<Vec<u8>>>>,
}

impl Trainer {
    /// Begins to train a dictionary of `size` bytes on the first `bytes` of a shard. `None` if no thread can be had.
    pub(super) fn start(path: &Path, bytes: u64, size: usize) -> Option<Trainer> {
        let path = path.to_owned();
        let thread = std::thread::Builder::new().name("dictionary".to_owned());
        thread.spawn(move || dictionary::train(&path, bytes, size)).ok().map(|thread| Trainer { thread })
    }

    /// Waits for the dictionary; `None` if there were too few pages.
    pub(super) fn finish(self) -> Result<Option<Vec<u8>>> {
        self.thread.join().expect("training has no bug that ends its thread")
    }
}
