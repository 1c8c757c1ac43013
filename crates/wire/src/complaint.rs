//! What ICMP says of a TCP segment that did not arrive.

/// Why a router or a host sent an ICMP message about a segment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ComplaintKind {
    /// Larger than the next link can carry: "fragmentation needed" (RFC 792 type 3 code 4, RFC 1191), "packet too big"
    /// (RFC 4443 section 3.2).
    TooLarge,
    /// Any other "destination unreachable" (RFC 792 type 3, RFC 4443 section 3.1).
    Unreachable,
    /// Time exceeded (RFC 792 type 11, RFC 4443 section 3.3): the hop limit in transit (code 0) or the time for
    /// reassembly (code 1).
    TimeExceeded,
    /// A field of its headers was wrong (RFC 792 type 12, RFC 4443 section 3.4).
    ParameterProblem,
}

/// An ICMP message about a TCP segment, which it quotes: its IP header and at least the first eight bytes of TCP.
///
/// Comes as [`Aside::Complaint`](crate::Aside::Complaint), together with the key of the connection and the direction of
/// the segment that is quoted. Whoever can send packets can forge one: it proves nothing by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Complaint {
    /// Capture time of the message, nanoseconds since the Unix epoch.
    pub ts_ns: i64,
    /// 1-based number of its frame in its capture.
    pub frame: u64,
    /// What it says.
    pub kind: ComplaintKind,
    /// Its code; what it means depends on the kind and the version of IP.
    pub code: u8,
    /// With [`ComplaintKind::TooLarge`], the size of IP packets that the next link can carry, bytes; `None` if the
    /// message does not say (RFC 1191 section 3: old routers write 0).
    pub mtu: Option<u32>,
    /// The sequence number of the segment, as far as [`Self::seq_known`] says.
    pub seq: u32,
    /// Which bits of it the snap length has left: all, the upper 8, 16 or 24, or none.
    pub seq_known: u32,
    /// The identification of its IPv4 header; `None` for IPv6.
    pub ip_id: Option<u16>,
    /// Bytes of its TCP header and payload according to its IP header; `None` if that says nothing.
    pub tcp_len: Option<u32>,
}

impl Complaint {
    /// The segment that it quotes may have this number, as far as it can be read.
    pub fn may_quote(&self, seq: u32) -> bool {
        (self.seq ^ seq) & self.seq_known == 0
    }

    /// The snap length cuts the number.
    pub fn is_cut(&self) -> bool {
        self.seq_known != u32::MAX
    }
}
