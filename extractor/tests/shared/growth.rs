//! How the time of some work grows with its input.

use std::fs;
use std::sync::{Mutex, PoisonError};

/// Four times the input may take this much more time: 4, and the rest is noise. What is quadratic takes 16.
const MAX_RATIO: f64 = 10.0;

/// Work of less time says nothing yet; the input grows until it takes as long …
const MIN_SECONDS: f64 = 0.01;
/// … or has this size.
const MAX_BYTES: usize = 1 << 20;
const MIN_BYTES: usize = 32 << 10;

/// A neighbour can only make work slower: of so many tries the fastest count.
const N_TRIES: usize = 6;

/// Something that is read, and how.
pub struct Case<'c> {
    /// What is read, and what of.
    pub name: String,
    /// An input of about so many bytes.
    pub input: &'c dyn Fn(usize) -> Vec<u8>,
    /// What reads it.
    pub read: &'c dyn Fn(&[u8]),
}

impl Case<'_> {
    /// Fails where the time grows faster than the input.
    #[track_caller]
    pub fn check(&self) {
        if let Some(ratio) = self.excess() {
            panic!("{}: four times the input takes {ratio:.1} times the time", self.name);
        }
    }

    /// The growth of the time, if it is too much.
    pub fn excess(&self) -> Option<f64> {
        /// Measurements wait for one another.
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut n_bytes = MIN_BYTES;
        let mut small = self.seconds(n_bytes);
        while small < MIN_SECONDS && n_bytes < MAX_BYTES {
            n_bytes *= 2;
            small = self.seconds(n_bytes);
        }
        let mut large = self.seconds(4 * n_bytes);
        for _ in 1..N_TRIES {
            // What takes so little at its largest is not worth an attack.
            if large <= MAX_RATIO * small.max(MIN_SECONDS) {
                return None;
            }
            small = small.min(self.seconds(n_bytes));
            large = large.min(self.seconds(4 * n_bytes));
        }
        let ratio = large / small.max(MIN_SECONDS);
        (ratio > MAX_RATIO).then_some(ratio)
    }

    /// The time that this thread works on an input.
    fn seconds(&self, n_bytes: usize) -> f64 {
        let input = (self.input)(n_bytes);
        let start = thread_seconds();
        (self.read)(&input);
        thread_seconds() - start
    }
}

/// The processor's time that this thread has had.
pub fn thread_seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|field| field.parse::<f64>().ok()).unwrap_or_default() / 1e9
}

/// About so many bytes of a part; `#` in it stands for the number of the copy.
pub fn repeated(part: &str, n_bytes: usize) -> Vec<u8> {
    if !part.contains('#') {
        return part.repeat(n_bytes / part.len() + 1).into_bytes();
    }
    let mut out = String::with_capacity(n_bytes + part.len());
    let mut number = 0;
    while out.len() < n_bytes {
        out.push_str(&part.replace('#', &number.to_string()));
        number += 1;
    }
    out.into_bytes()
}
