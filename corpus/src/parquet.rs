//! Documents as Parquet: columns that pandas and `datasets` open, row groups small enough to stream.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::{Map, Value};

use crate::Error;
use crate::draft::{Draft, Sealed};

/// A row group closes at so much text: a reader that streams holds one group at a time.
const GROUP_BYTES: usize = 32 << 20;

/// And at so many rows, for corpora of short texts.
const GROUP_ROWS: usize = 20_000;

/// The fields that get a column of text each, in this order.
const TEXTS: [&str; 13] = [
    "id",
    "url",
    "final_url",
    "fetched_at",
    "language",
    "title",
    "author",
    "published",
    "site",
    "page_type",
    "text",
    "method",
    "scope",
];

/// The numbers below `counts` that get a column each.
const NUMBERS: [&str; 3] = ["characters", "words", "sentences"];

static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    let mut fields: Vec<Field> = TEXTS.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect();
    let sentence = Field::new("item", DataType::Utf8, true);
    fields.push(Field::new("summary", DataType::List(Arc::new(sentence)), true));
    fields.extend(NUMBERS.iter().map(|name| Field::new(*name, DataType::Int64, true)));
    fields.push(Field::new("metadata", DataType::Utf8, true));
    Arc::new(Schema::new(fields))
});

/// Writes one Parquet file, which appears whole when it is sealed.
///
/// Fields without a column of their own (links, source, anything unknown) go into `metadata`, one JSON object per
/// row, so that nothing is lost.
pub struct Writer {
    writer: ArrowWriter<Draft>,
    rows: Rows,
}

impl Writer {
    /// Starts a file.
    pub fn create(path: &Path) -> Result<Writer, Error> {
        let level = ZstdLevel::try_new(3).expect("3 is a level of zstd");
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by(format!("pith {}", env!("CARGO_PKG_VERSION")))
            .build();
        let writer = ArrowWriter::try_new(Draft::create(path)?, SCHEMA.clone(), Some(properties));
        let writer = writer.map_err(|source| Error::Parquet { path: path.into(), source })?;
        Ok(Writer { writer, rows: Rows::new() })
    }

    /// Appends one document.
    pub fn put(&mut self, document: Map<String, Value>) -> Result<(), Error> {
        self.rows.put(document);
        if self.rows.n_bytes >= GROUP_BYTES || self.rows.n_rows >= GROUP_ROWS {
            self.close_group()?;
        }
        Ok(())
    }

    /// Makes the file durable and gives it its name.
    pub fn seal(mut self) -> Result<Sealed, Error> {
        self.close_group()?;
        let path = self.writer.inner().path().to_owned();
        self.writer.into_inner().map_err(|source| Error::Parquet { path, source })?.seal()
    }

    fn close_group(&mut self) -> Result<(), Error> {
        if self.rows.n_rows == 0 {
            return Ok(());
        }
        let batch = std::mem::replace(&mut self.rows, Rows::new()).finish();
        let written = self.writer.write(&batch).and_then(|()| self.writer.flush());
        written.map_err(|source| Error::Parquet { path: self.writer.inner().path().to_owned(), source })
    }
}

struct Rows {
    texts: Vec<StringBuilder>,
    summary: ListBuilder<StringBuilder>,
    numbers: Vec<Int64Builder>,
    metadata: StringBuilder,
    n_rows: usize,
    n_bytes: usize,
}

impl Rows {
    fn new() -> Rows {
        Rows {
            texts: TEXTS.iter().map(|_| StringBuilder::new()).collect(),
            summary: ListBuilder::new(StringBuilder::new()),
            numbers: NUMBERS.iter().map(|_| Int64Builder::new()).collect(),
            metadata: StringBuilder::new(),
            n_rows: 0,
            n_bytes: 0,
        }
    }

    fn put(&mut self, mut document: Map<String, Value>) {
        for (name, column) in TEXTS.iter().zip(&mut self.texts) {
            match document.shift_remove(*name) {
                Some(Value::String(text)) => {
                    self.n_bytes += text.len();
                    column.append_value(text);
                }
                None | Some(Value::Null) => column.append_null(),
                Some(other) => column.append_value(other.to_string()),
            }
        }
        let sentences = document.get("summary").and_then(Value::as_array).cloned().unwrap_or_default();
        for sentence in &sentences {
            let text = sentence.get("text").unwrap_or(sentence);
            self.summary.values().append_option(text.as_str());
        }
        self.summary.append(true);
        let counts = document.shift_remove("counts").unwrap_or_default();
        for (name, column) in NUMBERS.iter().zip(&mut self.numbers) {
            column.append_option(counts.get(*name).and_then(Value::as_i64));
        }
        let rest = Value::Object(document).to_string();
        self.n_bytes += rest.len();
        self.metadata.append_value(rest);
        self.n_rows += 1;
    }

    fn finish(mut self) -> RecordBatch {
        let mut columns: Vec<ArrayRef> = Vec::new();
        columns.extend(self.texts.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
        columns.push(Arc::new(self.summary.finish()));
        columns.extend(self.numbers.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
        columns.push(Arc::new(self.metadata.finish()));
        RecordBatch::try_new(SCHEMA.clone(), columns).expect("the columns are those of the schema")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    #[test]
    fn what_is_written_is_read_again_and_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let mut writer = Writer::create(&path).unwrap();
        let line = r#"{"id":"a","text":"文字\n\nx","title":null,"summary":[{"text":"s","score":1.0}],
            "counts":{"words":2},"links":[{"url":"u"}],"unknown":7}"#;
        writer.put(serde_json::from_str(line).unwrap()).unwrap();
        writer.seal().unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let batches: Vec<_> =
            ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().map(Result::unwrap).collect();
        assert_eq!(batches.len(), 1);
        let column = |name: &str| batches[0].column_by_name(name).unwrap().clone();
        assert_eq!(column("text").as_string::<i32>().value(0), "文字\n\nx");
        assert!(column("title").is_null(0));
        assert_eq!(column("summary").as_list::<i32>().value(0).as_string::<i32>().value(0), "s");
        assert_eq!(column("words").as_primitive::<arrow_array::types::Int64Type>().value(0), 2);
        let rest: Value = serde_json::from_str(column("metadata").as_string::<i32>().value(0)).unwrap();
        assert_eq!(rest["unknown"], 7);
        assert_eq!(rest["links"][0]["url"], "u");
    }
}
