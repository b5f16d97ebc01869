//! StructuredData data in JSON-LD.

use serde_json::Value;

use super::collapse;
use super::graph::{Authors, Graph};
use super::product::Product;

/// The structured data of a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct StructuredData {
    /// The types named, in order.
    pub types: Vec<String>,
    /// `articleBody` or the description of a product, the longest one.
    pub body: String,
    /// `headline`, or the name of something that is read.
    pub headline: Option<String>,
    /// The headline of a news article.
    pub news_headline: Option<String>,
    /// Names of authors.
    pub authors: Vec<String>,
    /// Whether people are among them, as far as the data says.
    pub authors_are_people: bool,
    /// The product that the page offers.
    pub product: Product,
    /// `datePublished`.
    pub published: Option<String>,
    /// `dateModified`.
    pub modified: Option<String>,
    /// The name of the publisher or the site.
    pub site: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `image`.
    pub image: Option<String>,
    /// `inLanguage`.
    pub language: Option<String>,
}

/// Shorter headlines of news are sections.
const MIN_HEADLINE_BYTES: usize = 15;

/// Further objects of one script are ignored.
const MAX_OBJECTS: usize = 500;

impl StructuredData {
    /// Reads one script; what is not JSON is ignored.
    pub(crate) fn read(&mut self, script: &str) {
        let script = script.trim().trim_start_matches("<!--").trim_end_matches("-->").trim_end_matches(';').trim();
        let Some(value) = parse(script) else { return };
        let graph = Graph::of(&value);
        if !self.authors_are_people
            && let Some(found) = Authors::of(&graph)
            && (self.authors.is_empty() || found.are_people)
        {
            (self.authors, self.authors_are_people) = (found.names, found.are_people);
        }
        self.product.read_graph(&graph);
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
            fill(&mut self.modified, object.get("dateModified"));
            fill(&mut self.description, object.get("description"));
            fill(&mut self.image, object.get("image"));
            fill(&mut self.language, object.get("inLanguage"));
        }
        if is(&["NewsArticle"]) {
            let headline =
                object.get("headline").and_then(Value::as_str).filter(|text| text.len() > MIN_HEADLINE_BYTES);
            self.news_headline = self.news_headline.take().or_else(|| headline.map(collapse));
        }
        if piece && let Some(publisher) = texts(object.get("publisher")).into_iter().next() {
            self.site = Some(collapse(&publisher));
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

/// Reads JSON; where that fails, once more with the line breaks that pages write into strings as spaces.
fn parse(script: &str) -> Option<Value> {
    serde_json::from_str(script).ok().or_else(|| {
        let plain = script.replace(|c: char| c.is_control(), " ");
        serde_json::from_str(&plain).ok()
    })
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
