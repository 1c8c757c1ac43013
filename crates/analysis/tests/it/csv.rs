//! CSV: each row has as many cells as there are columns, even if names contain quotes or commas.

use inorder_analysis::Rows;

use crate::sample;

/// Splits RFC 4180 text, quotes respected.
fn parse(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (vec![], vec![], String::new(), false);
    for c in text.chars() {
        match c {
            '"' => {
                if !quoted && !cell.is_empty() {
                    cell.push('"'); // The second of a doubled quote.
                }
                quoted = !quoted;
            }
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c => cell.push(c),
        }
    }
    rows
}

#[test]
fn each_flow_is_one_row() {
    let analyses = [sample::analysis("odd, \"name\"\n.pcap", 2)];
    let mut out = Vec::new();
    Rows::named("flows")
        .unwrap()
        .write_csv(&mut out, &analyses)
        .unwrap();
    let rows = parse(&String::from_utf8(out).unwrap());
    assert_eq!(rows.len(), 1 + 4);
    assert!(
        rows.iter().all(|row| row.len() == rows[0].len()),
        "{rows:#?}"
    );
    assert_eq!(rows[1][0], "odd, \"name\"\n.pcap");
    let at = |name: &str| rows[0].iter().position(|c| c == name).unwrap();
    let flow = &analyses[0].flows[0];
    assert_eq!(rows[1][at("flow")], "10.1.0.2:43210->192.0.2.17:5001");
    assert_eq!(
        rows[1][at("spurious")],
        flow.retransmissions.spurious.to_string()
    );
    assert_eq!(rows[1][at("dupthresh")], "32");
    assert_eq!(rows[3][at("dupthresh")], "");
    assert_eq!(rows[1][at("time_reversals")], "0");
    assert_eq!(at("foreign_packets") + 1, rows[0].len());
}

#[test]
fn each_event_is_one_row() {
    let analyses = [sample::analysis("a.pcap", 2)];
    let mut out = Vec::new();
    Rows::named("events")
        .unwrap()
        .write_csv(&mut out, &analyses)
        .unwrap();
    let rows = parse(&String::from_utf8(out).unwrap());
    let events: usize = analyses[0]
        .flows
        .iter()
        .map(|f| f.records.events.len())
        .sum();
    assert_eq!(rows.len(), 1 + events);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let at = |name: &str| rows[0].iter().position(|c| c == name).unwrap();
    for row in &rows[1..] {
        let extent: Option<u64> = row[at("extent")].parse().ok();
        let linux: Option<u64> = row[at("linux_metric")].parse().ok();
        assert_eq!(linux, extent.map(|e| e + 1));
        assert_eq!(extent.is_none(), row[at("kind")] == "lost");
    }
}
