//! The pages of any WARC file, and what was damaged: `cargo run --example archive_to_urls -- file.warc.gz`.

use pith_corpus::warc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: archive_to_urls FILE")?;
    let mut reader = warc::read(path)?;
    while let Some(page) = reader.next_page()? {
        println!("{}\t{}", page.body.len(), page.url);
    }
    if reader.damage().any() {
        eprintln!("some records were damaged and left out");
    }
    Ok(())
}
