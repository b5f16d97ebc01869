//! Several pages for one name, such as the versions of a URL: the newest is taken.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pith_corpus::warc::Page;
use pith_corpus::{Error, Observer};

use super::input::{Item, Pages, Source};
use crate::progress::Progress;

/// What a page is called where only one page of a name is wanted.
pub type NameOf = dyn Fn(&Page) -> String + Send + Sync;

/// The newest page of every name.
pub(super) struct Newest {
    pages: HashMap<String, Position>,
}

/// When a page was fetched and where it stands: the later one is the newer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    nanosecond: i128,
    source: usize,
    page: u64,
}

impl Newest {
    /// Reads all inputs once. Memory: the names.
    pub(super) fn find(
        sources: &[Source],
        jobs: NonZeroUsize,
        name_of: &NameOf,
        progress: &Progress,
    ) -> Result<Newest, Error> {
        let total: u64 =
            sources.iter().flat_map(Source::paths).filter_map(|path| path.metadata().ok()).map(|data| data.len()).sum();
        progress.begin("looking for the newest", total);
        let pages = Mutex::new(HashMap::new());
        let failure = Mutex::new(None);
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..jobs.get().min(sources.len()) {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(source) = sources.get(number) else { return };
                        if let Err(error) = look_through(source, number, name_of, &pages, progress) {
                            next.store(sources.len(), Ordering::Relaxed);
                            failure.lock().expect("only set here").get_or_insert(error);
                        }
                    }
                });
            }
        });
        match failure.into_inner().expect("only set above") {
            Some(error) => Err(error),
            None => Ok(Newest { pages: pages.into_inner().expect("no thread panics while it holds the names") }),
        }
    }

    /// Whether the page at this position of a source, counted with those that are skipped, is the newest of its name.
    pub(super) fn is_newest(&self, name: &str, source: usize, page: u64) -> bool {
        self.pages.get(name).is_some_and(|newest| (newest.source, newest.page) == (source, page))
    }

    /// Every name.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.pages.keys().map(String::as_str)
    }
}

fn look_through(
    source: &Source,
    number: usize,
    name_of: &NameOf,
    found: &Mutex<HashMap<String, Position>>,
    progress: &Progress,
) -> Result<(), Error> {
    let mut pages = Pages::open(source)?;
    let mut n_pages = 0;
    while let Some(item) = pages.next()? {
        if let Item::Page(page) = item {
            let nanosecond = page.fetched_at.map_or(i128::MIN, |time| time.as_nanosecond());
            let position = Position { nanosecond, source: number, page: n_pages };
            let name = name_of(&page);
            let mut found = found.lock().expect("no thread panics while it holds the names");
            let newest = found.entry(name).or_insert(position);
            *newest = position.max(*newest);
        }
        n_pages += 1;
        progress.advance(pages.bytes_since(), 1);
        if progress.is_stopped() {
            return Err(Error::Stopped);
        }
    }
    Ok(())
}
