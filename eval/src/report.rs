//! An evaluation as a page: tables, plots and summaries side by side, in one file without scripts.

use std::fmt::Write;

use crate::rouge::DetailedRouge;
use crate::summaries::{Example, ExampleSummary, MainTextShare, Measures, OwnReport, SummariesReport};

/// Writes the page of an evaluation of summaries.
pub fn summaries_page(report: &SummariesReport, in_gold: &[MainTextShare]) -> String {
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
        page.push_str("<div class=wide><table><tr><th>method<th>mean<th>first ahead by<th>documents/s<th>stable");
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
            let _ = write!(page, "<tr><td>{name}<td>{:.2}<td>{ahead}<td>{rate}<td>{stable}", row.mean);
            for [one, two, l] in row.sets.values() {
                let _ = write!(page, "<td>{one:.1} {two:.1} {l:.1}");
            }
        }
        page.push_str("</table></div>");
        let measures = length.methods.iter().map(|row| (row.name.as_str(), &row.measures));
        page.push_str(&measures_table(measures));
    }
    if !in_gold.is_empty() {
        page.push_str("<h2>Picks from whole pages that belong to the main text</h2>");
        let bars: Vec<(&str, f64, f64, f64)> =
            in_gold.iter().map(|row| (row.name, 100.0 * row.units, 100.0 * row.units, 100.0 * row.units)).collect();
        page.push_str(&bar_plot(&bars));
    }
    page.push_str(&side_by_side(&report.examples));
    page.push_str("</body></html>\n");
    page
}

/// Writes the page of a comparison on documents without references.
pub fn own_page(report: &OwnReport) -> String {
    let mut page = String::from(HEAD);
    let _ = write!(page, "<h1>Summaries</h1><p>{} documents, without references.</p>", report.documents);
    for (budget, methods) in report.in_order() {
        let _ = write!(page, "<h2>{}</h2>", escape(&budget));
        page.push_str(&measures_table(methods.iter().map(|row| (row.name.as_str(), &row.measures))));
        page.push_str(
            "<p>Sentences that both pick, of those that either picks:</p><div class=wide><table><tr><th>method",
        );
        methods.iter().for_each(|row| {
            let _ = write!(page, "<th>{}", escape(&row.name));
        });
        for row in methods {
            let _ = write!(page, "<tr><td>{}", escape(&row.name));
            for other in methods {
                let share = row.agreement.get(&other.name).map_or(String::new(), |share| format!("{share:.2}"));
                let _ = write!(page, "<td>{share}");
            }
        }
        page.push_str("</table></div>");
    }
    page.push_str(&side_by_side(&report.examples));
    page.push_str("</body></html>\n");
    page
}

/// What summaries are beside their sources.
fn measures_table<'m>(methods: impl Iterator<Item = (&'m str, &'m Measures)>) -> String {
    let mut table = String::from(
        "<p>Beside the source: the share of words taken over (coverage), how long the pieces are (density), how much \
         shorter (compression), where in the text (position: 0 beginning, 1 end), what is said twice (redundancy), how \
         far the words are from those of the source (divergence: 0 the same).</p><div class=wide><table><tr><th>method\
         <th>coverage<th>density<th>compression<th>position<th>redundancy<th>divergence",
    );
    for (name, measures) in methods {
        let position = measures.position.map_or(String::new(), |position| format!("{position:.3}"));
        let _ = write!(
            table,
            "<tr><td>{}<td>{:.3}<td>{:.2}<td>{:.2}<td>{position}<td>{:.3}<td>{:.3}",
            escape(name),
            measures.coverage,
            measures.density,
            measures.compression,
            measures.redundancy,
            measures.divergence
        );
    }
    table.push_str("</table></div>");
    table
}

/// Documents on which the methods differ most, with their references and every summary.
fn side_by_side(examples: &[Example]) -> String {
    let mut page = String::from("<h2>Side by side</h2><p>Documents on which the methods differ most.</p>");
    for example in examples {
        let title = example.title.as_deref().unwrap_or(&example.id);
        let _ = write!(page, "<h3>{}</h3><p>{}: {}</p>", escape(title), escape(&example.set), escape(&example.id));
        page.push_str("<div class=side>");
        for reference in &example.references {
            let _ = write!(page, "<div class=reference><b>reference</b><p>{}</div>", escape(reference));
        }
        for summary in &example.summaries {
            let _ = write!(
                page,
                "<div><b>{}</b>{}<p>{}</div>",
                escape(&summary.method),
                scores(summary),
                escape(&summary.text)
            );
        }
        page.push_str("</div><details><summary>The text</summary><ol start=0>");
        for sentence in &example.sentences {
            let _ = write!(page, "<li>{}", escape(sentence));
        }
        page.push_str("</ol></details>");
    }
    page
}

fn scores(summary: &ExampleSummary) -> String {
    let f1 = |rouge: DetailedRouge| rouge.measures().map(|overlap| format!("{:.1}", 100.0 * overlap.f1)).join(" ");
    let rouge = summary.rouge.map_or(String::new(), |rouge| format!(" · ROUGE-1, 2, L, Lsum {}", f1(rouge)));
    let picks = summary.picks.iter().flatten().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let picks = if picks.is_empty() { picks } else { format!(" · sentences {picks}") };
    format!("<small>{rouge}{picks}</small>")
}

const HEAD: &str = "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'><title>pith: summaries</title><style>\
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#222}\
table{border-collapse:collapse;font-size:13px}td,th{white-space:nowrap;padding:.15rem .6rem;border-bottom:1px solid #ddd;text-align:right}\
td:first-child,th:first-child{text-align:left}.side{display:grid;grid-template-columns:repeat(auto-fit,minmax(18rem,1fr));gap:1rem}\
.side div{background:#f6f6f4;padding:.6rem .8rem}.side .reference{background:#e4ecdf}.wide{overflow-x:auto}\
svg{max-width:100%;height:auto}small{color:#666}svg text{font:12px system-ui,sans-serif}</style></head><body>";

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
