//! Joins crawler and corpus: pages of a crawl become records of page shards.

use std::io;
use std::path::Path;
use std::str;

use pith_corpus::warc::{Mark, Repeat, Response, ShardWriter, Truncated, WriterOptions, roll_back};
use pith_crawler::{Cut, Page, Sink};

/// Page shards as a sink.
pub struct Shards {
    writer: Option<ShardWriter>,
}

impl Shards {
    /// Opens a folder of shards as it was at a mark; pages behind it were promised to nobody and are dropped.
    pub fn open(folder: &Path, options: WriterOptions, mark: &[u8]) -> Result<Shards, pith_corpus::Error> {
        roll_back(folder, Mark::from_bytes(mark))?;
        Ok(Shards { writer: Some(ShardWriter::open(folder, options)?) })
    }

    fn writer(&mut self) -> io::Result<&mut ShardWriter> {
        self.writer.as_mut().ok_or_else(|| io::Error::other("the shards are closed"))
    }
}

impl Sink for Shards {
    fn put(&mut self, page: Page) -> io::Result<()> {
        let mut lines = page.head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
        let status_line = lines.next().and_then(|line| str::from_utf8(line).ok()).unwrap_or("HTTP/1.1 200 OK");
        let headers: Vec<(&str, &[u8])> = lines.filter_map(header).collect();
        let response = Response {
            url: page.url.as_str(),
            fetched_at: page.fetched_at.try_into().map_err(io::Error::other)?,
            ip: page.address,
            status_line,
            headers: &headers,
            body: &page.body,
            truncated: page.cut.map(|cut| match cut {
                Cut::Length => Truncated::Length,
                Cut::Time => Truncated::Time,
            }),
            repeat: match page.unchanged_since {
                Some(since) => Repeat::NotModified { since: since.try_into().map_err(io::Error::other)? },
                None => Repeat::Detect,
            },
        };
        self.writer()?.put(&response).map(drop).map_err(io::Error::other)
    }

    fn commit(&mut self) -> io::Result<Vec<u8>> {
        let writer = self.writer()?;
        writer.commit().map_err(io::Error::other)?;
        Ok(writer.mark().to_bytes())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.take().map_or(Ok(()), |writer| writer.finish().map_err(io::Error::other))
    }
}

fn header(line: &[u8]) -> Option<(&str, &[u8])> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    Some((str::from_utf8(&line[..colon]).ok()?, line[colon + 1..].trim_ascii_start()))
}
