//! What a path must know of a packet.

use inorder_sort::{FlowKey, Meta};

/// A packet, or whatever stands for one. A path looks at nothing else.
///
/// `Clone` is for duplication; nothing else copies a packet.
pub trait Packet: Clone {
    /// What tells flows apart.
    type Flow: FlowKey;

    /// Bytes from the IP header on. What a link adds to each frame is the link's own setting.
    fn wire_bytes(&self) -> u32;

    /// The flow, one direction of it.
    fn flow(&self) -> Self::Flow;

    /// What a sorter in the receiver's card looks at; by default nothing may be sorted.
    fn meta(&self) -> Meta<Self::Flow> {
        Meta::unsuitable(self.flow())
    }

    /// The packet is damaged on its way, `random` says where. True: it goes on, damaged, and the
    /// receiver's checksum finds out. False (the default): count it as lost here.
    fn corrupt(&mut self, random: u64) -> bool {
        let _ = random;
        false
    }

    /// A router reports congestion on it, if its transport hears such marks (RFC 3168). False (the default): it does
    /// not.
    fn mark_congestion(&mut self) -> bool {
        false
    }

    /// Takes `next` in as its continuation, as LRO and GRO do; false when it is not the next
    /// bytes of the same flow or may not be merged.
    fn absorb(&mut self, next: &Self) -> bool {
        let _ = next;
        false
    }

    /// Frames taken in, itself included.
    fn frames(&self) -> u32 {
        1
    }
}

/// A numbered packet without a protocol, for measurements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Probe {
    /// Flow.
    pub flow: u32,
    /// Number within the flow; sorters see it modulo 2^32.
    pub number: u64,
    /// Bytes from the IP header on.
    pub bytes: u32,
    /// Frames merged into this one.
    pub frames: u32,
    /// Damaged on its way.
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
