//! How a model rests in a file: a magic number, a version, the names of its features, then the tables.

use std::fmt;

use super::{Calibration, Confidence, DecisionTree, Ensemble, MAX_DEPTH, Model, NameTable};
use crate::features::FEATURE_NAMES;
use crate::select::CONFIDENCE_FEATURES;

/// What tables begin with.
const MAGIC: &[u8; 8] = b"pithtabl";
/// The version of their format.
const VERSION: u32 = 2;

/// Why bytes are not tables that this version can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TablesError {
    /// They are something else.
    NoTables,
    /// They have another version of the format.
    Version(u32),
    /// They were trained with other features; the first one that differs, as the tables have it and as it is here.
    Features {
        /// Its index.
        index: usize,
        /// Its name in the tables.
        trained: String,
        /// Its name here.
        here: String,
    },
    /// They end too early, go on too long or hold what no training writes.
    Damaged,
}

impl fmt::Display for TablesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TablesError::NoTables => write!(f, "these are no tables of a model"),
            TablesError::Version(version) => write!(f, "format version {version}, version {VERSION} is needed"),
            TablesError::Features { index, trained, here } => {
                write!(f, "trained with other features: number {index} is `{trained}` there and `{here}` here")
            }
            TablesError::Damaged => write!(f, "the tables are damaged"),
        }
    }
}

impl std::error::Error for TablesError {}

impl Model {
    /// The tables as bytes, little-endian.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        for features in [FEATURE_NAMES.join("\n"), CONFIDENCE_FEATURES.join("\n")] {
            bytes.extend((features.len() as u32).to_le_bytes());
            bytes.extend(features.as_bytes());
        }
        bytes.extend((self.names.entries.len() as u32).to_le_bytes());
        for (name, steps) in &self.names.entries {
            bytes.extend(name.to_le_bytes());
            bytes.extend(steps.to_le_bytes());
        }
        bytes.extend((self.blocks.len() as u32).to_le_bytes());
        bytes.extend((self.types.len() as u32).to_le_bytes());
        for ensemble in self.ensembles() {
            bytes.extend(ensemble.base.to_le_bytes());
            bytes.extend(ensemble.scale.to_le_bytes());
            bytes.extend((ensemble.trees.len() as u32).to_le_bytes());
            for tree in &ensemble.trees {
                bytes.push(tree.splits.len() as u8);
                for (feature, threshold) in &tree.splits {
                    bytes.extend(feature.to_le_bytes());
                    bytes.push(*threshold);
                }
                for leaf in &tree.leaves {
                    bytes.extend(leaf.to_le_bytes());
                }
            }
        }
        let points = self.confidence.calibration.points();
        bytes.extend((points.len() as u32).to_le_bytes());
        for (score, f1) in points {
            bytes.extend(score.to_le_bytes());
            bytes.extend(f1.to_le_bytes());
        }
        bytes
    }

    /// Reads what [`Model::write`] wrote.
    ///
    /// # Errors
    /// When the bytes are something else, or were trained with other features.
    pub fn read(bytes: &[u8]) -> Result<Model, TablesError> {
        let mut input = Input(bytes);
        if input.take() != Some(*MAGIC) {
            return Err(TablesError::NoTables);
        }
        match input.u32() {
            Some(VERSION) => {}
            Some(version) => return Err(TablesError::Version(version)),
            None => return Err(TablesError::Damaged),
        }
        check_features(input.text().ok_or(TablesError::Damaged)?, &FEATURE_NAMES)?;
        check_features(input.text().ok_or(TablesError::Damaged)?, &CONFIDENCE_FEATURES)?;
        Model::read_tables(input).ok_or(TablesError::Damaged)
    }

    fn read_tables(mut input: Input<'_>) -> Option<Model> {
        let n_names = input.u32()?;
        let mut names = Vec::new();
        for _ in 0..n_names {
            names.push((input.u32()?, i8::from_le_bytes(input.take()?)));
        }
        let (n_blocks, n_types) = (input.u32()?, input.u32()?);
        let blocks = (0..n_blocks).map(|_| input.ensemble()).collect::<Option<_>>()?;
        let thresholds = input.ensemble()?;
        let types = (0..n_types).map(|_| input.ensemble()).collect::<Option<_>>()?;
        let ensemble = input.ensemble()?;
        let n_points = input.u32()?;
        let points = (0..n_points).map(|_| Some((input.f32()?, input.f32()?))).collect::<Option<_>>()?;
        let confidence = Confidence { ensemble, calibration: Calibration::new(points)? };
        input.0.is_empty().then(|| Model::new(NameTable::new(names), blocks, thresholds, types, confidence))
    }
}

/// Compares the names of the features that tables were trained with, one per line, with those that there are.
fn check_features(trained: &str, here: &[&str]) -> Result<(), TablesError> {
    let mut trained = trained.split('\n');
    let mut here = here.iter().copied();
    for index in 0.. {
        let (trained, here) = (trained.next(), here.next());
        if trained != here {
            let name = |name: Option<&str>| name.unwrap_or("missing").to_owned();
            return Err(TablesError::Features { index, trained: name(trained), here: name(here) });
        }
        if here.is_none() {
            break;
        }
    }
    Ok(())
}

/// Bytes not yet read.
struct Input<'b>(&'b [u8]);

impl<'b> Input<'b> {
    fn text(&mut self) -> Option<&'b str> {
        let length = self.u32()? as usize;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn f32(&mut self) -> Option<f32> {
        self.take().map(f32::from_le_bytes)
    }

    fn ensemble(&mut self) -> Option<Ensemble> {
        let (base, scale) = (self.f32()?, self.f32()?);
        let n_trees = self.u32()?;
        let trees = (0..n_trees).map(|_| self.tree()).collect::<Option<_>>()?;
        Some(Ensemble { base, scale, trees })
    }

    fn tree(&mut self) -> Option<DecisionTree> {
        let [n_splits] = self.take()?;
        if usize::from(n_splits) > MAX_DEPTH {
            return None;
        }
        let mut tree = DecisionTree::default();
        for _ in 0..n_splits {
            tree.splits.push((u16::from_le_bytes(self.take()?), self.take::<1>()?[0]));
        }
        for _ in 0..1usize << n_splits {
            tree.leaves.push(i16::from_le_bytes(self.take()?));
        }
        Some(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::super::TABLES;
    use super::*;

    #[test]
    fn tables_come_back_as_they_were_written() {
        let tree = DecisionTree { splits: vec![(3, 9)], leaves: vec![-5, 7] };
        let model = Model {
            names: NameTable::new(vec![(9, -16), (4, 32)]),
            blocks: vec![Ensemble { base: 0.5, scale: 0.25, trees: vec![tree] }],
            confidence: Confidence {
                calibration: Calibration::new(vec![(0.2, 0.3), (0.9, 0.95)]).expect("it rises"),
                ..Confidence::default()
            },
            ..Model::default()
        };
        let bytes = model.write();
        let again = Model::read(&bytes).expect("written by us");
        assert_eq!(again.write(), bytes);
        assert_eq!(again.confidence.calibration, model.confidence.calibration);
        assert_eq!((again.names.get(4), again.names.get(9), again.names.get(5)), (Some(2.0), Some(-1.0), None));
        assert_eq!(Model::read(&bytes[..bytes.len() - 1]).err(), Some(TablesError::Damaged));
        assert_eq!(Model::read(b"something else").err(), Some(TablesError::NoTables));
        let mut newer = bytes.clone();
        newer[8] = 9;
        assert_eq!(Model::read(&newer).err(), Some(TablesError::Version(9)));
    }

    #[test]
    fn tables_of_other_features_are_refused_by_name() {
        let mut bytes = Model::default().write();
        let first = MAGIC.len() + 8;
        bytes[first] = b'B';
        let error = Model::read(&bytes).expect_err("the first feature has another name");
        assert!(matches!(&error, TablesError::Features { index: 0, .. }), "{error}");
        assert!(error.to_string().contains("`Block.words` there and `block.words` here"), "{error}");
    }

    #[test]
    fn the_crate_holds_a_trained_model() {
        let model = Model::read(TABLES).expect("written by training");
        assert!(!model.blocks.is_empty() && model.types.len() == crate::PageType::ALL.len());
        assert!(!model.confidence.ensemble.trees.is_empty() && !model.confidence.calibration.points().is_empty());
    }
}
