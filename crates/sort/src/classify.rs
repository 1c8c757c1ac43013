//! Which packets may be held and sorted: section 3.3 of the paper.

/// TCP header flags that need the stack's attention at once: CWR ECE URG RST SYN FIN, positions
/// as in RFC 9293 section 3.1. PSH and ACK do not.
pub const UNSUITABLE_FLAGS: u8 = 0b1110_0111;

/// What decides about a TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TcpFacts {
    /// The flags byte: CWR ECE URG ACK PSH RST SYN FIN.
    pub flags: u8,
    /// Payload bytes.
    pub payload_len: u32,
    /// Part of a fragmented datagram, the first part included.
    pub fragment: bool,
    /// IPv4 options, or IPv6 extension headers before TCP.
    pub ip_options: bool,
    /// TCP options other than timestamps and padding, or options that cannot be read.
    pub other_tcp_options: bool,
}

impl TcpFacts {
    /// May be sorted by the paper's rule, except that it must carry data: an ACK without has no
    /// place in the order of data, and holding it delays the sender for nothing.
    #[inline]
    pub fn suitable(&self) -> bool {
        self.payload_len > 0 && self.suitable_literally()
    }

    /// May be sorted by the paper's rule as printed, ACKs without data included.
    #[inline]
    pub fn suitable_literally(&self) -> bool {
        self.flags & UNSUITABLE_FLAGS == 0
            && !self.fragment
            && !self.ip_options
            && !self.other_tcp_options
    }
}

/// The facts of TCP options (the header's bytes from 20 on) for
/// [`TcpFacts::other_tcp_options`]: true unless they are timestamps (RFC 7323), no-operation and
/// end of list only.
pub fn has_other_tcp_options(mut options: &[u8]) -> bool {
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
        assert!(data(ACK).suitable());
        assert!(data(ACK | PSH).suitable());
    }

    #[test]
    fn each_control_bit_is_not() {
        for bit in [0x01, 0x02, 0x04, 0x20, 0x40, 0x80] {
            assert!(!data(ACK | bit).suitable());
            assert!(!data(ACK | bit).suitable_literally());
        }
    }

    #[test]
    fn fragments_and_options_are_not() {
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
        assert!(cases.iter().all(|c| !c.suitable_literally()));
    }

    #[test]
    fn an_ack_alone_is_suitable_only_to_the_letter() {
        let ack = TcpFacts {
            payload_len: 0,
            ..data(ACK)
        };
        assert!(ack.suitable_literally() && !ack.suitable());
    }

    #[test]
    fn only_timestamps_and_padding_are_no_other_options() {
        let timestamps = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        let sack = [1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        let mss = [2, 4, 5, 0xb4];
        assert!(!has_other_tcp_options(&[]));
        assert!(!has_other_tcp_options(&timestamps));
        assert!(!has_other_tcp_options(&[1, 0, 77, 77]));
        assert!(has_other_tcp_options(&sack));
        assert!(has_other_tcp_options(&mss));
        assert!(has_other_tcp_options(&timestamps[..6])); // cut short: proves nothing
        assert!(has_other_tcp_options(&[8, 0]));
    }
}
