//! Bytes as traffic, for fuzzers: whatever they say, nothing panics and the counts add up.

use inorder_wire::{Dir, Endpoint, FlowKey, Has, Segment, TcpFlags};

use crate::result::Verdict;
use crate::{Config, FlowReport, Tracker, Vantage};

/// Bytes that make one segment.
const RECORD: usize = 16;

/// One fuzzing input: the first byte chooses the configuration, then 16 bytes a segment. The
/// numbers are kept in a small space, so that segments meet.
#[doc(hidden)]
pub fn fuzz_one(input: &[u8]) {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    let mut tracker = Tracker::new(config(choice));
    let (key, _) = FlowKey::new(Endpoint::v4(1, 1), Endpoint::v4(2, 2), 0);
    let mut ts_ns = 0;
    for (number, record) in rest.chunks_exact(RECORD).enumerate() {
        let (dir, seg, pause) = segment(record, number as u64 + 1, ts_ns);
        ts_ns += pause;
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
        mss: 100,
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

fn check(flow: &FlowReport) {
    let r = &flow.retransmissions;
    assert!(r.needed + r.spurious <= r.total, "{r:?}");
    assert_eq!(r.needed + r.spurious + r.ambiguous, r.total, "{r:?}");
    let listed = |verdict| {
        let list = flow.retransmission_list.iter();
        list.filter(|r| r.verdict == verdict).count() as u64
    };
    // Equal on real traffic (tests/truth); overlaps cut at will leave lines without a verdict.
    assert!(listed(Verdict::Needed) <= r.needed, "{r:?}");
    assert!(listed(Verdict::Spurious) <= r.spurious, "{r:?}");
    let o = &flow.reordering;
    assert!(o.reordered <= o.arrived, "{} of {}", o.reordered, o.arrived);
    assert!(o.extents.count() <= o.reordered);
    let density: f64 = o.rd.iter().map(|d| d.1).sum();
    assert!(o.rd.is_empty() || (density - 1.0).abs() < 1e-9, "{density}");
    assert!(flow.recoveries.spurious + flow.recoveries.ambiguous <= flow.recoveries.total);
    assert!(flow.events.windows(2).all(|w| w[0].at_ns <= w[1].at_ns));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn arbitrary_bytes_are_harmless(input in proptest::collection::vec(any::<u8>(), 0..2_000)) {
            super::fuzz_one(&input);
        }
    }
}
