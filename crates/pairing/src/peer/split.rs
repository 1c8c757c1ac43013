//! Super-segments (TSO, GRO) cut back into the segments that were on the wire.

use inorder_base::sequence::Offsets;

use super::recorder::{DataFrame, Way};

/// Payload and options of full segments on Ethernet, with an MTU of 1,500 and of 9,000.
const FULL_PAYLOADS_ON_ETHERNET: [u32; 2] = [1_460, 8_960];
/// Smallest segment size that Linux accepts (`TCP_MIN_SND_MSS`).
const MIN_SEGMENT_SIZE: u32 = 48;
/// Larger frames are not super-segments but broken: even BIG TCP ends at 512 KiB.
const MAX_SUPER_SEGMENT: u32 = 1 << 20;

/// One segment of one captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Piece {
    /// Bytes from the flow's first data byte.
    pub(crate) start: i64,
    pub(crate) len: u32,
    pub(crate) seq: u32,
    /// Index of its frame.
    pub(crate) frame: u32,
    pub(crate) ip_id: u16,
}

impl Piece {
    pub(crate) fn end(&self) -> i64 {
        self.start + i64::from(self.len)
    }
}

/// The segments of `frames`, `limit` being payload and options of a full one.
pub(crate) fn split(frames: &[DataFrame], limit: u32, base: u32) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(frames.len());
    let mut unwrap = Offsets::new(base);
    for (index, frame) in frames.iter().enumerate() {
        let start = unwrap.offset(frame.seq);
        unwrap.advance(start + i64::from(frame.len));
        let mut size = limit
            .saturating_sub(u32::from(frame.options))
            .max(MIN_SEGMENT_SIZE);
        if frame.len > MAX_SUPER_SEGMENT {
            size = frame.len;
        }
        for (nth, done) in (0..frame.len).step_by(size as usize).enumerate() {
            pieces.push(Piece {
                start: start + i64::from(done),
                len: size.min(frame.len - done),
                seq: frame.seq.wrapping_add(done),
                frame: index as u32,
                // Segmentation counts the identification up (Linux `inet_gso_segment`).
                ip_id: frame.ip_id.wrapping_add(nth as u16),
            });
        }
    }
    pieces
}

/// Payload and options of a full segment: guesses, best first, never empty.
///
/// The receiver's MSS option is meant for this sender; the sender's own usually bounds it too.
/// A smaller path MTU, or a capture without handshake, shows in the sizes that both captures
/// hold: a super-segment of one is rarely one of the other.
pub(crate) fn limits(sent: &Way, arrived: &Way, offers: [u16; 2]) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    let [own, peer] = offers.map(u32::from);
    let known = [own, peer].into_iter().filter(|&m| m > 0).min();
    found.extend(known);
    found.extend(Some(peer).filter(|&m| m > 0));
    found.extend(
        FULL_PAYLOADS_ON_ETHERNET
            .iter()
            .filter_map(|&usual| common(sent, arrived, usual)),
    );
    let largest = arrived
        .frames
        .iter()
        .map(room)
        .filter(|&r| r <= FULL_PAYLOADS_ON_ETHERNET[0]);
    found.extend(largest.max());
    found.push(FULL_PAYLOADS_ON_ETHERNET[0]);
    let mut seen = Vec::new();
    found.retain(|limit| {
        !seen.contains(limit) && {
            seen.push(*limit);
            true
        }
    });
    found
}

fn room(frame: &DataFrame) -> u32 {
    frame.len.saturating_add(u32::from(frame.options))
}

/// The largest size up to `usual` that both captures hold.
fn common(sent: &Way, arrived: &Way, usual: u32) -> Option<u32> {
    let sizes = |way: &Way| {
        let mut sizes: Vec<u32> = way
            .frames
            .iter()
            .map(room)
            .filter(|&r| r <= usual)
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    };
    let there = sizes(arrived);
    let mut here = sizes(sent).into_iter().rev();
    here.find(|size| there.binary_search(size).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_super_segment_with_a_sack_block_splits_into_shorter_segments() {
        // Timestamps 12, one SACK block 12: 1460 - 24 = 1436.
        let frame = DataFrame {
            seq: u32::MAX - 1_000,
            len: 3_000,
            options: 24,
            ip_id: u16::MAX,
            ..DataFrame::default()
        };
        let pieces = split(&[frame], 1_460, u32::MAX - 1_000);
        let told: Vec<_> = pieces.iter().map(|p| (p.start, p.len, p.ip_id)).collect();
        assert_eq!(
            told,
            [(0, 1_436, 65_535), (1_436, 1_436, 0), (2_872, 128, 1)]
        );
        assert_eq!(pieces[1].seq, 435);
    }

    #[test]
    fn without_handshake_the_size_that_both_ends_saw_is_the_segment_size() {
        let way = |sizes: &[u32]| Way {
            frames: sizes
                .iter()
                .map(|&len| DataFrame {
                    len,
                    options: 12,
                    ..DataFrame::default()
                })
                .collect(),
            ..Way::default()
        };
        let limits = limits(
            &way(&[2_676, 1_338, 40]),
            &way(&[1_338, 1_338, 4_014]),
            [0, 0],
        );
        assert_eq!(limits[0], 1_350);
    }
}
