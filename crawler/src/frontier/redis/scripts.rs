//! The scripts, each with the parts that it needs in front, and what they answer.

use redis::{Script, Value};

use super::super::{FrontierError, Gauges, Totals};
use crate::error::Error;

/// What the server does: each runs as a whole, on the keys of one partition.
pub(super) struct Scripts {
    pub(super) offer: Script,
    pub(super) expedite: Script,
    pub(super) lease: Script,
    pub(super) renew: Script,
    pub(super) rest: Script,
    pub(super) claim: Script,
    pub(super) content: Script,
    pub(super) settle: Script,
    pub(super) budget: Script,
    pub(super) hosts: Script,
}

impl Default for Scripts {
    fn default() -> Self {
        macro_rules! script {
            ($file:literal) => {
                Script::new(concat!(include_str!("core.lua"), include_str!("links.lua"), include_str!($file)))
            };
        }
        Scripts {
            offer: script!("offer.lua"),
            expedite: script!("expedite.lua"),
            lease: script!("lease.lua"),
            renew: script!("renew.lua"),
            rest: script!("rest.lua"),
            claim: script!("claim.lua"),
            content: script!("content.lua"),
            settle: script!("settle.lua"),
            budget: script!("budget.lua"),
            hosts: script!("hosts.lua"),
        }
    }
}

/// An answer that no script gives: another program writes to these keys, or another version of this one.
pub(super) fn unexpected() -> FrontierError {
    FrontierError::Damaged(Error::Setting("the shared frontier: an answer of Redis cannot be read".to_owned()))
}

/// Takes the figures of the partition off an answer.
pub(super) fn split_figures(answer: Value) -> Result<(Gauges, Value), FrontierError> {
    let mut values = list(answer)?;
    let rest = values.pop().ok_or_else(unexpected)?;
    let figures: Vec<u64> = values.into_iter().map(number).collect::<Result<_, _>>()?;
    let [known, pending, leased, ready_hosts, hosts] = figures[..] else { return Err(unexpected()) };
    Ok((Gauges { pending, known, leased, ready_hosts, hosts, postponed: 0 }, rest))
}

pub(super) fn list(value: Value) -> Result<Vec<Value>, FrontierError> {
    match value {
        Value::Array(values) => Ok(values),
        _ => Err(unexpected()),
    }
}

pub(super) fn bytes(value: Value) -> Result<Vec<u8>, FrontierError> {
    match value {
        Value::BulkString(bytes) => Ok(bytes),
        Value::SimpleString(text) => Ok(text.into_bytes()),
        Value::Okay => Ok(b"OK".to_vec()),
        Value::Nil => Ok(Vec::new()),
        Value::Int(number) => Ok(number.to_string().into_bytes()),
        _ => Err(unexpected()),
    }
}

pub(super) fn text(value: Value) -> Result<String, FrontierError> {
    String::from_utf8(bytes(value)?).map_err(|_| unexpected())
}

pub(super) fn signed(value: Value) -> Result<i64, FrontierError> {
    match value {
        Value::Int(number) => Ok(number),
        other => text(other)?.parse().map_err(|_| unexpected()),
    }
}

/// A number that is not negative; one that is counts as none.
pub(super) fn number(value: Value) -> Result<u64, FrontierError> {
    Ok(u64::try_from(signed(value)?).unwrap_or(0))
}

/// The totals of a partition, from names and numbers.
pub(super) fn totals(value: Value) -> Result<Totals, FrontierError> {
    let mut totals = Totals::default();
    let mut values = list(value)?.into_iter();
    while let (Some(name), Some(count)) = (values.next(), values.next()) {
        let (name, count) = (text(name)?, number(count)?);
        match name.as_str() {
            "bytes" => totals.bytes = count,
            "milliseconds" => totals.milliseconds = count,
            code => {
                let code = usize::from(code.parse::<u8>().map_err(|_| unexpected())?);
                if code >= totals.outcomes.len() {
                    totals.outcomes.resize(code + 1, 0);
                }
                totals.outcomes[code] = count;
            }
        }
    }
    Ok(totals)
}
