//! The text output.

mod sample;

use inorder_analysis::table::{self, Style};
use inorder_analysis::{Analysis, verdict};
use inorder_detect::{Cause, CauseCount};

fn text(analysis: Analysis, style: &Style) -> String {
    let mut out = Vec::new();
    table::write(&mut out, &[analysis], style).unwrap();
    String::from_utf8(out).unwrap()
}

/// A file with one flow, changed by `change`.
fn with(change: impl FnOnce(&mut inorder_detect::FlowReport)) -> Analysis {
    let mut flow = sample::clean(1);
    change(&mut flow);
    Analysis {
        flows: vec![flow, sample::clean(2)],
        ..Analysis::default()
    }
}

#[test]
fn the_verdict_describes_what_happened() {
    assert_eq!(verdict(&with(|_| ())), "None of 2 flows had late packets.");

    let spurious = with(|flow| {
        flow.reordering.reordered = 64;
        flow.reordering.extents = sample::distribution(&[3, 31]);
        flow.reordering.late_ns = sample::distribution(&[12_400_000]);
        flow.retransmissions.total = 820;
        flow.retransmissions.spurious = 812;
        flow.retransmissions.needed = 8;
        flow.recoveries.total = 9;
        flow.recoveries.spurious = 9;
        let mut late = CauseCount::new(Cause::Reordering);
        late.recoveries = 8;
        let mut jump = CauseCount::new(Cause::DelayJump);
        jump.recoveries = 1;
        flow.recoveries.by_cause = vec![late, jump];
        flow.losses = 8;
        flow.avoidance.dupthresh = Some(32);
        flow.avoidance.window_ns = Some(12_400_000);
    });
    assert_eq!(
        verdict(&spurious),
        "1 of 2 flows had packets late by up to 12.4 ms (extent 31): 64 of 1,280 packets, 5.0 %. \
         812 of 820 retransmissions were spurious and all 9 reductions of the congestion window were \
         unnecessary (8 by late packets, 1 by jumps of the delay). 8 packets were lost. A duplicate-ACK \
         threshold of 32 or waiting 12.4 ms before retransmitting would have been enough for 95 % of the \
         packets that are certainly late."
    );

    let lossy = with(|flow| {
        flow.retransmissions.total = 3;
        flow.retransmissions.needed = 3;
        flow.losses = 3;
    });
    assert_eq!(
        verdict(&lossy),
        "None of 2 flows had late packets. All 3 retransmissions were needed. \
         3 packets were lost."
    );

    let blind = with(|flow| {
        flow.refused = 2;
        flow.artefacts.duplicated_frames = 3;
        flow.blind.sack_options_cut = true;
    });
    assert_eq!(
        verdict(&blind),
        "None of 2 flows had late packets. 2 packets arrived, but the receiver discarded data that was \
         missing (timestamp too old, or outside the window). 3 frames were captured twice and counted \
         once. The capture does not show everything: the snap length cuts off SACK options in 1 flow; \
         conclusions that depend on it are marked unclear."
    );

    let doubtful = with(|flow| {
        flow.reordering.ambiguous = 1;
        flow.retransmissions.total = 1;
        flow.retransmissions.ambiguous = 1;
    });
    assert_eq!(
        verdict(&doubtful),
        "None of 2 flows had late packets. None of 1 retransmission was provably spurious. \
         No packet was certainly lost. 1 more event is ambiguous."
    );
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
    assert!(
        text.contains("(28 flows not shown; --top N shows more)"),
        "{text}"
    );
}

#[test]
fn every_fact_of_a_busy_flow_is_printed() {
    let text = text(sample::analysis("a.pcap", 1), &Style::default());
    for fact in [
        "receiver (inferred from: handshake)",
        "duplicate-ACK threshold of 32",
        "14 of 6,000 ACKs overtaken, 3 missing",
        "2 frames captured twice",
        "if sorted in blocks of",
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
fn lines_fit_a_narrow_terminal() {
    let style = Style {
        width: Some(100),
        ..Style::default()
    };
    let text = text(sample::analysis("a.pcap", 3), &style);
    let long: Vec<&str> = text.lines().filter(|l| l.chars().count() > 100).collect();
    assert!(long.is_empty(), "{long:#?}");
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
