//! Text, table, JSON, CSV and page say the same number.

use std::collections::BTreeMap;

use inorder_analysis::html::{self, Page};
use inorder_analysis::{Analysis, Rows, headline, json, table};
use inorder_report::number::count;
use serde_json::Value;

use super::rules::Failures;
use crate::digits::{derivable, numbers};

/// Captures of more flows take too long: the headline is compared with the sums without each of them.
const MAX_FLOWS: usize = 60;

/// Members of the JSON of a flow, and the columns of the same name in CSV.
const MEMBERS: [(&str, &str); 8] = [
    ("/data_packets", "data_packets"),
    ("/late", "late"),
    ("/reordering/reordered", "reordered"),
    ("/losses", "losses"),
    ("/retransmissions/total", "retransmissions"),
    ("/retransmissions/spurious", "spurious"),
    ("/recoveries/total", "recoveries"),
    ("/recoveries/spurious", "recoveries_spurious"),
];
/// Those of them that the table of flows has; a 0 is left out there.
const IN_TABLE: [&str; 6] = [
    "data_packets",
    "late",
    "losses",
    "spurious",
    "recoveries",
    "recoveries_spurious",
];

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("text")
}

/// The numbers of a flow by column, and the cells of its row in the text and in the page.
#[derive(Default)]
struct Row {
    json: BTreeMap<&'static str, u64>,
    csv: BTreeMap<&'static str, u64>,
    text: Vec<String>,
    page: Vec<String>,
}

fn document(analysis: &Analysis) -> Value {
    let one = std::slice::from_ref(analysis);
    serde_json::from_str(&written(|out| json::write(out, one, false))).expect("JSON")
}

/// What the clauses of the headline count of the flow that they name, and the parts of which JSON gives the sum.
fn sums(analysis: &Analysis) -> Vec<String> {
    let document = document(analysis);
    let flows = document["flows"].as_array().expect("flows");
    let number = |of: &Value, path: &str| of.pointer(path).and_then(Value::as_u64);
    let mut wrong = Vec::new();
    for flow in flows {
        let name = &flow["flow"];
        let runs = flow["bursts"]["lengths"].as_array().expect("runs");
        let sum = |part: &dyn Fn(&Value) -> u64| runs.iter().map(part).sum::<u64>();
        let at = |run: &Value, place: usize| run[place].as_u64().expect("a number");
        let bursts = number(flow, "/bursts/count");
        if bursts != Some(sum(&|run| at(run, 1))) {
            wrong.push(format!("{name}: {bursts:?} runs, listed {runs:?}"));
        }
        // Long runs are counted in buckets, each by its last value.
        let in_runs = sum(&|run| at(run, 0) * at(run, 1));
        let late = number(flow, "/reordering/reordered").expect("a count");
        let exact = runs.iter().all(|run| at(run, 0) < 64);
        if exact && in_runs != late {
            wrong.push(format!("{name}: {late} late, {in_runs} in runs"));
        }
        if let (Some(mean), true) = (flow["reordering"]["mean_burst"].as_f64(), exact && late > 0)
            && (mean * bursts.unwrap_or(0) as f64 - late as f64).abs() > 1e-6
        {
            wrong.push(format!(
                "{name}: {late} late, {bursts:?} runs of {mean} on average"
            ));
        }
    }
    let claims = document["files"][0]["claims"].as_array().expect("claims");
    let mut flow = &Value::Null;
    for claim in claims {
        if let Some(name) = claim["flow"].as_str() {
            flow = flows.iter().find(|f| f["flow"] == name).expect("a flow");
        }
        let member = match claim["kind"].as_str().expect("a kind") {
            _ if flow.is_null() => continue,
            "late" => "/late",
            "lost" => "/losses",
            "outside-window" => "/outside_window",
            "reneged" => "/reneged",
            "mistaken" => "/retransmissions/spurious",
            _ => continue,
        };
        let (said, there) = (number(claim, "/packets"), number(flow, member));
        if said != there {
            wrong.push(format!("{claim}: {there:?} in {member}"));
        }
    }
    wrong
}

/// The page's large numbers are those of JSON.
fn tiles(analysis: &Analysis) -> Vec<String> {
    let one = std::slice::from_ref(analysis);
    let page = Page {
        top: 0,
        charts: false,
    };
    let page = written(|out| html::write(out, one, &page));
    let document = document(analysis);
    let summed = &document["files"][0]["summed"];
    let flows = document["flows"].as_array().expect("flows");
    let sum = |path: &str, rest: &str| {
        let listed = flows
            .iter()
            .map(|f| f.pointer(path).and_then(Value::as_u64));
        listed.map(|n| n.expect(path)).sum::<u64>() + summed[rest].as_u64().expect(rest)
    };
    let spurious = sum("/retransmissions/spurious", "spurious_retransmissions");
    let all = sum("/retransmissions/total", "retransmissions");
    let tile = format!(
        "<b>{}</b><span>of {} spurious</span>",
        count(spurious),
        inorder_report::number::plural(all, "retransmission")
    );
    match all == 0 || page.contains(&tile) {
        true => Vec::new(),
        false => vec![format!("the page has no {tile}")],
    }
}

fn rows(analysis: &Analysis) -> Vec<Row> {
    let one = std::slice::from_ref(analysis);
    let document = document(analysis);
    let flows = Rows::ALL
        .iter()
        .find(|rows| rows.name == "flows")
        .expect("flows");
    let csv = written(|out| flows.write_csv(out, one));
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let style = table::Style {
        top: usize::MAX,
        ..table::Style::default()
    };
    let text = written(|out| table::write(out, one, &style));
    let page = written(|out| {
        html::write(
            out,
            one,
            &Page {
                top: 0,
                charts: false,
            },
        )
    });
    let mut all = Vec::new();
    for (flow, line) in document["flows"]
        .as_array()
        .expect("flows")
        .iter()
        .zip(lines)
    {
        let mut row = Row::default();
        for (member, column) in MEMBERS {
            let number = flow.pointer(member).and_then(Value::as_u64).expect(member);
            row.json.insert(column, number);
            // The first columns are names, which may contain commas: count from the end.
            let place = header
                .iter()
                .rev()
                .position(|name| *name == column)
                .expect(column);
            let cell = line.iter().rev().nth(place).expect("a cell");
            row.csv.insert(column, cell.parse().expect("a number"));
        }
        // Several connections with the same addresses and ports have rows of other names in the text.
        if flow["reuse"] == 0 {
            let name = flow["flow"].as_str().expect("a name");
            row.text = text_cells(&text, name);
            row.page = page_cells(&page, name);
        }
        all.push(row);
    }
    all
}

/// The cells of the row in the table of flows, without those that are empty; nothing where the name is not unique.
fn text_cells(text: &str, name: &str) -> Vec<String> {
    let start = format!("{name}  ");
    let mut lines = text.lines().filter(|line| line.starts_with(&start));
    match (lines.next(), lines.next()) {
        (Some(line), None) => {
            let cells = line
                .split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty());
            cells.skip(1).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

fn page_cells(page: &str, name: &str) -> Vec<String> {
    let name = name.replace('>', "&gt;");
    let is_row = |row: &&str| {
        row.contains(&format!("<td>{name}</td>")) || row.contains(&format!(">{name}</a></td>"))
    };
    let mut rows = page.split("<tr").filter(is_row);
    let (Some(row), None) = (rows.next(), rows.next()) else {
        return Vec::new();
    };
    let row = row.split("</tr>").next().unwrap_or_default();
    let cells = row.split("<td").skip(2);
    let texts = cells.filter_map(|cell| Some(cell.split_once('>')?.1.split_once("</td>")?.0));
    texts
        .filter(|text| !text.is_empty())
        .map(|text| text.replace("&lt;", "<"))
        .collect()
}

pub(crate) fn check(analysis: &Analysis, failures: &mut Failures) {
    if analysis.flows.len() > MAX_FLOWS {
        return;
    }
    let mut demand = |holds: bool, example: String| {
        if !holds {
            failures
                .entry("text, table, JSON, CSV and page say the same number")
                .or_insert(example);
        }
    };
    let said = headline(analysis).to_string();
    let known = derivable(analysis);
    for number in numbers(&said) {
        demand(
            known.contains(&number),
            format!("{number} is not in the JSON: {said}"),
        );
    }
    for wrong in sums(analysis).into_iter().chain(tiles(analysis)) {
        demand(false, wrong);
    }
    for (row, flow) in rows(analysis).iter().zip(&analysis.flows) {
        let name = flow.flow;
        demand(
            row.json == row.csv,
            format!("{name}: JSON {:?}, CSV {:?}", row.json, row.csv),
        );
        if row.text.is_empty() || row.page.is_empty() {
            continue;
        }
        demand(
            row.text == row.page,
            format!("{name}: text {:?}, page {:?}", row.text, row.page),
        );
        for column in IN_TABLE {
            let number = row.json[column];
            let digits = count(number);
            // A tilde says that it is approximate.
            let there = number == 0
                || row
                    .text
                    .iter()
                    .any(|cell| cell.trim_start_matches('~') == digits);
            demand(
                there,
                format!("{name}: {column} {number} is not in {:?}", row.text),
            );
        }
    }
}

/// The comparison would notice: rows were found in the text and in the page.
#[test]
fn rows_are_found_in_every_output() {
    let analysis = crate::sample::analysis("a.pcap", 3);
    let rows = rows(&analysis);
    assert!(
        rows.len() > 3
            && rows
                .iter()
                .all(|row| row.text.len() > 3 && row.page.len() > 3)
    );
    let mut failures = Failures::new();
    check(&analysis, &mut failures);
    assert_eq!(failures, Failures::new());
}
