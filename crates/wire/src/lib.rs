//! Parses captured frames into TCP segments and packets of other numbered services.
//!
//! Pure functions of bytes: no I/O, no clock.
//!
//! ```
//! use inorder_wire::{Frame, Has, LinkType, Packet, parse};
//!
//! // An IPv4 header, a TCP header, timestamps; the 100 bytes of payload were not captured.
//! let bytes = [
//!     0x45, 0, 0, 152, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, //
//!     0x9c, 0x40, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x80, 0x10, 1, 0, 0, 0, 0, 0, //
//!     1, 1, 8, 10, 0, 0, 0, 3, 0, 0, 0, 4,
//! ];
//! let frame = Frame {
//!     ts_ns: 1_700_000_000_000_000_000,
//!     number: 1,
//!     link: LinkType::RAW,
//!     orig_len: 152,
//!     data: &bytes,
//! };
//! let Packet::Tcp(key, dir, segment) = parse(&frame) else {
//!     panic!("not TCP");
//! };
//! let (source, destination) = key.ends(dir);
//! assert_eq!(source.socket_addr().to_string(), "10.0.0.1:40000");
//! assert_eq!(destination.socket_addr().to_string(), "10.0.0.2:80");
//! assert_eq!((segment.seq, segment.payload_len), (1, 100));
//! assert!(segment.has(Has::TIMESTAMPS) && segment.tsval == 3);
//! ```

#![forbid(unsafe_code)]

mod check;
mod complaint;
mod fast;
mod flow;
mod fragment;
mod frame_relay;
mod gate;
mod layer;
mod link;
mod llc;
mod mptcp;
mod network;
mod nflog;
mod numbered;
mod options;
mod other;
mod overlay;
mod quic;
mod segment;
mod services;
mod slow;
mod wireless;

#[doc(hidden)]
pub use check::{fuzz_one, same_both_ways};
pub use complaint::{Complaint, ComplaintKind};
pub use flow::{Dir, Endpoint, FlowKey, Vlan};
pub use fragment::{Fragments, LaterPart};
pub use gate::Gate;
pub use link::LinkType;
pub use mptcp::{Multipath, Subflow};
pub use network::{Network, innermost, network};
pub use numbered::{Aside, InnerTcp, Numbered, Report, Sending, StreamKey};
pub use other::Other;
pub use overlay::Overlay;
pub use quic::Quic;
pub use segment::{Cut, Has, MAX_PAYLOAD, MAX_SACK_BLOCKS, NO_WSCALE, Segment, TcpFlags};
pub use services::{Asker, Service};

/// A captured frame, as a capture reader provides it.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Capture time, nanoseconds since the Unix epoch.
    pub ts_ns: i64,
    /// 1-based number of the frame in its capture.
    pub number: u64,
    /// Link type: the protocol of the first byte of `data`.
    pub link: LinkType,
    /// Length of the frame on the wire, bytes; `data` may be shorter (snap length).
    pub orig_len: u32,
    /// The captured bytes.
    pub data: &'a [u8],
}

/// The result of parsing a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::large_enum_variant)] // Copy values on a hot path; boxing would cost more.
pub enum Packet {
    /// A TCP segment and its connection.
    Tcp(FlowKey, Dir, Segment),
    /// The first fragment of a datagram: the segment with the part of its payload that this fragment contains. The
    /// last field is the length of its TCP header, bytes. `ip_id` is the datagram's identification, for IPv6 its
    /// lower half. [`Fragments`] combines it with the other fragments.
    FirstFragment(FlowKey, Dir, Segment, u8),
    /// A later fragment of a datagram, which has no header of what the datagram contains. [`Fragments`] uses those of TCP
    /// segments, and counts the others.
    LaterFragment(LaterPart),
    /// A packet of another numbered service.
    Numbered(StreamKey, Numbered),
    /// A frame that cannot be analysed; the reason is returned so that it can be counted.
    Other(Other),
}

/// Parses one frame.
///
/// Lengths come from the IP headers, not from the number of captured bytes. Frames cut by the snap length and frames
/// with inconsistent fields give different results. For a tunnelled packet, the innermost TCP segment is returned.
/// Where one packet is no proof of its service (RTP and some others), pass numbered packets through [`Gate`].
///
/// On a hot path use [`parse_into`]: moving a segment costs as much as parsing it.
pub fn parse(frame: &Frame<'_>) -> Packet {
    let mut packet = Packet::Other(Other::NotIp);
    parse_into(frame, &mut packet, &mut Vec::new());
    packet
}

/// Parses one frame into `packet`, as [`parse`] does, without moving the result. What the frame tells beside it is
/// appended to `asides`; true if there is such a thing.
#[inline(always)] // A call takes some 20 of 200 instructions, for the registers that it saves.
pub fn parse_into(frame: &Frame<'_>, packet: &mut Packet, asides: &mut Vec<Aside>) -> bool {
    if fast::parse_into(frame, packet).is_some() {
        return false;
    }
    // A copy, so that the compiler can keep the fields of the frame in registers.
    let frame = *frame;
    parse_any(&frame, packet, asides)
}

/// As [`parse_into`], for what the fast path leaves.
#[inline(never)]
fn parse_any(frame: &Frame<'_>, packet: &mut Packet, asides: &mut Vec<Aside>) -> bool {
    let before = asides.len();
    *packet = slow::parse(frame, asides);
    asides.len() > before
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

/// A segment with these fields, and the least in all others, for tests.
#[doc(hidden)]
#[macro_export]
macro_rules! segment {
    ($($field:ident $(: $value:expr)?),* $(,)?) => {
        $crate::Segment { $($field $(: $value)?,)* ..$crate::Segment::default() }
    };
}
