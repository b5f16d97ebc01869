//! Files that others made, odd and broken ones too.

use std::path::{Path, PathBuf};

use pith_corpus::warc;

/// The folder of samples, if it is there.
pub fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("PITH_SHARED")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"));
    let folder = shared.join("data/warc");
    if !folder.is_dir() {
        println!("skipped: no samples in {}", folder.display());
        return None;
    }
    Some(folder)
}

/// Name, records, damaged places. The counts are those of FastWARC 1.1 and warcio 1.8, and where they differ from ours
/// a damage is reported and the reason stands here.
const SAMPLES: &[(&str, usize, u64)] = &[
    ("aut-example.arc.gz", 300, 0),
    ("aut-example.warc.gz", 822, 0),
    ("aut-issue-493.warc", 32, 0),
    ("cc-whirlwind.warc.gz", 4, 0),
    ("cc-whirlwind.warc.wat.gz", 2, 0),
    ("cc-whirlwind.warc.wet.gz", 2, 0),
    ("dolma-sample-0000.warc.gz", 48, 0),
    ("dolma-sample-0001.warc.gz", 34, 0),
    ("gowarc-test.warc.gz", 3, 0),
    ("iipc-20130729-heritrix-original.warc.gz", 1, 0),
    ("iipc-20130729-heritrix-revisit-with-http-headers.warc.gz", 1, 0),
    ("iipc-20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz", 1, 0),
    ("iipc-IAH-urls-wget.warc", 36, 0),
    ("jwarc-cc.warc.gz", 1, 0),
    ("jwarc-gzip_extra_sl.warc.gz", 1, 0),
    ("pywb-dupes.warc.gz", 25, 0),
    ("pywb-example-url-agnostic-revisit.warc.gz", 2, 0),
    ("pywb-example-wget-1-14.warc.gz", 6, 0),
    ("pywb-example-wpull.warc.gz", 4, 0),
    ("pywb-example2.warc.gz", 3, 0),
    ("pywb-iana.warc.gz", 343, 0),
    // Its only record declares more bytes than the file has; both peers give out what is there.
    ("pywb-missing-status-text.warc", 0, 1),
    ("resiliparse-block-sized-records.warc.gz", 3, 0),
    ("resiliparse-block-sized-records.warc.lz4", 3, 0),
    // One record, cut by its maker; both peers give out the beginning of it.
    ("resiliparse-clipped.warc.gz", 0, 1),
    ("resiliparse-clueweb-quirk.warc.gz", 30, 0),
    ("resiliparse-warcfile.warc", 50, 0),
    ("resiliparse-warcfile.warc.gz", 50, 0),
    ("resiliparse-warcfile.warc.lz4", 50, 0),
    // One gzip member without its end; FastWARC gives out the beginning of the second record.
    ("resilipipe-sample.warc.gz", 1, 1),
    ("warcdb-frontpages.warc.gz", 10, 0),
    ("warcio-example-bad-non-chunked.warc.gz", 6, 0),
    ("warcio-example-digest.warc", 4, 0),
    ("warcio-example-iana.org-chunked.warc", 3, 0),
    // The response is a few bytes shorter than it should be and its digest differs; the other three are right.
    ("warcio-example-trunc.warc", 3, 1),
    ("warcio-example-wget-bad-target-uri.warc.gz", 6, 0),
    ("warcio-example-wrong-chunks.warc.gz", 2, 0),
    ("warcio-example.warc.gz", 6, 0),
    ("warcio-post-test.warc.gz", 6, 0),
    ("pywb-valid_example_1.wacz", 4, 0),
    ("warcdb-scoop.wacz", 207, 0),
];

fn count(path: &Path) -> (usize, u64) {
    let mut reader = warc::read(path).expect("it opens");
    let mut records = 0;
    while reader.next().expect("the disk works").is_some() {
        records += 1;
    }
    (records, reader.damage().places)
}

#[test]
fn every_sample_gives_its_records_or_an_honest_count_of_damage() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    for (name, records, damaged) in SAMPLES {
        let found = count(&folder.join(name));
        if found != (*records, *damaged) {
            wrong.push(format!("{name}: {found:?}, not {:?}", (records, damaged)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let known: Vec<&str> = SAMPLES.iter().map(|(name, ..)| *name).collect();
    for entry in std::fs::read_dir(&folder).expect("it can be listed") {
        let name = entry.expect("it can be listed").file_name().into_string().expect("UTF-8");
        let is_archive = name.contains(".warc") || name.contains(".arc") || name.ends_with(".wacz");
        assert!(!is_archive || known.contains(&name.as_str()), "{name} has no expected count");
    }
}

#[test]
fn every_encoding_of_one_file_gives_the_same_records() {
    let Some(folder) = folder() else { return };
    let records = |name: &str| {
        let mut reader = warc::read(folder.join("derived").join(name)).expect("it opens");
        let mut records = Vec::new();
        while let Some(record) = reader.next().expect("the disk works") {
            records.push((record.header.to_vec(), record.block.to_vec()));
        }
        assert!(!reader.damage().any(), "{name}");
        records
    };
    let plain = records("s.warc");
    assert_eq!(plain.len(), 48);
    for name in ["s-dict-l3.warc.zst", "s-dictraw.warc.zst", "s-l3.warc.zst", "s-single.warc.gz", "s-single.warc.zst"] {
        assert!(records(name) == plain, "{name} differs");
    }
}
