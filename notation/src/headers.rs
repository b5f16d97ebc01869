//! The headers of an answer, owned.

/// Names and values in order, in two allocations however many there are.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers {
    names: String,
    values: Vec<u8>,
    /// Where each name and each value ends.
    ends: Vec<(usize, usize)>,
}

impl Headers {
    /// Reads header lines, each ended by a line feed; what is no header is left out.
    pub fn parse(lines: &[u8]) -> Headers {
        let split = lines.split(|byte| *byte == b'\n').filter_map(split_line);
        split.filter_map(|(name, value)| Some((std::str::from_utf8(name).ok()?, value))).collect()
    }

    /// Adds a header behind the others.
    pub fn push(&mut self, name: &str, value: &[u8]) {
        self.names.push_str(name);
        self.values.extend_from_slice(value);
        self.ends.push((self.names.len(), self.values.len()));
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &[u8])> + '_ {
        (0..self.ends.len()).map(|index| {
            let (name_at, value_at) = index.checked_sub(1).map_or((0, 0), |before| self.ends[before]);
            let (name_end, value_end) = self.ends[index];
            (&self.names[name_at..name_end], &self.values[value_at..value_end])
        })
    }

    /// The values of a header in order, whatever the case of its name.
    pub fn all<'h>(&'h self, name: &str) -> impl DoubleEndedIterator<Item = &'h [u8]> {
        self.iter().filter(move |(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl<'h> FromIterator<(&'h str, &'h [u8])> for Headers {
    fn from_iter<I: IntoIterator<Item = (&'h str, &'h [u8])>>(all: I) -> Headers {
        let mut headers = Headers::default();
        all.into_iter().for_each(|(name, value)| headers.push(name, value));
        headers
    }
}

impl std::fmt::Debug for Headers {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_map().entries(self.iter().map(|(name, value)| (name, value.escape_ascii().to_string()))).finish()
    }
}

/// A header line as its name and value, both trimmed; `None` without a colon.
pub(crate) fn split_line(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memchr(b':', line)?;
    Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_keep_their_order_and_are_found_whatever_their_case() {
        let headers = Headers::parse(b"ETag: \"7\"\r\nnonsense\r\nVia:a\r\nvia: \xffb \r\n\xff: x\r\n");
        let all: Vec<_> = headers.iter().collect();
        assert_eq!(all, [("ETag", &b"\"7\""[..]), ("Via", b"a"), ("via", b"\xffb")]);
        assert_eq!(headers.all("VIA").collect::<Vec<_>>(), [&b"a"[..], b"\xffb"]);
        assert_eq!(headers.all("via").next_back(), Some(&b"\xffb"[..]));
        assert_eq!(headers.all("etag").next(), Some(&b"\"7\""[..]));
        assert_eq!(Headers::default().iter().count(), 0);
    }
}
