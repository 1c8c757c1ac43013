//! Where a parsed packet is stored.

use inorder_wire::{Other, Packet};

/// A packet aligned to cache lines: it takes as few of them as possible, and shares none with its neighbours. One thread
/// may write it and another read it, and a shared line would be transferred once more for each neighbour.
#[derive(Clone)]
#[repr(align(64))]
pub(super) struct Place(pub(super) Packet);

impl Default for Place {
    fn default() -> Self {
        Place(Packet::Other(Other::NotIp))
    }
}
