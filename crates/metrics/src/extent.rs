//! Extent, late time and byte offset over a stream (RFC 4737 sections 4.2 to 4.4).

use crate::{Distribution, Reordered};

/// Distributions of what [`Reordered`] tells of each reordered packet.
#[derive(Clone, Default, Debug)]
pub struct Extents {
    extent: Distribution,
    late_ns: Distribution,
    byte_offset: Distribution,
    clock_stepped_back: u64,
}

impl Extents {
    /// No reordered packets yet.
    pub fn new() -> Self {
        Extents::default()
    }

    /// One reordered packet.
    pub fn update(&mut self, packet: &Reordered) {
        self.extent.update(packet.extent);
        self.byte_offset.update(packet.byte_offset);
        match u64::try_from(packet.late_ns) {
            Ok(late) => self.late_ns.update(late),
            Err(_) => self.clock_stepped_back += 1,
        }
    }

    /// Extents, packets.
    pub fn extent(&self) -> &Distribution {
        &self.extent
    }

    /// Late times, nanoseconds, without the negative ones.
    pub fn late_ns(&self) -> &Distribution {
        &self.late_ns
    }

    /// Byte offsets, bytes.
    pub fn byte_offset(&self) -> &Distribution {
        &self.byte_offset
    }

    /// Reordered packets with a negative late time: the clock stepped back in between.
    pub fn clock_stepped_back(&self) -> u64 {
        self.clock_stepped_back
    }
}
