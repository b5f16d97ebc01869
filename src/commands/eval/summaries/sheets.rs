//! The tables of a comparison of summaries.

use std::collections::BTreeMap;

use pith_eval::rouge::Overlap;
use pith_eval::sheet::Sheet;
use pith_eval::summaries::{
    LeftOut, LengthReport, MainTextShare, Measures, MethodMeasures, MethodPair, OwnReport, SummariesReport,
};

/// A difference is marked where its corrected p is below this.
const SIGNIFICANT: f64 = 0.05;

const MEASURES: [&str; 6] = ["coverage", "density", "compression", "position", "redundancy", "divergence"];
const ROUGE: [&str; 4] = ["rouge-1", "rouge-2", "rouge-l", "rouge-lsum"];

/// The tables of scores against references: for every length the methods, then every two of them.
pub fn of_sets(report: &SummariesReport, in_gold: &[MainTextShare]) -> Vec<Sheet> {
    let mut sheets = Vec::new();
    for (budget, length) in report.in_order() {
        sheets.push(overview(&budget, report, length));
        sheets.push(beside_sources(&budget, length.methods.iter().map(|row| (&row.name, &row.measures, &row.metrics))));
        sheets.push(matrix(&budget, length));
    }
    for (set, reasons) in &report.left_out {
        sheets.push(left_out(&format!("{set}: documents that are not scored"), reasons));
    }
    if !in_gold.is_empty() {
        let mut sheet = Sheet::new("picks from whole pages inside the main text", ["method", "units", "characters"]);
        let row = |row: &MainTextShare| vec![row.name.to_owned(), three(row.units), three(row.characters)];
        sheet.rows = in_gold.iter().map(row).collect();
        sheets.push(sheet);
    }
    sheets
}

fn overview(budget: &str, report: &SummariesReport, length: &LengthReport) -> Sheet {
    let columns = ["method", "mean", "95 %", "first ahead by (95 %) p", "documents/s", "stable"].map(String::from);
    let sets = report.documents.keys().map(|set| format!("{set} (1, 2, L)"));
    let title = format!("{budget}: mean of ROUGE-1, -2 and -L times 100, by sets");
    let mut sheet = Sheet::new(title, columns.into_iter().chain(sets));
    let mut rows: Vec<_> = length.methods.iter().collect();
    rows.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    for row in rows {
        let ahead = row.first_ahead.map_or(String::new(), |lead| {
            format!("{:+.2} ({:+.2} to {:+.2}) {:.3}", lead.by, lead.low, lead.high, lead.p)
        });
        let mut cells = vec![
            row.name.clone(),
            two(row.mean),
            format!("{:.2} to {:.2}", row.interval.low, row.interval.high),
            ahead,
            row.documents_per_second.map_or(String::new(), |rate| format!("{rate:.0}")),
            row.stability.map_or(String::new(), two),
        ];
        cells.extend(row.sets.values().map(|[one, two, l]| format!("{one:.1} {two:.1} {l:.1}")));
        sheet.rows.push(cells);
    }
    sheet
}

fn beside_sources<'r>(
    budget: &str,
    methods: impl Iterator<Item = (&'r String, &'r Measures, &'r BTreeMap<String, f64>)>,
) -> Sheet {
    let methods: Vec<_> = methods.collect();
    let metrics: Vec<String> = methods.first().map_or(Vec::new(), |row| row.2.keys().cloned().collect());
    let columns = ["method"].into_iter().chain(MEASURES).map(String::from).chain(metrics);
    let mut sheet = Sheet::new(format!("{budget}: summaries beside their sources"), columns);
    for (name, measures, metrics) in methods {
        let cells = [name.clone()].into_iter().chain(of_measures(measures)).chain(metrics.values().map(|v| three(*v)));
        sheet.rows.push(cells.collect());
    }
    sheet
}

fn of_measures(measures: &Measures) -> [String; 6] {
    [
        three(measures.coverage),
        two(measures.density),
        two(measures.compression),
        measures.position.map_or(String::new(), three),
        three(measures.redundancy),
        three(measures.divergence),
    ]
}

/// How far the method of the row is ahead of that of the column.
fn matrix(budget: &str, length: &LengthReport) -> Sheet {
    let mut names: Vec<&String> = Vec::new();
    for name in length.pairs.iter().flat_map(|pair| [&pair.first, &pair.second]) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let title = format!("{budget}: row ahead of column; * where p < {SIGNIFICANT} for all pairs together (Holm)");
    let columns = std::iter::once("method".to_owned()).chain(names.iter().map(|name| (*name).clone()));
    let mut sheet = Sheet::new(title, columns);
    let cell = |row: &String, column: &String| {
        let is_row_first = |pair: &&MethodPair| pair.first == *row && pair.second == *column;
        let is_row_second = |pair: &&MethodPair| pair.second == *row && pair.first == *column;
        let (pair, sign) = match length.pairs.iter().find(is_row_first) {
            Some(pair) => (pair, 1.0),
            None => (length.pairs.iter().find(is_row_second)?, -1.0),
        };
        let mark = if pair.all.p_corrected < SIGNIFICANT { "*" } else { "" };
        Some(format!("{:+.2}{mark}", sign * pair.all.difference.by))
    };
    for row in &names {
        let cells = names.iter().map(|column| cell(row, column).unwrap_or_default());
        sheet.rows.push(std::iter::once((*row).clone()).chain(cells).collect());
    }
    sheet
}

fn left_out(title: &str, reasons: &BTreeMap<&'static str, LeftOut>) -> Sheet {
    let mut sheet = Sheet::new(title, ["reason", "documents", "the first"]);
    let row = |(reason, left_out): (&&str, &LeftOut)| {
        vec![(*reason).to_owned(), left_out.documents.to_string(), left_out.first.join(", ")]
    };
    sheet.rows = reasons.iter().map(row).collect();
    sheet
}

/// Every method, length and set in a row of its own.
pub fn rows_of_sets(report: &SummariesReport) -> Sheet {
    let rouge = ROUGE.iter().flat_map(|name| ["precision", "recall", "f1"].map(|part| format!("{name} {part}")));
    let columns = ["length", "method", "set", "documents", "mean", "low", "high", "mean of references"];
    let mut sheet = Sheet::new("summaries", columns.map(String::from).into_iter().chain(rouge));
    for (budget, length) in report.in_order() {
        for row in &length.methods {
            for (set, details) in &row.details {
                let figures = [details.mean, details.interval.low, details.interval.high, details.mean_of_references];
                let parts = |overlap: Overlap| [overlap.precision, overlap.recall, overlap.f1];
                let all = figures.into_iter().chain(details.rouge.measures().into_iter().flat_map(parts));
                let mut cells = vec![budget.clone(), row.name.clone(), set.clone(), report.documents[set].to_string()];
                cells.extend(all.map(|value| format!("{value:.4}")));
                sheet.rows.push(cells);
            }
        }
    }
    sheet
}

/// The tables of a comparison without references.
pub fn of_own_pages(report: &OwnReport) -> Vec<Sheet> {
    let mut sheets = Vec::new();
    for (budget, methods) in report.in_order() {
        sheets.push(beside_sources(&budget, methods.iter().map(|row| (&row.name, &row.measures, &row.metrics))));
        sheets.push(agreement(&budget, methods));
    }
    if !report.left_out.is_empty() {
        sheets.push(left_out("documents that are not compared", &report.left_out));
    }
    sheets
}

fn agreement(budget: &str, methods: &[MethodMeasures]) -> Sheet {
    let columns = std::iter::once("method").chain(methods.iter().map(|row| row.name.as_str()));
    let mut sheet = Sheet::new(format!("{budget}: sentences that both pick, of those that either picks"), columns);
    for row in methods {
        let cells =
            methods.iter().map(|other| row.agreement.get(&other.name).map_or(String::new(), |share| two(*share)));
        sheet.rows.push(std::iter::once(row.name.clone()).chain(cells).collect());
    }
    sheet
}

/// Every method and length in a row of its own.
pub fn rows_of_own_pages(report: &OwnReport) -> Sheet {
    let columns = ["length", "method", "documents"].into_iter().chain(MEASURES);
    let mut sheet = Sheet::new("summaries", columns);
    for (budget, methods) in report.in_order() {
        for row in methods {
            let cells = [budget.clone(), row.name.clone(), report.documents.to_string()];
            sheet.rows.push(cells.into_iter().chain(of_measures(&row.measures)).collect());
        }
    }
    sheet
}

fn two(value: f64) -> String {
    format!("{value:.2}")
}

fn three(value: f64) -> String {
    format!("{value:.3}")
}
