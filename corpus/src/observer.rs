//! How a long step reports progress to its caller, and how the caller stops it.

/// Receives the progress of a long step and may stop it. The unit type ignores progress and never stops.
pub trait Observer: Sync {
    /// A step begins that will read `total_bytes` of input.
    fn begin(&self, step: &str, total_bytes: u64);
    /// Some of them were read, and with them so many documents.
    fn advance(&self, bytes: u64, documents: u64);
    /// Whether to stop at the next document. What is finished stays.
    fn is_stopped(&self) -> bool;
}

impl Observer for () {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64, _: u64) {}
    fn is_stopped(&self) -> bool {
        false
    }
}
