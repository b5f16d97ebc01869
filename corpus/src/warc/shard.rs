//! The shard that is being written: records are appended, made durable in groups, and closed under its final name.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use super::compressor::Compressor;
use super::dictionary;
use super::index::{self, Entry};
use super::packer::Packing;
use super::repair;
use super::response::encode_warcinfo;
use super::shard_list;
use super::writer::{Format, WriterOptions};
use crate::error::{Error, Result};

/// The shard that is being written.
pub(super) struct Shard {
    pub(super) number: u32,
    pub(super) file: File,
    pub(super) path: PathBuf,
    pub(super) packing: Arc<Packing>,
    compressor: Compressor,
    record: Vec<u8>,
    scratch: Vec<u8>,
    /// Packed records that were not handed to the system.
    pub(super) pending: Vec<u8>,
    /// Bytes of the file, pending ones included.
    pub(super) bytes: u64,
    pub(super) entries: Vec<Entry>,
    /// Something was written since the last sync.
    is_dirty: bool,
    /// It has its final name, and perhaps stands in the list of closed shards.
    is_renamed: bool,
    pub(super) is_closed: bool,
}

/// Pending bytes are handed to the system when there are this many.
pub(super) const PENDING_MAX: usize = 1024 * 1024;

/// The final name of a shard. Names come from counters only.
pub(super) fn file_name(number: u32, format: Format) -> String {
    format!("pages-{number:05}.{}", format.extension())
}

impl Shard {
    pub(super) fn create(
        folder: &Path,
        number: u32,
        options: &WriterOptions,
        dictionary: Option<&[u8]>,
    ) -> Result<Shard> {
        let name = file_name(number, options.format);
        let path = folder.join(format!("{name}.open"));
        let file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(Error::io(&path, "create"))?;
        if let Err(error) = repair::lock(&file, &path).and_then(|()| sync_folder(folder)) {
            // It is empty, and in the way of another attempt.
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        let pending = dictionary.map(dictionary::frames).unwrap_or_default();
        let shard = Shard::new(options, number, file, path, dictionary.map(<[u8]>::to_vec));
        let mut shard = Shard { pending, is_dirty: true, ..shard };
        shard.bytes = shard.pending.len() as u64;
        let mut fields = vec![
            ("software".to_owned(), concat!("pith/", env!("CARGO_PKG_VERSION")).to_owned()),
            ("format".to_owned(), "WARC File Format 1.1".to_owned()),
            (
                "conformsTo".to_owned(),
                "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/".to_owned(),
            ),
        ];
        fields.extend(options.info.iter().cloned());
        shard.append_record(|out| encode_warcinfo(&name, Timestamp::now(), &fields, out));
        Ok(shard)
    }

    pub(super) fn new(
        options: &WriterOptions,
        number: u32,
        file: File,
        path: PathBuf,
        dictionary: Option<Vec<u8>>,
    ) -> Shard {
        let packing = Packing { format: options.format, level: options.level, dictionary };
        Shard {
            number,
            file,
            path,
            compressor: packing.compressor(),
            packing: Arc::new(packing),
            record: Vec::new(),
            scratch: Vec::new(),
            pending: Vec::new(),
            bytes: 0,
            entries: Vec::new(),
            is_dirty: false,
            is_renamed: false,
            is_closed: false,
        }
    }

    pub(super) fn with_pages(self, entries: Vec<Entry>, bytes: u64) -> Shard {
        Shard { entries, bytes, ..self }
    }

    /// Packs a record and gives its offset.
    pub(super) fn append_record(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> u64 {
        let (offset, before) = (self.bytes, self.pending.len());
        self.record.clear();
        encode(&mut self.record);
        self.compressor.pack(&self.record, &mut self.scratch, &mut self.pending);
        self.bytes += (self.pending.len() - before) as u64;
        self.is_dirty = true;
        offset
    }

    /// Appends a packed record and gives its offset.
    pub(super) fn append_frame(&mut self, frame: &[u8]) -> u64 {
        let offset = self.bytes;
        self.pending.extend_from_slice(frame);
        self.bytes += frame.len() as u64;
        self.is_dirty = true;
        offset
    }

    /// Hands the pending bytes to the system. After an error those that it has not taken are still pending.
    pub(super) fn flush(&mut self) -> Result<()> {
        let (mut taken, mut written) = (0, Ok(()));
        while taken < self.pending.len() && written.is_ok() {
            match self.file.write(&self.pending[taken..]) {
                Ok(0) => written = Err(ErrorKind::WriteZero.into()),
                Ok(count) => taken += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => written = Err(error),
            }
        }
        self.pending.drain(..taken);
        written.map_err(Error::io(&self.path, "write"))
    }

    pub(super) fn sync(&mut self) -> Result<()> {
        if !self.is_dirty {
            return Ok(());
        }
        self.flush()?;
        self.file.sync_data().map_err(Error::io(&self.path, "sync"))?;
        self.is_dirty = false;
        Ok(())
    }

    /// Closes the shard. After an error the call may be repeated: what is done is not done again.
    pub(super) fn close(&mut self, folder: &Path, format: Format) -> Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let name = file_name(self.number, format);
        if !self.is_renamed {
            self.sync()?;
            index::write(folder, &name, &self.entries)?;
            let target = folder.join(&name);
            fs::rename(&self.path, &target).map_err(Error::io(&target, "rename to"))?;
            self.is_renamed = true;
        }
        shard_list::add(folder, &name, self.bytes, self.entries.len() as u64)?;
        self.is_closed = true;
        sync_folder(folder)
    }
}

/// Makes new names in a folder durable.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    let folder_file = File::open(folder).map_err(Error::io(folder, "open"))?;
    folder_file.sync_all().map_err(Error::io(folder, "sync"))
}
