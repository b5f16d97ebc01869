//! An evaluation as a page: tables, plots and summaries side by side, in one file without scripts.

use std::fmt::Write;

use crate::summaries::{MainTextShare, Prediction, SummariesReport};

/// Writes the page of an evaluation of summaries. `examples` are shown side by side, grouped by document.
pub fn summaries_page(
    report: &SummariesReport,
    in_gold: &[MainTextShare],
    examples: &[(String, Prediction)],
) -> String {
    let mut page = String::from(HEAD);
    let documents: Vec<String> = report.documents.iter().map(|(name, n)| format!("{} {n}", escape(name))).collect();
    let _ = write!(
        page,
        "<h1>Summaries</h1><p>Documents: {}. ROUGE F1 × 100; 95 % by bootstrap.</p>",
        documents.join(", ")
    );
    for (budget, length) in report.in_order() {
        let _ = write!(page, "<h2>{}</h2>", escape(&budget));
        let mut rows: Vec<_> = length.methods.iter().collect();
        rows.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        let bars: Vec<(&str, f64, f64, f64)> =
            rows.iter().map(|row| (row.name.as_str(), row.mean, row.interval.low, row.interval.high)).collect();
        page.push_str(&bar_plot(&bars));
        page.push_str("<table><tr><th>method<th>mean<th>first ahead by<th>documents/s<th>repeats<th>stable");
        report.documents.keys().for_each(|set| {
            let _ = write!(page, "<th>{}", escape(set));
        });
        for row in rows {
            let ahead = row.first_ahead.map_or(String::new(), |lead| {
                format!("{:+.2} ({:+.2} to {:+.2}, p {:.3})", lead.by, lead.low, lead.high, lead.p)
            });
            let rate = row.documents_per_second.map_or(String::new(), |rate| format!("{rate:.0}"));
            let stable = row.stability.map_or(String::new(), |share| format!("{share:.2}"));
            let name = escape(&row.name);
            let _ = write!(
                page,
                "<tr><td>{name}<td>{:.2}<td>{ahead}<td>{rate}<td>{:.3}<td>{stable}",
                row.mean, row.redundancy
            );
            for [one, two, l] in row.sets.values() {
                let _ = write!(page, "<td>{one:.1} {two:.1} {l:.1}");
            }
        }
        page.push_str("</table>");
    }
    if !in_gold.is_empty() {
        page.push_str("<h2>Picks from whole pages that belong to the main text</h2>");
        let bars: Vec<(&str, f64, f64, f64)> =
            in_gold.iter().map(|row| (row.name, 100.0 * row.units, 100.0 * row.units, 100.0 * row.units)).collect();
        page.push_str(&bar_plot(&bars));
    }
    page.push_str("<h2>Side by side</h2>");
    for group in examples.chunk_by(|a, b| a.0 == b.0 && a.1.id == b.1.id && a.1.budget == b.1.budget) {
        let (set, first) = &group[0];
        let _ =
            write!(page, "<h3>{}: {}, {}</h3><div class=side>", escape(set), escape(&first.id), escape(&first.budget));
        for (_, prediction) in group {
            let _ = write!(page, "<div><b>{}</b><p>{}</div>", escape(&prediction.method), escape(&prediction.text));
        }
        page.push_str("</div>");
    }
    page.push_str("</body></html>\n");
    page
}

const HEAD: &str = "<!doctype html><html lang=en><head><meta charset=utf-8><title>pith: summaries</title><style>\
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#222}\
table{border-collapse:collapse;font-size:13px}td,th{white-space:nowrap;padding:.15rem .6rem;border-bottom:1px solid #ddd;text-align:right}\
td:first-child,th:first-child{text-align:left}.side{display:grid;grid-template-columns:repeat(auto-fit,minmax(18rem,1fr));gap:1rem}\
.side div{background:#f6f6f4;padding:.6rem .8rem}svg text{font:12px system-ui,sans-serif}</style></head><body>";

/// Horizontal bars with a line for the interval.
fn bar_plot(bars: &[(&str, f64, f64, f64)]) -> String {
    let widest = bars.iter().map(|bar| bar.3).fold(1.0, f64::max);
    let x = |value: f64| 120.0 + 520.0 * value / widest;
    let height = 22 * bars.len();
    let mut svg = format!("<svg width=720 height={height} viewBox='0 0 720 {height}' role=img>");
    for (index, (name, value, low, high)) in bars.iter().enumerate() {
        let y = 22 * index;
        let colour = if *name == "pith" { "#b4472e" } else { "#9aa7b1" };
        let _ = write!(
            svg,
            "<text x=112 y={} text-anchor=end>{}</text><rect x=120 y={} width={:.1} height=14 fill='{colour}'/>\
             <line x1={:.1} x2={:.1} y1={} y2={} stroke='#222'/><text x={:.1} y={}>{value:.1}</text>",
            y + 15,
            escape(name),
            y + 4,
            x(*value) - 120.0,
            x(*low),
            x(*high),
            y + 11,
            y + 11,
            x(*high) + 6.0,
            y + 15,
        );
    }
    svg.push_str("</svg>");
    svg
}

/// Text as HTML: peers, sets and documents name themselves.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() && c != '\n' => escaped.push('\u{FFFD}'),
            c => escaped.push(c),
        }
    }
    escaped
}
