//! The line of a capture among several: all of it is about the flow of its first sentence.

use inorder_analysis::table::{self, Style};
use inorder_analysis::{Analysis, Line};
use inorder_detect::{Confidence, FlowReport};
use inorder_limits::{Limit, Limits, Share};
use inorder_report::csv;

use crate::sample;

/// Held by one limit for `percent` of its life, by the application for the rest.
fn held(flow: &mut FlowReport, limit: Limit, percent: i64) {
    let share = |limit: Limit, percent: i64| Share {
        limits: limit.into(),
        ns: percent * 100_000_000,
        confidence: Confidence::Likely,
    };
    flow.limits = Limits::default();
    flow.limits.begun_ns = sample::START_NS;
    flow.limits.ended_ns = sample::START_NS + 10_000_000_000;
    flow.limits.shares = vec![
        share(limit, percent),
        share(Limit::Application, 100 - percent),
    ];
}

fn capture(flows: [FlowReport; 2]) -> Analysis {
    Analysis {
        file: "a.pcap".to_owned(),
        flows: flows.into(),
        ..Analysis::default()
    }
}

/// The values of the columns of the line of `analysis`.
fn cells(analysis: &Analysis, columns: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    csv::write(&mut out, Line::COLUMNS, [&Line::of(analysis)]).unwrap();
    let text = String::from_utf8(out).unwrap();
    let (head, row) = text.trim_end().split_once('\n').unwrap();
    let names: Vec<&str> = head.split(',').collect();
    let values: Vec<&str> = row.split(',').collect();
    let value = |column: &&str| {
        let at = names.iter().position(|name| name == column).unwrap();
        values[at].to_owned()
    };
    columns.iter().map(value).collect()
}

#[test]
fn the_limit_and_the_goodput_are_those_of_the_flow_with_the_worst_trouble_not_of_the_largest() {
    let mut large = sample::clean(1);
    held(&mut large, Limit::Application, 90);
    let mut lossy = sample::clean(2);
    lossy.originals.bytes /= 4;
    lossy.originals.lost = 64;
    lossy.retransmissions.total = 64;
    held(&mut lossy, Limit::WindowNeeded, 80);
    assert!(large.goodput_bps() > lossy.goodput_bps());
    let goodput = lossy.goodput_bps().unwrap().to_string();
    let analysis = capture([large, lossy]);
    assert_eq!(
        cells(&analysis, &["trouble", "limit", "goodput_bps"]),
        ["10.0 % lost", "window after a loss 80 %", &goodput]
    );
}

#[test]
fn a_window_that_held_a_flow_back_is_a_trouble_of_its_own() {
    let mut slow = sample::clean(1);
    held(&mut slow, Limit::ReceiverWindow, 69);
    assert_eq!(
        cells(&capture([slow, sample::clean(2)]), &["trouble", "limit"]),
        ["held back", "receiver's window 69 %"]
    );
}

#[test]
fn the_worst_captures_are_listed_with_their_trouble() {
    let mut lossy = sample::clean(1);
    lossy.originals.lost = 64;
    lossy.retransmissions.total = 64;
    held(&mut lossy, Limit::Application, 99);
    let captures = vec![capture([lossy, sample::clean(2)]); 4];
    let mut out = Vec::new();
    table::write(&mut out, &captures, &Style::default()).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("1. a.pcap (10.0 % lost): "), "{text}");
}
