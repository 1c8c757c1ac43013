//! The shapes of logs that quinn and quiche write, with what these programs leave out.

use inorder_qlog::{Connection, JoinedBy, Threshold, Trigger, join, read};

/// quinn 0.11: no frames, no end, one trace for all connections, whose group follows the data of each event.
fn quinn(events: &[(u32, &str, &str, &str)]) -> String {
    let mut log = "\u{1e}{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"title\":\"t\",\"trace\":{\"vantage_point\":\
                   {\"type\":\"unknown\"},\"title\":\"t\",\"configuration\":{\"time_offset\":0.0}}}\n"
        .to_owned();
    for (ms, name, data, group) in events {
        log += &format!(
            "\u{1e}{{\"time\":{ms},\"name\":\"{name}\",\"data\":{data},\"group_id\":\"{group}\"}}\n"
        );
    }
    log
}

fn needed(packets: u64, at_most: bool) -> Threshold {
    Threshold { packets, at_most }
}

fn packet(kind: &str, number: u32) -> String {
    format!(r#"{{"header":{{"packet_type":"{kind}","packet_number":{number},"length":1200}}}}"#)
}

/// Two connections that the log has from their middle on: both sent the packets 3 to 5, so that they are not one whose group
/// changed.
#[test]
fn groups_that_send_the_same_numbers_are_two_connections() {
    let data: Vec<String> = (3..6).map(|n| packet("1RTT", n)).collect();
    let mut events = Vec::new();
    for (ms, one) in (0..).zip(&data) {
        events.push((ms, "transport:packet_sent", one.as_str(), "aa"));
        events.push((ms, "transport:packet_sent", one.as_str(), "bb"));
    }
    let logs: Vec<Connection> = read(quinn(&events).as_bytes()).unwrap();
    let sent: Vec<u64> = logs.iter().map(|log| log.report().traffic.sent).collect();
    assert_eq!(sent, [3, 3]);
}

/// Packet 1 is declared lost and was overtaken by three; packet 2 is lost. Another connection shares the trace.
#[test]
fn without_frames_the_other_end_tells() {
    let initial = packet("initial", 0);
    let data: Vec<String> = (0..8).map(|n| packet("1RTT", n)).collect();
    let initially = r#"{"smoothed_rtt":0.333,"latest_rtt":0.333,"congestion_window":12000}"#;
    let measured = r#"{"smoothed_rtt":0.02,"latest_rtt":0.02}"#;
    let mut sent = vec![(0, "transport:packet_received", initial.as_str(), "aa")];
    sent.push((0, "recovery:metrics_updated", initially, "aa"));
    sent.push((1, "recovery:metrics_updated", measured, "aa"));
    sent.push((0, "transport:packet_received", &initial, "bb"));
    for (n, one) in data.iter().enumerate() {
        sent.push((n as u32 + 1, "transport:packet_sent", one, "aa"));
    }
    sent.push((30, "recovery:packet_lost", &data[1], "aa"));
    sent.push((30, "recovery:packet_lost", &data[2], "aa"));
    sent.push((
        30,
        "recovery:metrics_updated",
        r#"{"congestion_window":6000}"#,
        "aa",
    ));
    sent.push((31, "transport:packet_sent", &data[0], "bb"));
    let mut arrived = vec![(0, "transport:packet_sent", initial.as_str(), "aa")];
    for n in [0, 3, 4, 1, 5, 6, 7] {
        // The other end's identifier is known by now.
        arrived.push((n + 10, "transport:packet_received", &data[n as usize], "cc"));
    }

    let mut logs: Vec<Connection> = read(quinn(&sent).as_bytes()).unwrap();
    let alone = logs[0].report();
    assert_eq!(
        (logs.len(), alone.traffic.sent, alone.traffic.sent_bytes),
        (2, 8, 9_600)
    );
    assert_eq!(
        (alone.name.as_str(), alone.vantage.as_str()),
        ("t aa", "server")
    );
    assert_eq!(
        (
            alone.declared.lost,
            alone.declared.delivered,
            alone.reduced.needless
        ),
        (2, None, None)
    );
    // Round trips in seconds beside times in milliseconds: the window fell within one of them.
    assert_eq!(
        (alone.reduced.reductions, alone.traffic.lasted_ns),
        (1, 30_000_000)
    );
    assert_eq!(logs[1].report().name, "t bb");

    logs.extend(read(quinn(&arrived).as_bytes()).unwrap());
    join(&mut logs);
    let report = logs[0].report();
    assert_eq!(
        (report.declared.delivered, report.declared.joined_by),
        (Some(1), Some(JoinedBy::Identifier))
    );
    // Packet 4 had arrived before packet 1: a threshold of four takes it for lost only after it has come.
    assert_eq!(
        (report.losses[0].delivered, report.losses[0].needed_packets),
        (Some(true), Some(needed(4, true)))
    );
    assert_eq!(report.losses[1].delivered, Some(false));
    assert_eq!(
        (
            logs[1].report().declared.delivered,
            logs[2].report().vantage.as_str()
        ),
        (None, "client")
    );
}

/// quiche 0.30 counts losses and does not name them.
#[test]
fn counted_losses_are_the_oldest_in_flight() {
    let mut log = String::from(
        "\u{1e}{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\"serialization_format\":\"JSON-SEQ\",\"trace\":\
         {\"vantage_point\":{\"type\":\"server\"},\"common_fields\":{\"reference_time\":{\"clock_type\":\"monotonic\"}}}}\n",
    );
    let mut add = |ms: u32, name: &str, data: &str| {
        log += &format!("\u{1e}{{\"time\":{ms}.0,\"name\":\"quic:{name}\",\"data\":{data}}}\n");
    };
    for n in 0..8 {
        // Packet 1 only acknowledges: it is not in flight and cannot be lost.
        let frame = if n == 1 {
            r#"{"frame_type":"ack","acked_ranges":[[0,0]]}"#
        } else {
            r#"{"frame_type":"stream","stream_id":3}"#
        };
        let data = format!(
            r#"{{"header":{{"packet_type":"1RTT","packet_number":{n}}},"raw":{{"length":1200}},"frames":[{frame}]}}"#
        );
        add(n, "packet_sent", &data);
    }
    let ack = |ranges: &str| {
        format!(
            r#"{{"header":{{"packet_type":"1RTT","packet_number":9}},"frames":[{{"frame_type":"ack","acked_ranges":{ranges}}}]}}"#
        )
    };
    add(20, "packet_received", &ack("[[0,0],[4,6]]"));
    add(
        20,
        "recovery_metrics_updated",
        r#"{"cf_lost_packets":{"total":2,"delta":2},"smoothed_rtt":20.0}"#,
    );
    add(30, "packet_received", &ack("[[0,0],[2,2],[4,7]]"));
    let report = read(log.as_bytes()).unwrap()[0].report();
    let losses: Vec<_> = report
        .losses
        .iter()
        .map(|l| (l.number, l.delivered, l.needed_packets, l.trigger))
        .collect();
    assert_eq!(
        losses,
        [
            (
                2,
                Some(true),
                Some(needed(5, false)),
                Trigger::PacketThreshold
            ),
            (3, Some(false), None, Trigger::PacketThreshold)
        ]
    );
    assert_eq!(report.declared.unknown, 0);
}

/// qh3 2.1 writes neither numbers nor frames.
#[test]
fn packets_without_numbers_are_named_as_the_reason() {
    let log = r#"{"qlog_format":"JSON","qlog_version":"0.3","traces":[{"vantage_point":{"type":"client"},"events":[
        {"time":1,"name":"transport:packet_sent","data":{"frames":[],"header":{"packet_type":"initial","dcid":"0a"}}},
        {"time":2,"name":"transport:packet_received","data":{"frames":[],"header":{"packet_type":"retry","scid":"0b"}}},
        {"time":3,"name":"transport:packet_sent","data":{"frames":[],"header":{"packet_type":"1RTT"}}}]}]}"#;
    let error = read(log.as_bytes()).unwrap_err();
    assert_eq!(
        error.problem,
        "none of its 2 packets has a number: nothing can be said of losses or order (qh3 2.1 writes such logs)"
    );
}
