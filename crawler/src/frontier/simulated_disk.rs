//! A disk that a simulation can take away: the process is killed at any write, or the power is cut and with it goes what
//! was not synced.
//!
//! The files are real. While a disk is simulated, this thread's writes are counted and end at a chosen one, and a sync
//! notes the bytes of the file instead of waiting for the disk.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::order::SplitMix64;

/// Pages of a file reach the disk whole or not at all.
const PAGE_BYTES: usize = 512;

thread_local! {
    static DISK: RefCell<Option<Disk>> = const { RefCell::new(None) };
}

struct Disk {
    /// Writes that will still succeed.
    n_writes_left: u64,
    /// The bytes of each file when it was last synced.
    synced: HashMap<PathBuf, Vec<u8>>,
}

/// Simulates the disk of this thread, until [`end`].
pub(crate) fn begin() {
    DISK.set(Some(Disk { n_writes_left: u64::MAX, synced: HashMap::new() }));
}

/// Gives this thread the disk of the machine again.
pub(crate) fn end() {
    DISK.set(None);
}

pub(super) fn is_active() -> bool {
    DISK.with_borrow(Option::is_some)
}

/// Lets so many writes succeed, the last of them by half.
pub(crate) fn fail_after(n_writes: u64) {
    with(|disk| disk.n_writes_left = n_writes);
}

/// Lets every write succeed.
pub(crate) fn mend() {
    fail_after(u64::MAX);
}

/// Whether a write has failed.
pub(crate) fn has_failed() -> bool {
    with(|disk| disk.n_writes_left == 0).unwrap_or(false)
}

/// The length of a file when it was last synced.
pub(crate) fn synced_bytes(path: &Path) -> u64 {
    with(|disk| disk.synced.get(path).map_or(0, Vec::len) as u64).unwrap_or(0)
}

/// What is written of these bytes, and how that ends.
pub(super) fn written_part(bytes: &[u8]) -> (&[u8], io::Result<()>) {
    match with(take_write) {
        None | Some(Permit::Whole) => (bytes, Ok(())),
        Some(Permit::Torn) => (&bytes[..bytes.len() / 2], Err(killed())),
        Some(Permit::Nothing) => (&[], Err(killed())),
    }
}

/// Notes the bytes of a file as durable; `None` when no disk is simulated.
pub(super) fn sync(path: &Path) -> Option<io::Result<()>> {
    let permit = with(take_write)?;
    if !matches!(permit, Permit::Whole) {
        return Some(Err(killed()));
    }
    Some(fs::read(path).map(|bytes| {
        with(|disk| disk.synced.insert(path.to_owned(), bytes));
    }))
}

/// A file that was synced has another name now.
pub(super) fn renamed(from: &Path, to: &Path) {
    with(|disk| {
        if let Some(bytes) = disk.synced.remove(from) {
            disk.synced.insert(to.to_owned(), bytes);
        }
    });
}

/// Takes from the files of a folder what a power cut may take: bytes that were appended and not synced from a random one
/// on, of other files any page that was written and not synced.
pub(crate) fn cut_power(folder: &Path, random: &mut SplitMix64) -> io::Result<()> {
    let mut paths: Vec<PathBuf> = Vec::new();
    list(folder, &mut paths)?;
    paths.sort();
    for path in paths {
        let written = fs::read(&path)?;
        let synced = with(|disk| disk.synced.get(&path).cloned()).flatten().unwrap_or_default();
        let left = if written.starts_with(&synced) {
            let n_bytes = synced.len() + random.below(written.len() - synced.len() + 1);
            written[..n_bytes].to_vec()
        } else {
            mixed(&synced, &written, random)
        };
        fs::write(&path, &left)?;
        with(|disk| disk.synced.insert(path, left));
    }
    Ok(())
}

fn mixed(synced: &[u8], written: &[u8], random: &mut SplitMix64) -> Vec<u8> {
    let mut left = if random.below(2) == 0 { synced.to_vec() } else { written.to_vec() };
    for (index, page) in left.chunks_mut(PAGE_BYTES).enumerate() {
        let other = if random.below(2) == 0 { synced } else { written };
        let from = other.get(index * PAGE_BYTES..).unwrap_or_default();
        let n_bytes = from.len().min(page.len());
        page[..n_bytes].copy_from_slice(&from[..n_bytes]);
    }
    left
}

fn list(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => list(&path, paths)?,
            false => paths.push(path),
        }
    }
    Ok(())
}

enum Permit {
    Whole,
    /// Half of it.
    Torn,
    Nothing,
}

fn take_write(disk: &mut Disk) -> Permit {
    match disk.n_writes_left {
        0 => Permit::Nothing,
        u64::MAX => Permit::Whole,
        1 => {
            disk.n_writes_left = 0;
            Permit::Torn
        }
        _ => {
            disk.n_writes_left -= 1;
            Permit::Whole
        }
    }
}

fn with<T>(act: impl FnOnce(&mut Disk) -> T) -> Option<T> {
    DISK.with_borrow_mut(|disk| disk.as_mut().map(act))
}

fn killed() -> io::Error {
    io::Error::other("the process was killed")
}
