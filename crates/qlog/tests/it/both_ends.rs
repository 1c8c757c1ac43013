//! What numbers, times and frames of two logs show: numbers skipped on purpose, packets dropped because they came late,
//! reductions, reasons that are always the same, connections without a common name, data sent again without a loss.

use std::ops::Range;

use inorder_qlog::{Connection, JoinedBy, Report, Threshold, Trigger, join, read};

/// A log that is written event by event; times in milliseconds.
struct Log(String);

/// The frames of a packet with new stream data, of one that acknowledges, and of one without either.
fn stream(offset: u64) -> String {
    format!(r#"{{"frame_type":"stream","stream_id":0,"offset":{offset},"length":1000}}"#)
}

fn ack(ranges: &str) -> String {
    format!(r#"{{"frame_type":"ack","acked_ranges":{ranges}}}"#)
}

impl Log {
    /// A log with frames, whose connection has a name.
    fn new(vantage: &str) -> Log {
        Log(format!(
            r#"{{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{{"vantage_point":{{"type":"{vantage}"}},"common_fields":{{"group_id":"ab"}}}}}}"#
        ))
    }

    /// A log without frames and names, as quinn writes it.
    fn bare() -> Log {
        let head = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","title":"t","trace":{"vantage_point":{"type":"unknown"},"title":"t"}}"#;
        Log(head.to_owned())
    }

    fn event(&mut self, ms: f64, name: &str, data: &str) {
        self.0 += &format!("\n{{\"time\":{ms},\"name\":\"{name}\",\"data\":{data}}}");
    }

    fn packet(&mut self, ms: f64, kind: &str, number: u64, more: &str) {
        let data = format!(
            r#"{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":1200}}{more}}}"#
        );
        self.event(ms, &format!("transport:packet_{kind}"), &data);
    }

    fn sent(&mut self, ms: f64, number: u64, frame: &str) {
        self.packet(ms, "sent", number, &format!(r#","frames":[{frame}]"#));
    }

    /// Packets with stream data of these numbers, one a millisecond.
    fn sends(&mut self, numbers: Range<u64>) {
        for number in numbers {
            self.sent(number as f64, number, &stream(1000 * number));
        }
    }

    fn acked(&mut self, ms: f64, number: u64, ranges: &str) {
        let frames = format!(r#","frames":[{}]"#, ack(ranges));
        self.packet(ms, "received", number, &frames);
    }

    fn lost(&mut self, ms: f64, number: u64, bytes: u64) {
        let data = format!(
            r#"{{"header":{{"packet_type":"1RTT","packet_number":{number},"length":{bytes}}},"trigger":"reordering_threshold"}}"#
        );
        self.event(ms, "recovery:packet_lost", &data);
    }

    fn window(&mut self, ms: f64, bytes: u64) {
        let data = format!(
            r#"{{"congestion_window":{bytes},"smoothed_rtt":30.0,"latest_rtt":30.0,"min_rtt":30.0}}"#
        );
        self.event(ms, "recovery:metrics_updated", &data);
    }

    fn read(&self) -> Vec<Connection> {
        read(self.0.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
    }

    fn report(&self) -> Report {
        self.read()[0].report()
    }
}

fn reports(logs: &[&Log]) -> Vec<Report> {
    let mut connections: Vec<Connection> = logs.iter().flat_map(|log| log.read()).collect();
    join(&mut connections);
    connections.iter().map(Connection::report).collect()
}

/// Reductions of the window, and how many of them were needless.
fn reduced(report: &Report) -> (u64, Option<u64>) {
    (report.reduced.reductions, report.reduced.needless)
}

#[test]
fn numbers_that_the_sender_skipped_are_not_missing() {
    let (mut server, mut client) = (Log::new("server"), Log::new("client"));
    // 4 was never sent, 7 was lost.
    for number in [0, 1, 2, 3, 5, 6, 7, 8] {
        server.sent(number as f64, number, &stream(1000 * number));
        if number != 7 {
            client.packet(15.0 + number as f64, "received", number, "");
        }
    }
    let alone = client.report().arrivals;
    assert_eq!(
        (alone.missing, alone.missing_at_most, alone.skipped),
        (None, 2, None)
    );
    let both = &reports(&[&server, &client])[1].arrivals;
    assert_eq!(
        (both.missing, both.missing_at_most, both.skipped),
        (Some(1), 1, Some(1))
    );
}

#[test]
fn what_came_so_late_that_it_was_dropped_was_late() {
    let (mut server, mut client) = (Log::new("server"), Log::new("client"));
    server.sends(0..8);
    for number in [0, 1, 3, 4, 5, 6] {
        client.packet(15.0 + number as f64, "received", number, "");
    }
    let duplicate = r#","trigger":"duplicate""#;
    client.packet(60.0, "dropped", 2, duplicate);
    // This one had come before, and that one could not be read.
    client.packet(61.0, "dropped", 5, duplicate);
    client.packet(62.0, "dropped", 7, r#","trigger":"decryption_failure""#);
    server.lost(40.0, 2, 1_200);
    let found = reports(&[&server, &client]);
    let arrivals = &found[1].arrivals;
    assert_eq!(arrivals.order.reordered, 1);
    assert_eq!(arrivals.order.extents.max(), Some(4));
    assert_eq!((arrivals.missing, arrivals.duplicates), (Some(0), 1));
    // The end did not process it: its data had to be sent again.
    assert_eq!(found[1].traffic.received, 6);
    assert_eq!(
        (found[0].declared.delivered, found[0].declared.dropped_there),
        (Some(0), Some(1))
    );
    assert_eq!(found[0].losses[0].dropped, Some(true));
}

/// The network lost nothing: the window need not have been reduced, although the data had to be sent again.
#[test]
fn a_reduction_for_what_came_too_late_is_needless() {
    let (mut server, mut client) = (flight(), Log::new("client"));
    for number in (0..30).filter(|number| *number != 3) {
        client.packet(15.0 + number as f64, "received", number, "");
    }
    server.acked(40.0, 0, "[[0,2],[4,7]]");
    server.lost(40.1, 3, 1_200);
    server.window(40.2, 70_000);
    let both = reports(&[&server, &client]);
    assert_eq!(reduced(&both[0]), (1, Some(0)));
    client.packet(80.0, "dropped", 3, r#","trigger":"duplicate""#);
    let both = reports(&[&server, &client]);
    assert_eq!(reduced(&both[0]), (1, Some(1)));
}

/// Times in whole milliseconds, as ngtcp2 writes them: packets that arrive within one show no line, whichever end says so.
#[test]
fn whole_milliseconds_of_the_other_end_show_no_line_either() {
    let (mut server, mut client) = (Log::new("server"), Log::new("client"));
    server.window(0.0, 40_000);
    for flight in 0..40_u32 {
        let at = f64::from(flight) * 30.0;
        let first = u64::from(flight) * 30;
        for number in first..first + 30 {
            server.sent(at, number, &stream(1000 * number));
        }
        for number in first..first + 30 {
            client.packet(
                (at + 15.0 + (number - first) as f64 / 4.0).floor(),
                "received",
                number,
                "",
            );
        }
        let late = first + 5;
        if flight == 5 {
            server.acked(
                at + 30.0,
                u64::from(flight),
                &format!("[[0,{}],[{},{}]]", late - 1, late + 1, first + 29),
            );
            server.lost(at + 30.0, late, 1_200);
            server.window(at + 30.0, 20_000);
        } else {
            server.acked(
                at + 30.0,
                u64::from(flight),
                &format!("[[0,{}]]", first + 29),
            );
        }
    }
    let both = reports(&[&server, &client]);
    assert_eq!(both[0].reduced.needless, Some(1));
    assert_eq!(both[0].reduced.lost, None);
}

/// Thirty packets, and a window of 100,000 bytes.
fn flight() -> Log {
    let mut log = Log::new("server");
    log.sends(0..30);
    log.window(0.5, 100_000);
    log
}

#[test]
fn a_reduction_after_one_that_was_undone_counts() {
    let mut log = flight();
    log.acked(40.0, 0, "[[0,2],[4,7]]");
    log.lost(40.1, 3, 1_200);
    log.window(40.2, 70_000);
    log.acked(45.0, 1, "[[0,7]]");
    log.window(45.1, 100_000);
    log.acked(50.0, 2, "[[0,11],[13,17]]");
    log.lost(50.1, 12, 1_200);
    log.window(50.2, 70_000);
    let report = log.report();
    assert_eq!(reduced(&report), (2, Some(1)));
}

#[test]
fn packets_that_were_not_in_flight_reduce_nothing() {
    // By their frames.
    let mut log = Log::new("server");
    for number in 0..3 {
        log.sent(number as f64, number, &ack("[[0,0]]"));
    }
    log.sends(3..20);
    log.window(0.5, 100_000);
    log.acked(40.0, 0, "[[3,6]]");
    log.lost(40.1, 0, 1_200);
    log.acked(45.0, 1, "[[3,9],[13,19]]");
    log.lost(45.1, 10, 1_200);
    log.window(45.2, 70_000);
    log.acked(60.0, 2, "[[3,19]]");
    let report = log.report();
    assert_eq!(report.declared.lost, 2);
    // The acknowledgement that was lost makes the reduction no needed one.
    assert_eq!(reduced(&report), (1, Some(1)));

    // By the bytes in flight that quinn writes.
    let mut log = Log::bare();
    for number in 0..20 {
        log.packet(number as f64, "sent", number, "");
    }
    log.window(0.5, 100_000);
    log.packet(45.0, "received", 0, "");
    log.lost(45.0, 2, 0);
    log.lost(100.0, 10, 1_200);
    log.window(100.0, 70_000);
    assert_eq!(
        (log.report().declared.lost, log.report().reduced.reductions),
        (2, 1)
    );
}

/// Numbers of the losses with their reasons.
fn triggers(report: &Report) -> Vec<(u64, Trigger)> {
    let losses = report.losses.iter();
    losses.map(|loss| (loss.number, loss.trigger)).collect()
}

/// One packet a millisecond is sent and answered 30 ms later; what is lost is declared with the same word whatever the
/// reason was.
#[test]
fn a_word_that_is_always_the_same_says_nothing() {
    let (mut server, mut client) = (Log::bare(), Log::bare());
    client.event(
        0.0,
        "transport:packet_sent",
        r#"{"header":{"packet_type":"initial","packet_number":0}}"#,
    );
    server.event(
        0.0,
        "transport:packet_received",
        r#"{"header":{"packet_type":"initial","packet_number":0}}"#,
    );
    server.window(0.5, 100_000);
    for number in 0..20 {
        server.packet(1.0 + number as f64, "sent", number, "");
    }
    // 2, 9 and 18 are lost, and 16 comes behind 17. Each arrival is answered at once.
    let order = [0, 1, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 17, 16, 19];
    for (answer, number) in (0..).zip(order) {
        let at = 16.0 + answer as f64;
        client.packet(at, "received", number, "");
        client.packet(at, "sent", answer, "");
        server.packet(at + 15.0, "received", answer, "");
        if number == 5 {
            // Three later ones are acknowledged.
            server.lost(at + 15.0, 2, 1_200);
            // Packet 5 was sent at 6 ms.
            let data = format!(r#"{{"latest_rtt":{}}}"#, at + 15.0 - 6.0);
            server.event(at + 15.0, "recovery:metrics_updated", &data);
        }
    }
    // A timer.
    server.lost(43.75, 9, 1_200);
    // An arrival, but only of what says nothing of three later packets.
    server.packet(60.0, "received", 17, "");
    server.lost(60.0, 18, 1_200);
    let alone = server.report();
    assert_eq!(
        triggers(&alone),
        [
            (2, Trigger::PacketThreshold),
            (9, Trigger::TimeThreshold),
            (18, Trigger::Unknown)
        ]
    );
    let both = reports(&[&server, &client]);
    assert_eq!(triggers(&both[0])[2], (18, Trigger::Unknown));
    client.packet(46.0, "sent", 17, "");
    let both = reports(&[&server, &client]);
    assert_eq!(
        triggers(&both[0]),
        [
            (2, Trigger::PacketThreshold),
            (9, Trigger::TimeThreshold),
            (18, Trigger::TimeThreshold)
        ]
    );
    assert_eq!(
        (both[0].declared.by_packets, both[0].declared.by_time),
        (1, 2)
    );
}

/// Four connections that begin together; of two both logs are there, of one each only one end's.
#[test]
fn logs_without_a_common_name_are_joined_by_numbers_and_times() {
    // When connection `c` sends its packet `n`, and its delay.
    let sends =
        |c: u64, n: u64| 10.0 + (n * n * (c + 3) % 17) as f64 * 0.3 + (n * (c + 2) * 3) as f64;
    let takes = |c: u64, n: u64| 12.0 + ((n * 7 + c) % 5) as f64 * 0.7;
    let log = |c: u64, is_client: bool, clock: f64| {
        let mut log = Log::bare();
        let mut events = Vec::new();
        for n in 0..40 {
            // The client's packets, and the server's a little later.
            for from_client in [true, false] {
                let shift = if from_client { 0.0 } else { 40.0 };
                let (sent, takes) = (sends(c, n) + shift, takes(c, n + u64::from(from_client)));
                match from_client == is_client {
                    true => events.push((sent, "sent", n)),
                    false if n % 9 != 4 => events.push((sent + takes, "received", n)),
                    false => {}
                }
            }
        }
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        log.window(clock, 10_000);
        for (at, what, n) in events {
            log.packet(clock + at, what, n, "");
        }
        log
    };
    let logs = [
        log(0, false, 0.0),
        log(1, false, 0.0),
        log(1, true, 500.0),
        log(0, true, -70.0),
        log(2, false, 0.0),
        log(3, true, 9.0),
    ];
    let found = reports(&logs.iter().collect::<Vec<_>>());
    let by: Vec<_> = found
        .iter()
        .map(|report| report.declared.joined_by)
        .collect();
    let joined = Some(JoinedBy::NumbersAndTimes);
    assert_eq!(by, [joined, joined, joined, joined, None, None]);
    // What arrived at the right client: every packet but one in nine.
    assert_eq!(found[2].arrivals.missing, Some(4));
}

#[test]
fn the_only_two_logs_are_not_joined_if_they_contradict_each_other() {
    let (mut server, mut client) = (Log::bare(), Log::bare());
    client.packet(0.0, "sent", 0, "");
    server.packet(5.0, "received", 0, "");
    for number in 0..10 {
        server.packet(number as f64 + 6.0, "sent", number * 2, "");
        client.packet(number as f64 + 16.0, "received", number, "");
    }
    let found = reports(&[&server, &client]);
    assert_eq!(found[0].declared.joined_by, None);
}

#[test]
fn losses_name_the_end_that_declared_them_and_bounds_are_bounds() {
    let (mut server, mut client) = (Log::new("server"), Log::new("client"));
    server.sends(0..6);
    for (at, number) in (15..).zip([0, 2, 3, 4, 1, 5]) {
        client.packet(f64::from(at), "received", number, "");
    }
    server.acked(30.0, 0, "[[0,0],[2,4]]");
    server.lost(30.1, 1, 1_200);
    let found = reports(&[&server, &client]);
    let loss = &found[0].losses[0];
    assert_eq!((&*loss.vantage, &*loss.connection), ("server", "ab"));
    // No acknowledgement of it is known: by the order of arrival, three later ones had come.
    let bound = Threshold {
        packets: 4,
        at_most: true,
    };
    assert_eq!(loss.needed_packets, Some(bound));
    assert_eq!(found[0].sufficient.all.packets, Some(bound));
    server.acked(31.0, 1, "[[0,4]]");
    let found = reports(&[&server, &client]);
    let exact = Threshold {
        at_most: false,
        ..bound
    };
    assert_eq!(found[0].losses[0].needed_packets, Some(exact));
}

#[test]
fn data_that_was_sent_again_without_a_loss_is_counted() {
    let mut log = Log::new("server");
    log.sends(0..6);
    log.acked(40.0, 0, "[[0,1],[3,4]]");
    log.lost(40.1, 2, 1_200);
    // The retransmission of what was declared lost, and two probes: of what had come, and of what was lost.
    log.sent(41.0, 6, &stream(2000));
    log.sent(90.0, 7, &format!("{},{}", stream(4000), stream(6000)));
    log.sent(91.0, 8, &stream(5000));
    let again = log.report().resent.unwrap();
    assert_eq!((again.packets, again.bytes), (2, 2000));
    assert_eq!(
        (again.spurious_packets, again.spurious_bytes),
        (Some(1), Some(1000))
    );
    let mut bare = Log::bare();
    bare.packet(0.0, "sent", 0, "");
    assert_eq!(bare.report().resent, None);
}

/// The round trip grows while a packet is late: the threshold has to reach over each wait, not over the last one alone.
#[test]
fn the_time_threshold_covers_every_wait_for_an_acknowledgement() {
    let mut log = Log::new("server");
    let round_trip = |log: &mut Log, ms: f64, rtt_ms: f64| {
        let data = format!(r#"{{"smoothed_rtt":{rtt_ms},"latest_rtt":{rtt_ms}}}"#);
        log.event(ms, "recovery:metrics_updated", &data);
    };
    log.sends(0..10);
    round_trip(&mut log, 9.5, 20.0);
    log.acked(21.0, 0, "[[0,0],[2,3]]");
    log.lost(26.0, 1, 1_200);
    // Packet 1 was sent at 1 ms: the wait that ends here took 39 ms, and a round trip was 20.
    log.acked(40.0, 1, "[[0,0],[2,5]]");
    round_trip(&mut log, 40.0, 40.0);
    log.acked(45.0, 2, "[[0,6]]");
    let losses = log.report().losses;
    assert_eq!(losses[0].needed_rtts, Some(39.0 / 20.0));
}

/// Neither aioquic nor golang.org/x/net says why it declares a packet lost.
#[test]
fn without_a_reason_acknowledgements_tell_which_threshold_it_was() {
    let mut log = Log::new("server");
    let lost = |log: &mut Log, ms: f64, number: u64| {
        let data = format!(r#"{{"header":{{"packet_type":"1RTT","packet_number":{number}}}}}"#);
        log.event(ms, "recovery:packet_lost", &data);
    };
    log.sends(0..20);
    log.window(19.5, 100_000);
    log.acked(31.0, 0, "[[0,1],[3,5]]");
    // Three later, 29 ms of a round trip of 30.
    lost(&mut log, 31.1, 2);
    log.acked(37.0, 1, "[[0,1],[3,5],[7,7]]");
    // One later, 34 ms.
    lost(&mut log, 40.0, 6);
    log.acked(48.0, 2, "[[0,1],[3,5],[7,11]]");
    let report = log.report();
    assert_eq!(
        triggers(&report),
        [(2, Trigger::PacketThreshold), (6, Trigger::TimeThreshold)]
    );
    assert_eq!(
        (report.declared.by_packets, report.declared.by_time),
        (1, 1)
    );
}

/// quic-go writes a packet behind what it did for it: the loss stands before the acknowledgement that showed it.
#[test]
fn an_acknowledgement_behind_the_loss_does_not_refute_its_reason() {
    let mut log = Log::new("server");
    log.sends(0..20);
    let measured = |log: &mut Log, ms: f64, rtt_ms: f64| {
        let data = format!(r#"{{"smoothed_rtt":30.0,"latest_rtt":{rtt_ms}}}"#);
        log.event(ms, "recovery:metrics_updated", &data);
    };
    let acks = [
        (31.0, 1, "[[0,1]]"),
        (33.0, 4, "[[0,1],[3,4]]"),
        (36.0, 5, "[[0,1],[3,5]]"),
        (40.0, 7, "[[0,1],[3,7]]"),
    ];
    for (answer, (ms, highest, ranges)) in (0..).zip(acks) {
        measured(&mut log, ms, ms - f64::from(highest));
        if highest == 5 {
            log.lost(ms, 2, 1_200);
        }
        log.acked(ms + 0.1, answer, ranges);
    }
    let report = log.report();
    assert_eq!(triggers(&report), [(2, Trigger::PacketThreshold)]);
}

/// Many logs with one name: each end is joined with the first of the other side that has no partner yet.
#[test]
fn of_many_logs_with_one_name_each_is_in_one_pair() {
    let one = |vantage: &str, number: u64| {
        let mut log = Log::new(vantage);
        log.sent(0.0, number, &stream(0));
        log.read()
    };
    let clients = (0..3).flat_map(|number| one("client", number));
    let servers = (10..12).flat_map(|number| one("server", number));
    let mut all: Vec<Connection> = clients.chain(servers).collect();
    join(&mut all);
    let joined = all.iter().map(|c| c.report().declared.joined_by);
    let named = Some(JoinedBy::Identifier);
    assert_eq!(
        joined.collect::<Vec<_>>(),
        [named, named, None, named, named]
    );
}
