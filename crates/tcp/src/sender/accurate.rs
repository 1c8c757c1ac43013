//! The sender's half of accurate ECN (RFC 9768): how many packets the peer reports as marked.

use crate::accurate_ecn::{ByMark, EcnOption, FIRST_CE_PACKETS, first_bytes};
use crate::segment::Ecn;

/// The ACE field counts modulo 8.
const ACE: u32 = 8;
/// After this many bytes sent without an option from the peer, its counters of 24 bits may have wrapped unseen.
const MAX_BYTES_BEFORE_OPTION: u64 = 1 << 23;
/// Where acknowledgements cover more segments than this in the mean, they are thinned: one of many segments is nothing unusual
/// (Linux `ACK_COMP_THRESH`).
const MAX_MEAN_PER_ACK_UNTHINNED: u32 = 4;

/// What a segment says of marks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Feedback {
    /// The ACE field.
    pub(crate) ace: u8,
    /// The option.
    pub(crate) option: Option<EcnOption>,
    /// The segment was sent later than all before, which its timestamp or its data shows. Acknowledgements that overtake each
    /// other would otherwise count a wrap of the field.
    pub(crate) newest: bool,
}

/// What an acknowledgement delivers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DeliveredNow {
    pub(super) packets: u32,
    pub(super) bytes: u32,
}

/// The counters that the peer reports.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reported {
    /// Packets that arrived there with a congestion mark, pure acknowledgements included.
    pub(crate) ce_packets: u32,
    /// Bytes of payload that arrived there, by mark.
    pub(crate) bytes: ByMark,
    /// The peer has sent the option.
    pub(crate) option_seen: bool,
    /// The path clears the option or drops segments with it: the peer's is not read.
    option_ignored: bool,
    /// The mark whose counter grew last, if it was one alone: that of bytes which no option reports.
    usual: Option<Ecn>,
    /// Mean number of segments that an acknowledgement delivers, in 64ths; 0 before the first.
    per_ack: u32,
}

impl Reported {
    /// Looks at the option of the handshake: whether there is one, and whether the path clears it.
    pub(crate) fn see_option(&mut self, option: Option<&EcnOption>) {
        let Some(option) = option.filter(|_| !self.option_seen) else {
            return;
        };
        self.option_seen = true;
        self.option_ignored |= option.is_cleared();
    }

    /// The option will not be read.
    pub(crate) fn ignore_option(&mut self) {
        self.option_ignored = true;
    }

    /// Reads the counters; returns how many more packets were marked.
    pub(super) fn read(&mut self, feedback: &Feedback, now: DeliveredNow, sent: u64) -> u32 {
        let marked_bytes = self.read_option(feedback, now.bytes, sent);
        self.average(now.packets);
        let counted = u32::from(feedback.ace).wrapping_sub(FIRST_CE_PACKETS);
        let more = counted.wrapping_sub(self.ce_packets) % ACE;
        let marked = self.packets_marked(more, now, marked_bytes);
        self.ce_packets = self.ce_packets.wrapping_add(marked);
        marked
    }

    fn average(&mut self, packets: u32) {
        if packets == 0 {
            return;
        }
        let now = packets.min(1 << 10) * 64;
        self.per_ack = match self.per_ack {
            0 => now,
            mean => (mean * 63 + now) / 64,
        };
    }

    /// Section 3.2.2.5.2: an acknowledgement of more than seven packets may hide a multiple of eight marks.
    fn packets_marked(&self, more: u32, now: DeliveredNow, marked_bytes: Option<u32>) -> u32 {
        if now.packets < ACE {
            return more;
        }
        let most = now.packets - (now.packets - more) % ACE;
        match marked_bytes {
            // Of the possible numbers the one that fits the bytes best.
            Some(marked) => {
                let packets = u64::from(marked) * u64::from(now.packets);
                let packets = packets.div_ceil(u64::from(now.bytes.max(1)));
                let beyond = (packets + u64::from(ACE / 2)).saturating_sub(u64::from(more));
                let wraps = beyond / u64::from(ACE) * u64::from(ACE);
                most.min(more.saturating_add(u32::try_from(wraps).unwrap_or(u32::MAX)))
            }
            // Where many segments per acknowledgement are usual, few marks are more likely than many acknowledgements lost.
            None if self.per_ack > 64 * MAX_MEAN_PER_ACK_UNTHINNED => more,
            // The careful assumption.
            None => most,
        }
    }

    /// Reads the option; returns by how much the bytes with congestion marks grew, `None` if that is undecided.
    fn read_option(&mut self, feedback: &Feedback, delivered: u32, sent: u64) -> Option<u32> {
        self.see_option(feedback.option.as_ref());
        if !self.option_seen && sent >= MAX_BYTES_BEFORE_OPTION {
            self.option_ignored = true;
        }
        if self.option_ignored {
            return None;
        }
        let Some(option) = &feedback.option else {
            let usual = self.usual?;
            self.bytes.add(usual, delivered);
            return Some(if usual == Ecn::Congestion {
                delivered
            } else {
                0
            });
        };
        let before = self.bytes.get(Ecn::Congestion);
        let mut grown = None;
        let mut growing = 0;
        for (mark, counter) in option.counters() {
            let more = signed_24(
                counter
                    .wrapping_sub(first_bytes(mark))
                    .wrapping_sub(self.bytes.get(mark)),
            );
            self.bytes.add(mark, more.cast_unsigned());
            if more < 0 {
                self.usual = None;
                return None;
            }
            if more > 0 {
                grown = Some(mark);
                growing += 1;
            }
        }
        match growing {
            0 => {}
            1 => self.usual = grown,
            _ => self.usual = None,
        }
        Some(self.bytes.get(Ecn::Congestion).wrapping_sub(before))
    }
}

/// The lowest 24 bits as a signed number.
fn signed_24(value: u32) -> i32 {
    (value << 8).cast_signed() >> 8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feedback(ce_packets: u32, option: Option<EcnOption>) -> Feedback {
        Feedback {
            ace: ((ce_packets + FIRST_CE_PACKETS) % ACE) as u8,
            option,
            newest: true,
        }
    }

    fn delivered(packets: u32) -> DeliveredNow {
        DeliveredNow {
            packets,
            bytes: 1000 * packets,
        }
    }

    fn option(bytes: &ByMark) -> Option<EcnOption> {
        Some(EcnOption::of(bytes, 3))
    }

    #[test]
    fn few_packets_leave_no_doubt() {
        let mut reported = Reported::default();
        let mut marked = 0;
        for n in 0..100 {
            marked += n % 8;
            assert_eq!(
                reported.read(&feedback(marked, None), delivered(7), 0),
                n % 8
            );
        }
        assert_eq!(reported.ce_packets, marked);
    }

    #[test]
    fn without_the_option_as_many_as_possible_unless_long_acknowledgements_are_usual() {
        let mut reported = Reported::default();
        assert_eq!(reported.read(&feedback(0, None), delivered(1), 0), 0);
        assert_eq!(reported.read(&feedback(1, None), delivered(10), 0), 9);
        let mut reported = Reported::default();
        assert_eq!(reported.read(&feedback(1, None), delivered(10), 0), 1);
    }

    /// The option says which of the possible numbers is meant, whatever the number of packets and of marks among them.
    #[test]
    fn the_option_resolves_wraps() {
        for packets in 8..60 {
            for marked in 0..=packets {
                let mut reported = Reported::default();
                let mut bytes = ByMark::default();
                bytes.add(Ecn::Capable0, 1000);
                reported.read(&feedback(0, option(&bytes)), delivered(1), 0);
                bytes.add(Ecn::Capable0, 1000 * (packets - marked));
                bytes.add(Ecn::Congestion, 1000 * marked);
                let read = reported.read(&feedback(marked, option(&bytes)), delivered(packets), 0);
                assert_eq!(read, marked, "{marked} of {packets}");
            }
        }
    }

    #[test]
    fn bytes_without_an_option_arrived_as_those_before() {
        let mut reported = Reported::default();
        let mut bytes = ByMark::default();
        bytes.add(Ecn::Capable0, 1000);
        reported.read(&feedback(0, option(&bytes)), delivered(1), 0);
        reported.read(&feedback(0, None), delivered(2), 0);
        assert_eq!(reported.bytes.get(Ecn::Capable0), 3000);
        bytes.add(Ecn::Capable0, 2000);
        bytes.add(Ecn::Congestion, 500);
        reported.read(&feedback(1, option(&bytes)), delivered(1), 0);
        assert_eq!(reported.bytes, bytes);
    }

    #[test]
    fn counters_of_24_bits_wrap() {
        let mut reported = Reported::default();
        let mut bytes = ByMark::default();
        for _ in 0..20 {
            bytes.add(Ecn::Congestion, 3_000_000);
            reported.read(&feedback(0, option(&bytes)), delivered(1), 0);
        }
        assert_eq!(reported.bytes, bytes);
    }

    #[test]
    fn an_option_that_the_path_clears_or_that_comes_too_late_is_not_read() {
        let cleared = Some(EcnOption::new(true, &[0, 0, 0]));
        let mut reported = Reported::default();
        reported.read(&feedback(0, cleared), delivered(1), 0);
        assert!(reported.option_seen);
        let mut bytes = ByMark::default();
        bytes.add(Ecn::Congestion, 1000);
        reported.read(&feedback(1, option(&bytes)), delivered(1), 0);
        assert_eq!(
            (reported.ce_packets, reported.bytes.get(Ecn::Congestion)),
            (1, 0)
        );

        let mut reported = Reported::default();
        reported.read(&feedback(0, None), delivered(1), MAX_BYTES_BEFORE_OPTION);
        reported.read(
            &feedback(1, option(&bytes)),
            delivered(1),
            MAX_BYTES_BEFORE_OPTION,
        );
        assert_eq!(reported.bytes.get(Ecn::Congestion), 0);
    }
}
