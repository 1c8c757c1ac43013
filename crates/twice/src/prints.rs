//! Prints of the latest packets, by which a frame that was captured twice is known.

use std::collections::VecDeque;

use inorder_wire::{Has, Segment, TcpFlags};

use crate::MAX_APART_NS;

/// The latest packets of one direction, to recognise a frame that was captured twice.
#[derive(Clone, Debug, Default)]
#[repr(C)] // First what every packet needs: see `Side`.
pub struct Recent {
    /// Once there were many packets, prints of the latest by their [residue](Self::residue), in each the latest first: a frame
    /// may be captured again milliseconds later, hundreds of packets on.
    older: Option<Box<Older>>,
    packets: u8,
    /// The capture holds each frame so many times; 0 where that is not so.
    copies: u8,
    /// Time to live of the latest packet that came for the first time.
    ttl: u8,
    /// Those of the first packets.
    prints: FirstPrints,
    /// Prints of frames with the number of their duplicate frames still to come, where the capture holds each several times.
    single: VecDeque<(u32, u8)>,
}

heap!(Recent: older, single);

/// A packet that came by.
#[derive(Clone, Copy, Debug, Default)]
struct Print {
    /// Half of what [`Recent::print_of`] makes of it.
    short: u32,
    /// When, in units of 1,024 ns: it comes round after 73 minutes, and tells apart what is 36 minutes apart.
    at: u32,
}

impl Print {
    fn new(print: u64, ts_ns: i64) -> Self {
        Print {
            short: (print >> 32) as u32,
            at: (ts_ns >> 10) as u32,
        }
    }

    /// How long before `later` it came, or after it where the file has another order, nanoseconds.
    fn age_ns(self, later: Print) -> i64 {
        i64::from((later.at.wrapping_sub(self.at) as i32).unsigned_abs()) << 10
    }
}

/// Prints of the older packets. The table grows with their number: most of many connections have few packets.
#[derive(Clone, Debug)]
struct Older {
    /// A power of two, at most [`SETS`].
    sets: Vec<Set>,
    packets: usize,
}

heap!(Older: sets);

impl Older {
    fn new() -> Self {
        Older {
            sets: vec![Set::default(); FIRST_SETS],
            packets: 0,
        }
    }

    /// Where a packet with this residue is remembered.
    #[inline]
    fn set(&mut self, residue: u16) -> &mut Set {
        let at = usize::from(residue) & (self.sets.len() - 1);
        &mut self.sets[at]
    }

    /// One more packet is remembered.
    #[inline]
    fn count(&mut self) {
        if self.sets.len() == SETS {
            return; // It does not grow any more.
        }
        self.packets += 1;
        if self.packets > self.sets.len() {
            // A residue that fell on one set falls on it or on the one as far behind the middle.
            self.sets.extend_from_within(..);
        }
    }
}

/// Two that share a place: random identifications fall on places that were taken a moment ago.
type Set = [Print; OLDER_PACKETS / SETS];
/// Prints of the first packets of a connection, in the order in which they come.
type FirstPrints = [Print; FIRST_PACKETS];

/// Packets remembered by their identification; a power of two. Those of a hundred connections fit into a processor's
/// second cache, 4 KiB each.
const OLDER_PACKETS: usize = 512;
const SETS: usize = OLDER_PACKETS / 2;
/// Sets at first.
const FIRST_SETS: usize = 32;
/// Packets before that: most connections are shorter and need not pay for it.
const FIRST_PACKETS: usize = 24;
/// Number of packets behind these that are compared with them.
const LAST_BEHIND_FIRST: u8 = 96;
/// Frames that wait for their second capture: milliseconds at 1 Gbit/s.
const MAX_SINGLE_FRAMES: usize = 1_024;

impl Recent {
    /// What two captures of one packet share, mixed into 64 bits.
    #[inline]
    fn print_of(seg: &Segment) -> u64 {
        // Pairs that are not neighbours in a segment: of neighbours the compiler makes one load, which must wait until
        // the two stores that have just been made are in the cache.
        let sequence = u64::from(seg.seq) | u64::from(seg.payload_len) << 32;
        let answer = u64::from(seg.ack) | u64::from(seg.tsval) << 32;
        let rest = u64::from(seg.ip_id) << 8 | u64::from(seg.flags.0);
        // What tells duplicate ACKs apart that a host without identifications sends within a tick of its clock.
        let news = match seg.payload_len {
            0 => {
                let reported = seg
                    .sack_blocks()
                    .first()
                    .map_or(0, |&(left, right)| u64::from(left) << 32 | u64::from(right));
                (reported ^ u64::from(seg.window)).wrapping_mul(0xd6e8_feb8_6659_fd93)
            }
            _ => 0,
        };
        // Odd constants with bits spread evenly, so that no part can cancel out another.
        sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ answer.wrapping_mul(0xa409_3822_299f_31d1)
            ^ rest << 36
            ^ news
    }

    /// Where a packet is remembered among the older ones.
    #[inline]
    fn residue(seg: &Segment, print: u64) -> u16 {
        // Hosts that never fragment may leave the identification at zero: then bits of the print
        // serve: not its lowest, which repeat soon where segments are of equal size.
        match seg.ip_id {
            0 => (print >> 20) as u16,
            // Some count in the other order of bytes, so that the lower one stays the same for long.
            id => id ^ id >> 8,
        }
    }

    /// Remembers a packet. If a packet that is the same byte for byte came before it, as far as the headers show, how long
    /// ago, nanoseconds. Among the first packets it is only looked for on request (`search`).
    #[inline(always)]
    pub fn push(&mut self, seg: &Segment, search: bool) -> Option<i64> {
        let print = Self::print_of(seg);
        let new = Print::new(print, seg.ts_ns);
        let Some(older) = &mut self.older else {
            return self.push_first(seg, search, print);
        };
        let set = older.set(Self::residue(seg, print));
        let [latest, before] = *set;
        if latest.short == new.short || before.short == new.short {
            let same = if latest.short == new.short {
                latest
            } else {
                before
            };
            return Some(same.age_ns(new)).filter(|_| Self::is_marked(seg));
        }
        *set = [new, latest];
        older.count();
        if search && self.packets < LAST_BEHIND_FIRST {
            // A second capture of one of the first may come yet.
            self.packets += 1;
            let first = self.prints.iter().find(|p| p.short == new.short);
            return first
                .filter(|_| Self::is_marked(seg))
                .map(|p| p.age_ns(new));
        }
        None
    }

    /// `seg`, which is the same as a packet before, was sent again: duplicate frames of it come behind this time.
    #[cold]
    pub fn renew(&mut self, seg: &Segment) {
        let print = Self::print_of(seg);
        let new = Print::new(print, seg.ts_ns);
        let residue = Self::residue(seg, print);
        let older = self.older.iter_mut().flat_map(|older| older.set(residue));
        let first = self.prints.iter_mut().take(self.packets.into());
        let same = first.chain(older).find(|p| p.short == new.short);
        if let Some(print) = same {
            *print = new;
        }
    }

    fn push_first(&mut self, seg: &Segment, search: bool, print: u64) -> Option<i64> {
        let new = Print::new(print, seg.ts_ns);
        let count = usize::from(self.packets);
        let same = |p: &&Print| p.short == new.short;
        if search
            && Self::is_marked(seg)
            && let Some(first) = self.prints.iter().take(count).find(same)
        {
            return Some(first.age_ns(new));
        }
        match self.prints.get_mut(count) {
            Some(slot) => {
                *slot = new;
                self.packets += 1;
            }
            None => self.remember_more(seg, print),
        }
        None
    }

    #[cold]
    fn remember_more(&mut self, seg: &Segment, print: u64) {
        let older = self.older.insert(Box::new(Older::new()));
        older.set(Self::residue(seg, print))[0] = Print::new(print, seg.ts_ns);
    }

    /// The identification, or, where a host does not use it, the timestamp of data, of a SYN or FIN can tell a packet
    /// from one that was sent later; of data without either the time may. Several duplicate ACKs may be alike.
    fn is_marked(seg: &Segment) -> bool {
        let control = TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST;
        let stamped = seg.has(Has::TIMESTAMPS) && seg.flags.any(control);
        seg.ip_id != 0 || seg.payload_len > 0 || stamped
    }

    /// A packet came that is no duplicate frame.
    #[inline]
    pub fn note_ttl(&mut self, seg: &Segment) {
        self.ttl = seg.ttl;
    }

    /// How many routers more the packet has passed than the one before it, modulo 256, each of which takes one of its time to live (RFC 791
    /// section 3.2), as where a capture holds frames from before and from behind a router; `None` if it has passed as many.
    pub fn passed_more_routers(&self, seg: &Segment) -> Option<u8> {
        let known = self.ttl != 0 && seg.ttl != 0;
        Some(self.ttl.wrapping_sub(seg.ttl)).filter(|&hops| known && hops != 0)
    }

    /// The packet came before, not long ago: asked of a part of a merged frame.
    pub fn contains(&self, seg: &Segment) -> bool {
        Self::is_marked(seg) && self.ages_ns(seg).any(|ns| ns <= MAX_APART_NS)
    }

    /// The packet came before, at the time that it has.
    pub fn came_at_this_time(&self, seg: &Segment) -> bool {
        self.ages_ns(seg).any(|ns| ns == 0)
    }

    /// How long before `seg` the packets like it came that are remembered, nanoseconds.
    fn ages_ns(&self, seg: &Segment) -> impl Iterator<Item = i64> {
        let print = Self::print_of(seg);
        let new = Print::new(print, seg.ts_ns);
        let residue = usize::from(Self::residue(seg, print));
        let sets = self.older.iter().map(|older| &older.sets);
        let older = sets
            .flat_map(move |sets| sets.get(residue & (sets.len() - 1)))
            .flatten()
            .copied();
        let first = self.prints.iter().take(self.packets.into()).copied();
        let like = first.chain(older).filter(move |p| p.short == new.short);
        like.map(move |p| p.age_ns(new))
    }

    /// From now on, of `copies` equal frames without an identification all but the first are duplicates made by the capture.
    pub fn note_copied(&mut self, copies: u8) {
        self.copies = copies;
    }

    /// True for a further capture of a frame without an identification, where each was captured several times.
    #[inline]
    pub fn take_twin(&mut self, seg: &Segment) -> bool {
        self.copies > 1 && seg.ip_id == 0 && self.take(seg)
    }

    /// True when a frame like this one waits for its second capture, and no longer does: what comes in pairs is counted in
    /// pairs, and of four like ACKs two are left.
    #[cold]
    fn take(&mut self, seg: &Segment) -> bool {
        let print = (Self::print_of(seg) >> 32) as u32;
        // They come in the order of the first captures.
        if let Some(at) = self.single.iter().position(|p| p.0 == print) {
            self.single[at].1 -= 1;
            if self.single[at].1 == 0 {
                self.single.remove(at);
            }
            return true;
        }
        if self.single.len() == MAX_SINGLE_FRAMES {
            self.single.pop_front();
        }
        self.single.push_back((print, self.copies - 1));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_known_again_hundreds_of_packets_later_whatever_its_identification() {
        let identifications: [fn(u32) -> u16; 3] =
            [|n| n as u16, |n| (n as u16).swap_bytes(), |_| 0];
        for id in identifications {
            let mut recent = Recent::default();
            let packet = |n: u32| {
                segment!(
                    ts_ns: i64::from(n) * 10_000, seq: n * 1_000, payload_len: 1_000, ip_id: id(n),
                    tsval: 7, has: Has::IP_ID | Has::TIMESTAMPS
                )
            };
            (0..2_000).for_each(|n| {
                recent.push(&packet(n), true);
            });
            let known = (1_750..2_000).filter(|&n| recent.contains(&packet(n)));
            // Without a counter the places are random, and later packets may have taken one.
            let least = if id(1) > 0 { 250 } else { 175 };
            let known = known.count();
            assert!(known >= least, "{known}, as {}", id(1));
            assert!((2_000..9_000).all(|n| !recent.contains(&packet(n))));
        }
    }

    #[test]
    fn another_packet_on_the_same_place_does_not_hide_that_one_comes_again() {
        let packet = |ts_ns, seq, ip_id| {
            segment!(
                ts_ns, seq, payload_len: 100, ip_id, has: Has::IP_ID
            )
        };
        let mut recent = Recent::default();
        for n in 0..40 {
            recent.push(&packet(0, n, 9), true);
        }
        assert_eq!(recent.push(&packet(0, 100, 40), true), None);
        assert_eq!(recent.push(&packet(0, 200, 40 + 512), true), None);
        let again = packet(1 << 20, 100, 40);
        assert_eq!(recent.push(&again, true), Some(1 << 20));
    }

    #[test]
    fn how_long_ago_a_like_packet_came_is_known() {
        let packet = |ts_ns| segment!(ts_ns, payload_len: 9, ip_id: 5, has: Has::IP_ID);
        let mut recent = Recent::default();
        assert_eq!(recent.push(&packet(0), true), None);
        assert_eq!(recent.push(&packet(1 << 20), true), Some(1 << 20));
        (0..100).for_each(|i| {
            let seq = i * 9;
            recent.push(
                &Segment {
                    seq,
                    ip_id: 900,
                    ..packet(0)
                },
                false,
            );
        });
        assert_eq!(
            recent.push(&packet(2 << 20), false),
            None,
            "among the first"
        );
        assert_eq!(recent.push(&packet(9 << 20), false), Some(7 << 20));
    }
}
