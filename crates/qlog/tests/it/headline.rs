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
fn what_was_taken_for_lost_comes_with_its_cost_and_with_what_would_have_avoided_it() {
    let mut server = end("server");
    server.declared.lost = 4;
    server.declared.delivered = Some(3);
    server.reduced.reductions = 2;
    server.reduced.needless = Some(1);
    server.reduced.cost_bytes = Some(50_000.0);
    server.sufficient.all.packets = Some(Threshold {
        packets: 6,
        at_most: false,
    });
    server.sufficient.all.rtts = Some(1.533);
    let mut client = end("client");
    client.arrivals = arrivals(&[1, 3, 4, 5, 6, 2, 7]);
    assert_eq!(
        said(vec![server, client]),
        "The server of 0102 declared 4 of 200 packets lost (2.0 %), although 3 of them were delivered: these or their \
         acknowledgements were late, not lost. It reduced its congestion window twice, once without need, which cost \
         20.0 % of what could have been sent. With a packet threshold of 6 and a time threshold of 1.54 round trips none of \
         these would have been declared lost (RFC 9002 section 6.1 recommends 3 packets and 9/8 of a round trip). At the \
         client of 0102, 1 of 7 packets (14.3 %) arrived late, by up to 4.00 ms and overtaken by up to 4 packets."
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
        "The client 0a0b declared 1 of 200 packets lost (0.50 %), and none of them was delivered: no late packet was \
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
