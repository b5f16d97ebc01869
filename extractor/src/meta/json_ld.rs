//! JSON-LD: what search engines are told about a page.

use serde_json::Value;

use super::collapse;

/// What the structured data of a page says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Structured {
    /// The types named, in order.
    pub types: Vec<String>,
    /// `articleBody` or the description of a product, the longest one.
    pub body: String,
    /// `headline`, or the name of something that is read.
    pub headline: Option<String>,
    /// Names of authors.
    pub authors: Vec<String>,
    /// `datePublished`.
    pub published: Option<String>,
    /// The name of the publisher or the site.
    pub site: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `image`.
    pub image: Option<String>,
    /// `inLanguage`.
    pub language: Option<String>,
}

/// Nobody needs more of one page.
const MAX_OBJECTS: usize = 500;

impl Structured {
    /// Reads one script; what is not JSON says nothing.
    pub(crate) fn read(&mut self, script: &str) {
        let script = script.trim().trim_start_matches("<!--").trim_end_matches("-->").trim_end_matches(';').trim();
        let Ok(value) = serde_json::from_str::<Value>(script) else { return };
        let mut waiting = vec![&value];
        let mut n_objects = 0;
        while let Some(value) = waiting.pop() {
            match value {
                Value::Array(items) => waiting.extend(items.iter().rev()),
                Value::Object(object) => {
                    n_objects += 1;
                    if n_objects > MAX_OBJECTS {
                        return;
                    }
                    self.object(object);
                    for key in ["mainEntity", "mainEntityOfPage", "@graph", "itemReviewed"] {
                        waiting.extend(object.get(key).filter(|inner| inner.is_object() || inner.is_array()));
                    }
                }
                _ => {}
            }
        }
    }

    fn object(&mut self, object: &serde_json::Map<String, Value>) {
        let kinds = texts(object.get("@type"));
        let is = |names: &[&str]| kinds.iter().any(|kind| names.iter().any(|name| kind.contains(name)));
        let piece = is(&["Article", "Posting", "Report", "Review", "Recipe", "HowTo", "Question", "VideoObject"]);
        if is(&["WebSite", "Organization", "NewsMediaOrganization"]) {
            fill(&mut self.site, object.get("name"));
        }
        if piece || is(&["WebPage", "Product", "Course", "Event"]) {
            fill(
                &mut self.headline,
                object.get("headline").or(object.get("name")).filter(|_| piece || is(&["Product"])),
            );
            fill(&mut self.published, object.get("datePublished").or(object.get("dateCreated")));
            fill(&mut self.description, object.get("description"));
            fill(&mut self.image, object.get("image"));
            fill(&mut self.language, object.get("inLanguage"));
        }
        if piece {
            if self.authors.is_empty() {
                self.authors = texts(object.get("author")).into_iter().map(|name| collapse(&name)).collect();
            }
            if let Some(publisher) = texts(object.get("publisher")).into_iter().next() {
                self.site = Some(collapse(&publisher));
            }
        }
        for key in ["articleBody", "reviewBody", "text"] {
            let known = piece || is(&["Answer", "Comment"]);
            if let Some(Value::String(body)) = object.get(key).filter(|_| known)
                && body.len() > self.body.len()
            {
                self.body = body.clone();
            }
        }
        if let Some(Value::String(description)) = object.get("description").filter(|_| is(&["Product"]))
            && description.len() > self.body.len()
        {
            self.body = description.clone();
        }
        self.types.extend(kinds);
    }
}

fn fill(field: &mut Option<String>, value: Option<&Value>) {
    if field.is_none() {
        *field = texts(value).into_iter().map(|text| collapse(&text)).find(|text| !text.is_empty());
    }
}

/// Strings, the names or addresses of objects, or all of a list.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) => items.iter().take(16).flat_map(texts_of_one).collect(),
        Some(other) => texts_of_one(other),
        None => Vec::new(),
    }
}

fn texts_of_one(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Object(object) => {
            let named = object.get("name").or(object.get("url")).or(object.get("@value"));
            named.and_then(Value::as_str).map(|text| vec![text.to_owned()]).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}
