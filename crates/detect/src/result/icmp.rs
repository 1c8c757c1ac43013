//! Packets that did not arrive, as ICMP messages say.

/// Original packets of a flow that did not arrive, by what the ICMP messages about them say. All of them are among the
/// losses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Icmp {
    /// Larger than a link of the path can carry (RFC 1191, RFC 8201).
    pub too_large: u64,
    /// The other host, or its network, could not be reached or did not take them.
    pub unreachable: u64,
    /// Passed on by too many routers: a loop.
    pub time_exceeded: u64,
    /// Size of IP packets that the path can carry, bytes, if the messages say so: the smallest.
    pub mtu: Option<u32>,
}

/// Full segments that were lost whole, each time, and arrived once the sender had cut them: a link of the path carries less, and no
/// message (ICMP) says so (RFC 2923 section 2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shrunk {
    /// Payload of the segments that were lost whole, bytes. None as long has arrived.
    pub whole: u32,
    /// Payload of those that arrived in their place, bytes.
    pub cut: u32,
}

/// Segments that were sent again until the end and never acknowledged, all of them longer than any that was. A link of the path may carry
/// less (RFC 2923 section 2.1), or the path was interrupted when they were sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Swallowed {
    /// Payload of the shortest of them, bytes.
    pub shortest: u32,
    /// Payload of the longest segment that was acknowledged, bytes.
    pub passed: u32,
}

impl Icmp {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.too_large + self.unreachable + self.time_exceeded
    }
}
