//! A sample of packets that both captures draw alike without knowing of each other.

use std::collections::BTreeMap;

use inorder_wire::{Has, Segment, TcpFlags};

/// Packets kept for each direction of a connection.
const PACKETS_KEPT_PER_DIRECTION: usize = 256;

/// The packets with the smallest fingerprints, and when they were captured.
///
/// Both ends keep the smallest, so what they keep is mostly the same packets (coordinated
/// "bottom-k" sampling), in memory that does not grow with the capture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    /// Fingerprint to time; `None` when several packets share it.
    kept: BTreeMap<u64, Option<i64>>,
}

impl Sample {
    pub(crate) fn push(&mut self, seg: &Segment) {
        self.note(fingerprint(seg), seg.ts_ns);
    }

    /// Adds a packet by its distances from the initial sequence numbers of both directions, this one's
    /// first: what stays when something on the path numbers a connection anew.
    pub(crate) fn push_relative(&mut self, seg: &Segment, isns: [u32; 2]) {
        if let Some(print) = relative_fingerprint(seg, isns) {
            self.note(print, seg.ts_ns);
        }
    }

    /// Fingerprints kept.
    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    /// The fingerprints that belong to one packet alone.
    pub(crate) fn prints(&self) -> impl Iterator<Item = u64> {
        self.kept
            .iter()
            .filter_map(|(&print, time)| time.map(|_| print))
    }

    fn note(&mut self, print: u64, ts_ns: i64) {
        if self.kept.len() >= PACKETS_KEPT_PER_DIRECTION {
            match self.kept.last_key_value() {
                Some((&largest, _)) if print <= largest => {}
                _ => return,
            }
        }
        self.kept
            .entry(print)
            .and_modify(|time| *time = None)
            .or_insert(Some(ts_ns));
        if self.kept.len() > PACKETS_KEPT_PER_DIRECTION {
            self.kept.pop_last();
        }
    }

    /// For each packet that is in both samples once, `there`'s time minus this one's, ascending.
    pub(crate) fn differences(&self, there: &Sample) -> Vec<i64> {
        let mut all: Vec<i64> = self
            .kept
            .iter()
            .filter_map(|(print, &here)| Some((here?, (*there.kept.get(print)?)?)))
            .map(|(here, there)| there.saturating_sub(here))
            .collect();
        all.sort_unstable();
        all
    }
}

/// What no host on the path changes. Lengths are left out: offloads join packets, but leave the
/// first one's numbers; and so is the IP identification, which translators rewrite.
fn fingerprint(seg: &Segment) -> u64 {
    let sack = seg.sack_blocks().first().copied().unwrap_or_default();
    let words = [
        u64::from(seg.seq) << 32 | u64::from(seg.ack),
        u64::from(seg.tsval) << 32 | u64::from(seg.tsecr),
        u64::from(sack.0) << 32 | u64::from(sack.1),
        u64::from(seg.payload_len > 0) << 1 | u64::from(seg.sack_len > 0),
    ];
    hash(&words)
}

/// What a host that numbers anew leaves: distances, and the timestamps; without those the IPv4
/// identification. `None` when nothing but distances is left, which other connections share.
/// SACK blocks are left out: not every such host rewrites them.
fn relative_fingerprint(seg: &Segment, [own, other]: [u32; 2]) -> Option<u64> {
    let mark = if seg.has(Has::TIMESTAMPS) {
        u64::from(seg.tsval) << 32 | u64::from(seg.tsecr)
    } else if seg.has(Has::IP_ID) && seg.ip_id != 0 {
        u64::from(seg.ip_id)
    } else {
        return None;
    };
    let acked = if seg.flags.any(TcpFlags::ACK) {
        seg.ack.wrapping_sub(other)
    } else {
        0
    };
    let distances = u64::from(seg.seq.wrapping_sub(own)) << 32 | u64::from(acked);
    Some(hash(&[distances, mark, u64::from(seg.payload_len > 0)]))
}

fn hash(words: &[u64]) -> u64 {
    words
        .iter()
        .fold(0x243f_6a88_85a3_08d3, |hash, &word| mix(hash ^ word))
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): one to one, every bit of the result
/// depends on every bit of the argument.
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ends_of_a_long_flow_keep_the_same_packets_though_a_tenth_is_lost() {
        let (mut here, mut there) = (Sample::default(), Sample::default());
        for i in 0..20_000u32 {
            let seg = Segment {
                seq: i.wrapping_mul(1448),
                ts_ns: i64::from(i) * 1_000,
                ..Segment::default()
            };
            here.push(&seg);
            if i % 10 != 3 {
                let ts_ns = seg.ts_ns + 7_000_000 + i64::from(i % 5);
                there.push(&Segment { ts_ns, ..seg });
            }
        }
        let all = here.differences(&there);
        assert!(
            all.len() > 200 && all.len() <= PACKETS_KEPT_PER_DIRECTION,
            "{}",
            all.len()
        );
        assert_eq!(all.first(), Some(&7_000_000));
        assert_eq!(all.last(), Some(&7_000_004));
    }

    #[test]
    fn a_packet_seen_twice_tells_no_time() {
        let seg = Segment::default();
        let (mut here, mut there) = (Sample::default(), Sample::default());
        here.push(&seg);
        here.push(&seg);
        there.push(&seg);
        assert!(here.differences(&there).is_empty());
    }
}
