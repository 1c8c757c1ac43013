//! The text output.

use inorder_analysis::Analysis;
use inorder_analysis::table::{self, Style};

use crate::sample;
use crate::words::says;

fn text(analysis: Analysis, style: &Style) -> String {
    let mut out = Vec::new();
    table::write(&mut out, &[analysis], style).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn flows_with_problems_come_first_and_hidden_flows_are_counted() {
    let mut analysis = sample::analysis("a.pcap", 30);
    analysis.flows.rotate_left(2);
    let style = Style {
        top: 4,
        ..Style::default()
    };
    let text = text(analysis, &style);
    let rows: Vec<&str> = text
        .lines()
        .filter(|l| l.contains("->192.0.2.17:5001 "))
        .collect();
    assert!(rows[0].contains(":4321"), "{text}");
    assert!(rows[1].contains(":4321"), "{text}");
    says(&text, "(28 flows not shown; --top N shows more)");
}

#[test]
fn every_fact_of_a_busy_flow_is_printed() {
    let text = text(sample::analysis("a.pcap", 1), &Style::default());
    for fact in [
        "receiver (inferred from: handshake)",
        "sysctl -w net.ipv4.tcp_reordering=",
        "14 of 6,000 ACKs overtaken, 3 missing",
        "80 unnecessary reductions in 2 flows, 6 of them undone.",
        "about 31.0 % of the goodput",
        "2 frames captured twice",
        "sorting blocks of 64 packets at the receiver",
        "unknown from here",
        "other numbered streams",
        "against the other end",
        "1 flow matched with other-end.pcapng; 1 only here, 0 only there. Addresses differ of 1,",
        "Frames not used: 12 not IP, 3 fragment",
        "Warning: the last block is cut off",
    ] {
        assert!(text.contains(fact), "{fact:?} missing in\n{text}");
    }
}

#[test]
fn lines_fit_the_terminal() {
    for width in [60, 80, 100, 120] {
        let style = Style {
            width: Some(width),
            events: true,
            ..Style::default()
        };
        let text = text(sample::analysis("a.pcap", 3), &style);
        let long: Vec<&str> = text.lines().filter(|l| l.chars().count() > width).collect();
        assert!(long.is_empty(), "{width}: {long:#?}");
        assert!(text.contains("goodput"), "{width}: {text}");
    }
}

#[test]
fn attributes_are_optional_and_escape_sequences_in_file_names_are_removed() {
    let evil = sample::analysis("evil\x1b[31m.pcap", 0);
    assert!(!text(evil.clone(), &Style::default()).contains('\x1b'));
    let style = Style {
        colour: true,
        ..Style::default()
    };
    let coloured = text(evil, &style);
    assert!(coloured.contains("\x1b[1m") && !coloured.contains("\x1b[31m"));
}
