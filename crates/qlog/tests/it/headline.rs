//! The sentences of reports that are given.

use inorder_metrics::{Config, Metrics};
use inorder_qlog::{Arrivals, Document, JoinedBy, Report, Resent, Threshold};

/// An end that sent 200 packets of 1,000 bytes.
fn end(vantage: &str) -> Report {
    let mut end = Report {
        name: "0102".to_owned(),
        vantage: vantage.to_owned(),
        ..Report::default()
    };
    end.traffic.sent = 200;
    end.traffic.sent_bytes = 200_000;
    end.arrivals.missing = Some(0);
    end
}

/// Arrivals of these numbers, one each millisecond.
fn arrivals(numbers: &[u64]) -> Arrivals {
    let mut metrics = Metrics::new(Config::default());
    for (ms, &number) in (0..).zip(numbers) {
        metrics.update(number, ms * 1_000_000, 1_000);
    }
    Arrivals {
        order: metrics.finish().order,
        missing: Some(0),
        ..Arrivals::default()
    }
}

fn said(connections: Vec<Report>) -> String {
    let document = Document {
        connections,
        ..Document::default()
    };
    document.headline().unwrap()
}

#[test]
fn without_a_connection_there_is_nothing_to_say() {
    assert_eq!(Document::default().headline(), None);
}

#[test]
fn without_trouble_it_says_so() {
    let mut client = end("client");
    client.arrivals = arrivals(&[1, 2, 3]);
    assert_eq!(
        said(vec![end("server"), client]),
        "No problem at 2 ends: none of 400 packets sent was declared lost, and none of 3 received was late or missing."
    );
}

#[test]
fn without_packets_no_problem_is_no_result() {
    assert_eq!(
        said(vec![end("client")]),
        "No problem at 1 end: none of 200 packets sent was declared lost."
    );
    let mut client = end("client");
    client.traffic.sent = 0;
    assert_eq!(
        said(vec![client]),
        "Nothing is known of 1 end: the logs have no packet that was sent, and none received that carries data."
    );
}

#[test]
fn what_was_taken_for_lost_comes_with_its_cost_and_with_what_would_have_avoided_it() {
    let mut server = end("server");
    server.declared.lost = 4;
    server.declared.delivered = Some(3);
    server.declared.joined_by = Some(JoinedBy::Identifier);
    server.reduced.reductions = 2;
    server.reduced.needless = Some(1);
    server.reduced.cost_bytes = Some(50_000.0);
    server.sufficient.all.packets = Some(Threshold {
        packets: 6,
        at_most: false,
    });
    server.sufficient.all.rtts = Some(1.533);
    server.sufficient.known = 3;
    let mut client = end("client");
    client.arrivals = arrivals(&[1, 3, 4, 5, 6, 2, 7]);
    assert_eq!(
        said(vec![server, client]),
        "The server of 0102 declared 4 of 200 packets lost (2.0 %), although 3 of them were delivered: these or their \
         acknowledgements were late, not lost. It reduced its congestion window twice, once without need, which cost an \
         estimated 20.0 % of what could have been sent. With a packet threshold of 6 and a time threshold of 1.54 round trips none of \
         the 3 delivered ones would have been declared lost (RFC 9002 section 6.1 recommends 3 packets and 9/8 of a round trip). At the \
         client of 0102, 1 of 7 packets (14.3 %) arrived late, by up to 4.00 ms and overtaken by up to 4 packets."
    );
}

/// A server that declared four packets lost, all of which were delivered.
fn mistaken(packets: Threshold, rtts: Option<f64>, known: u64) -> String {
    let mut server = end("server");
    server.declared.lost = 4;
    server.declared.delivered = Some(4);
    server.sufficient.all.packets = Some(packets);
    server.sufficient.all.rtts = rtts;
    server.sufficient.known = known;
    let said = said(vec![server]);
    let begin = "The server of 0102 declared 4 of 200 packets lost (2.0 %), although all of them were delivered: they or \
                 their acknowledgements were late, not lost. ";
    said.strip_prefix(begin).unwrap().to_owned()
}

#[test]
fn a_packet_threshold_alone_promises_nothing() {
    let bound = Threshold {
        packets: 10,
        at_most: true,
    };
    assert_eq!(
        mistaken(bound, None, 0),
        "By packet numbers alone, a threshold of 10 or less would have declared none of the delivered ones lost; which time \
         threshold is needed as well, the logs do not show (RFC 9002 section 6.1 recommends 3 packets and 9/8 of a round trip)."
    );
    let exact = Threshold {
        packets: 10,
        at_most: false,
    };
    // Of the fourth nothing is known but that it arrived.
    assert_eq!(
        mistaken(exact, Some(1.5), 3),
        "With a packet threshold of 10 and a time threshold of 1.50 round trips none of the 3 whose acknowledgement the log \
         shows would have been declared lost (RFC 9002 section 6.1 recommends 3 packets and 9/8 of a round trip)."
    );
}

/// Nobody is told to go below what RFC 9002 section 6.1 recommends.
#[test]
fn what_is_recommended_is_the_least_that_is_named() {
    let exact = |packets| Threshold {
        packets,
        at_most: false,
    };
    let rest = "none of these would have been declared lost (RFC 9002 section 6.1 recommends 3 packets and 9/8 of a round \
                trip).";
    assert_eq!(
        mistaken(exact(4), Some(1.01), 4),
        format!("With a packet threshold of 4 and the recommended time threshold {rest}")
    );
    assert_eq!(
        mistaken(exact(2), Some(1.5), 4),
        format!(
            "With a time threshold of 1.50 round trips and the recommended packet threshold {rest}"
        )
    );
    assert_eq!(
        mistaken(exact(2), Some(1.1), 4),
        format!("With the recommended thresholds {rest}")
    );
    assert_eq!(
        mistaken(exact(2), None, 0),
        "Not the packet threshold declared the delivered ones lost but the time threshold; which one is needed, the logs do not show \
         (RFC 9002 section 6.1 recommends 3 packets and 9/8 of a round trip)."
    );
}

#[test]
fn one_log_shows_the_least_that_was_delivered() {
    let mut server = end("server");
    server.declared.lost = 4;
    server.declared.delivered = Some(1);
    server.reduced.reductions = 3;
    server.reduced.needless = Some(1);
    assert_eq!(
        said(vec![server]),
        "The server of 0102 declared 4 of 200 packets lost (2.0 %), although at least 1 of them was delivered: it or its \
         acknowledgement was late, not lost. It reduced its congestion window 3 times, at least once without need."
    );
}

#[test]
fn one_packet_is_spoken_of_as_one() {
    let mut server = end("server");
    server.declared.lost = 1;
    server.declared.delivered = Some(1);
    server.sufficient.all.packets = Some(Threshold {
        packets: 9,
        at_most: false,
    });
    server.sufficient.all.rtts = Some(1.2);
    server.sufficient.known = 1;
    let mut client = end("client");
    client.declared = server.declared.clone();
    client.declared.delivered = Some(0);
    assert_eq!(
        said(vec![client, server]),
        "The server of 0102 declared 1 of 200 packets lost (0.50 %), although it was delivered: it or its acknowledgement was \
         late, not lost. With a packet threshold of 9 and a time threshold of 1.20 round trips this one would not have been \
         declared lost (RFC 9002 section 6.1 recommends 3 packets and 9/8 of a round trip). Besides, 1 other end declared 1 \
         packet lost."
    );
}

/// A receiver alone does not know whether a number was lost or never used: that is no reason to say that there is no problem.
#[test]
fn a_receiver_names_the_numbers_that_are_missing() {
    let mut client = end("client");
    client.arrivals = arrivals(&[1, 2, 4, 6]);
    client.arrivals.missing = None;
    client.arrivals.missing_at_most = 2;
    assert_eq!(
        said(vec![client.clone()]),
        "At the client of 0102, 2 numbers are missing: they were lost, or the sender skipped them on purpose (RFC 9000 section \
         21.4), which only its log tells."
    );
    // Beside a loss that was declared they are left out.
    let mut busy = client.clone();
    busy.declared.lost = 1;
    let declared = "The client of 0102 declared 1 of 200 packets lost (0.50 %); whether it was delivered is only known with the log \
                    of the other end.";
    assert_eq!(said(vec![busy]), declared);
    client.arrivals.missing = Some(2);
    assert_eq!(
        said(vec![client]),
        "At the client of 0102, 2 packets never arrived."
    );
}

#[test]
fn only_both_logs_show_that_no_late_packet_was_taken_for_lost() {
    let lost = |joined_by, delivered| {
        let mut server = end("server");
        server.declared.lost = 5;
        server.declared.delivered = delivered;
        server.declared.joined_by = joined_by;
        said(vec![server])
    };
    let begin = "The server of 0102 declared 5 of 200 packets lost (2.5 %)";
    assert_eq!(
        lost(Some(JoinedBy::Identifier), Some(0)),
        format!("{begin}, and none of them was delivered: no late packet was taken for lost.")
    );
    assert_eq!(
        lost(None, Some(0)),
        format!(
            "{begin}, and no acknowledgement came for any of them: as far as this log shows, no late packet was taken for lost."
        )
    );
    assert_eq!(
        lost(None, None),
        format!(
            "{begin}; whether any of them was delivered is only known with the log of the other end."
        )
    );
}

#[test]
fn what_came_too_late_to_count_was_not_lost_either() {
    let mut server = end("server");
    server.declared.lost = 5;
    server.declared.delivered = Some(0);
    server.declared.dropped_there = Some(2);
    server.declared.joined_by = Some(JoinedBy::Identifier);
    assert_eq!(
        said(vec![server]),
        "The server of 0102 declared 5 of 200 packets lost (2.5 %); 2 arrived so late that the other end dropped them as \
         duplicates."
    );
}

#[test]
fn the_end_that_took_most_for_lost_without_need_comes_first_the_others_in_sums() {
    let lost = |vantage, lost, delivered| {
        let mut end = end(vantage);
        end.declared.lost = lost;
        end.declared.delivered = Some(delivered);
        end
    };
    let all = vec![lost("a", 90, 0), lost("b", 2, 2), lost("", 8, 1)];
    assert_eq!(
        said(all),
        "The b of 0102 declared 2 of 200 packets lost (1.0 %), although all of them were delivered: they or their \
         acknowledgements were late, not lost. Besides, 2 other ends declared 98 packets lost, 1 of which was delivered."
    );
}

#[test]
fn a_title_that_begins_with_the_end_is_its_name() {
    let mut client = end("client");
    client.name = "client 0a0b".to_owned();
    client.declared.lost = 1;
    client.declared.delivered = Some(0);
    client.declared.joined_by = Some(JoinedBy::OnlyTwo);
    client.reduced.reductions = 1;
    client.reduced.needless = Some(0);
    assert_eq!(
        said(vec![client]),
        "The client 0a0b declared 1 of 200 packets lost (0.50 %), and it was not delivered: no late packet was \
         taken for lost. It reduced its congestion window once, for a packet that was not delivered."
    );
}

#[test]
fn data_sent_again_without_a_loss_is_told() {
    let mut client = end("client");
    client.resent = Some(Resent {
        packets: 80,
        bytes: 90_900,
        spurious_packets: Some(80),
        spurious_bytes: Some(90_900),
    });
    assert_eq!(
        said(vec![client]),
        "Without a loss, the client of 0102 sent data of 80 packets again that had been delivered."
    );
}
