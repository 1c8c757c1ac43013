//! Logs in the spellings of several programs and drafts, each with the same story: packet 1 is declared lost, but only
//! late; packet 3 is declared lost and never acknowledged.

use inorder_qlog::{Connection, JoinedBy, Report, Threshold, Trigger, fuzz_one, join, read};
use proptest::prelude::*;

#[track_caller]
fn one(log: &str) -> Report {
    let connections = read(log.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(connections.len(), 1);
    connections[0].report()
}

/// What every spelling must give.
#[track_caller]
fn check(report: &Report) {
    assert_eq!(
        (
            report.traffic.sent,
            report.declared.lost,
            report.declared.delivered
        ),
        (6, 2, Some(1))
    );
    let [late, lost] = report.losses.as_slice() else {
        panic!("{report:?}");
    };
    assert_eq!(
        (late.number, late.delivered, late.acked_after_ns),
        (1, Some(true), Some(40_000_000))
    );
    assert_eq!(
        (late.trigger, late.declared_after_ns),
        (Trigger::PacketThreshold, 30_000_000)
    );
    // Packets up to 5 had been acknowledged: only a threshold of five declares nothing lost.
    let five = Threshold {
        packets: 5,
        at_most: false,
    };
    assert_eq!(late.needed_packets, Some(five));
    assert_eq!(
        (lost.number, lost.delivered, lost.needed_packets),
        (3, Some(false), None)
    );
}

/// The events as JSON objects; times in milliseconds after `start`.
fn events(name: impl Fn(&str) -> String, start: f64) -> Vec<String> {
    let mut all = Vec::new();
    let mut add = |ms: f64, kind: &str, data: &str| {
        all.push(format!(
            r#"{{"time":{},"name":"{}","data":{data}}}"#,
            start + ms,
            name(kind)
        ));
    };
    for number in 0..6 {
        let data = format!(
            r#"{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":1200}}}}"#
        );
        add(f64::from(number), "packet_sent", &data);
    }
    let ack = |ranges: &str| {
        format!(
            r#"{{"header":{{"packet_type":"1RTT","packet_number":0}},"frames":[{{"frame_type":"ack","acked_ranges":{ranges}}}]}}"#
        )
    };
    let lost = |number: u8| {
        format!(
            r#"{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"trigger":"reordering_threshold"}}"#
        )
    };
    add(
        25.0,
        "metrics_updated",
        r#"{"smoothed_rtt":20,"latest_rtt":25,"congestion_window":12000}"#,
    );
    add(30.0, "packet_received", &ack("[[0,0],[2],[4,4]]"));
    add(31.0, "packet_lost", &lost(1));
    add(31.0, "metrics_updated", r#"{"congestion_window":6000}"#);
    add(32.0, "packet_received", &ack(r#"[["4","5"]]"#));
    add(33.0, "packet_lost", &lost(3));
    add(41.0, "packet_received", &ack("[[0,2],[4,5]]"));
    all
}

fn document(events: &[String], common: &str) -> String {
    format!(
        r#"{{"qlog_format":"JSON","qlog_version":"0.3","traces":[{{"vantage_point":{{"type":"server"}},"common_fields":{common},"events":[{}]}}]}}"#,
        events.join(",")
    )
}

#[test]
fn a_document_of_draft_03_with_absolute_times() {
    let events = events(|kind| format!("recovery:{kind}"), 1_795_400_012_000.0);
    let report = one(&document(
        &events,
        r#"{"ODCID":"ab","time_format":"absolute"}"#,
    ));
    check(&report);
    assert_eq!(
        (report.name.as_str(), report.vantage.as_str()),
        ("ab", "server")
    );
    // 40 ms over the greater round trip of 25 ms.
    assert_eq!(report.sufficient.all.rtts, Some(1.6));
    // The reduction had a cause: packet 3 was sent before it, and was lost.
    assert_eq!(
        (
            report.reduced.reductions,
            report.reduced.needless,
            report.reduced.cost_bytes
        ),
        (1, Some(0), Some(0.0))
    );
}

#[test]
fn a_sequence_with_record_separators_and_the_names_of_later_drafts() {
    let header = r#"{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"application/qlog+json-seq","trace":{"vantage_point":{"type":"client"},"common_fields":{"group_id":"cd","time_format":"relative_to_epoch","reference_time":{"clock_type":"monotonic"}}}}"#;
    let mut log = format!("\u{1e}{header}\n");
    for event in events(|kind| format!("quic:{kind}"), 5.0) {
        log += &format!("\u{1e}{event}\n");
    }
    let report = one(&log);
    check(&report);
    assert_eq!(
        (report.name.as_str(), report.vantage.as_str()),
        ("cd", "client")
    );
    // Lines without separators are the same.
    check(&one(&log.replace('\u{1e}', "")));
}

#[test]
fn lists_and_microseconds_of_draft_00() {
    let row = |us: u32, name: &str, data: &str| format!(r#"[{us},"transport","{name}",{data}]"#);
    let mut rows = Vec::new();
    for number in 0..6 {
        let data = format!(
            r#"{{"packet_type":"1RTT","header":{{"packet_number":"{number}","packet_size":1200}}}}"#
        );
        rows.push(row(number * 1000, "packet_sent", &data));
    }
    let ack = |ranges: &str| {
        format!(
            r#"{{"packet_type":"1RTT","header":{{"packet_number":"0"}},"frames":[{{"frame_type":"ack","acked_ranges":{ranges}}}]}}"#
        )
    };
    let lost = |n: u8| {
        format!(r#"{{"packet_type":"1RTT","packet_number":{n},"trigger":"reordering_threshold"}}"#)
    };
    rows.push(row(30_000, "packet_received", &ack("[[4,4],[2,2],[0,0]]")));
    rows.push(row(31_000, "packet_lost", &lost(1)));
    rows.push(row(32_000, "packet_received", &ack("[[4,5]]")));
    rows.push(row(33_000, "packet_lost", &lost(3)));
    rows.push(row(41_000, "packet_received", &ack("[[0,2]]")));
    let log = format!(
        r#"{{"qlog_version":"draft-00","traces":[{{"configuration":{{"time_units":"us"}},"vantage_point":{{"type":"server"}},"event_fields":["relative_time","category","event","data"],"events":[{}]}}]}}"#,
        rows.join(",")
    );
    check(&one(&log));
}

#[test]
fn times_since_the_event_before() {
    let mut before = 0.0;
    let mut deltas = Vec::new();
    for event in events(|kind| format!("recovery:{kind}"), 0.0) {
        let (time, rest) = event["{\"time\":".len()..].split_once(',').unwrap();
        let now: f64 = time.parse().unwrap();
        deltas.push(format!(r#"{{"time":{},{rest}"#, now - before));
        before = now;
    }
    check(&one(&document(&deltas, r#"{"time_format":"delta"}"#)));
}

/// Without packet 3 the reduction was needless, and cost half a window for as long as it lasted.
#[test]
fn a_needless_reduction_costs_something() {
    let mut events = events(|kind| format!("recovery:{kind}"), 0.0);
    events.retain(|event| !(event.contains("packet_lost") && event.contains("number\":3")));
    events.push(
        r#"{"time":71,"name":"recovery:metrics_updated","data":{"congestion_window":12000}}"#
            .to_owned(),
    );
    let report = one(&document(&events, "{}"));
    assert_eq!(
        (report.reduced.reductions, report.reduced.needless),
        (1, Some(1))
    );
    // 6,000 bytes for 40 ms, two round trips of 20 ms.
    assert_eq!(report.reduced.cost_bytes.map(f64::round), Some(12_000.0));
}

/// The other end has packet 3: no acknowledgement told so.
#[test]
fn the_log_of_the_other_end_tells_what_arrived() {
    let server = document(
        &events(|kind| format!("recovery:{kind}"), 0.0),
        r#"{"ODCID":"ab"}"#,
    );
    let received = |number: u8, ms: u8| {
        format!(
            r#"{{"time":{ms},"name":"transport:packet_received","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}}}}}}"#
        )
    };
    let arrived = [(0, 1), (2, 3), (4, 5), (3, 6), (5, 7), (1, 8)].map(|(n, ms)| received(n, ms));
    let client = document(&arrived, r#"{"ODCID":"AB"}"#).replace("server", "client");
    let mut both: Vec<Connection> = [server, client]
        .iter()
        .flat_map(|log| read(log.as_bytes()).unwrap())
        .collect();
    join(&mut both);
    let report = both[0].report();
    assert_eq!(
        (report.declared.delivered, report.declared.joined_by),
        (Some(2), Some(JoinedBy::Identifier))
    );
    assert_eq!(report.reduced.needless, Some(1));
    let order = both[1].report().arrivals;
    assert_eq!(
        (order.order.received, order.order.reordered, order.missing),
        (6, 2, Some(0))
    );
}

#[test]
fn events_with_members_of_wrong_types_are_counted() {
    let header = r#"{"qlog_version":"0.3","qlog_format":"NDJSON","trace":{"vantage_point":{"type":"server"}}}"#;
    let sent =
        r#""name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":"#;
    let of = |event: &str| {
        let log = format!("{header}\n{{\"time\":0,{sent}0}}}}}}\n{event}\n");
        let connections = read(log.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        (
            connections[0].unreadable(),
            connections[0].report().traffic.sent,
        )
    };
    let right = format!("{{\"time\":\"1\",{sent}\"1\"}},\"raw\":null}}}}");
    assert_eq!(of(&right), (0, 2));
    for (wrong, packets) in [
        (format!("{{\"time\":1,{sent}-1}}}}}}"), 1),
        (format!("{{\"time\":1,{sent}1.5}}}}}}"), 1),
        (format!("{{\"time\":\"soon\",{sent}1}}}}}}"), 2),
        (r#"{"time":1,"name":"transport:packet_sent","data":{"header":[]}}"#.to_owned(), 1),
        (r#"{"time":1,"name":"recovery:metrics_updated","data":{"congestion_window":"many"}}"#.to_owned(), 1),
        (r#"{"time":1,"name":"transport:packet_received","data":{"frames":{"frame_type":"ack"}}}"#.to_owned(), 1),
        (r#"{"time":1,"data":{}}"#.to_owned(), 1),
    ] {
        assert_eq!(of(&wrong), (1, packets), "{wrong}");
    }
    let nothing = r#"{"qlog_version":"0.3","traces":[{"events":[7, "event"]}]}"#;
    let error = read(nothing.as_bytes()).unwrap_err();
    assert_eq!(
        error.problem,
        "no packet of a connection; 2 events with members of types that no draft of qlog has"
    );
}

#[test]
fn what_is_no_qlog_is_refused_in_one_line() {
    for (text, expected) in [
        ("", "it is empty; expected a qlog file"),
        ("\n\n", "it is empty"),
        ("{}", "no qlog"),
        ("[1, 2]", "a JSON object of qlog"),
        ("\u{1}\u{2}", "expected value"),
        (r#"{"qlog_version":"0.3","traces":[]}"#, "no events"),
        (r#"{"qlog_version":"0.3","traces":7}"#, "a list of traces"),
    ] {
        let error = read(text.as_bytes()).unwrap_err();
        assert!(
            error.problem.contains(expected),
            "{text}: {}",
            error.problem
        );
        assert_eq!(error.problem.lines().count(), 1);
    }
}

#[test]
fn a_log_that_breaks_off_gives_what_came_before() {
    let log = document(&events(|kind| format!("recovery:{kind}"), 0.0), "{}");
    let error = read(&log.as_bytes()[..log.len() - 30]).unwrap_err();
    assert_eq!(error.connections[0].report().declared.lost, 2);
    assert!(
        error
            .problem
            .starts_with("it ends within an event, in line 1, "),
        "{}",
        error.problem
    );
}

proptest! {
    #[test]
    fn damaged_logs_cause_no_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let log = document(&events(|kind| format!("recovery:{kind}"), 0.0), r#"{"time_format":"delta"}"#);
        let mut bytes = log.into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        fuzz_one(&bytes);
    }
}

/// quiche counts losses instead of naming packets. Whatever number it writes, only the packets that the log has are gone through.
#[test]
fn a_count_of_more_losses_than_there_are_packets_is_not_counted_out() {
    let log = r#"{"qlog_version":"0.3","qlog_format":"NDJSON","trace":{"vantage_point":{"type":"server"}}}
{"time":0,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":0}}}
{"time":1,"name":"recovery:metrics_updated","data":{"cf_lost_packets":{"delta":1e18}}}
{"time":2,"name":"recovery:metrics_updated","data":{"cf_lost_packets":{"delta":1e30}}}
"#;
    let report = read(log.as_bytes()).unwrap()[0].report();
    assert_eq!(
        (report.declared.lost, report.declared.unknown),
        (0, u64::MAX)
    );
}
