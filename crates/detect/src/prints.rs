//! Prints of the latest packets, by which a frame that was captured twice is known.

use std::collections::VecDeque;

use inorder_wire::{Has, Segment, TcpFlags};

/// The latest packets of one direction, to recognise a frame that was captured twice.
#[derive(Clone, Debug, Default)]
#[repr(C)] // First what every packet needs: see `Side`.
pub(crate) struct Recent {
    /// Once there were many packets, prints of the latest by their [`place`](Self::place): a frame
    /// may be captured again milliseconds later, hundreds of packets on.
    older: Option<Box<[u32; OLDER_PACKETS]>>,
    packets: u8,
    /// The capture holds each frame twice.
    doubled: bool,
    /// Those of the first packets.
    prints: FirstPrints,
    /// Prints of frames that came once, where each comes twice.
    single: VecDeque<u32>,
}

/// As many of the first packets are remembered as they come.
#[derive(Clone, Debug)]
struct FirstPrints([u32; FIRST_PACKETS]);

impl Default for FirstPrints {
    fn default() -> Self {
        FirstPrints([0; FIRST_PACKETS])
    }
}

/// Packets remembered by their identification; a power of two. Those of a hundred connections fit into a processor's
/// second cache, 4 KiB each.
const OLDER_PACKETS: usize = 1_024;
/// Packets before that: most connections are shorter and need not pay for it.
const FIRST_PACKETS: usize = 48;
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
    fn place(seg: &Segment, print: u64) -> usize {
        // Hosts that never fragment may leave the identification at zero: then bits of the print
        // serve: not its lowest, which repeat soon where segments are of equal size.
        let residue = if seg.ip_id == 0 {
            (print >> 20) as u16
        } else {
            seg.ip_id
        };
        usize::from(residue) % OLDER_PACKETS
    }

    /// Remembers a packet.
    #[inline]
    pub(crate) fn push(&mut self, seg: &Segment) {
        let print = Self::print_of(seg);
        if let Some(older) = &mut self.older {
            older[Self::place(seg, print)] = (print >> 32) as u32;
        } else if let Some(first) = self.prints.0.get_mut(usize::from(self.packets)) {
            *first = (print >> 32) as u32;
            self.packets += 1;
        } else {
            self.remember_more(seg, print);
        }
    }

    #[cold]
    fn remember_more(&mut self, seg: &Segment, print: u64) {
        let older = self.older.insert(Box::new([0; OLDER_PACKETS]));
        older[Self::place(seg, print)] = (print >> 32) as u32;
    }

    /// True when the very same packet came by before. The identification proves it, or, where a
    /// host does not use it, the timestamp of data, of a SYN or FIN: a retransmission would be stamped later. Several
    /// duplicate ACKs may bear the same one.
    pub(crate) fn contains(&self, seg: &Segment) -> bool {
        let control = TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST;
        let numbered = seg.payload_len > 0 || seg.flags.any(control);
        let marked = seg.ip_id != 0 || (seg.has(Has::TIMESTAMPS) && numbered);
        let print = Self::print_of(seg);
        let short = (print >> 32) as u32;
        let older = || {
            let older = self.older.as_ref();
            older.is_some_and(|o| o[Self::place(seg, print)] == short)
        };
        let first = &self.prints.0[..usize::from(self.packets)];
        seg.has(Has::IP_ID) && marked && (first.contains(&short) || older())
    }

    /// From now on every second one of two like frames without an identification is taken for a frame captured twice.
    pub(crate) fn note_doubled(&mut self) {
        self.doubled = true;
    }

    /// True for the second capture of a frame without an identification, where each was captured twice.
    #[inline]
    pub(crate) fn take_twin(&mut self, seg: &Segment) -> bool {
        self.doubled && seg.ip_id == 0 && self.take(seg)
    }

    /// True when a frame like this one waits for its second capture, and no longer does: what comes in pairs is counted in
    /// pairs, and of four like ACKs two are left.
    #[cold]
    fn take(&mut self, seg: &Segment) -> bool {
        let print = (Self::print_of(seg) >> 32) as u32;
        // They come in the order of the first captures.
        if let Some(at) = self.single.iter().position(|p| *p == print) {
            self.single.remove(at);
            return true;
        }
        if self.single.len() == MAX_SINGLE_FRAMES {
            self.single.pop_front();
        }
        self.single.push_back(print);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_known_again_hundreds_of_packets_later_whatever_its_identification() {
        for counts in [true, false] {
            let mut recent = Recent::default();
            let packet = |n: u32| Segment {
                seq: n * 1_000,
                payload_len: 1_000,
                ip_id: if counts { n as u16 } else { 0 },
                tsval: 7,
                has: Has::IP_ID | Has::TIMESTAMPS,
                ..Segment::default()
            };
            (0..2_000).for_each(|n| recent.push(&packet(n)));
            let known = (1_500..2_000).filter(|&n| recent.contains(&packet(n)));
            // Without a counter the places are random, and later packets may have taken one.
            let least = if counts { 500 } else { 350 };
            let known = known.count();
            assert!(known >= least, "{known}, counts: {counts}");
            assert!((2_000..9_000).all(|n| !recent.contains(&packet(n))));
        }
    }
}
