//! A whole gzip member at once, by libdeflate.
//!
//! It decodes twice as fast as a decoder that can stop anywhere, and needs the whole member and room for all that comes out of it.
//! Its safe wrapper does not say how long the member was, which is all that tells where the next one begins.
#![expect(unsafe_code, reason = "calls into libdeflate, which reading gzip at the speed of peers needs")]

use std::ptr::NonNull;

use libdeflate_sys::{
    libdeflate_alloc_decompressor, libdeflate_decompressor, libdeflate_free_decompressor,
    libdeflate_gzip_decompress_ex, libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE as INSUFFICIENT_SPACE,
    libdeflate_result_LIBDEFLATE_SUCCESS as SUCCESS,
};

/// What came of a member.
pub(super) enum Outcome {
    /// It was whole, and its checksum and length are right.
    Whole { consumed: usize, produced: usize },
    /// More comes out of it than there is room for.
    TooLarge,
    /// It is cut short, damaged, or no member.
    Bad,
}

pub(super) struct Inflater(NonNull<libdeflate_decompressor>);

// SAFETY: the decompressor is plain memory of its own, tied to no thread, and every use goes through `&mut self`.
unsafe impl Send for Inflater {}

impl Inflater {
    pub(super) fn new() -> Inflater {
        // SAFETY: the call has no preconditions.
        let decompressor = unsafe { libdeflate_alloc_decompressor() };
        Inflater(NonNull::new(decompressor).expect("there is memory for a decoder"))
    }

    /// Decodes the member at the front of `input` into `output_buffer`.
    pub(super) fn inflate(&mut self, input: &[u8], output_buffer: &mut [u8]) -> Outcome {
        let (mut consumed, mut produced) = (0, 0);
        // SAFETY: the decompressor is alive; both ranges are valid for their lengths, the second for writing; the
        // library never reads or writes beyond those lengths, whatever the input holds.
        let result = unsafe {
            libdeflate_gzip_decompress_ex(
                self.0.as_ptr(),
                input.as_ptr().cast(),
                input.len(),
                output_buffer.as_mut_ptr().cast(),
                output_buffer.len(),
                &mut consumed,
                &mut produced,
            )
        };
        match result {
            SUCCESS => Outcome::Whole { consumed, produced },
            INSUFFICIENT_SPACE => Outcome::TooLarge,
            _ => Outcome::Bad,
        }
    }
}

impl Drop for Inflater {
    fn drop(&mut self) {
        // SAFETY: it was allocated by the matching call and is not used again.
        unsafe { libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}
