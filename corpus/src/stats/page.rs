//! The statistics as one HTML page that needs nothing else: tables and bars, no scripts.

use std::fmt::Write;

use super::{GroupCount, Stats};

/// A page with plots, complete and safe to open: every text of the corpus is escaped.
pub fn page(stats: &Stats, title: &str) -> String {
    let mut page = String::new();
    let title = escape(title);
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <style>body{{font:16px/1.4 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}}\
         table{{border-collapse:collapse}}td,th{{padding:.2rem .8rem .2rem 0;text-align:left}}\
         td.n{{text-align:right;font-variant-numeric:tabular-nums}}rect{{fill:#36c}}text{{font-size:12px}}</style>\
         </head><body><h1>{title}</h1><table>"
    );
    let facts = [
        ("documents", stats.documents),
        ("damaged lines", stats.damaged),
        ("characters", stats.characters),
        ("words", stats.words),
        ("bytes of text", stats.text_bytes),
        ("bytes on disk", stats.compressed_bytes),
        ("median characters", stats.median_characters),
        ("documents without text", stats.empty),
        ("exact duplicates", stats.exact_duplicates),
        ("sites", stats.sites),
    ];
    for (name, value) in facts {
        let _ = write!(page, "<tr><th>{name}</th><td class=\"n\">{}</td></tr>", grouped(value));
    }
    if let Some((earliest, latest)) = &stats.fetched {
        let _ = write!(page, "<tr><th>fetched</th><td>{} to {}</td></tr>", escape(earliest), escape(latest));
    }
    page.push_str("</table>");
    let lengths: Vec<(String, u64)> =
        stats.lengths.iter().map(|bin| (format!("{} to {}", bin.from, bin.to - 1), bin.documents)).collect();
    plot(&mut page, "Length in characters", &lengths);
    for (heading, shares) in [
        ("Languages", &stats.languages),
        ("Kinds of page", &stats.page_types),
        ("Year of publication", &stats.years),
        ("Expected F1", &stats.confidences),
        ("Owners allow and reserve", &stats.verdicts),
        ("Owners say", &stats.statements),
        ("Sites", &stats.top_sites),
    ] {
        let bars: Vec<(String, u64)> =
            shares.iter().take(40).map(|GroupCount { name, documents, .. }| (name.clone(), *documents)).collect();
        plot(&mut page, heading, &bars);
    }
    page.push_str("</body></html>\n");
    page
}

/// Horizontal bars, drawn to the longest.
fn plot(page: &mut String, heading: &str, bars: &[(String, u64)]) {
    let Some(most) = bars.iter().map(|bar| bar.1).max() else { return };
    let height = bars.len() * 20;
    let _ = write!(page, "<h2>{heading}</h2><svg width=\"900\" height=\"{height}\" role=\"img\">");
    for (row, (name, value)) in bars.iter().enumerate() {
        let y = row * 20;
        let width = *value as f64 / most.max(1) as f64 * 500.0;
        let _ = write!(
            page,
            "<text x=\"240\" y=\"{}\" text-anchor=\"end\">{}</text><rect x=\"250\" y=\"{}\" width=\"{width:.1}\" \
             height=\"14\"/><text x=\"{:.1}\" y=\"{}\">{}</text>",
            y + 14,
            escape(name),
            y + 3,
            255.0 + width,
            y + 14,
            grouped(*value),
        );
    }
    page.push_str("</svg>");
}

fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_stays_a_name() {
        let hostile = GroupCount { name: "<img src=x onerror=alert(1)>".into(), documents: 1, characters: 1 };
        let stats = Stats { documents: 1, languages: vec![hostile], ..Stats::default() };
        let page = page(&stats, "a & b");
        assert!(page.contains("&lt;img src=x") && !page.contains("<img"));
        assert!(page.contains("<title>a &amp; b</title>"));
    }
}
