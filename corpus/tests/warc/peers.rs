//! Others read what we write. The programs `fastwarc` and `warcio` are looked for beside the Python that `PITH_PYTHON`
//! names, and in the path.

use std::path::{Path, PathBuf};
use std::process::Command;

use pith_corpus::warc::{Format, ShardWriter};

use super::shards::{options, put, put_body, shards};

fn program(name: &str) -> Option<PathBuf> {
    let named = std::env::var_os("PITH_PYTHON").map(|python| Path::new(&python).with_file_name(name));
    let found = named
        .into_iter()
        .chain([PathBuf::from(name)])
        .find(|path| Command::new(path).arg("--help").output().is_ok_and(|output| output.status.success()));
    if found.is_none() {
        println!(
            "skipped: `{name}` is not installed (pip install fastwarc warcio; PITH_PYTHON names the Python that has them)"
        );
    }
    found
}

/// Shards with everything a writer makes: pages, repeats, a dictionary from the second on.
fn write(folder: &Path, format: Format) -> Vec<PathBuf> {
    let mut writer = ShardWriter::open(folder, options(format, 300_000)).expect("it opens");
    for number in 0..400 {
        put(&mut writer, number);
        if number % 50 == 9 {
            // A multiple of seven further: the same host.
            put_body(&mut writer, number + 1_001, &super::shards::body(number));
        }
    }
    writer.finish().expect("it closes");
    let shards = shards(folder);
    assert!(shards.len() >= 3);
    shards
}

#[test]
fn fastwarc_accepts_every_shard() {
    let Some(fastwarc) = program("fastwarc") else { return };
    for format in [Format::Zstd, Format::Gzip] {
        let folder = tempfile::tempdir().expect("a folder");
        for shard in write(folder.path(), format) {
            let output = Command::new(&fastwarc).arg("check").arg(&shard).output().expect("it runs");
            let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {text}", shard.display());
            assert!(text.contains("verified successfully"), "{}: {text}", shard.display());
        }
    }
}

#[test]
fn warcio_reads_gzip_shards() {
    let Some(warcio) = program("warcio") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut lines = 0;
    for shard in write(folder.path(), Format::Gzip) {
        let check = Command::new(&warcio).arg("check").arg(&shard).output().expect("it runs");
        assert!(check.status.success(), "{}: {}", shard.display(), String::from_utf8_lossy(&check.stdout));
        let index =
            Command::new(&warcio).args(["index", "-f", "offset,warc-type"]).arg(&shard).output().expect("it runs");
        assert!(index.status.success(), "{}: {}", shard.display(), String::from_utf8_lossy(&index.stderr));
        let text = String::from_utf8_lossy(&index.stdout).into_owned();
        lines += text.lines().filter(|line| !line.contains("warcinfo")).count();
    }
    assert_eq!(lines, 408);
}
