//! Puts a file of the calling crate into the program as it is.
//!
//! The crate of this name compresses files with zstd and unpacks them at the first use. `jieba-rs` embeds its dictionary
//! that way, so everybody who wanted Chinese words got a C library with them. Here the 5 MB stay as they are: nothing to
//! build, nothing to unpack when the program starts. It can go when `jieba-rs` lets its users choose.

/// `flate!(static NAME: str from "path" with zstd)`: the file at `path` in the calling crate, as a `&'static str`.
#[macro_export]
macro_rules! flate {
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: str from $path:literal $(with $method:ident)?) => {
        $(#[$attribute])*
        $visibility static $name: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $path));
    };
}
