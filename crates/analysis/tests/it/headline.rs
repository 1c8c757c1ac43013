//! The headline: the worst trouble first, nothing that the counts do not support, every doubt.

use inorder_analysis::{Analysis, StreamReport, headline};
use inorder_detect::{Cause, FlowReport, Limit, NotSeen};
use inorder_wire::{Endpoint, Service};

use crate::sample::{self, recovered};
use crate::words::says;

/// A file with a flow of 640 packets that is changed by `change`, and one without trouble.
fn with(change: impl FnOnce(&mut FlowReport)) -> Analysis {
    let mut flow = sample::clean(1);
    change(&mut flow);
    Analysis {
        flows: vec![flow, sample::clean(2)],
        ..Analysis::default()
    }
}

fn said(analysis: &Analysis) -> String {
    headline(analysis).to_string()
}

fn late(flow: &mut FlowReport, packets: u64) {
    flow.reordering.reordered = packets;
    flow.reordering.extents = sample::distribution(&[3, 31]);
    flow.reordering.late_ns = sample::distribution(&[12_400_000]);
}

#[test]
fn without_trouble_it_says_so_with_the_goodput() {
    assert_eq!(
        said(&with(|_| ())),
        "No data packet was lost, late or sent again in 2 TCP flows. The largest, \
         10.1.0.2:2->192.0.2.17:5001, moved 927 kB at 8.24 Mbit/s."
    );
}

#[test]
fn reordering_that_misled_the_sender_leads() {
    let analysis = with(|flow| {
        late(flow, 64);
        recovered(flow, Cause::Reordering, 8, 0);
        recovered(flow, Cause::Loss, 1, 0);
        flow.retransmissions.spurious = 8;
        flow.originals.lost = 1;
    });
    assert_eq!(
        said(&analysis),
        "10.1.0.2:1->192.0.2.17:5001 moved 927 kB at 8.24 Mbit/s: 64 of the 640 packets that arrived (10.0 %) were late, \
         by up to 12.4 ms, and the sender took some of them for lost in 8 of 9 reductions of its window; 8 of 9 \
         retransmissions were unnecessary. 1 packet was lost. The other TCP flow had no trouble."
    );
}

#[test]
fn late_packets_of_another_flow_are_told_once() {
    let mut analysis = with(|flow| {
        recovered(flow, Cause::Loss, 1, 0);
        flow.originals.lost = 1;
    });
    late(&mut analysis.flows[1], 3);
    let said = said(&analysis);
    assert!(
        said.ends_with("Reordering is not the problem: the other flow had 3 late packets, which started no recovery."),
        "{said}"
    );
}

#[test]
fn what_nothing_acknowledged_was_sent_and_not_moved() {
    let said = said(&with(|flow| {
        flow.vantage.vantage = inorder_detect::Vantage::Sender;
        flow.originals.undecided = flow.originals.packets;
        recovered(flow, Cause::Loss, 1, 0);
        flow.originals.lost = 1;
    }));
    says(
        &said,
        "sent 927 kB, not all of which had been acknowledged at the end",
    );
}

#[test]
fn a_probe_in_a_small_flow_does_not_come_before_the_largest_flow() {
    let mut analysis = with(|flow| {
        recovered(flow, Cause::TailProbe, 1, 0);
        flow.retransmissions.spurious = 1;
    });
    let mut lead = |bytes: u64| {
        analysis.flows[0].originals.bytes = bytes;
        said(&analysis)
    };
    says(lead(5_000), "10.1.0.2:2->192.0.2.17:5001 moved 927 kB");
    says(
        lead(5_000),
        "esides, 1 of 2 TCP flows had 1 spurious retransmission",
    );
    says(lead(9_000_000), "10.1.0.2:1->192.0.2.17:5001 moved 9.00 MB");
}

#[test]
fn late_packets_before_the_capture_point_are_seen_though_the_end_of_the_path_is_not() {
    let said = said(&with(|flow| {
        let mut upstream = sample::clean(1);
        late(&mut upstream, 1);
        flow.upstream = Some(Box::new(upstream.reordering));
    }));
    says(
        &said,
        "eordering is not the problem: 1 packet was late before the capture point and started no recovery",
    );
}

#[test]
fn what_nothing_explains_is_counted_apart_from_what_probes_repeat() {
    let said = said(&with(|flow| {
        recovered(flow, Cause::Unknown, 7, 0);
        recovered(flow, Cause::TailProbe, 2, 0);
        flow.retransmissions.spurious = 9;
    }));
    let again = "it sent 7 packets again although they had arrived, in 7 recovery phases, and the capture does not show why";
    assert!(said.contains(again), "{said}");
    assert!(!said.contains("9 of 9"), "{said}");
}

#[test]
fn a_closed_window_is_not_an_idle_application() {
    let analysis = with(|flow| {
        flow.originals.bytes += 1;
        flow.cost.limit = Limit::Receiver;
        flow.cost.closed_ns = 700_000_000;
    });
    let said = said(&analysis);
    says(&said, "The receiver's window was closed for 700 ms of ");
}

#[test]
fn a_packet_that_is_missing_at_the_end_may_have_been_lost() {
    let said = said(&with(|flow| flow.originals.unfilled = 2));
    assert!(
        said.starts_with(
            "No problem is visible in 2 TCP flows: no data packet is known to have been lost"
        ),
        "{said}"
    );
    says(
        &said,
        "2 packets were still missing although later ones had arrived: lost, late or not captured",
    );
}

#[test]
fn a_capture_without_times_is_doubted() {
    let analysis = Analysis {
        frames: 90,
        ..with(|_| ())
    };
    assert!(said(&analysis).contains("all frames have the same time"));
}

#[test]
fn loss_leads_where_it_is_graver_and_reordering_is_acquitted() {
    let analysis = with(|flow| {
        late(flow, 2);
        recovered(flow, Cause::QueueLoss, 5, 2);
        flow.originals.lost = 12;
    });
    assert_eq!(
        said(&analysis),
        "10.1.0.2:1->192.0.2.17:5001 moved 927 kB at 8.24 Mbit/s: 12 of 640 packets (1.9 %) were lost at a full queue \
         (the round-trip time was near its longest); the sender went into recovery 5 times, twice after a time-out. \
         Reordering is not the problem: 2 of the 640 packets that arrived (0.31 %) were late and started no recovery. The other TCP flow had no \
         trouble."
    );
}

#[test]
fn reordering_is_neither_accused_nor_acquitted_where_it_cannot_be_seen() {
    let analysis = with(|flow| {
        recovered(flow, Cause::Unknown, 1, 1);
        flow.retransmissions.ambiguous = 1;
        flow.blind = flow.blind.with(NotSeen::OneWay);
        flow.rough = true;
    });
    let text = said(&analysis);
    assert!(text.contains("the capture does not show why."), "{text}");
    says(
        &text,
        "Whether packets of this flow arrived out of order is unknown. ",
    );
    assert!(
        text.ends_with(
            "Doubts: the receiver's packets are missing in 1 of 2 TCP flows; 1 retransmission could not be decided."
        ),
        "{text}"
    );
}

#[test]
fn flows_without_sack_are_counted_in_a_sentence() {
    let text = said(&with(|flow| flow.rough = true));
    let expected = "counts are approximate: 1 of 2 TCP flows has no SACK";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn refusals_copies_cuts_and_doubts_are_named() {
    let analysis = with(|flow| {
        flow.originals.refused = 2;
        flow.artefacts.duplicated_frames = 3;
        flow.artefacts.missing_segments = 1;
        flow.blind = flow.blind.with(NotSeen::SackOptions);
        flow.reordering.ambiguous = 1;
    });
    let text = said(&analysis);
    for part in [
        "2 of the 642 packets that arrived (0.31 %) were late; the receiver discarded them, since their timestamp was too old",
        "the snap length cuts off SACK options in 1 of 2 TCP flows",
        "3 frames were captured twice and counted once",
        "the capture lacks 1 acknowledged segment",
        "1 event could not be decided",
    ] {
        assert!(text.contains(part), "{part:?} missing in {text}");
    }
}

/// Late packets of a call lead although every TCP flow is in order, and although a tiny flow timed out.
#[test]
fn numbered_streams_are_weighed_like_flows() {
    let mut analysis = with(|flow| {
        flow.originals.packets = 4;
        recovered(flow, Cause::Loss, 1, 1);
        flow.originals.lost = 1;
    });
    analysis.streams = vec![stream(26, 3), stream(0, 0)];
    let text = said(&analysis);
    assert!(
        text.starts_with(
            "rtp 10.1.0.9:4000->192.0.2.18:4002 id 0xbeef carried 742 packets in 5.00 s: 26 of the 742 packets that \
             arrived (3.5 %) were late, by up to 7.00 ms, 3 of 745 packets (0.40 %) never arrived. Besides, 1 of 2 TCP flows had \
             1 lost packet, 1 time-out."
        ),
        "{text}"
    );
}

#[test]
fn the_worst_flow_is_the_one_with_most_affected_packets_and_the_greatest_share_of_them() {
    // The same number of losses: the smaller flow is worse off. The same share: the larger one.
    let flow = |port, packets, losses| {
        let mut flow = sample::clean(port);
        flow.originals.packets = packets;
        flow.originals.lost = losses;
        flow
    };
    let first = |flows: Vec<FlowReport>| {
        let text = said(&Analysis {
            flows,
            ..Analysis::default()
        });
        let port = text.split("->").next().unwrap_or_default().to_owned();
        port.rsplit(':').next().unwrap_or_default().to_owned()
    };
    assert_eq!(first(vec![flow(1, 1_000_000, 20), flow(2, 2_000, 20)]), "2");
    assert_eq!(
        first(vec![flow(1, 10_000, 100), flow(2, 100_000, 1_000)]),
        "2"
    );
    assert_eq!(first(vec![flow(1, 2, 1), flow(2, 20_000, 400)]), "2");
}

fn stream(reordered: u64, missing: u64) -> StreamReport {
    let mut stream = sample::stream(Service::Rtp, reordered);
    stream.key.src = Endpoint::v4(0x0a01_0009, stream.key.src.port);
    stream.key.dst = stream.key.dst.with_port(4_002);
    stream.order.received = 742;
    stream.order.late_ns = match reordered {
        0 => sample::distribution(&[]),
        _ => sample::distribution(&[1_000_000, 7_000_000]),
    };
    stream.skipped.missing = missing;
    stream.twice.duplicates = 0;
    stream
}

#[test]
fn quic_is_named_and_what_would_help() {
    let quic = inorder_pipeline::QuicCounts {
        connections: 2,
        datagrams: 340,
        versions: vec![(Some(1), 1), (Some(0x6b33_43cf), 1)],
        is_least: false,
    };
    let alone = Analysis {
        frames: 341,
        skipped: vec![("of QUIC".to_owned(), 340), ("not IP".to_owned(), 1)],
        quic: quic.clone(),
        ..Analysis::default()
    };
    let expected = "2 QUIC connections (version 1, version 2, 340 packets): their packet numbers are encrypted, so neither \
                    order nor loss is known; `inorder qlog` reads the logs of their ends, and `inorder diff` compares \
                    captures of both ends.";
    assert_eq!(said(&alone), expected);
    // Beside flows it comes last.
    let beside = Analysis {
        quic,
        ..with(|_| ())
    };
    assert!(
        said(&beside).starts_with("No data packet was lost, late or sent again in 2 TCP flows")
    );
    assert!(said(&beside).ends_with(expected));
}

#[test]
fn packets_of_tcp_without_data_are_counted() {
    let of = |packets: u64| {
        let mut analysis = Analysis::default();
        (analysis.frames, analysis.tcp) = (packets, packets);
        headline(&analysis).to_string()
    };
    assert_eq!(
        of(8),
        "No TCP flow with data and no numbered stream among 8 frames (8 TCP without data)."
    );
    assert_eq!(
        of(12),
        "No TCP flow with data and no numbered stream among 12 frames. 12 TCP packets carry no data: was the direction of the \
         data captured?"
    );
}
