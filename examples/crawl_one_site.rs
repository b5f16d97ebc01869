//! A crawl with a sink of one's own: `cargo run --example crawl_one_site -- https://example.org/`.

use std::io;

use pith_crawler::{Control, LocalFrontier, LocalOptions, Opic, Page, Plan, Reach, Scope, Sink, crawl, parse_seed};

/// Prints what it gets and keeps nothing.
struct Printer;

impl Sink for Printer {
    fn put(&mut self, page: &Page) -> io::Result<()> {
        println!("{} {}", page.body.len(), page.url);
        Ok(())
    }

    fn commit(&mut self) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seed = parse_seed(&std::env::args().nth(1).ok_or("usage: crawl_one_site URL")?).ok_or("not a URL")?;
    let mut plan = Plan::new(vec![seed.clone()], Scope::new(Reach::Host, &[seed], Vec::new(), Vec::new()));
    plan.limits.pages = Some(100);
    let folder = std::env::temp_dir().join(format!("crawl_one_site-{}", std::process::id()));
    let frontier = LocalFrontier::open(&folder, LocalOptions::new(Box::new(Opic::default())))?;
    let report = crawl(&plan, &frontier, Box::new(Printer), Vec::new(), &Control::default()).await?;
    println!("{:?}", report.stopped);
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
