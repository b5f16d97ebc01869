//! Gold pages: sets of HTML with the text that a careful reader would keep.
//!
//! A set is a folder with `pages.jsonl` or `pages.jsonl.zst` (`{id, url, lang, html}`) and `truth.jsonl`
//! (`{id, url, title, text, page_type, lang[, with, without]}`), in the same order of ids or not.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::data;
use crate::error::Error;

/// One page as it was fetched.
#[derive(Clone, Debug, Deserialize)]
pub struct GoldPage {
    /// Its name within the set.
    pub id: String,
    /// Where it came from, where that is known.
    pub url: Option<String>,
    /// The page, decoded.
    pub html: String,
}

/// What a careful reader would keep of a page.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Truth {
    /// The name of the page within the set.
    pub id: String,
    /// The main text; without it only the snippets say something.
    pub text: Option<String>,
    /// The title of the page, where the set gives it.
    #[serde(default)]
    pub title: Option<String>,
    /// Who wrote it.
    #[serde(default)]
    pub author: Option<String>,
    /// When it was published.
    #[serde(default)]
    pub date: Option<String>,
    /// Price, brand and number of a product, each with every answer that is right.
    #[serde(default)]
    pub fields: BTreeMap<String, Vec<String>>,
    /// The kind of page, as the set names it.
    #[serde(default)]
    pub page_type: Option<String>,
    /// The language, as the set names it.
    #[serde(default)]
    pub lang: Option<String>,
    /// Pieces of text that must be there.
    #[serde(default)]
    pub with: Vec<String>,
    /// Pieces of text that must not be there.
    #[serde(default)]
    pub without: Vec<String>,
}

impl Truth {
    /// Whether the set gives pieces of text to look for.
    pub fn has_snippets(&self) -> bool {
        !self.with.is_empty() || !self.without.is_empty()
    }
}

/// One set: its name and where it lies.
#[derive(Clone, Debug)]
pub struct GoldSet {
    /// The name of its folder.
    pub name: String,
    folder: PathBuf,
    pages: PathBuf,
}

/// The names that the pages of a set may have.
const PAGES_NAMES: [&str; 2] = ["pages.jsonl.zst", "pages.jsonl"];

impl GoldSet {
    /// The sets below a folder, or the folder itself when it is one, sorted by name.
    ///
    /// # Errors
    /// When the folder cannot be read or holds no set.
    pub fn all(folder: &Path) -> Result<Vec<GoldSet>, Error> {
        if let Some(set) = GoldSet::at(folder) {
            return Ok(vec![set]);
        }
        let mut sets = Vec::new();
        let failed = |source| Error::Read { path: folder.to_owned(), source };
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            sets.extend(GoldSet::at(&entry.map_err(failed)?.path()));
        }
        sets.sort_by(|a, b| a.name.cmp(&b.name));
        if sets.is_empty() {
            let problem = "no folder with `pages.jsonl` (or `.jsonl.zst`) and `truth.jsonl` here".to_owned();
            return Err(Error::Data { path: folder.to_owned(), problem });
        }
        Ok(sets)
    }

    fn at(folder: &Path) -> Option<GoldSet> {
        let name = folder.file_name()?.to_str()?.to_owned();
        let pages = PAGES_NAMES.map(|pages| folder.join(pages)).into_iter().find(|path| path.is_file())?;
        folder.join("truth.jsonl").is_file().then(|| GoldSet { name, folder: folder.into(), pages })
    }

    /// What a careful reader would keep, in the order of the file.
    ///
    /// # Errors
    /// When the file cannot be read or a line is not a truth.
    pub fn truths(&self) -> Result<Vec<Truth>, Error> {
        data::read_rows(&self.folder.join("truth.jsonl"))
    }

    /// The pages one after the other, so that only one is in memory.
    ///
    /// # Errors
    /// When the file cannot be opened; each page may fail by itself.
    pub fn pages(&self) -> Result<data::Rows<GoldPage>, Error> {
        data::rows(&self.pages)
    }

    /// Each page with its truth; pages without one are left out.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn pairs(&self) -> Result<impl Iterator<Item = Result<(GoldPage, Truth), Error>> + use<>, Error> {
        self.sample(NonZeroUsize::MIN)
    }

    /// Every so many pages, each with its truth.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn sample(
        &self,
        every: NonZeroUsize,
    ) -> Result<impl Iterator<Item = Result<(GoldPage, Truth), Error>> + use<>, Error> {
        let mut truths: HashMap<String, Truth> =
            self.truths()?.into_iter().map(|truth| (truth.id.clone(), truth)).collect();
        Ok(self.pages()?.every(every).filter_map(move |page| match page {
            Ok(page) => truths.remove(&page.id).map(|truth| Ok((page, truth))),
            Err(error) => Some(Err(error)),
        }))
    }
}

/// The registered domain that a page belongs to: by its address, else by the address it states, else by its name.
///
/// Pages of one site must never stand on both sides of a split.
pub fn site(page: &GoldPage) -> String {
    let stated = || stated_address(&page.html);
    page.url
        .as_deref()
        .and_then(registered_domain)
        .or_else(|| stated().and_then(registered_domain))
        .unwrap_or_else(|| page.id.clone())
}

fn registered_domain(address: &str) -> Option<String> {
    let url = url::Url::parse(address).ok()?;
    let host = url.host_str()?.trim_start_matches("www.").to_ascii_lowercase();
    Some(psl::domain_str(&host).map(str::to_owned).unwrap_or(host))
}

/// The address in `<link rel=canonical>`, `og:url` or, as in old Chinese collections, `<text id=…>`.
fn stated_address(html: &str) -> Option<&str> {
    for mark in ["rel=\"canonical\"", "rel='canonical'", "og:url", "<text id="] {
        let Some(at) = html.find(mark) else { continue };
        let start = html[..=at].rfind('<')?;
        let tag = &html[start..start + html[start..].find('>')?];
        if let Some(from) = tag.find("http") {
            let rest = &tag[from..];
            return Some(&rest[..rest.find(['"', '\'', ' ']).unwrap_or(rest.len())]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: Option<&str>, html: &str) -> GoldPage {
        GoldPage { id: "7".into(), url: url.map(Into::into), html: html.into() }
    }

    #[test]
    fn a_site_is_the_registered_domain() {
        assert_eq!(site(&page(Some("https://a.b.example.co.uk/x"), "")), "example.co.uk");
        assert_eq!(site(&page(None, "<link rel=\"canonical\" href=\"http://www.x.com.br/a\">")), "x.com.br");
        assert_eq!(site(&page(None, "<text id=\"http://blog.yesky.com/1\" title=\"\">")), "yesky.com");
        assert_eq!(site(&page(None, "<p>")), "7");
    }
}
