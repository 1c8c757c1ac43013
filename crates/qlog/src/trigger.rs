//! Why a packet was declared lost, where the log's own word cannot be relied on.
//!
//! Some programs write one reason whatever the reason was (quinn 0.11 always writes `reordering_threshold`), and others none
//! (aioquic 1.7, golang.org/x/net 0.62). Numbers and times then decide between the two rules of RFC 9002 section 6.1.

use crate::result::Trigger;
use crate::space::Lost;

/// kPacketThreshold (RFC 9002 section 6.1.1): no sender should use less.
const PACKET_THRESHOLD: u64 = 3;

/// kTimeThreshold (RFC 9002 section 6.1.2), in eighths of the greater of the smoothed and the latest round trip.
const TIME_THRESHOLD_EIGHTHS: i64 = 9;

/// How far the reasons in a log can be relied on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// They differ, or acknowledgements in the log agree with them.
    Chosen,
    /// The log has no acknowledgements and the same reason everywhere, which then says nothing. True if its clock stands
    /// still while an arrival is processed: then what no arrival caused has a time of its own.
    Constant { clock_stands: bool },
}

/// The reason for the declaration of packet `number`, which was sent at `sent_ns`.
pub(crate) fn decide(number: u64, sent_ns: i64, lost: &Lost, word: Word) -> Trigger {
    match lost.said {
        Trigger::PacketThreshold => {}
        Trigger::Unknown => return without_word(number, sent_ns, lost),
        said => return said,
    }
    let reached = |highest: u64| highest.saturating_sub(number) >= PACKET_THRESHOLD;
    if lost.highest_acked.is_some_and(|(_, most)| !reached(most)) {
        return Trigger::TimeThreshold;
    }
    let Word::Constant { clock_stands } = word else {
        return lost.said;
    };
    if lost.highest_acked.is_some_and(|(least, _)| reached(least)) {
        return Trigger::PacketThreshold;
    }
    // Only an acknowledgement reaches the packet threshold, and only of what the other end had.
    let by_timer = clock_stands && !lost.on_arrival;
    if by_timer || lost.acknowledgeable.is_some_and(|most| !reached(most)) {
        return Trigger::TimeThreshold;
    }
    match is_early(sent_ns, lost) {
        true => Trigger::PacketThreshold,
        false => Trigger::Unknown,
    }
}

/// The reason where the log gives none. Where nothing later had been acknowledged neither rule applied; where both did, which
/// one the sender used is not known.
fn without_word(number: u64, sent_ns: i64, lost: &Lost) -> Trigger {
    let Some((least, most)) = lost.highest_acked.filter(|(_, most)| *most > number) else {
        return Trigger::Unknown;
    };
    if most - number < PACKET_THRESHOLD {
        return Trigger::TimeThreshold;
    }
    match least.saturating_sub(number) >= PACKET_THRESHOLD && is_early(sent_ns, lost) {
        true => Trigger::PacketThreshold,
        false => Trigger::Unknown,
    }
}

/// True if the time threshold had not been reached.
fn is_early(sent_ns: i64, lost: &Lost) -> bool {
    let threshold_ns = lost.rtt_ns.saturating_mul(TIME_THRESHOLD_EIGHTHS) / 8;
    lost.at_ns.saturating_sub(sent_ns) < threshold_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONSTANT: Word = Word::Constant { clock_stands: true };
    const RTT_NS: i64 = 80;

    /// Packet 10, sent at 0 and declared lost at `at_ns` by the word that quinn always writes.
    fn lost(at_ns: i64) -> Lost {
        Lost {
            at_ns,
            said: Trigger::PacketThreshold,
            on_arrival: true,
            highest_acked: None,
            soon_acked: None,
            heard: None,
            acknowledgeable: None,
            rtt_ns: RTT_NS,
        }
    }

    #[test]
    fn a_word_that_differs_is_believed_unless_acknowledgements_refute_it() {
        let mut one = lost(100);
        assert_eq!(decide(10, 0, &one, Word::Chosen), Trigger::PacketThreshold);
        one.highest_acked = Some((12, 12));
        assert_eq!(decide(10, 0, &one, Word::Chosen), Trigger::TimeThreshold);
        one.said = Trigger::Other;
        assert_eq!(decide(10, 0, &one, CONSTANT), Trigger::Other);
    }

    #[test]
    fn a_constant_word_is_replaced_by_what_numbers_and_times_show() {
        // 80 ns need 90 ns of time.
        assert_eq!(decide(10, 0, &lost(89), CONSTANT), Trigger::PacketThreshold);
        assert_eq!(decide(10, 0, &lost(90), CONSTANT), Trigger::Unknown);
        let timer = Lost {
            on_arrival: false,
            ..lost(90)
        };
        assert_eq!(decide(10, 0, &timer, CONSTANT), Trigger::TimeThreshold);
        let clock_stands = false;
        assert_eq!(
            decide(10, 0, &timer, Word::Constant { clock_stands }),
            Trigger::Unknown
        );
        let few = Lost {
            acknowledgeable: Some(12),
            ..lost(90)
        };
        assert_eq!(decide(10, 0, &few, CONSTANT), Trigger::TimeThreshold);
        // Of packets that were sent in one burst it is not known which was acknowledged.
        let burst = |least, most| Lost {
            highest_acked: Some((least, most)),
            ..lost(90)
        };
        assert_eq!(
            decide(10, 0, &burst(13, 15), CONSTANT),
            Trigger::PacketThreshold
        );
        assert_eq!(decide(10, 0, &burst(11, 15), CONSTANT), Trigger::Unknown);
        assert_eq!(
            decide(10, 0, &burst(11, 12), CONSTANT),
            Trigger::TimeThreshold
        );
    }

    #[test]
    fn without_a_word_acknowledgements_and_times_decide() {
        let one = |highest, at_ns| Lost {
            said: Trigger::Unknown,
            highest_acked: Some((highest, highest)),
            ..lost(at_ns)
        };
        assert_eq!(
            decide(10, 0, &one(12, 95), Word::Chosen),
            Trigger::TimeThreshold
        );
        assert_eq!(
            decide(10, 0, &one(13, 85), Word::Chosen),
            Trigger::PacketThreshold
        );
        // Both thresholds were reached.
        assert_eq!(decide(10, 0, &one(13, 95), Word::Chosen), Trigger::Unknown);
        // Nothing later had been acknowledged: a probe time-out.
        assert_eq!(decide(10, 0, &one(9, 500), Word::Chosen), Trigger::Unknown);
        let blind = Lost {
            highest_acked: None,
            ..one(0, 95)
        };
        assert_eq!(decide(10, 0, &blind, Word::Chosen), Trigger::Unknown);
    }
}
