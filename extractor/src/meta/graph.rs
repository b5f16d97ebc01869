//! The objects of a JSON-LD script, wherever they are nested, with those that others name by `@id`.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Further objects of one script are ignored.
const MAX_OBJECTS: usize = 500;

type Object = Map<String, Value>;

/// All objects of a script, outer ones first.
pub(super) struct Graph<'v> {
    objects: Vec<&'v Object>,
    named: HashMap<&'v str, &'v Object>,
}

impl<'v> Graph<'v> {
    /// Reads a script's value, breadth first.
    pub(super) fn of(value: &'v Value) -> Graph<'v> {
        let mut graph = Graph { objects: Vec::new(), named: HashMap::new() };
        let mut waiting = std::collections::VecDeque::from([value]);
        while let Some(value) = waiting.pop_front() {
            match value {
                Value::Array(items) => waiting.extend(items.iter().take(MAX_OBJECTS)),
                Value::Object(object) if graph.objects.len() < MAX_OBJECTS => {
                    graph.objects.push(object);
                    if let (Some(id), true) = (object.get("@id").and_then(Value::as_str), object.contains_key("name")) {
                        graph.named.entry(id).or_insert(object);
                    }
                    waiting.extend(object.values().filter(|inner| inner.is_object() || inner.is_array()));
                }
                _ => {}
            }
        }
        graph
    }

    /// The objects of which one type contains one of these names.
    pub(super) fn of_types(&self, names: &'static [&'static str]) -> impl Iterator<Item = &'v Object> + '_ {
        self.objects.iter().copied().filter(move |object| is_type(object, names))
    }

    /// The value itself, or the object that it names by its `@id`.
    pub(super) fn resolve(&self, value: &'v Value) -> &'v Value {
        let Value::Object(object) = value else { return value };
        match object.get("@id").and_then(Value::as_str).filter(|_| !object.contains_key("name")) {
            Some(id) => self.objects_named(id).unwrap_or(value),
            None => value,
        }
    }

    fn objects_named(&self, id: &str) -> Option<&'v Value> {
        // The name is all that is wanted of a person, a brand or an organization.
        self.named.get(id).and_then(|object| object.get("name"))
    }
}

/// Whether one of the types of an object contains one of these names.
pub(super) fn is_type(object: &Object, names: &[&str]) -> bool {
    let is = |kind: &Value| kind.as_str().is_some_and(|kind| names.iter().any(|name| kind.contains(name)));
    match object.get("@type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is),
        Some(kind) => is(kind),
        None => false,
    }
}

/// The authors of the first piece that names some: people, then organizations.
pub(super) struct Authors {
    /// Their names.
    pub names: Vec<String>,
    /// Whether people are among them, as far as the data says.
    pub are_people: bool,
}

const PIECES: &[&str] = &["Article", "Posting", "Report", "Recipe", "HowTo", "Question", "VideoObject", "Review"];

impl Authors {
    /// The authors that a script names.
    pub(super) fn of(graph: &Graph<'_>) -> Option<Authors> {
        graph.of_types(PIECES).find_map(|piece| {
            let value = piece.get("author").or_else(|| piece.get("creator"))?;
            let list = match value {
                Value::Array(items) => items.iter().take(32).collect(),
                one => vec![one],
            };
            let (mut people, mut organizations) = (Vec::new(), Vec::new());
            for author in list {
                let is_organization = is_organization(graph, author);
                if let Some(name) = name(graph.resolve(author)) {
                    if is_organization { organizations.push(name) } else { people.push(name) }
                }
            }
            let are_people = !people.is_empty();
            // Agencies write together with people, and come after them.
            let names = [people, organizations].concat();
            (!names.is_empty()).then_some(Authors { names, are_people })
        })
    }
}

fn is_organization(graph: &Graph<'_>, author: &Value) -> bool {
    let is = |object: &Object| is_type(object, &["Organization", "Corporation", "WebSite"]);
    let Value::Object(object) = author else { return false };
    let named = object.get("@id").and_then(Value::as_str).and_then(|id| graph.named.get(id));
    is(object) || named.is_some_and(|named| is(named))
}

/// A string, or the name of an object.
pub(super) fn name(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => return items.iter().find_map(name),
        Value::Object(object) => return object.get("name").or_else(|| object.get("@value")).and_then(name),
        _ => return None,
    };
    Some(super::collapse(&text)).filter(|text| !text.is_empty())
}
