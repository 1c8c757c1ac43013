//! TCP options in any order, complete, cut by the snap length, or malformed.

use crate::segment::{Cut, Has, MAX_SACK_BLOCKS, Segment, TcpFlags};

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// The largest shift a receiver may apply (RFC 7323 section 2.3).
const MAX_WSCALE: u8 = 14;

/// Reads options into `segment`. `captured` contains the captured bytes, `wire_len` is the length according to the
/// header.
///
/// Complete options are used. Options that are cut or have a wrong length set [`Has::OPTIONS_CUT`], and also
/// [`Has::UNSUITABLE`], because it is unknown whether only timestamps were present. Of what was cut,
/// [`Segment::cut`] tells what its beginning and the length of the header show.
pub(crate) fn read(segment: &mut Segment, captured: &[u8], wire_len: usize) {
    let mut rest = captured;
    let mut cut = Cut::default();
    let mut whole = captured.len() >= wire_len;
    while let [kind, after @ ..] = rest {
        match *kind {
            END => {
                // Only padding follows: no option was cut.
                whole = true;
                break;
            }
            NOP => {
                rest = after;
                continue;
            }
            _ => {}
        }
        let Some(&len) = after.first() else {
            whole = false;
            cut.stamped = *kind == TIMESTAMPS;
            break;
        };
        let len = usize::from(len);
        let Some((option, next)) = (len >= 2).then(|| rest.split_at_checked(len)).flatten() else {
            whole = false;
            cut.stamped = *kind == TIMESTAMPS;
            // The complete blocks of a cut SACK option still count, and so does a left edge.
            if *kind == SACK && len >= 2 && captured.len() < wire_len {
                let blocks = rest.get(2..).unwrap_or_default();
                sack(segment, blocks);
                let (_, part) = blocks.split_at(8 * usize::from(segment.sack_len));
                cut.left = part.first_chunk().map(|left| u32::from_be_bytes(*left));
                cut.blocks = Some((len / 8).min(MAX_SACK_BLOCKS) as u8);
            }
            break;
        };
        whole &= one(segment, *kind, option.get(2..).unwrap_or_default());
        rest = next;
    }
    if !whole {
        segment.has |= Has::OPTIONS_CUT | Has::UNSUITABLE;
        if usize::from(segment.sack_len) < MAX_SACK_BLOCKS {
            let read = captured.len() - rest.len();
            if captured.len() < wire_len {
                cut.unread = (wire_len - read) as u8;
            }
            segment.sack[MAX_SACK_BLOCKS - 1] = cut.packed();
        }
    }
}

/// Reads one option; false if its length is wrong for its kind.
fn one(segment: &mut Segment, kind: u8, value: &[u8]) -> bool {
    if kind != TIMESTAMPS {
        segment.has |= Has::UNSUITABLE;
    }
    let syn = segment.flags.any(TcpFlags::SYN);
    match (kind, value) {
        (TIMESTAMPS, [a, b, c, d, e, f, g, h]) => {
            segment.tsval = u32::from_be_bytes([*a, *b, *c, *d]);
            segment.tsecr = u32::from_be_bytes([*e, *f, *g, *h]);
            segment.has |= Has::TIMESTAMPS;
        }
        (SACK, [_, ..]) => {
            sack(segment, value);
            return value.len().is_multiple_of(8) && value.len() <= 8 * MAX_SACK_BLOCKS;
        }
        // The next three options are valid only in a SYN.
        (MSS, [high, low]) if syn => segment.mss = u16::from_be_bytes([*high, *low]),
        (WINDOW_SCALE, [shift]) if syn => segment.wscale = (*shift).min(MAX_WSCALE),
        (SACK_PERMITTED, []) if syn => segment.has |= Has::SACK_PERMITTED,
        (MSS, [_, _]) | (WINDOW_SCALE, [_]) | (SACK_PERMITTED, []) => {}
        (MSS | WINDOW_SCALE | SACK_PERMITTED | SACK | TIMESTAMPS, _) => return false,
        _ => {}
    }
    true
}

/// Reads the complete blocks of a SACK option (RFC 2018 section 3).
fn sack(segment: &mut Segment, value: &[u8]) {
    segment.has |= Has::UNSUITABLE;
    segment.sack = Default::default();
    segment.sack_len = 0;
    for (slot, block) in segment.sack.iter_mut().zip(value.chunks_exact(8)) {
        if let [a, b, c, d, e, f, g, h] = *block {
            *slot = (
                u32::from_be_bytes([a, b, c, d]),
                u32::from_be_bytes([e, f, g, h]),
            );
            segment.sack_len += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::NO_WSCALE;

    fn read_all(flags: u8, options: &[u8]) -> Segment {
        read_cut(flags, options, options.len())
    }

    fn read_cut(flags: u8, options: &[u8], captured: usize) -> Segment {
        let mut segment = Segment {
            flags: TcpFlags(flags),
            wscale: NO_WSCALE,
            ..Segment::default()
        };
        read(&mut segment, &options[..captured], options.len());
        segment
    }

    const SYN_OPTIONS: [u8; 20] = [
        2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 7, 0, 0, 0, 0, 1, 3, 3, 7,
    ];

    #[test]
    fn the_options_of_a_linux_syn() {
        let s = read_all(TcpFlags::SYN, &SYN_OPTIONS);
        assert_eq!((s.mss, s.wscale, s.tsval), (1460, 7, 7));
        assert_eq!(
            s.has,
            Has::SACK_PERMITTED | Has::TIMESTAMPS | Has::UNSUITABLE
        );
    }

    #[test]
    fn options_of_a_syn_are_ignored_in_other_segments() {
        let s = read_all(TcpFlags::ACK, &SYN_OPTIONS);
        assert_eq!((s.mss, s.wscale), (0, NO_WSCALE));
        assert_eq!(s.has, Has::TIMESTAMPS | Has::UNSUITABLE);
    }

    #[test]
    fn a_window_shift_above_fourteen_counts_as_fourteen() {
        assert_eq!(read_all(TcpFlags::SYN, &[3, 3, 200, 0]).wscale, 14);
    }

    #[test]
    fn an_empty_sack_is_malformed_and_later_options_are_read() {
        let s = read_all(TcpFlags::ACK, &[5, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        assert_eq!((s.sack_len, s.tsval, s.tsecr), (0, 1, 2));
        assert!(s.has(Has::OPTIONS_CUT | Has::TIMESTAMPS));
    }

    #[test]
    fn lengths_below_two_and_beyond_the_header_stop_the_reading() {
        for bad in [[8, 0, 0, 0], [8, 1, 0, 0], [99, 200, 0, 0], [1, 1, 1, 8]] {
            assert!(
                read_all(TcpFlags::ACK, &bad).has(Has::OPTIONS_CUT),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn a_cut_sack_keeps_its_complete_blocks() {
        let mut options = vec![1, 1, 5, 26];
        for edge in [10u32, 20, 30, 40, 50, 60] {
            options.extend(edge.to_be_bytes());
        }
        let s = read_cut(TcpFlags::ACK, &options, 4 + 8 + 5);
        assert_eq!(s.sack_blocks(), [(10, 20)]);
        assert!(s.has(Has::OPTIONS_CUT));
        let s = read_all(TcpFlags::ACK, &options);
        assert_eq!(s.sack_blocks(), [(10, 20), (30, 40), (50, 60)]);
        assert!(!s.has(Has::OPTIONS_CUT));
    }

    /// Timestamps and three blocks, of which `captured` bytes were captured.
    fn cut_at(captured: usize) -> Segment {
        let mut options = vec![1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 8, 1, 1, 5, 26];
        for edge in [10u32, 20, 30, 40, 50, 60] {
            options.extend(edge.to_be_bytes());
        }
        read_cut(TcpFlags::ACK, &options, captured)
    }

    #[test]
    fn what_is_cut_is_known_by_how_it_begins_and_by_the_length_of_the_header() {
        let cut = |captured| cut_at(captured).cut().expect("not whole");
        assert_eq!((cut(0).unread, cut(0).stamped), (40, false));
        assert_eq!((cut(6).unread, cut(6).stamped), (38, true));
        assert_eq!((cut(12).unread, cut(12).blocks), (28, None));
        assert_eq!((cut(16).blocks, cut(19).left), (Some(3), None));
        assert_eq!(cut(20).left, Some(10));
        let one = cut_at(29);
        assert_eq!(one.sack_blocks(), [(10, 20)]);
        assert_eq!(cut(29).left, Some(30));
        assert_eq!(cut_at(40).cut(), None);
        for captured in 0..=40 {
            let usual = if captured < 3 { 12 - captured as u8 } else { 0 };
            assert_eq!(cut_at(captured).all_sack_blocks(usual), 3, "{captured}");
        }
    }

    #[test]
    fn without_blocks_the_length_of_the_header_says_so() {
        let stamps = [1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 8];
        for captured in 0..12 {
            let usual = if captured < 3 { 12 - captured as u8 } else { 0 };
            let s = read_cut(TcpFlags::ACK, &stamps, captured);
            assert_eq!(
                (s.has(Has::OPTIONS_CUT), s.all_sack_blocks(usual)),
                (true, 0)
            );
        }
    }

    #[test]
    fn padding_after_the_end_of_list_may_be_cut() {
        let s = read_cut(TcpFlags::ACK, &[0, 0, 0, 0], 1);
        assert!(!s.has(Has::OPTIONS_CUT));
        let s = read_cut(TcpFlags::ACK, &[1, 1, 1, 1], 2);
        assert!(s.has(Has::OPTIONS_CUT));
    }
}
