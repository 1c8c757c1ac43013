//! Packets of services other than TCP that carry sequence numbers.

use crate::Service;
use crate::complaint::Complaint;
use crate::flow::{Dir, Endpoint, FlowKey};
use crate::fragment::LaterPart;
use crate::mptcp::Subflow;
use crate::quic::Quic;

/// One stream of numbered packets, one direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamKey {
    /// The service.
    pub service: Service,
    /// Source (port 0 if the protocol has no ports).
    pub src: Endpoint,
    /// Destination.
    pub dst: Endpoint,
    /// What distinguishes streams between the same ends: SSRC, SPI, receiver index, queue pair, ...
    pub id: u32,
    /// As in [`crate::FlowKey::overlay`].
    pub overlay: u32,
}

/// One numbered packet.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Numbered {
    /// Capture time, nanoseconds since the Unix epoch.
    pub ts_ns: i64,
    /// 1-based number of the frame in its capture.
    pub frame: u64,
    /// The sequence number, as wide as [`Service::bits`].
    pub seq: u64,
    /// Bytes of payload the service carries.
    pub payload_len: u32,
    /// RTP's timestamp (RFC 3550 section 5.1), in ticks of the media's clock; 0 of other services.
    pub stamp: u32,
    /// The TCP segment that it carries, if it is a packet of a tunnel or a tag.
    pub inner: Option<InnerTcp>,
    /// IPv4 identification of the packet that carries it; 0 if there is none.
    pub ip_id: u16,
    /// RTP's payload type (RFC 3551 section 6); 0 of other services.
    pub kind: u8,
    /// What the packet says of its own number.
    pub sending: Sending,
}

/// A TCP segment in a numbered packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InnerTcp {
    /// Its connection and direction, by [`InnerTcp::name`].
    pub connection: u32,
    /// True if it carries data: its loss would show in the numbers of TCP.
    pub has_data: bool,
}

impl InnerTcp {
    /// A short name of one direction of a connection, the same in every run and whatever its label or TEID. Two of them have the same one by accident
    /// once in 2^31 pairs. Addresses can be chosen to have the same one, so it must not be the hash of a table.
    pub fn name(key: &FlowKey, dir: Dir) -> u32 {
        let fold = |a: u64, b: u64| {
            let wide = u128::from(a) * u128::from(b);
            (wide as u64) ^ ((wide >> 64) as u64)
        };
        let [src_low, dst_low, src_high, dst_high, rest] = key.on_any_path().words(Dir::LowToHigh);
        // Digits of pi, so that usual addresses make no operand zero.
        let low = src_low ^ src_high.rotate_left(32) ^ 0x243f_6a88_85a3_08d3;
        let high = dst_low ^ dst_high.rotate_left(32) ^ 0x1319_8a2e_0370_7344;
        let hash = fold(fold(low, high) ^ rest, 0xa409_3822_299f_31d1);
        (hash >> 32) as u32 & !1 | dir.index() as u32
    }
}

/// What a numbered packet says of its own number; most services say nothing.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Sending {
    /// Nothing: sent once, as far as it says.
    #[default]
    Once,
    /// It was sent before: the packet is a retransmission.
    Again,
    /// It takes the numbers that follow as well, and does not say how many: an RDMA READ request reserves the numbers of
    /// its responses.
    Reserving,
}

/// What a receiver reports of the numbers that it has, travelling against the stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Capture time, nanoseconds since the Unix epoch.
    pub ts_ns: i64,
    /// Every number up to this one has arrived; as wide as [`Service::bits`].
    pub cumulative: u64,
    /// First and last number of each range beyond it that has arrived.
    pub ranges: Vec<(u64, u64)>,
    /// How many packets arrived twice.
    pub duplicates: u32,
}

/// What a frame tells beside the packet that [`parse`](crate::parse) returns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Aside {
    /// A further number: of a tag or tunnel around the packet, or of a further message in it.
    Numbered(StreamKey, Numbered),
    /// A report on the stream in the other direction. Its key has the identifier 0, because the report does not contain
    /// the stream's.
    Report(StreamKey, Report),
    /// An option of Multipath TCP on a segment of this connection.
    Subflow(FlowKey, Dir, Subflow),
    /// An ICMP message about a segment of this connection that travelled in this direction. It may come from anywhere on
    /// the path.
    Complaint(FlowKey, Dir, Complaint),
    /// A router says that the hop limit of an echo request of this stream was used up, as it is where a route is traced.
    Expired(StreamKey),
    /// The packet is in the first fragment of a datagram that is no TCP segment; for
    /// [`Fragments::first_part`](crate::Fragments::first_part), which counts the others.
    FirstPart(LaterPart),
    /// A datagram of QUIC, or one that may be.
    Quic(FlowKey, Dir, Quic),
}
