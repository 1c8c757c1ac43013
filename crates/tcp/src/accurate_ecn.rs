//! Accurate ECN on the wire (RFC 9768): the option, its initial values, and what the ACE field says in the handshake.
//!
//! Classic ECN (RFC 3168) tells a sender once per round trip that something was marked. Accurate ECN tells how much: every
//! segment carries a counter of marked packets in three flags, and an option carries counters of bytes. The receiver's half
//! is `endpoint/accurate.rs`, the sender's `sender/accurate.rs`.

use std::fmt;

use crate::segment::Ecn;

/// The counter of marked packets begins with this (section 3.2.1), so that a field of zeros shows that the path clears it.
pub(crate) const FIRST_CE_PACKETS: u32 = 5;

/// Bytes of the option without counters, and of each counter.
const KIND_AND_LENGTH: u32 = 2;
const COUNTER: u32 = 3;
/// Bytes of options in a header.
const OPTION_SPACE: u32 = 40;

/// What a counter of bytes begins with (section 3.2.1), so that a path that clears the option is noticed.
pub(crate) fn first_bytes(mark: Ecn) -> u32 {
    u32::from(matches!(mark, Ecn::Capable0 | Ecn::Capable1))
}

/// Bytes of payload that arrived with each mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ByMark([u32; 3]);

impl ByMark {
    fn at(mark: Ecn) -> Option<usize> {
        match mark {
            Ecn::NotCapable => None,
            Ecn::Capable1 => Some(0),
            Ecn::Congestion => Some(1),
            Ecn::Capable0 => Some(2),
        }
    }

    pub(crate) fn get(&self, mark: Ecn) -> u32 {
        Self::at(mark).map_or(0, |at| self.0[at])
    }

    /// Counters wrap; only their differences matter.
    pub(crate) fn add(&mut self, mark: Ecn, bytes: u32) {
        if let Some(at) = Self::at(mark) {
            self.0[at] = self.0[at].wrapping_add(bytes);
        }
    }
}

/// Counters of the option, ECT(1) first, that are needed to report this mark.
pub(crate) fn counters_for(mark: Ecn) -> usize {
    ByMark::at(mark).map_or(0, |at| at + 1)
}

/// The option (section 3.2.3): bytes of payload that arrived with each mark, 24 bits each. It ends early if other options
/// need the room.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct EcnOption {
    ect1_first: bool,
    count: u8,
    counters: [u32; 3],
}

impl EcnOption {
    const MAX: u32 = 0x00ff_ffff;

    /// With these counters, at most three: of ECT(1), CE and ECT(0) if `ect1_first` (kind 174), else of ECT(0), CE and ECT(1)
    /// (kind 172).
    pub fn new(ect1_first: bool, counters: &[u32]) -> Self {
        let mut option = Self {
            ect1_first,
            count: counters.len().min(3) as u8,
            counters: [0; 3],
        };
        for (slot, counter) in option.counters.iter_mut().zip(counters) {
            *slot = counter & Self::MAX;
        }
        option
    }

    /// The first `count` counters, as this stack sends them.
    pub(crate) fn of(bytes: &ByMark, count: usize) -> Self {
        let sent = |mark| bytes.get(mark).wrapping_add(first_bytes(mark));
        let counters = [Ecn::Capable1, Ecn::Congestion, Ecn::Capable0].map(sent);
        Self::new(true, &counters[..count.min(3)])
    }

    /// Kind of the option.
    pub fn kind(&self) -> u8 {
        if self.ect1_first { 174 } else { 172 }
    }

    /// Each mark with its counter, in the order of the option.
    pub fn counters(&self) -> impl Iterator<Item = (Ecn, u32)> {
        let order = match self.ect1_first {
            true => [Ecn::Capable1, Ecn::Congestion, Ecn::Capable0],
            false => [Ecn::Capable0, Ecn::Congestion, Ecn::Capable1],
        };
        let count = usize::from(self.count);
        order.into_iter().zip(self.counters).take(count)
    }

    /// Bytes without padding.
    pub fn bytes(&self) -> u32 {
        KIND_AND_LENGTH + COUNTER * u32::from(self.count)
    }

    /// Bytes with padding to multiples of four. Beside SACK it takes the place of up to two bytes of padding there.
    pub fn padded_bytes(&self, beside_sack: bool) -> u32 {
        padded(u32::from(self.count), beside_sack)
    }

    /// True if a counter that never begins with 0 is 0: something on the path clears the option (section 3.2.3.2.4).
    pub(crate) fn is_cleared(&self) -> bool {
        self.counters()
            .any(|(mark, counter)| counter == 0 && first_bytes(mark) > 0)
    }
}

fn padded(count: u32, beside_sack: bool) -> u32 {
    let bytes = KIND_AND_LENGTH + COUNTER * count;
    match bytes % 4 {
        rest if beside_sack && rest <= 2 => bytes - rest,
        _ => bytes.next_multiple_of(4),
    }
}

/// How many counters and SACK blocks fit beside the other options: as many counters as possible, at least `needed`, for which
/// blocks are given up as long as two remain. Without room for the option all blocks stay.
pub(crate) fn fit(needed: usize, others: u32, blocks: usize) -> (Option<usize>, usize) {
    let fewest = if needed > 0 { blocks.min(2) } else { blocks };
    for kept in (fewest..=blocks).rev() {
        let sack = match kept {
            0 => 0,
            _ => 4 + 8 * kept as u32,
        };
        let room = OPTION_SPACE.saturating_sub(others + sack);
        let fits = |&count: &usize| padded(count as u32, kept > 0) <= room;
        if let Some(count) = (needed..=3).rev().find(fits) {
            return (Some(count), kept);
        }
    }
    (None, blocks)
}

impl fmt::Display for EcnOption {
    /// As packetdrill writes it: `ECN e1b 1 ceb 0 e0b 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ECN")?;
        for (mark, counter) in self.counters() {
            let name = match mark {
                Ecn::Capable1 => "e1b",
                Ecn::Capable0 => "e0b",
                _ => "ceb",
            };
            write!(f, " {name} {counter}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for EcnOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The ACE field that answers a SYN or SYN-ACK which arrived with this mark (sections 3.1.1 and 3.2.2.1).
pub(crate) fn handshake_ace(mark: Ecn) -> u8 {
    match mark {
        Ecn::NotCapable => 0b010,
        Ecn::Capable1 => 0b011,
        Ecn::Capable0 => 0b100,
        Ecn::Congestion => 0b110,
    }
}

/// The mark that such a field reports; `None` for the other values.
pub(crate) fn reported_mark(ace: u8) -> Option<Ecn> {
    let marks = [
        Ecn::NotCapable,
        Ecn::Capable1,
        Ecn::Capable0,
        Ecn::Congestion,
    ];
    marks.into_iter().find(|&mark| handshake_ace(mark) == ace)
}

/// True if routers may change the mark `sent` into `arrived` (section 3.2.2.3): nothing but a capable packet becomes
/// marked. That ECT(0) becomes ECT(1) or the other way round does no harm.
pub(crate) fn possible(sent: Ecn, arrived: Ecn) -> bool {
    let capable = |mark| matches!(mark, Ecn::Capable0 | Ecn::Capable1);
    sent == arrived || (capable(sent) && arrived != Ecn::NotCapable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_takes_the_place_of_padding() {
        let bytes = |count: usize, beside_sack| {
            EcnOption::new(true, &[1, 2, 3][..count]).padded_bytes(beside_sack)
        };
        assert_eq!([0, 1, 2, 3].map(|count| bytes(count, false)), [4, 8, 8, 12]);
        assert_eq!([0, 1, 2, 3].map(|count| bytes(count, true)), [0, 4, 8, 12]);
    }

    #[test]
    fn blocks_make_room_for_counters_that_have_changed() {
        // Without timestamps everything fits beside three blocks, and two counters need the room of a fourth.
        assert_eq!(fit(0, 0, 3), (Some(3), 3));
        assert_eq!(fit(0, 0, 4), (Some(1), 4));
        assert_eq!(fit(2, 0, 4), (Some(3), 3));
        // With timestamps: two blocks remain, or nothing is given up.
        assert_eq!(fit(1, 12, 2), (Some(2), 2));
        assert_eq!(fit(2, 12, 3), (Some(2), 2));
        assert_eq!(fit(3, 12, 3), (None, 3));
        assert_eq!(fit(0, 12, 3), (Some(0), 3));
    }

    #[test]
    fn counters_have_24_bits_and_begin_above_zero() {
        let mut bytes = ByMark::default();
        bytes.add(Ecn::Capable0, 0x0100_0005);
        bytes.add(Ecn::Congestion, 7);
        bytes.add(Ecn::NotCapable, 9);
        let option = EcnOption::of(&bytes, 3);
        assert_eq!(option.to_string(), "ECN e1b 1 ceb 7 e0b 6");
        assert!(!option.is_cleared());
        assert!(EcnOption::new(false, &[0, 0, 1]).is_cleared());
        assert!(!EcnOption::new(false, &[1, 0]).is_cleared());
    }

    /// RFC 9768 section 3.1.1: every mark has a field of its own.
    #[test]
    fn the_handshake_reports_marks() {
        for mark in [
            Ecn::NotCapable,
            Ecn::Capable0,
            Ecn::Capable1,
            Ecn::Congestion,
        ] {
            assert_eq!(reported_mark(handshake_ace(mark)), Some(mark));
        }
        assert_eq!([0, 1, 5, 7].map(reported_mark), [None, None, None, None]);
        assert!(possible(Ecn::Capable0, Ecn::Congestion));
        assert!(!possible(Ecn::NotCapable, Ecn::Congestion));
        assert!(!possible(Ecn::Congestion, Ecn::Capable0));
    }
}
