//! The log of a crawl: one JSON line for each URL that got its outcome, in files of bounded size and number.
//!
//! Lines are appended in zstd frames, one for each flush, so that `zstdcat` reads a log while it is written. A frame that
//! a killed process left half is cut off when the log is opened again. The oldest files go when all of them are too large.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use zstd::zstd_safe::{CParameter, find_frame_compressed_size};

use crate::error::{Error, Result};

/// A file is closed when it has this many bytes.
pub const FILE_BYTES: u64 = 16_000_000;

/// All files of a log have at most this many bytes, unless told otherwise: about twenty million URLs.
pub const DEFAULT_LOG_BYTES: u64 = 1_000_000_000;

const LEVEL: i32 = 3;

/// One line. Every field is always there; what is unknown or does not apply is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogLine<'l> {
    /// The URL.
    #[serde(borrow)]
    pub url: Cow<'l, str>,
    /// When it was requested, or when it was decided that it is not.
    #[serde(borrow)]
    pub time: Cow<'l, str>,
    /// How it ended, by the names of the report: `stored`, `not-found`.
    #[serde(borrow)]
    pub outcome: Cow<'l, str>,
    /// The status of the response.
    pub status: Option<u16>,
    /// Bytes of the body that was kept, decoded.
    pub bytes: u64,
    /// From the request to the end of the response.
    pub milliseconds: u64,
    /// How many clicks from a seed.
    pub depth: u32,
    /// The page that named it first, or by the best claim; `null` for a seed or an entry of a sitemap.
    pub found_on: Option<Cow<'l, str>>,
    /// Where it redirects to.
    pub redirect: Option<Cow<'l, str>>,
    /// Which process asked for it.
    pub worker: Option<Cow<'l, str>>,
    /// The digest of the body that was stored, such as `xxh3:8a0f…`.
    pub digest: Option<Cow<'l, str>>,
}

impl<'l> LogLine<'l> {
    /// Reads one line.
    ///
    /// # Errors
    ///
    /// If it is not JSON, or not a line of a log.
    pub fn parse(line: &'l [u8]) -> serde_json::Result<LogLine<'l>> {
        serde_json::from_slice(line)
    }
}

/// A time as a log spells it: UTC, to the millisecond.
pub fn format_time(time: std::time::SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

/// Writes the log in a folder.
pub struct LogWriter {
    folder: PathBuf,
    max_bytes: u64,
    file_bytes: u64,
    number: u32,
    file: File,
    /// Bytes of the file that are whole frames.
    length: u64,
    lines: Vec<u8>,
    compressor: zstd::bulk::Compressor<'static>,
}

impl LogWriter {
    /// Opens the log of a folder, which is made if need be, and goes on behind its last whole frame. All files together
    /// stay within `max_bytes`, but for the one that is written.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written.
    pub fn open(folder: &Path, max_bytes: u64) -> Result<LogWriter> {
        LogWriter::open_with(folder, max_bytes, FILE_BYTES)
    }

    fn open_with(folder: &Path, max_bytes: u64, file_bytes: u64) -> Result<LogWriter> {
        fs::create_dir_all(folder).map_err(Error::io(folder, "create"))?;
        let number = log_files(folder)?.last().map_or(0, |(number, _)| *number);
        let (file, length) = open_file(folder, number)?;
        let mut compressor = zstd::bulk::Compressor::new(LEVEL).map_err(Error::io(folder, "compress for"))?;
        compressor.set_parameter(CParameter::ChecksumFlag(true)).map_err(Error::io(folder, "compress for"))?;
        let folder = folder.to_owned();
        Ok(LogWriter { folder, max_bytes, file_bytes, number, file, length, lines: Vec::new(), compressor })
    }

    /// Adds a line, which is written by the next [`LogWriter::flush`].
    pub fn put(&mut self, line: &LogLine<'_>) {
        serde_json::to_writer(&mut self.lines, line).expect("a line is plain data, and memory takes it");
        self.lines.push(b'\n');
    }

    /// Bytes of the lines that wait to be written.
    pub fn n_waiting_bytes(&self) -> usize {
        self.lines.len()
    }

    /// Hands the lines to the system: they survive a killed process.
    ///
    /// # Errors
    ///
    /// If the system cannot write. No line is lost then: the call may be repeated.
    pub fn flush(&mut self) -> Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        if self.length >= self.file_bytes {
            self.rotate()?;
        }
        let path = self.folder.join(file_name(self.number));
        let frame = self.compressor.compress(&self.lines).map_err(Error::io(&path, "compress for"))?;
        if let Err(error) = self.file.write_all(&frame) {
            // What was written of the frame would be in the way of the next one.
            let _ = self.file.set_len(self.length);
            return Err(Error::io(&path, "write")(error));
        }
        self.length += frame.len() as u64;
        self.lines.clear();
        Ok(())
    }

    fn rotate(&mut self) -> Result<()> {
        let (file, length) = open_file(&self.folder, self.number + 1)?;
        (self.number, self.file, self.length) = (self.number + 1, file, length);
        let files = log_files(&self.folder)?;
        let sizes = files.iter().map(|(_, path)| fs::metadata(path).map_or(0, |data| data.len()));
        let mut total: u64 = sizes.sum();
        for (_, path) in files.iter().filter(|(number, _)| *number < self.number) {
            if total <= self.max_bytes {
                break;
            }
            total -= fs::metadata(path).map_or(0, |data| data.len());
            fs::remove_file(path).map_err(Error::io(path, "remove"))?;
        }
        Ok(())
    }
}

/// The files of a log, oldest first; none where there is no log.
///
/// # Errors
///
/// If the folder cannot be listed.
pub fn log_files(folder: &Path) -> Result<Vec<(u32, PathBuf)>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io(folder, "list"))? {
        let entry = entry.map_err(Error::io(folder, "list"))?;
        if let Some(number) = entry.file_name().to_str().and_then(number_of) {
            files.push((number, entry.path()));
        }
    }
    files.sort();
    Ok(files)
}

/// Whether a file of this name is one of a log.
pub fn is_log_name(name: &str) -> bool {
    number_of(name).is_some()
}

fn file_name(number: u32) -> String {
    format!("log-{number:05}.jsonl.zst")
}

fn number_of(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("log-")?.strip_suffix(".jsonl.zst")?;
    let is_number = digits.len() >= 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

/// Opens a file of the log for appending, cut behind its last whole frame; gives its length as well.
fn open_file(folder: &Path, number: u32) -> Result<(File, u64)> {
    let path = folder.join(file_name(number));
    if fs::symlink_metadata(&path).is_ok_and(|data| !data.is_file()) {
        return Err(Error::NotRegular { path });
    }
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        bytes => bytes.map_err(Error::io(&path, "read"))?,
    };
    let file = OpenOptions::new().append(true).create(true).open(&path).map_err(Error::io(&path, "open"))?;
    let whole = whole_frames(&bytes) as u64;
    if whole < bytes.len() as u64 {
        file.set_len(whole).map_err(Error::io(&path, "cut"))?;
    }
    Ok((file, whole))
}

/// The length of the whole frames at the start of some bytes.
fn whole_frames(bytes: &[u8]) -> usize {
    let mut end = 0;
    while end < bytes.len()
        && let Ok(length) = find_frame_compressed_size(&bytes[end..])
    {
        end += length;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonl::{Line, Reader};

    fn line(number: usize) -> LogLine<'static> {
        LogLine {
            url: format!("http://h{}.test/{number}", number % 7).into(),
            time: "2026-11-18T05:22:34.123Z".into(),
            outcome: "stored".into(),
            status: Some(200),
            bytes: number as u64,
            milliseconds: 7,
            depth: 2,
            found_on: Some("http://h.test/\"quoted\"".into()),
            redirect: None,
            worker: Some("here-1".into()),
            digest: Some("xxh3:0123456789abcdef".into()),
        }
    }

    fn write(writer: &mut LogWriter, numbers: std::ops::Range<usize>) {
        for number in numbers {
            writer.put(&line(number));
            writer.flush().unwrap();
        }
    }

    /// The bodies' sizes of all lines that can be read, which number them.
    fn read(folder: &Path) -> Vec<u64> {
        let mut numbers = Vec::new();
        for (_, path) in log_files(folder).unwrap() {
            let mut reader = Reader::open(&path).unwrap();
            while let Some(found) = reader.next_line() {
                if let Line::Good { bytes, .. } = found {
                    numbers.push(LogLine::parse(bytes).unwrap().bytes);
                }
            }
        }
        numbers
    }

    #[test]
    fn a_frame_that_was_cut_anywhere_costs_its_own_line_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = LogWriter::open(folder.path(), DEFAULT_LOG_BYTES).unwrap();
        write(&mut writer, 0..3);
        let path = folder.path().join(file_name(0));
        let whole = writer.length as usize;
        write(&mut writer, 3..4);
        let bytes = fs::read(&path).unwrap();
        for length in whole..bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            let mut writer = LogWriter::open(folder.path(), DEFAULT_LOG_BYTES).unwrap();
            write(&mut writer, 9..10);
            assert_eq!(read(folder.path()), [0, 1, 2, 9], "cut at byte {length}");
        }
    }

    #[test]
    fn the_oldest_files_go_when_all_are_too_large() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = LogWriter::open_with(folder.path(), 4_000, 1_000).unwrap();
        write(&mut writer, 0..200);
        let numbers = read(folder.path());
        assert!(!numbers.is_empty() && numbers.len() < 100, "{}", numbers.len());
        assert_eq!(numbers, (200 - numbers.len() as u64..200).collect::<Vec<_>>(), "the newest lines are left");
        let files = log_files(folder.path()).unwrap();
        let total: u64 = files.iter().map(|(_, path)| fs::metadata(path).unwrap().len()).sum();
        assert!(total < 4_000 + 1_000 + 500, "{total}");
        drop(writer);
        let mut writer = LogWriter::open_with(folder.path(), 4_000, 1_000).unwrap();
        write(&mut writer, 200..201);
        assert_eq!(read(folder.path()).last(), Some(&200), "the next run goes on in the newest file");
    }

    #[test]
    fn a_link_in_place_of_a_log_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("precious");
        fs::write(&target, "precious").unwrap();
        std::os::unix::fs::symlink(&target, folder.path().join(file_name(0))).unwrap();
        assert!(matches!(LogWriter::open(folder.path(), 1), Err(Error::NotRegular { .. })));
        assert_eq!(fs::read_to_string(target).unwrap(), "precious");
    }
}
