use super::*;
use crate::StreamDoubt;

fn subflow(ms: i64, seq: u32, syn: bool, payload_len: u32, option: Multipath) -> Subflow {
    Subflow {
        ts_ns: ms * 1_000_000,
        frame: ms as u64 + 1,
        seq,
        payload_len,
        syn,
        option,
    }
}

/// Keys, and tokens computed with another program (`printf '\\1..' | sha256sum`).
#[test]
fn tokens_are_hashes_of_keys() {
    assert_eq!(token(1, 0x0102_0304_0506_0708), 0x6684_0dda);
    assert_eq!(token(0, 0x0102_0304_0506_0708), 0xdd57_83bc);
}

/// A network card cuts a super-segment and copies its mapping into each piece.
#[test]
fn pieces_of_a_mapping_count_on_without_the_handshake_too() {
    let (subflow_key, dir) = FlowKey::new(Endpoint::v4(1, 1000), Endpoint::v4(2, 80), 0);
    let mut all = Connections::default();
    let whole = |number, subflow| Multipath::Data {
        number,
        bits: 32,
        subflow,
        len: 300,
    };
    for (ms, seq, option) in [
        (0, 1_000, whole(5_000, 901)),
        (1, 1_100, whole(5_000, 901)),
        (2, 1_200, whole(5_000, 901)),
        (3, 1_300, whole(5_300, 1_201)),
        (4, 1_500, whole(5_300, 1_201)),
        (5, 1_400, whole(5_300, 1_201)),
    ] {
        all.push(&subflow_key, dir, &subflow(ms, seq, false, 100, option));
    }
    let [(_, report)] = all.finish().collect::<Vec<_>>().try_into().unwrap();
    let order = (report.order.received, report.order.reordered);
    assert_eq!(
        (order, report.twice.duplicates, report.skipped.missing),
        ((6, 1), 0, 0)
    );
}

/// What belongs to a mapping and comes in a segment without one is not followed, and not missing.
#[test]
fn segments_that_do_not_repeat_their_mapping_are_not_missing() {
    let (subflow_key, dir) = FlowKey::new(Endpoint::v4(1, 1000), Endpoint::v4(2, 80), 0);
    let missing = |len| {
        let mut all = Connections::default();
        for (ms, seq, number, len) in [
            (0, 1_000, 5_000, 100),
            (1, 1_100, 5_100, len),
            (3, 1_300, 5_300, 100),
        ] {
            let option = Multipath::Data {
                number,
                bits: 32,
                subflow: seq - 99,
                len,
            };
            all.push(&subflow_key, dir, &subflow(ms, seq, false, 100, option));
        }
        all.finish()
            .map(|(_, report)| report.skipped.missing)
            .sum::<u64>()
    };
    assert_eq!(missing(200), 0);
    assert_eq!(missing(100), 1);
}

/// Another subflow, which the capture does not have, carries each second segment: this one lacks nothing.
#[test]
fn what_a_subflow_that_was_not_captured_carries_is_not_lost() {
    let (key, dir) = FlowKey::new(Endpoint::v4(1, 1000), Endpoint::v4(2, 80), 0);
    let skipped = |lost: u32| {
        let mut all = Connections::default();
        let capable = Multipath::Capable {
            version: 1,
            key: None,
        };
        all.push(&key, dir, &subflow(0, 99, true, 0, capable));
        for n in (0..20).filter(|n| *n != lost) {
            let option = Multipath::Data {
                number: u64::from(5_000 + 200 * n),
                bits: 32,
                subflow: 1 + 100 * n,
                len: 100,
            };
            let segment = subflow(10 + i64::from(n), 100 + 100 * n, false, 100, option);
            all.push(&key, dir, &segment);
        }
        let [(_, report)] = all.finish().collect::<Vec<_>>().try_into().unwrap();
        (
            report.skipped.missing,
            report.skipped.absent,
            report.skipped.doubt,
        )
    };
    let doubt = Some(StreamDoubt::LostOrElsewhere);
    assert_eq!(skipped(u32::MAX), (0, 19, doubt));
    // It lost one segment of its own.
    assert_eq!(skipped(7), (1, 19, doubt));
}

/// SYNs on the same ports, each with another number and another key: as many connections as there may be subflows, and of the keys
/// of one end the last.
#[test]
fn ports_that_are_used_again_do_not_make_any_number_of_connections() {
    let (key, dir) = FlowKey::new(Endpoint::v4(1, 1000), Endpoint::v4(2, 80), 0);
    let mut all = Connections::default();
    let capable = |key| Multipath::Capable {
        version: 0,
        key: Some(key),
    };
    for n in 0..MAX_SUBFLOWS as u32 + 10 {
        all.push(&key, dir, &subflow(0, n, true, 0, capable(u64::from(n))));
    }
    assert_eq!((all.connections.len(), all.left_out()), (MAX_SUBFLOWS, 10));
    let mut few = Connections::default();
    few.limit(3, usize::MAX);
    for n in 0..5 {
        few.push(&key, dir, &subflow(0, n, true, 0, capable(u64::from(n))));
    }
    assert_eq!((few.connections.len(), few.left_out()), (3, 2));
    let mut one = Connections::default();
    for n in 0..10 {
        one.push(&key, dir, &subflow(0, 1, false, 0, capable(n)));
    }
    assert_eq!((one.connections.len(), one.tokens.len()), (1, 1));
}

/// Two subflows; the second, joined by the server's token, is 20 ms slower.
#[test]
fn data_of_the_slower_subflow_is_late_and_the_faster_waits() {
    let (client, server) = (Endpoint::v4(1, 1000), Endpoint::v4(2, 80));
    let second = Endpoint::v4(3, 2000);
    let (fast, to_server) = FlowKey::new(client, server, 0);
    let (slow, also_to_server) = FlowKey::new(second, server, 0);
    let capable = |key| Multipath::Capable { version: 1, key };
    let mut all = Connections::default();
    all.push(&fast, to_server, &subflow(0, 99, true, 0, capable(None)));
    let server_key = 0x0102_0304_0506_0708;
    let answer = subflow(1, 499, true, 0, capable(Some(server_key)));
    all.push(&fast, to_server.reverse(), &answer);
    let join = Multipath::Join { token: 0x6684_0dda };
    all.push(&slow, also_to_server, &subflow(2, 7, true, 0, join));
    // Bytes 0-99 fast, 100-199 slow, 200-399 fast: the numbers wrap.
    let data = |number: u32, subflow| Multipath::Data {
        number: u64::from(number.wrapping_sub(150)),
        bits: 32,
        subflow,
        len: 100,
    };
    for (ms, key, dir, seq, option) in [
        (10, &fast, to_server, 100, data(0, 1)),
        (12, &fast, to_server, 200, data(200, 101)),
        (13, &fast, to_server, 300, data(300, 201)),
        (32, &slow, also_to_server, 8, data(100, 1)),
        (33, &slow, also_to_server, 8, data(100, 1)),
    ] {
        all.push(key, dir, &subflow(ms, seq, false, 100, option));
    }
    let [(_, report)] = all.finish().collect::<Vec<_>>().try_into().unwrap();
    assert_eq!((report.order.received, report.order.reordered), (4, 1));
    assert_eq!(
        (report.order.extents.max(), report.twice.duplicates),
        (Some(2), 1)
    );
    assert_eq!((report.key.id, report.skipped.missing), (0x6684_0dda, 0));
    let multipath = report.multipath.unwrap();
    assert_eq!((multipath.subflows, multipath.across), (2, 1));
    // 100 bytes waited 20 ms, 100 bytes 19 ms, 200 bytes did not.
    assert_eq!(multipath.waits.max_ns, 20_000_000);
    assert_eq!(multipath.waits.mean_ns(), 9_750_000);
    assert_eq!(multipath.waits.most_bytes, 200);
}
