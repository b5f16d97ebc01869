//! Pages saved as HTML files, without gold: a manual as a package installs it, a mirror of a site.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use pith_extractor::charset;

use crate::error::Error;
use crate::gold::GoldPage;

/// A folder of HTML files.
#[derive(Clone, Debug)]
pub struct SavedPages {
    /// The name in tables: the folder as it was given.
    pub name: String,
    folder: PathBuf,
    /// Relative to the folder, sorted.
    files: Vec<PathBuf>,
}

impl SavedPages {
    /// Finds the HTML files in a folder and those below it. Links to folders are not followed.
    ///
    /// # Errors
    /// When a folder cannot be read or holds no such file.
    pub fn open(folder: &Path) -> Result<SavedPages, Error> {
        let mut files = Vec::new();
        let mut open = vec![folder.to_owned()];
        while let Some(next) = open.pop() {
            let failed = |source| Error::Read { path: next.clone(), source };
            for entry in std::fs::read_dir(&next).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let path = entry.path();
                if entry.file_type().map_err(failed)?.is_dir() {
                    open.push(path);
                } else if is_html(&path) {
                    files.push(path.strip_prefix(folder).unwrap_or(&path).to_owned());
                }
            }
        }
        files.sort();
        if files.is_empty() {
            let problem = "no file that ends with .html, .htm or .xhtml here".to_owned();
            return Err(Error::Data { path: folder.to_owned(), problem });
        }
        Ok(SavedPages { name: folder.display().to_string(), folder: folder.to_owned(), files })
    }

    /// The first page and every so many after it, one at a time.
    pub fn sample(&self, every: NonZeroUsize) -> impl Iterator<Item = Result<GoldPage, Error>> {
        self.files.iter().step_by(every.get()).map(|file| {
            let path = self.folder.join(file);
            let bytes = std::fs::read(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
            let html = charset::decode(&bytes, None).text.into_owned();
            Ok(GoldPage { id: file.display().to_string(), url: None, html })
        })
    }
}

fn is_html(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension
        .is_some_and(|extension| ["html", "htm", "xhtml"].iter().any(|wanted| extension.eq_ignore_ascii_case(wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_folder_come_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("b")).expect("a folder");
        for file in ["c.html", "b/2.htm", "a.html", "style.css"] {
            std::fs::write(folder.path().join(file), format!("<p>{file}")).expect("a file");
        }
        let pages = SavedPages::open(folder.path()).expect("the folder holds pages");
        let ids: Vec<String> = pages.sample(NonZeroUsize::MIN).map(|page| page.expect("a page").id).collect();
        assert_eq!(ids, ["a.html", "b/2.htm", "c.html"]);
        let every_second = pages.sample(NonZeroUsize::new(2).expect("not zero"));
        assert_eq!(every_second.map(|page| page.expect("a page").html).collect::<Vec<_>>(), ["<p>a.html", "<p>c.html"]);
    }

    #[test]
    fn a_folder_without_pages_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = SavedPages::open(folder.path()).expect_err("there is no page").to_string();
        assert!(error.contains("no file that ends with .html"), "{error}");
    }
}
