//! Seeds: from the command line, from files, from stdin.

use std::io::Read;
use std::path::Path;

use pith_crawler::{canonicalize, parse_seed};
use url::Url;

use super::flags::Args;
use crate::exit::Failure;

/// No more bad lines than this are named one by one.
const MAX_NAMED: usize = 10;

/// The seeds, in their order. Bad lines of files are named and passed over, unless `--strict` is given.
pub(super) fn seeds(args: &Args) -> Result<Vec<Url>, Failure> {
    let mut seeds = Vec::new();
    for text in &args.urls {
        seeds.push(seed(text).ok_or_else(|| {
            Failure::usage(format!("bad seed: {text:?} is not an http or https URL"))
                .hint("a seed looks like https://example.org/; `--seeds FILE` takes a list")
        })?);
    }
    for path in &args.seeds {
        read_list(path, args, &mut seeds)?;
    }
    if seeds.is_empty() {
        return Err(Failure::usage("bad seed: no seed was given").hint("name a URL, or a file with `--seeds FILE`"));
    }
    Ok(seeds)
}

fn seed(text: &str) -> Option<Url> {
    parse_seed(text).and_then(canonicalize)
}

/// Reads a file with one seed per line.
fn read_list(path: &Path, args: &Args, seeds: &mut Vec<Url>) -> Result<(), Failure> {
    let bytes =
        read(path).map_err(|error| Failure::usage(format!("{}: cannot read the seeds: {error}", path.display())))?;
    let name = if path == Path::new("-") { "standard input".into() } else { path.display().to_string() };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut n_bad = 0;
    for (number, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line);
        let text = without_comment(&line);
        if text.is_empty() {
            continue;
        }
        if let Some(url) = seed(text) {
            seeds.push(url);
            continue;
        }
        let bad = format!("{name}:{}: {text:?} is not an http or https URL", number + 1);
        if args.strict {
            return Err(Failure::usage(format!("bad seed: {bad}")).hint("without `--strict` the other lines are taken"));
        }
        n_bad += 1;
        if n_bad <= MAX_NAMED {
            sayln!("bad seed: {bad}; the line is passed over");
        }
    }
    if n_bad > MAX_NAMED {
        sayln!("bad seeds: {} more lines of {name} are passed over", n_bad - MAX_NAMED);
    }
    Ok(())
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    if path != Path::new("-") {
        return std::fs::read(path);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A line without what stands behind a # that begins it or follows white space; a # within a URL is part of it.
fn without_comment(line: &str) -> &str {
    let mut before = ' ';
    let is_comment = |character: char| {
        let found = character == '#' && before.is_whitespace();
        before = character;
        found
    };
    line.split(is_comment).next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::without_comment;

    #[test]
    fn a_comment_begins_the_line_or_follows_white_space() {
        assert_eq!(without_comment("# all of it"), "");
        assert_eq!(without_comment("https://a.example/ # the first\r"), "https://a.example/");
        assert_eq!(without_comment("https://a.example/#part\t# named"), "https://a.example/#part");
        assert_eq!(without_comment("  a.example  "), "a.example");
    }
}
