//! The names of the files of a frontier, for whoever removes one.

/// Whether a file of this name is one that a frontier keeps, in its folder or in `contents` below it, or a temporary or
/// set-aside form of one: `journal`, `seen-000003`, `checkpoint.new`.
pub fn is_frontier_file(name: &str) -> bool {
    const NAMES: [&str; 12] = [
        "journal",
        "checkpoint",
        "queues",
        "validators",
        "visits",
        "scores",
        "scores-log",
        "bloom",
        "offsets",
        "claims",
        "robots",
        "url-offsets",
    ];
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let is_run = |digits: &str| digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    NAMES.contains(&stem) || stem.strip_prefix("seen-").is_some_and(is_run)
}
