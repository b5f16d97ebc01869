//! Duplicates among texts that lie in no shard, found as [`super::dedup`] finds them.

use std::path::PathBuf;

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::priority::{Keep, Priority};
use super::shingles::Shingler;
use super::signatures::{self, Record, Records};
use super::{MinHash, candidates, normalise, resolve};
use crate::{Error, Observer};

/// Takes texts one by one, of which it keeps a record of fixed size each in a file.
pub struct TextIndex {
    path: PathBuf,
    near: MinHash,
    shingler: Shingler,
    records: signatures::Writer,
    normalised: Vec<u8>,
    signature: Vec<u16>,
}

/// A text that an earlier one stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duplicate {
    /// The number of the text, from 0.
    pub text: usize,
    /// The number of the earlier text that it resembles.
    pub of: usize,
    /// The estimated Jaccard similarity of their n-grams; 1 where only white space differs.
    pub similarity: f32,
}

impl TextIndex {
    /// Starts with no text; the records go to `path`, a file of the caller's choice.
    ///
    /// # Errors
    ///
    /// If the file cannot be made.
    pub fn create(path: PathBuf, near: MinHash) -> Result<TextIndex, Error> {
        let shingler = Shingler::new(near.permutations, near.n_gram);
        let records = signatures::Writer::create(path.clone(), near.permutations)?;
        Ok(TextIndex { path, near, shingler, records, normalised: Vec::new(), signature: Vec::new() })
    }

    /// Adds a text.
    ///
    /// # Errors
    ///
    /// If its record cannot be written.
    pub fn add(&mut self, text: &str) -> Result<(), Error> {
        normalise(text, &mut self.normalised);
        let length = u32::try_from(self.normalised.len()).unwrap_or(u32::MAX);
        let n_shingles = self.shingler.write_signature(text, &mut self.signature);
        self.records.put(Record { text_hash: xxh3_128(&self.normalised), length, n_shingles }, &self.signature)
    }

    /// The texts that an earlier one stands for, in order. `memory_bytes` bounds what is sorted at a time.
    ///
    /// # Errors
    ///
    /// If the records cannot be read; [`Error::Stopped`] if the observer says so.
    pub fn duplicates(self, memory_bytes: u64, observer: &dyn Observer) -> Result<Vec<Duplicate>, Error> {
        self.records.seal()?;
        let records = Records::open(vec![self.path], self.near.permutations)?;
        let priority = Priority::new(Keep::First, 0, &records)?;
        let same = candidates::exact(&records, &priority, &HashMap::new(), memory_bytes)?;
        let is_gone = |text: u32| same.contains_key(&text);
        let matches = candidates::near(&records, &priority, &is_gone, &self.near, memory_bytes, observer)?;
        let removals = resolve::removals(&records, &priority, &same, &matches, Some(&self.near))?;
        let mut found: Vec<Duplicate> = removals
            .into_iter()
            .map(|(text, removal)| Duplicate {
                text: text as usize,
                of: removal.kept as usize,
                similarity: removal.similarity,
            })
            .collect();
        found.sort_unstable_by_key(|duplicate| duplicate.text);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duplicates(texts: &[&str]) -> Vec<(usize, usize, f32)> {
        let folder = tempfile::tempdir().unwrap();
        let mut index = TextIndex::create(folder.path().join("records"), MinHash::default()).unwrap();
        texts.iter().for_each(|text| index.add(text).unwrap());
        let found = index.duplicates(1 << 20, &()).unwrap();
        found.iter().map(|duplicate| (duplicate.text, duplicate.of, duplicate.similarity)).collect()
    }

    #[test]
    fn a_copy_and_a_near_copy_stand_behind_the_first_of_their_kind() {
        let sentence = |n: usize| format!("Sentence number {n} tells of the rain in town {}. ", n * 7919 % 101);
        let long: String = (0..60).map(sentence).collect();
        let edited = long.replace("number 30 tells", "number 30 says nothing");
        let other: String = (100..160).map(sentence).map(|text| text.to_uppercase().replace(' ', " x ")).collect();
        let found = duplicates(&[&long, "Ducks were pleased.", &other, &edited, "Ducks  were\npleased.", ""]);
        assert_eq!(found.iter().map(|found| (found.0, found.1)).collect::<Vec<_>>(), [(3, 0), (4, 1)]);
        assert!(found[0].2 > 0.8 && found[0].2 < 1.0, "{found:?}");
        assert_eq!(found[1].2, 1.0);
    }

    #[test]
    fn texts_that_have_no_words_are_no_duplicates_of_each_other() {
        assert_eq!(duplicates(&["", "", " … "]), []);
        assert_eq!(duplicates(&[]), []);
    }
}
