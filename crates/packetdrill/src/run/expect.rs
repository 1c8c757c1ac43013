//! Compares an expected packet with the sent one.

use std::collections::VecDeque;

use inorder_tcp::{Flags, Nanos, Segment};

use super::host::Sent;
use super::wire::{self, Clock, Options};
use crate::fast_open::CookieOption;
use crate::script::Packet;

/// Takes the next packet from the wire. If the script expects a longer packet, contiguous packets sent at the same
/// time are joined: a real stack passes one large segment to its card, this one sends single segments.
pub(super) fn next(sent: &mut VecDeque<Sent>, wanted: u32) -> Option<Sent> {
    let mut packet = sent.pop_front()?;
    while packet.segment.payload < wanted {
        let Some(more) = sent.front().filter(|more| continues(&packet, more)) else {
            break;
        };
        packet.segment.payload += more.segment.payload;
        packet.segment.flags = packet.segment.flags.with(more.segment.flags);
        sent.pop_front();
    }
    Some(packet)
}

fn continues(packet: &Sent, more: &Sent) -> bool {
    let (a, b) = (&packet.segment, &more.segment);
    let plain = |segment: &Segment| {
        !segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::RST) && segment.payload > 0
    };
    more.at == packet.at
        && more.connection == packet.connection
        && plain(a)
        && plain(b)
        && !a.flags.has(Flags::FIN)
        && b.seq == a.seq.wrapping_add(a.payload)
        && b.ack == a.ack
        && b.timestamps == a.timestamps
        && b.sack == a.sack
        && b.ecn_option == a.ecn_option
        && b.ecn == a.ecn
}

/// The differences from the expected packet; empty if there are none. Also learns the timestamp clock.
pub(super) fn differences(
    packet: &Packet,
    sent: &Sent,
    cookie: Option<CookieOption>,
    clock: &mut Clock,
    tick: Option<Nanos>,
    tolerance: Nanos,
) -> Vec<&'static str> {
    let actual = &sent.segment;
    let mut wrong = Vec::new();
    let mut check = |holds: bool, what: &'static str| {
        if !holds {
            wrong.push(what);
        }
    };
    let flags = actual.flags.without(Flags::PSH);
    check(flags == wire::flags(packet), "flags");
    check(wire::same_ecn(packet.ecn, actual.ecn), "ECN field");
    check(actual.seq == packet.seq, "sequence number");
    check(actual.payload == packet.len, "length");
    check(
        packet.ack.is_none_or(|ack| ack == actual.ack),
        "acknowledgement number",
    );
    check(
        packet
            .window
            .is_none_or(|window| window == u32::from(actual.window)),
        "window",
    );
    if let Some(options) = &packet.options {
        let expected = Options::of_packet(options, cookie);
        let found = Options::of_sent(sent);
        check(expected.same_layout(&found), "options");
        check(
            expected
                .echo
                .flatten()
                .is_none_or(|echo| found.echo.flatten() == Some(echo)),
            "echoed timestamp",
        );
        if let (Some(Some(script)), Some(Some(value))) = (expected.value, found.value) {
            let off = tick.map(|tick| Nanos::from(clock.drift(script, value)).saturating_mul(tick));
            check(off.is_none_or(|off| off <= tolerance), "timestamp");
            clock.learn(script, value);
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(at: Nanos, seq: u32, payload: u32) -> Sent {
        Sent {
            at,
            connection: 0,
            cookie: None,
            segment: Segment {
                seq,
                payload,
                flags: Flags::ACK,
                ..Segment::default()
            },
        }
    }

    #[test]
    fn segments_sent_together_are_joined() {
        let mut queue: VecDeque<_> = (0..3).map(|i| sent(5, 1 + 100 * i, 100)).collect();
        assert_eq!(next(&mut queue, 200).map(|s| s.segment.payload), Some(200));
        assert_eq!(next(&mut queue, 200).map(|s| s.segment.payload), Some(100));
        assert_eq!(next(&mut queue, 200).map(|s| s.at), None);
    }

    #[test]
    fn gaps_in_time_or_sequence_separate_segments() {
        let mut queue = VecDeque::from([sent(5, 1, 100), sent(6, 101, 100), sent(6, 301, 100)]);
        for _ in 0..3 {
            assert_eq!(next(&mut queue, 1000).map(|s| s.segment.payload), Some(100));
        }
    }
}
