//! The properties of a packet that a path needs.

use inorder_sort::{FlowKey, Meta};

/// A packet, or a value that represents one. A path uses only these methods.
///
/// `Clone` is used for duplication; no other code copies a packet.
pub trait Packet: Clone {
    /// Identifies the flow.
    type Flow: FlowKey;

    /// Length including the IP header, bytes. The bytes that a link adds to each frame are a setting of the link.
    fn wire_bytes(&self) -> u32;

    /// The flow, one direction of it.
    fn flow(&self) -> Self::Flow;

    /// The properties for a sorter in the receiver's card; by default the packet may not be sorted.
    fn meta(&self) -> Meta<Self::Flow> {
        Meta::unsuitable(self.flow())
    }

    /// The properties for a sorter at the end of a tunnel that numbers its packets (ESP, WireGuard, GRE), where nothing is seen of what is
    /// inside; by default there is no tunnel.
    fn tunnel_meta(&self) -> Meta<Self::Flow> {
        self.meta()
    }

    /// Damages the packet; `random` decides where. Returns true if it continues, damaged, and the receiver's checksum
    /// detects it. False (the default) means that it is dropped here.
    fn corrupt(&mut self, random: u64) -> bool {
        let _ = random;
        false
    }

    /// Marks congestion on the packet if its transport supports ECN (RFC 3168). Returns false if it does not (the
    /// default).
    fn mark_congestion(&mut self) -> bool {
        false
    }

    /// True if it asks for low latency: it carries ECT(1), or CE, which may have been ECT(1) (RFC 9331 section 5). By
    /// default it does not.
    fn wants_low_latency(&self) -> bool {
        false
    }

    /// Merges `next` into this packet as LRO and GRO do. Returns false if `next` is not the continuation of the same
    /// flow or may not be merged.
    fn absorb(&mut self, next: &Self) -> bool {
        let _ = next;
        false
    }

    /// Number of frames merged into it, including itself.
    fn frames(&self) -> u32 {
        1
    }
}

/// A packet that is moved through many hands costs less in a box.
impl<P: Packet> Packet for Box<P> {
    type Flow = P::Flow;

    #[inline]
    fn wire_bytes(&self) -> u32 {
        (**self).wire_bytes()
    }

    #[inline]
    fn flow(&self) -> P::Flow {
        (**self).flow()
    }

    #[inline]
    fn meta(&self) -> Meta<P::Flow> {
        (**self).meta()
    }

    fn tunnel_meta(&self) -> Meta<P::Flow> {
        (**self).tunnel_meta()
    }

    fn corrupt(&mut self, random: u64) -> bool {
        (**self).corrupt(random)
    }

    fn mark_congestion(&mut self) -> bool {
        (**self).mark_congestion()
    }

    fn wants_low_latency(&self) -> bool {
        (**self).wants_low_latency()
    }

    fn absorb(&mut self, next: &Self) -> bool {
        (**self).absorb(next)
    }

    fn frames(&self) -> u32 {
        (**self).frames()
    }
}

/// A numbered packet without a protocol, for measurements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Probe {
    /// Flow.
    pub flow: u32,
    /// Number within the flow; sorters use it modulo 2^32.
    pub number: u64,
    /// Length including the IP header, bytes.
    pub bytes: u32,
    /// Number of frames merged into this one.
    pub frames: u32,
    /// True if it was damaged in transit.
    pub corrupted: bool,
}

impl Probe {
    /// A packet of flow 0.
    pub fn new(number: u64, bytes: u32) -> Self {
        Self::of_flow(0, number, bytes)
    }

    /// A packet of `flow`.
    pub fn of_flow(flow: u32, number: u64, bytes: u32) -> Self {
        Probe {
            flow,
            number,
            bytes,
            frames: 1,
            corrupted: false,
        }
    }
}

impl Packet for Probe {
    type Flow = u32;

    #[inline]
    fn wire_bytes(&self) -> u32 {
        self.bytes
    }

    #[inline]
    fn flow(&self) -> u32 {
        self.flow
    }

    #[inline]
    fn meta(&self) -> Meta<u32> {
        Meta::data(self.flow, self.number as u32, self.frames)
    }

    fn corrupt(&mut self, _random: u64) -> bool {
        self.corrupted = true;
        true
    }

    fn absorb(&mut self, next: &Self) -> bool {
        let follows = next.flow == self.flow
            && next.number == self.number.wrapping_add(u64::from(self.frames))
            && !self.corrupted
            && !next.corrupted;
        if follows {
            self.frames = self.frames.saturating_add(next.frames);
            self.bytes = self.bytes.saturating_add(next.bytes);
        }
        follows
    }

    fn frames(&self) -> u32 {
        self.frames
    }
}
