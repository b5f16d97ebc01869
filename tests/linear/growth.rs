//! Measures how the time of some work grows with its input.

use std::sync::{Mutex, PoisonError};

use rustix::time::{ClockId, clock_gettime};

/// Twice the input may take this much more time: 2, and the rest is noise. What is quadratic takes 4.
const MAX_RATIO: f64 = 2.6;

/// Work of less time says nothing yet; the input grows until it takes as long …
const MIN_SECONDS: f64 = 0.03;
/// … or has this size.
const MAX_BYTES: usize = 2 << 20;
const MIN_BYTES: usize = 64 << 10;

/// A neighbour can only make work slower: of so many tries the fastest count.
const N_TRIES: usize = 6;

/// Measurements wait for one another.
static ALONE: Mutex<()> = Mutex::new(());

/// Something that is read, and how.
pub struct Case<'c> {
    /// What is read, and what of.
    pub name: String,
    /// An input of about so many bytes.
    pub input: &'c dyn Fn(usize) -> Vec<u8>,
    /// What reads it.
    pub work: &'c dyn Fn(&[u8]),
}

impl Case<'_> {
    /// Fails where twice the input takes more than twice the time.
    pub fn check(&self) {
        if let Some(ratio) = self.excess() {
            panic!("{}: twice the input takes {ratio:.1} times the time", self.name);
        }
    }

    /// The growth of the time, if it is too much.
    fn excess(&self) -> Option<f64> {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut n_bytes = MIN_BYTES;
        let mut small = self.seconds(n_bytes);
        while small < MIN_SECONDS && n_bytes < MAX_BYTES {
            n_bytes *= 2;
            small = self.seconds(n_bytes);
        }
        let mut large = self.seconds(2 * n_bytes);
        for _ in 1..N_TRIES {
            // What takes so little at its largest is not worth an attack.
            if large <= MAX_RATIO * small.max(MIN_SECONDS) {
                return None;
            }
            small = small.min(self.seconds(n_bytes));
            large = large.min(self.seconds(2 * n_bytes));
        }
        let ratio = large / small.max(MIN_SECONDS);
        (ratio > MAX_RATIO).then_some(ratio)
    }

    /// The time that this thread works on an input.
    fn seconds(&self, n_bytes: usize) -> f64 {
        let input = (self.input)(n_bytes);
        let start = thread_seconds();
        (self.work)(&input);
        thread_seconds() - start
    }
}

fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Checks every reader on every piece, repeated, and on one piece after another: with its neighbour in the list, or with
/// every other with `PITH_FULL`.
pub fn check_all(pieces: &[&str], readers: &[(&str, &dyn Fn(&[u8]))]) {
    let is_full = std::env::var_os("PITH_FULL").is_some();
    for (index, first) in pieces.iter().enumerate() {
        for (other, second) in pieces.iter().enumerate() {
            if !is_full && other != index && other != (index + 1) % pieces.len() {
                continue;
            }
            let input = |n_bytes| [repeated(first, n_bytes / 2), repeated(second, n_bytes / 2)].concat();
            for (reader, work) in readers {
                let name = format!("{reader} of {first:?} and then {second:?}");
                Case { name, input: &input, work: *work }.check();
            }
        }
    }
}

/// About so many bytes of a piece; `#` in it stands for the number of the copy.
pub fn repeated(piece: &str, n_bytes: usize) -> Vec<u8> {
    if !piece.contains('#') {
        return piece.repeat(n_bytes / piece.len() + 1).into_bytes();
    }
    let mut out = String::with_capacity(n_bytes + piece.len());
    let mut number = 0;
    while out.len() < n_bytes {
        out.push_str(&piece.replace('#', &number.to_string()));
        number += 1;
    }
    out.into_bytes()
}

#[test]
fn quadratic_work_is_noticed_and_linear_work_passes() {
    let input = |n_bytes: usize| vec![b'x'; n_bytes / 64];
    let case = |work: &dyn Fn(&[u8])| Case { name: String::new(), input: &input, work }.excess();
    assert_eq!(case(&|input| drop(std::hint::black_box(input.to_vec()))), None);
    let quadratic = |input: &[u8]| {
        let sum: usize = (0..input.len())
            .map(|end| std::hint::black_box(&input[..end]).iter().map(|b| *b as usize).sum::<usize>())
            .sum();
        std::hint::black_box(sum);
    };
    assert!(case(&quadratic).is_some());
}
