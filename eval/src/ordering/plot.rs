//! The curves as a picture: PageRank gathered over pages fetched.

use std::fmt::Write as _;

use super::comparison::Comparison;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 480.0;
const MARGIN: f64 = 56.0;
const COLOURS: [&str; 9] = ["#0b6", "#888", "#c60", "#06c", "#909", "#c22", "#0aa", "#663", "#333"];

/// The picture as SVG, which a browser opens by itself.
pub fn plot(comparison: &Comparison, title: &str) -> String {
    let x = |share: f64| MARGIN + share * (WIDTH - 2.5 * MARGIN);
    let y = |share: f64| HEIGHT - MARGIN - share * (HEIGHT - 1.8 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n<text x=\"{MARGIN}\" y=\"24\" font-size=\"15\">{}</text>\n",
        escape(title)
    );
    for tick in 0..=10 {
        let share = f64::from(tick) / 10.0;
        let _ = writeln!(
            svg,
            "<path d=\"M{0:.1} {1:.1}V{2:.1}M{3:.1} {4:.1}H{5:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{0:.1}\" y=\"{6:.1}\" text-anchor=\"middle\">{7} %</text>\
             <text x=\"{8:.1}\" y=\"{9:.1}\" text-anchor=\"end\">{share:.1}</text>",
            x(share),
            y(0.0),
            y(1.0),
            x(0.0),
            y(share),
            x(1.0),
            y(0.0) + 18.0,
            tick * 10,
            x(0.0) - 6.0,
            y(share) + 4.0,
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">pages fetched</text>\
         <text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">PageRank gathered</text>",
        x(0.5),
        HEIGHT - 14.0,
        y(0.5),
    );
    let rows = comparison.references.iter().map(|row| (row, " stroke-dasharray=\"5 3\""));
    let rows = comparison.policies.iter().map(|row| (row, "")).chain(rows);
    for (index, (row, dashes)) in rows.enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let last = row.curve.len().max(2) - 1;
        let points: String = row
            .curve
            .iter()
            .enumerate()
            .map(|(point, share)| format!("{:.1},{:.1} ", x(point as f64 / last as f64), y(*share)))
            .collect();
        let label_y = y(0.0) - 16.0 * (index as f64 + 1.0);
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"{dashes}/>\
             <path d=\"M{2:.1} {3:.1}h20\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>\
             <text x=\"{4:.1}\" y=\"{5:.1}\">{1} {6:.3}</text>",
            points.trim_end(),
            escape(&row.policy),
            x(0.72),
            label_y - 4.0,
            x(0.72) + 26.0,
            label_y,
            row.auc,
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
