//! How much work a file may ask for: decoding that leads to no record is paid for by the bytes of the file.
//!
//! A few bytes can decode to gigabytes, and a place that looks like a unit can stand inside another, which stands inside
//! another. Both would cost far more than the file is long. Bytes of records that were given out are free.

/// Bytes that may be decoded in vain in any file: many times what real damage costs.
const FREE_BYTES: u64 = 256 * 1024 * 1024;
/// Further bytes that may be decoded in vain for each byte of the file that was passed.
const PER_FILE_BYTE: u64 = 64;

/// Counts decoded bytes against those that were of use.
#[derive(Debug, Default)]
pub(super) struct Budget {
    decoded: u64,
    useful: u64,
}

impl Budget {
    /// Counts bytes that were decoded or walked along.
    pub(super) fn spend(&mut self, bytes: usize) {
        self.decoded += bytes as u64;
    }

    /// Counts bytes of a record that was given out.
    pub(super) fn earn(&mut self, bytes: usize) {
        self.useful += bytes as u64;
    }

    pub(super) fn decoded(&self) -> u64 {
        self.decoded
    }

    /// True if nothing more may be decoded until more of the file has been passed. `held` bytes are decoded and may
    /// still be of use.
    pub(super) fn is_spent(&self, file_bytes: u64, held: usize) -> bool {
        let in_vain = self.decoded.saturating_sub(self.useful).saturating_sub(held as u64);
        in_vain > FREE_BYTES.saturating_add(file_bytes.saturating_mul(PER_FILE_BYTE))
    }
}
