//! Documents as Parquet: columns that pandas, DuckDB and `datasets` open, row groups small enough to stream.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::TypePtr;

use crate::Error;
use crate::atomic_file::{AtomicFile, SealedFile};
use crate::row::{NUMBERS, Row, TEXTS};

/// A row group closes at so much text: a reader that streams holds one group at a time.
const GROUP_BYTES: usize = 32 << 20;

/// And at so many rows, for corpora of short texts.
const GROUP_ROWS: usize = 20_000;

/// The columns of a [`Row`]; every one may be null.
static SCHEMA: LazyLock<TypePtr> = LazyLock::new(|| {
    let texts: String = TEXTS.iter().map(|name| format!("optional binary {name} (STRING);\n")).collect();
    let numbers: String = NUMBERS.iter().map(|name| format!("optional int64 {name};\n")).collect();
    let summary = "optional group summary (LIST) { repeated group list { optional binary element (STRING); } }";
    let rest = "optional double confidence;\noptional binary metadata (STRING);";
    let message = format!("message documents {{\n{texts}{summary}\n{numbers}{rest}\n}}");
    Arc::new(parse_message_type(&message).expect("the schema is a constant"))
});

/// Writes one Parquet file, which appears whole when it is sealed.
pub struct Writer {
    writer: SerializedFileWriter<AtomicFile>,
    columns: Columns,
}

impl Writer {
    /// Starts a file.
    pub fn create(path: &Path) -> Result<Writer, Error> {
        let level = ZstdLevel::try_new(3).expect("3 is a level of zstd");
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by(format!("pith {}", env!("CARGO_PKG_VERSION")))
            .build();
        let writer = SerializedFileWriter::new(AtomicFile::create(path)?, SCHEMA.clone(), Arc::new(properties));
        let writer = writer.map_err(|source| Error::Parquet { path: path.into(), source })?;
        Ok(Writer { writer, columns: Columns::new() })
    }

    /// Appends one document.
    pub fn put(&mut self, row: Row) -> Result<(), Error> {
        self.columns.put(row);
        if self.columns.n_bytes >= GROUP_BYTES || self.columns.n_rows >= GROUP_ROWS {
            self.close_group()?;
        }
        Ok(())
    }

    /// Makes the file durable and gives it its name.
    pub fn seal(mut self) -> Result<SealedFile, Error> {
        self.close_group()?;
        let path = self.writer.inner().path().to_owned();
        self.writer.into_inner().map_err(|source| Error::Parquet { path, source })?.seal()
    }

    fn close_group(&mut self) -> Result<(), Error> {
        if self.columns.n_rows == 0 {
            return Ok(());
        }
        let columns = std::mem::replace(&mut self.columns, Columns::new());
        let written = self.writer.next_row_group().and_then(|mut group| {
            columns.write(&mut group)?;
            group.close()
        });
        written.map(drop).map_err(|source| Error::Parquet { path: self.writer.inner().path().to_owned(), source })
    }
}

/// The rows of a group, by column.
struct Columns {
    texts: Vec<Column<ByteArray>>,
    summary: Lists,
    numbers: Vec<Column<i64>>,
    confidence: Column<f64>,
    metadata: Column<ByteArray>,
    n_rows: usize,
    n_bytes: usize,
}

impl Columns {
    fn new() -> Columns {
        Columns {
            texts: TEXTS.iter().map(|_| Column::default()).collect(),
            summary: Lists::default(),
            numbers: NUMBERS.iter().map(|_| Column::default()).collect(),
            confidence: Column::default(),
            metadata: Column::default(),
            n_rows: 0,
            n_bytes: 0,
        }
    }

    fn put(&mut self, row: Row) {
        self.n_rows += 1;
        self.n_bytes += row.n_bytes();
        for (column, text) in self.texts.iter_mut().zip(row.texts) {
            column.push(text.map(|text| text.into_bytes().into()));
        }
        self.summary.push(row.summary);
        for (column, number) in self.numbers.iter_mut().zip(row.numbers) {
            column.push(number);
        }
        self.confidence.push(row.confidence);
        self.metadata.push(Some(row.metadata.into_bytes().into()));
    }

    /// Writes the columns in the order of the schema.
    fn write(&self, group: &mut SerializedRowGroupWriter<'_, AtomicFile>) -> Result<(), ParquetError> {
        for column in &self.texts {
            write_column::<ByteArrayType>(group, &column.values, &column.levels, None)?;
        }
        write_column::<ByteArrayType>(group, &self.summary.values, &self.summary.levels, Some(&self.summary.repeats))?;
        for column in &self.numbers {
            write_column::<Int64Type>(group, &column.values, &column.levels, None)?;
        }
        write_column::<DoubleType>(group, &self.confidence.values, &self.confidence.levels, None)?;
        write_column::<ByteArrayType>(group, &self.metadata.values, &self.metadata.levels, None)
    }
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, AtomicFile>,
    values: &[T::T],
    levels: &[i16],
    repeats: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("there are as many columns as the schema has");
    column.typed::<T>().write_batch(values, Some(levels), repeats)?;
    column.close()
}

/// The values that are there, and for every row whether it has one.
struct Column<T> {
    values: Vec<T>,
    levels: Vec<i16>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column { values: Vec::new(), levels: Vec::new() }
    }
}

impl<T> Column<T> {
    fn push(&mut self, value: Option<T>) {
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
    }
}

/// Lists of texts as Parquet writes them: for every text, or empty list, how much of its path is there, and whether it
/// goes on the list before it.
#[derive(Default)]
struct Lists {
    values: Vec<ByteArray>,
    levels: Vec<i16>,
    repeats: Vec<i16>,
}

impl Lists {
    /// The levels of the schema: the list is there, an entry is there, its text is there.
    const EMPTY: i16 = 1;
    const TEXT: i16 = 3;

    fn push(&mut self, texts: Vec<String>) {
        if texts.is_empty() {
            self.levels.push(Self::EMPTY);
            self.repeats.push(0);
        }
        for (index, text) in texts.into_iter().enumerate() {
            self.levels.push(Self::TEXT);
            self.repeats.push(i16::from(index > 0));
            self.values.push(text.into_bytes().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, RowAccessor};
    use serde_json::Value;

    #[test]
    fn what_is_written_is_read_again_and_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let mut writer = Writer::create(&path).unwrap();
        let line = r#"{"id":"a","text":"文字\n\nx","title":null,"summary":[{"text":"s","score":1.0},{"text":"t"}],
            "counts":{"words":2},"confidence":0.875,"links":[{"url":"u"}],"unknown":7}"#;
        for line in [line, r#"{"id":"b"}"#] {
            writer.put(Row::of(serde_json::from_str(line).unwrap())).unwrap();
        }
        writer.seal().unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2);
        let field = |row: usize, name: &str| -> Field {
            let found = rows[row].get_column_iter().find(|(column, _)| *column == name);
            found.unwrap().1.clone()
        };
        assert_eq!(field(0, "text"), Field::Str("文字\n\nx".into()));
        assert_eq!((field(0, "title"), field(1, "text")), (Field::Null, Field::Null));
        assert_eq!((field(0, "words"), field(1, "words")), (Field::Long(2), Field::Null));
        assert_eq!((field(0, "confidence"), field(1, "confidence")), (Field::Double(0.875), Field::Null));
        assert_eq!(field(0, "summary").to_string(), "[\"s\", \"t\"]");
        assert_eq!(field(1, "summary").to_string(), "[]");
        let metadata = rows[0].get_string(TEXTS.len() + NUMBERS.len() + 2).unwrap();
        let rest: Value = serde_json::from_str(metadata).unwrap();
        assert_eq!((&rest["unknown"], &rest["links"][0]["url"]), (&7.into(), &"u".into()));
    }
}
