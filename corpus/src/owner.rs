//! What a document says of its owner's wishes, as far as corpus building looks at it.

use pith_preferences::{Purpose, Signal, Statement, Verdict, Verdicts};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

/// Longer values are counted under the name of their signal alone.
const MAX_NAME_BYTES: usize = 80;

/// The field `preferences` of a document: what the owner said, and what it means.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct OwnerWishes {
    /// What it means for each purpose.
    pub verdict: Verdicts,
    /// What was said.
    pub statements: Vec<Statement>,
}

impl OwnerWishes {
    /// What is said about a purpose.
    pub fn verdict_on(&self, purpose: Purpose) -> Verdict {
        match purpose {
            Purpose::Train => self.verdict.train,
            Purpose::Search => self.verdict.search,
            Purpose::Archive => self.verdict.archive,
        }
    }

    /// What was said, each once, under names that many documents share: addresses and dates are left out.
    pub(crate) fn statement_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.statements.iter().map(statement_name).collect();
        names.sort();
        names.dedup();
        names
    }
}

fn statement_name(said: &Statement) -> String {
    let signal = said.signal.name();
    match said.signal {
        Signal::TdmPolicy | Signal::License => signal.to_owned(),
        _ if said.value.len() > MAX_NAME_BYTES || said.value.contains(':') => signal.to_owned(),
        _ => format!("{signal}: {}", said.value),
    }
}

/// Reads the field. Corpora of others may have one of this name with anything in it: that is no judgement.
pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<OwnerWishes>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Field {
        Judged {
            verdict: Verdicts,
            #[serde(default)]
            statements: Vec<Statement>,
        },
        Other(IgnoredAny),
    }
    Ok(match Field::deserialize(deserializer)? {
        Field::Judged { verdict, statements } => Some(OwnerWishes { verdict, statements }),
        Field::Other(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonl::DocumentFields;

    #[test]
    fn the_field_is_read_and_anything_else_of_its_name_is_no_judgement() {
        let line = br#"{"preferences":{"verdict":{"train":"reserved","search":"allowed","archive":"unstated"},"robots":null,
            "statements":[{"signal":"content-signal","source":"robots.txt","agent":"*","scope":"/","value":"search=yes, ai-train=no"},
            {"signal":"license","source":"header","agent":"*","scope":"page","value":"https://a.test/l.xml"}]},"text":"a"}"#;
        let wishes = DocumentFields::of(line).unwrap().preferences.unwrap();
        let verdicts = Purpose::ALL.map(|purpose| wishes.verdict_on(purpose));
        assert_eq!(verdicts, [Verdict::Reserved, Verdict::Allowed, Verdict::Unstated]);
        assert_eq!(wishes.statement_names(), ["content-signal: search=yes, ai-train=no", "license"]);
        for other in ["null", "7", "\"yes\"", "[]", "{}", r#"{"verdict":{"train":"maybe"}}"#] {
            let line = format!(r#"{{"preferences":{other},"text":"a"}}"#);
            let fields = DocumentFields::of(line.as_bytes()).unwrap();
            assert_eq!((fields.preferences, &*fields.text), (None, "a"), "{other}");
        }
    }
}
