//! TCP options of one host that the snap length cut off: what the lengths of its headers tell of them.

use inorder_wire::{Has, Segment, TcpFlags};

use super::Side;

/// Kind and length of timestamps with their values (RFC 7323 section 3.2), without what aligns them, bytes.
const MIN_TIMESTAMPS_LEN: u8 = 10;

/// What is known of a host's options.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cut {
    /// Bytes of options that every packet has, and of which none shows; `None` before the first.
    usual: Option<u8>,
    /// Packets with timestamps whose values do not show.
    stamped: bool,
    /// Packets with SACK blocks that do not show, or may have had some.
    hidden: u64,
}

impl Cut {
    /// A packet whose options are whole, without timestamps.
    #[inline]
    pub(super) fn note_plain(&mut self, seg: &Segment) {
        // A reset need not carry the options of the connection.
        if !seg.flags.any(TcpFlags::RST) {
            self.usual = Some(0);
        }
    }

    /// How many SACK blocks `seg` had, whose options are not whole.
    fn count(&mut self, seg: &Segment) -> u8 {
        let Some(cut) = seg.cut() else {
            return seg.sack_len;
        };
        if seg.flags.any(TcpFlags::SYN | TcpFlags::RST) {
            return 0;
        }
        if !cut.stamped && !seg.has(Has::TIMESTAMPS) && cut.unread > 0 {
            let usual = self.usual.unwrap_or(u8::MAX).min(cut.unread);
            self.usual = Some(usual);
        }
        let usual = self.usual.unwrap_or(0);
        self.stamped |= cut.stamped || usual >= MIN_TIMESTAMPS_LEN;
        let blocks = seg.all_sack_blocks(usual);
        self.hidden += u64::from(blocks > seg.sack_len || cut.unread == 0);
        blocks
    }
}

impl Side {
    /// `seg` of this host with the number of its SACK blocks, as far as the length of its header tells.
    pub(crate) fn count_blocks(&mut self, seg: &Segment) -> Segment {
        let blocks = self.cut.count(seg);
        self.sack_seen |= blocks > 0;
        seg.with_all_sack_blocks(blocks)
    }

    /// Its packets carry timestamps that do not show.
    pub(crate) fn hides_timestamps(&self) -> bool {
        self.cut.stamped
    }

    /// Its packets had SACK blocks.
    pub(crate) fn shows_sack(&self) -> bool {
        self.sack_seen
    }

    /// Its packets with SACK blocks that do not show, or may have had some.
    pub(crate) fn blocks_hidden(&self) -> u64 {
        self.cut.hidden
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_wire::{Frame, LinkType, Packet, parse};

    /// A TCP header with `options` over IPv4 alone, of which `kept` are captured.
    fn segment(options: &[u8], kept: usize) -> Segment {
        let len = 40 + options.len();
        let mut data = vec![0x45, 0, 0, len as u8, 0, 1, 0, 0, 64, 6, 0, 0];
        data.extend([10, 0, 0, 1, 10, 0, 0, 2, 0, 80, 200, 0]);
        data.extend([0, 0, 0, 1, 0, 0, 0, 2]);
        data.extend([(5 + options.len() as u8 / 4) << 4, 0x10, 1, 0, 0, 0, 0, 0]);
        data.extend(options);
        let frame = Frame {
            ts_ns: 0,
            number: 1,
            link: LinkType::RAW,
            orig_len: len as u32,
            data: &data[..40 + kept.min(options.len())],
        };
        match parse(&frame) {
            Packet::Tcp(_, _, seg) => seg,
            other => panic!("{other:?}"),
        }
    }

    const STAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];

    fn sack(before: &[u8], blocks: u8) -> Vec<u8> {
        let mut options = before.to_vec();
        options.extend([1, 1, 5, 2 + 8 * blocks]);
        options.extend((0..8 * blocks).map(|n| n + 1));
        options
    }

    #[test]
    fn blocks_are_counted_by_what_the_headers_have_beyond_the_usual_options() {
        for kept in 0..40 {
            for usual in [&STAMPS[..], &[]] {
                let mut cut = Cut::default();
                let mut counted = |options: &[u8]| {
                    let seg = segment(options, kept);
                    if seg.has & (Has::OPTIONS_CUT | Has::TIMESTAMPS) == 0 {
                        cut.note_plain(&seg);
                    }
                    cut.count(&seg)
                };
                assert_eq!(counted(usual), 0);
                for blocks in 1..=3 {
                    assert_eq!(counted(&sack(usual, blocks)), blocks, "{kept} of {usual:?}");
                }
                assert_eq!(counted(usual), 0);
            }
        }
    }
}
