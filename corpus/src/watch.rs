//! How a long step tells its caller where it is, and how the caller stops it.

/// The caller's side of a long step. The unit type watches nothing and never stops.
pub trait Watch: Sync {
    /// A step begins that will read `total_bytes` of input.
    fn begin(&self, step: &str, total_bytes: u64);
    /// Some of them were read, and with them so many documents.
    fn advance(&self, bytes: u64, documents: u64);
    /// Whether to stop at the next document. What is finished stays.
    fn stopped(&self) -> bool;
}

impl Watch for () {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64, _: u64) {}
    fn stopped(&self) -> bool {
        false
    }
}
