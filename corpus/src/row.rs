//! A document as a row of a dataset: the same columns whatever the document holds, so that files of different sources
//! open together.

use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::{Map, Value};

/// The fields that get a column of text each, in this order.
pub(crate) const TEXTS: [&str; 13] = [
    "id",
    "url",
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
    "preferences",
];

/// The numbers below `counts` that get a column each.
pub(crate) const NUMBERS: [&str; 3] = ["characters", "words", "sentences"];

/// One document. Fields without a column of their own (links, source, anything unknown) go into `metadata`, one JSON
/// object per row, so that nothing is lost.
#[derive(Debug)]
pub struct Row {
    /// The values of the text columns, in their order.
    pub(crate) texts: [Option<String>; TEXTS.len()],
    /// The sentences of the summary.
    pub(crate) summary: Vec<String>,
    /// The values of the number columns, in their order.
    pub(crate) numbers: [Option<i64>; NUMBERS.len()],
    /// The F1 that the extractor expects of the text.
    pub(crate) confidence: Option<f64>,
    /// Everything else, as JSON.
    pub(crate) metadata: String,
}

impl Row {
    /// The row of a document.
    pub fn of(mut document: Map<String, Value>) -> Row {
        let texts = TEXTS.map(|name| match document.shift_remove(name) {
            Some(Value::String(text)) => Some(text),
            None | Some(Value::Null) => None,
            Some(other) => Some(other.to_string()),
        });
        let sentences = document.get("summary").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let text_of = |sentence: &Value| sentence.get("text").unwrap_or(sentence).as_str().map(str::to_owned);
        let summary = sentences.iter().filter_map(text_of).collect();
        let counts = document.shift_remove("counts").unwrap_or_default();
        let numbers = NUMBERS.map(|name| counts.get(name).and_then(Value::as_i64));
        let confidence = document.shift_remove("confidence").and_then(|confidence| confidence.as_f64());
        Row { texts, summary, numbers, confidence, metadata: Value::Object(document).to_string() }
    }

    /// About as many bytes as its texts have.
    pub(crate) fn n_bytes(&self) -> usize {
        self.texts.iter().flatten().map(String::len).sum::<usize>() + self.metadata.len()
    }
}

/// As a JSON object: every column is there, `null` where the document has nothing for it.
impl Serialize for Row {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(TEXTS.len() + NUMBERS.len() + 3))?;
        for (name, text) in TEXTS.iter().zip(&self.texts) {
            map.serialize_entry(name, text)?;
        }
        map.serialize_entry("summary", &self.summary)?;
        for (name, number) in NUMBERS.iter().zip(&self.numbers) {
            map.serialize_entry(name, number)?;
        }
        map.serialize_entry("confidence", &self.confidence)?;
        map.serialize_entry("metadata", &self.metadata)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_any_shape_have_the_same_columns() {
        let row = |line: &str| serde_json::to_value(Row::of(serde_json::from_str(line).unwrap())).unwrap();
        let columns = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let (full, bare) = (row(r#"{"id":7,"text":"t","counts":{"words":1},"summary":["a"],"x":[]}"#), row("{}"));
        assert_eq!(columns(&full), columns(&bare));
        assert_eq!(
            (&full["id"], &full["words"], &full["metadata"]),
            (&"7".into(), &1.into(), &r#"{"summary":["a"],"x":[]}"#.into())
        );
        assert_eq!(
            (&bare["id"], &bare["summary"], &bare["metadata"]),
            (&Value::Null, &Value::Array(vec![]), &"{}".into())
        );
    }
}
