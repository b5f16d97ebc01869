//! A cache within a number of bytes: what was used lately, and what was used before that.

use std::collections::HashMap;

/// What an entry takes besides its own bytes, about.
const ENTRY_BYTES: usize = 200;

/// Values by name. When the recent ones take half of the bytes, those that were not used since the last time are dropped
/// as a whole.
pub(crate) struct Generations<T> {
    recent: HashMap<String, (usize, T)>,
    recent_bytes: usize,
    older: HashMap<String, (usize, T)>,
    max_bytes: usize,
}

impl<T> Generations<T> {
    /// A cache that takes so many bytes at most.
    pub(crate) fn new(max_bytes: usize) -> Generations<T> {
        Generations { recent: HashMap::new(), recent_bytes: 0, older: HashMap::new(), max_bytes }
    }

    pub(crate) fn get(&mut self, name: &str) -> Option<&T> {
        if let Some((bytes, value)) = self.older.remove(name) {
            self.insert(name.to_owned(), bytes, value);
        }
        self.recent.get(name).map(|(_, value)| value)
    }

    /// Keeps a value that takes so many bytes.
    pub(crate) fn insert(&mut self, name: String, bytes: usize, value: T) {
        self.remove(&name);
        let taken = bytes + name.len() + ENTRY_BYTES;
        if self.recent_bytes + taken > self.max_bytes / 2 {
            self.older = std::mem::take(&mut self.recent);
            self.recent_bytes = 0;
        }
        self.recent_bytes += taken;
        self.recent.insert(name, (bytes, value));
    }

    pub(crate) fn remove(&mut self, name: &str) {
        if let Some((bytes, _)) = self.recent.remove(name) {
            self.recent_bytes -= bytes + name.len() + ENTRY_BYTES;
        }
        self.older.remove(name);
    }
}
