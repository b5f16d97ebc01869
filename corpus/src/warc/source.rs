//! The bytes of a file or a pipe, in a window that stays until it is consumed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// How much is asked of the system at a time.
const CHUNK: usize = 256 * 1024;

/// Something that gives bytes and may be able to go back.
enum Input {
    File(File),
    Stream(Box<dyn Read + Send>),
}

/// What lies at a place further on in the input.
pub(super) enum Peek {
    /// The next bytes from there on, at most [`PEEK_BYTES`]; none at the very end.
    Bytes(Vec<u8>),
    /// The input ends before.
    Beyond,
    /// The input cannot go back, so nothing can be known without reading all before it.
    Unknown,
}

/// How many bytes [`Source::peek`] gives.
const PEEK_BYTES: u64 = 64;

/// A window over the input. Bytes that were not consumed can be looked at again, so a frame that turns out to be
/// damaged can be searched for the next one.
pub(super) struct Source {
    input: Input,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The place of `buffer[start]` in the input.
    offset: u64,
    /// Where reading stops, for a part of a file.
    limit: u64,
    done: bool,
}

impl Source {
    pub(super) fn file(mut file: File, start: u64, limit: u64) -> io::Result<Source> {
        if start > 0 {
            file.seek(SeekFrom::Start(start))?;
        }
        Ok(Source { offset: start, limit, ..Source::new(Input::File(file)) })
    }

    pub(super) fn stream(input: Box<dyn Read + Send>) -> Source {
        Source::new(Input::Stream(input))
    }

    fn new(input: Input) -> Source {
        Source { input, buffer: Vec::new(), start: 0, end: 0, offset: 0, limit: u64::MAX, done: false }
    }

    /// The place in the input of the first byte that was not consumed.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// What is in the window now.
    pub(super) fn window(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The window with at least `wanted` bytes, or fewer if the input ends before.
    pub(super) fn fill(&mut self, wanted: usize) -> io::Result<&[u8]> {
        while self.end - self.start < wanted && !self.done {
            self.read_more()?;
        }
        Ok(self.window())
    }

    /// Adds whatever the input gives next; false at its end.
    pub(super) fn read_more(&mut self) -> io::Result<bool> {
        if self.done {
            return Ok(false);
        }
        if self.start > 0 && (self.start == self.end || self.buffer.len() - self.end < CHUNK / 2) {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() - self.end < CHUNK / 2 {
            let grown = (self.buffer.len() * 2).max(CHUNK);
            self.buffer.resize(grown, 0);
        }
        let read_so_far = self.offset + (self.end - self.start) as u64;
        let output_buffer =
            (self.buffer.len() - self.end).min(usize::try_from(self.limit - read_so_far).unwrap_or(usize::MAX));
        let target = &mut self.buffer[self.end..self.end + output_buffer];
        let read = loop {
            let read = match &mut self.input {
                Input::File(file) => file.read(target),
                Input::Stream(stream) => stream.read(target),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => break other?,
            }
        };
        self.end += read;
        self.done = read == 0;
        Ok(read > 0)
    }

    /// Looks at a place in the input without moving on.
    pub(super) fn peek(&mut self, offset: u64) -> io::Result<Peek> {
        let Input::File(file) = &mut self.input else { return Ok(Peek::Unknown) };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Ok(Peek::Unknown);
        }
        if offset > metadata.len().min(self.limit) {
            return Ok(Peek::Beyond);
        }
        let back = file.stream_position()?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        let read = (&mut *file).take(PEEK_BYTES.min(self.limit - offset)).read_to_end(&mut bytes);
        file.seek(SeekFrom::Start(back))?;
        read.map(|_| Peek::Bytes(bytes))
    }

    pub(super) fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }
}

impl Read for Source {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let window = self.fill(1)?;
        let count = window.len().min(target.len());
        target[..count].copy_from_slice(&window[..count]);
        self.consume(count);
        Ok(count)
    }
}
