//! Which packets may be held and sorted. The card, `inorder sort`, the what-if of `inorder analyze` and the C
//! interface all use this rule.
//!
//! The rule is section 3.3 of the SRPIC paper: a fragment, IP options, TCP options other than timestamps, and any of
//! the flags CWR, ECE, URG, RST, SYN and FIN exclude a packet from being held. One rule is added here: a segment
//! without data is not held either. It has no place in the order of the data, and holding it would delay the sender
//! of the data it acknowledges.

use crate::meta::{Kind, Meta};

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;

/// TCP flags that the stack must see at once: CWR ECE URG RST SYN FIN, with the bit positions of RFC 9293 section
/// 3.1. PSH and ACK are not among them.
pub(crate) const UNSUITABLE_FLAGS: u8 = 0b1110_0111;

/// The properties of a TCP segment that decide whether it may be held.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TcpFacts {
    /// The flags byte: CWR ECE URG ACK PSH RST SYN FIN.
    pub flags: u8,
    /// Payload bytes.
    pub payload_len: u32,
    /// Part of a fragmented datagram; the first fragment counts, too.
    pub fragment: bool,
    /// IPv4 options, or IPv6 extension headers before TCP.
    pub ip_options: bool,
    /// TCP options other than timestamps and padding, or options that cannot be parsed.
    pub other_tcp_options: bool,
}

impl TcpFacts {
    /// How a sorter may treat the segment.
    #[inline]
    pub fn kind(&self) -> Kind {
        if self.payload_len > 0 && self.may_be_held() {
            Kind::Data
        } else {
            self.kind_of_unsuitable()
        }
    }

    /// How a sorter may treat the segment by the rule exactly as printed in the paper: an ACK without data is held and sorted like data.
    #[inline]
    pub fn kind_literally(&self) -> Kind {
        if self.may_be_held() {
            Kind::Data
        } else {
            self.kind_of_unsuitable()
        }
    }

    /// The segment of `flow` that begins at `seq`, in the form a sorter takes.
    #[inline]
    pub fn meta<K>(&self, flow: K, seq: u32) -> Meta<K> {
        Meta {
            flow,
            seq,
            len: self.payload_len,
            kind: self.kind(),
        }
    }

    #[inline]
    fn may_be_held(&self) -> bool {
        self.flags & UNSUITABLE_FLAGS == 0
            && !self.fragment
            && !self.ip_options
            && !self.other_tcp_options
    }

    fn kind_of_unsuitable(&self) -> Kind {
        if self.flags & (FIN | RST) != 0 {
            Kind::Close
        } else if self.flags & SYN != 0 {
            Kind::Open
        } else if self.payload_len == 0 && !self.fragment {
            Kind::Ack
        } else {
            Kind::Other
        }
    }
}

/// The value of [`TcpFacts::other_tcp_options`] for the given TCP options (the bytes of the header from 20 on): true
/// unless they consist of timestamps (RFC 7323 section 3.2), no-operation and end of list.
pub(crate) fn has_other_tcp_options(mut options: &[u8]) -> bool {
    const END: u8 = 0;
    const NOP: u8 = 1;
    const TIMESTAMPS: u8 = 8;
    loop {
        options = match *options {
            [] | [END, ..] => return false,
            [NOP, ref rest @ ..] => rest,
            [TIMESTAMPS, 10, _, _, _, _, _, _, _, _, ref rest @ ..] => rest,
            _ => return true,
        };
    }
}

/// Sequence number and facts of a TCP header as received, including its options. Fields that the TCP header does not
/// contain (payload length, facts about IP) keep their defaults. `None` for fewer than 20 bytes. Incomplete options
/// count as other than timestamps.
pub fn tcp_header(header: &[u8]) -> Option<(u32, TcpFacts)> {
    const FIXED: usize = 20;
    let seq = header.get(4..8)?.try_into().ok().map(u32::from_be_bytes)?;
    let (offset, flags) = (*header.get(12)?, *header.get(13)?);
    let length = usize::from(offset >> 4) * 4;
    header.get(..FIXED)?;
    let options = header.get(FIXED..length);
    let facts = TcpFacts {
        flags,
        other_tcp_options: options.is_none_or(has_other_tcp_options),
        ..TcpFacts::default()
    };
    Some((seq, facts))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACK: u8 = 0x10;
    const PSH: u8 = 0x08;

    fn data(flags: u8) -> TcpFacts {
        TcpFacts {
            flags,
            payload_len: 1448,
            ..TcpFacts::default()
        }
    }

    #[test]
    fn data_is_suitable_pushed_or_not() {
        assert_eq!(data(ACK).kind(), Kind::Data);
        assert_eq!(data(ACK | PSH).kind(), Kind::Data);
    }

    #[test]
    fn segments_with_a_control_bit_are_not_suitable() {
        for bit in [0x01, 0x02, 0x04, 0x20, 0x40, 0x80] {
            assert_ne!(data(ACK | bit).kind(), Kind::Data);
            assert_ne!(data(ACK | bit).kind_literally(), Kind::Data);
        }
    }

    #[test]
    fn fragments_and_options_are_not_suitable() {
        let base = data(ACK);
        let cases = [
            TcpFacts {
                fragment: true,
                ..base
            },
            TcpFacts {
                ip_options: true,
                ..base
            },
            TcpFacts {
                other_tcp_options: true,
                ..base
            },
        ];
        assert!(cases.iter().all(|c| c.kind_literally() == Kind::Other));
    }

    #[test]
    fn a_pure_ack_is_suitable_only_under_the_literal_rule() {
        let ack = TcpFacts {
            payload_len: 0,
            ..data(ACK)
        };
        assert_eq!((ack.kind_literally(), ack.kind()), (Kind::Data, Kind::Ack));
    }

    #[test]
    fn number_and_options_are_read_from_a_header() {
        let mut header = [0; 32];
        header[4..8].copy_from_slice(&7_000_000u32.to_be_bytes());
        header[12..14].copy_from_slice(&[8 << 4, ACK]);
        header[20..24].copy_from_slice(&[1, 1, 8, 10]);
        let expected = TcpFacts {
            flags: ACK,
            ..TcpFacts::default()
        };
        assert_eq!(tcp_header(&header), Some((7_000_000, expected)));
        assert!(tcp_header(&header[..31]).is_some_and(|(_, f)| f.other_tcp_options));
        assert_eq!(tcp_header(&header[..19]), None);
        header[12] = 4 << 4; // shorter than the minimum, so the header is invalid
        assert!(tcp_header(&header).is_some_and(|(_, f)| f.other_tcp_options));
    }

    #[test]
    fn syn_fin_and_rst_have_their_own_kinds() {
        let empty = |flags| TcpFacts {
            flags,
            other_tcp_options: true,
            ..TcpFacts::default()
        };
        let kinds = [SYN, SYN | ACK, FIN | ACK, RST, ACK].map(|flags| empty(flags).kind());
        use Kind::{Ack, Close, Open};
        assert_eq!(kinds, [Open, Open, Close, Close, Ack]);
        assert_eq!(data(ACK | FIN).kind(), Close);
    }

    #[test]
    fn timestamps_and_padding_do_not_count_as_other_options() {
        let timestamps = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        let sack = [1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        let mss = [2, 4, 5, 0xb4];
        assert!(!has_other_tcp_options(&[]));
        assert!(!has_other_tcp_options(&timestamps));
        assert!(!has_other_tcp_options(&[1, 0, 77, 77]));
        assert!(has_other_tcp_options(&sack));
        assert!(has_other_tcp_options(&mss));
        assert!(has_other_tcp_options(&timestamps[..6])); // incomplete options are never accepted
        assert!(has_other_tcp_options(&[8, 0]));
    }
}
