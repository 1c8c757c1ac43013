//! Bytes as traffic, for fuzzers: whatever they say, nothing panics and the counts add up.

use inorder_wire::{Dir, Endpoint, FlowKey, Has, MAX_PAYLOAD, MAX_SACK_BLOCKS, Segment, TcpFlags};

use crate::result::Verdict;
use crate::{Config, FlowReport, Tracker, Vantage};

/// Bytes that make one segment whose numbers are kept in a small space, so that segments meet.
const SMALL_RECORD: usize = 16;
/// Bytes that make one segment with every field free.
const FREE_RECORD: usize = 76;

/// One fuzzing input: the first byte chooses the configuration, then 16 bytes a segment. The numbers are kept
/// in a small space, so that segments meet.
#[doc(hidden)]
pub fn fuzz_one(input: &[u8]) {
    analyse(input, SMALL_RECORD, |record, frame, clock_ns| {
        let (dir, seg, pause) = segment(record, frame, *clock_ns);
        *clock_ns += pause;
        (dir, seg)
    });
}

/// The same with every field of every segment free, times included: what nobody would send, but what a damaged
/// or forged capture may hold.
#[doc(hidden)]
pub fn fuzz_fields(input: &[u8]) {
    analyse(input, FREE_RECORD, |record, frame, _| {
        free_segment(record, frame)
    });
}

fn analyse(input: &[u8], record: usize, make: impl Fn(&[u8], u64, &mut i64) -> (Dir, Segment)) {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    let mut tracker = Tracker::new(config(choice));
    let (key, _) = FlowKey::new(Endpoint::v4(1, 1), Endpoint::v4(2, 2), 0);
    let mut clock_ns = 0;
    for (number, record) in rest.chunks_exact(record).enumerate() {
        let (dir, seg) = make(record, number as u64 + 1, &mut clock_ns);
        tracker.push(&key, dir, &seg);
    }
    for flow in tracker.finish() {
        check(&flow);
    }
}

fn config(choice: u8) -> Config {
    let vantage = match choice & 3 {
        0 => None,
        1 => Some(Vantage::Sender),
        2 => Some(Vantage::Receiver),
        _ => Some(Vantage::Middle),
    };
    Config {
        vantage,
        keep_events: choice & 4 != 0,
        keep_points: choice & 8 != 0,
        what_if: choice & 16 != 0,
        ..Config::default()
    }
}

fn segment(b: &[u8], frame: u64, ts_ns: i64) -> (Dir, Segment, i64) {
    // Numbers are multiples of 100 around a wrap of the sequence space.
    let place = |byte: u8| 0xffff_f000u32.wrapping_add(u32::from(byte) * 100);
    let has = b[1] & (Has::TIMESTAMPS | Has::IP_ID | Has::SACK_PERMITTED | Has::OPTIONS_CUT);
    // A rare control flag; mostly plain ACKs.
    let flags = TcpFlags::ACK | if b[2] < 16 { b[2] } else { 0 };
    let sack_len = b[3] % 5;
    let mut sack = [(0, 0); 4];
    for (i, block) in sack.iter_mut().enumerate().take(usize::from(sack_len)) {
        *block = (place(b[4 + 2 * i]), place(b[5 + 2 * i]));
    }
    let seg = Segment {
        ts_ns,
        frame,
        seq: place(b[12]).wrapping_sub(u32::from(b[0] >> 7)),
        ack: place(b[13]),
        payload_len: u32::from(b[14] % 40) * 100,
        tsval: u32::from(b[15]),
        tsecr: u32::from(b[0]),
        ip_id: u16::from(b[15]),
        mss: u16::from_be_bytes([b[14], b[15]]),
        flags: TcpFlags(flags),
        has,
        ttl: 64,
        sack_len,
        sack,
        ..Segment::default()
    };
    let dir = if b[0] & 1 == 0 {
        Dir::LowToHigh
    } else {
        Dir::HighToLow
    };
    // Forwards as a rule, backwards sometimes.
    (dir, seg, i64::from(b[2] as i8).max(-8) * 100_000)
}

/// A segment as nobody would send it: every field that a capture could hold.
fn free_segment(record: &[u8], frame: u64) -> (Dir, Segment) {
    let mut bytes = record.iter().copied();
    let mut next = || bytes.next().unwrap_or_default();
    let dir = if next() & 1 == 0 {
        Dir::LowToHigh
    } else {
        Dir::HighToLow
    };
    let mut word = || u32::from_be_bytes([next(), next(), next(), next()]);
    // Captures hold times from -2^61 to 2^62 (`inorder_capture::TIMES_NS`).
    let ts_ns = (i64::from(word()) << 30 | i64::from(word()) >> 2) - (1 << 61);
    let (seq, ack, tsval, tsecr) = (word(), word(), word(), word());
    let (window_and_id, mss_and_ports) = (word(), word());
    let payload_len = word() % (MAX_PAYLOAD + 1);
    let kinds = word().to_be_bytes();
    let mut sack = [(0, 0); MAX_SACK_BLOCKS];
    for block in &mut sack {
        *block = (word(), word());
    }
    let [wscale, ecn, sack_len, _] = word().to_be_bytes();
    let seg = Segment {
        ts_ns,
        frame,
        seq,
        ack,
        payload_len,
        tsval,
        tsecr,
        window: (window_and_id >> 16) as u16,
        ip_id: window_and_id as u16,
        mss: mss_and_ports as u16,
        flags: TcpFlags(kinds[0]),
        has: kinds[1],
        ttl: kinds[2],
        wscale,
        ecn,
        sack_len,
        sack,
    };
    (dir, seg)
}

fn check(flow: &FlowReport) {
    let r = &flow.retransmissions;
    assert!(r.needed + r.spurious <= r.total, "{r:?}");
    assert_eq!(r.needed + r.spurious + r.ambiguous, r.total, "{r:?}");
    let listed = |verdict| {
        let list = flow.records.retransmissions.iter();
        list.filter(|r| r.verdict == verdict).count() as u64
    };
    // Equal on real traffic (tests/truth); overlaps cut at will leave lines without a verdict.
    assert!(listed(Verdict::Needed) <= r.needed, "{r:?}");
    assert!(listed(Verdict::Spurious) <= r.spurious, "{r:?}");
    let o = &flow.reordering;
    assert!(
        o.reordered <= o.received,
        "{} of {}",
        o.reordered,
        o.received
    );
    assert!(o.extents.count() <= o.reordered);
    let density: f64 = o.displacements.density().map(|d| d.1).sum();
    assert!(
        o.displacements.total() == 0 || (density - 1.0).abs() < 1e-9,
        "{density}"
    );
    assert!(flow.recoveries.spurious + flow.recoveries.ambiguous <= flow.recoveries.total);
    assert!(
        flow.records
            .events
            .windows(2)
            .all(|w| w[0].at_ns <= w[1].at_ns)
    );
}

#[cfg(test)]
mod tests {
    use inorder_wire::{Has, TcpFlags};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn arbitrary_bytes_are_harmless(input in proptest::collection::vec(any::<u8>(), 0..2_000)) {
            super::fuzz_one(&input);
        }

        #[test]
        fn arbitrary_fields_are_harmless(input in proptest::collection::vec(any::<u8>(), 0..4_000)) {
            super::fuzz_fields(&input);
        }
    }

    /// A SYN whose MSS option is smaller than the timestamps that each segment must carry.
    #[test]
    fn an_mss_smaller_than_the_options_is_harmless() {
        let syn = |dir: u8, flags: u8| {
            let mut record = [0; super::FREE_RECORD];
            (record[0], record[28], record[36], record[37]) = (dir, 4, flags, Has::TIMESTAMPS);
            record
        };
        let data = |dir: u8| {
            let mut record = syn(dir, TcpFlags::ACK);
            record[35] = 200; // payload
            record
        };
        let trace = [
            syn(0, TcpFlags::SYN),
            syn(1, TcpFlags::SYN | TcpFlags::ACK),
            data(0),
            data(0),
            data(1),
        ];
        let mut input = vec![0];
        input.extend(trace.iter().flatten());
        super::fuzz_fields(&input);
    }
}
