//! A saved page as text, with what is known about it: `cargo run --example page_to_text -- page.html`.

use pith_extractor::{Options, extract};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: page_to_text FILE")?;
    let document = extract(&std::fs::read(path)?, None, &Options { sentences: 3, ..Options::default() });
    println!("{}", document.title.as_deref().unwrap_or("(no title)"));
    println!("{} · {:?}\n", document.language.as_deref().unwrap_or("unknown language"), document.page_type);
    println!("{}\n", document.text);
    for sentence in document.summary {
        println!("- {}", sentence.text);
    }
    Ok(())
}
