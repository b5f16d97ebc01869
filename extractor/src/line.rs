//! [`DocumentLine`]: one line of a document shard, the same bytes whoever writes it.

use serde::Serialize;
use serde_json::Value;

use crate::Document;

/// A document and where it comes from: one JSON object. Fields are serialized in the order of their declaration.
#[derive(Clone, Debug, Serialize)]
pub struct DocumentLine<'l> {
    /// The name of the document.
    pub id: &'l str,
    /// The address of the page.
    pub url: &'l str,
    /// When the page was fetched.
    pub fetched_at: Option<&'l str>,
    /// What was extracted.
    #[serde(flatten)]
    pub document: &'l Document,
    /// What its owner says about its use.
    pub preferences: Option<&'l Value>,
    /// Where the page is stored.
    pub source: Source<'l>,
}

/// Where a page is stored.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Source<'l> {
    /// The name of the file that holds the page.
    pub shard: &'l str,
    /// The byte at which its record begins.
    pub offset: u64,
    /// The digest of its body that the record gives.
    pub digest: Option<&'l str>,
}

impl DocumentLine<'_> {
    /// The line as JSON, without a line break; of its fields those named, or all where none is. Nothing where a number
    /// of it is no JSON.
    pub fn to_json(&self, fields: &[String]) -> Option<Vec<u8>> {
        if fields.is_empty() {
            return serde_json::to_vec(self).ok();
        }
        let mut value = serde_json::to_value(self).ok()?;
        if let Value::Object(object) = &mut value {
            object.retain(|name, _| fields.iter().any(|field| field == name));
        }
        serde_json::to_vec(&value).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_the_fields_that_are_asked_for_in_their_order() {
        let document = Document { title: Some("Rain".into()), text: "It rained.".into(), ..Document::default() };
        let source = Source { shard: "a.warc", offset: 7, digest: None };
        let (url, preferences) = ("https://example.com/", None);
        let line = DocumentLine { id: "1", url, fetched_at: None, document: &document, preferences, source };
        let fields = ["source", "title", "id"].map(str::to_owned);
        let json = String::from_utf8(line.to_json(&fields).unwrap()).unwrap();
        assert_eq!(json, r#"{"id":"1","title":"Rain","source":{"shard":"a.warc","offset":7,"digest":null}}"#);
        let json = String::from_utf8(line.to_json(&[]).unwrap()).unwrap();
        assert!(
            json.starts_with(r#"{"id":"1","url":"https://example.com/","fetched_at":null,"language":null,"#),
            "{json}"
        );
    }
}
