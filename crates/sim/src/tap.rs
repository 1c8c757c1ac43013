//! Observes packets at both ends.

use crate::packet::{End, Packet};

/// Receives packets where a capture at an end would: when they leave TCP, and when they reach it, behind the card.
pub trait Tap {
    /// A packet leaves the stack at `end`.
    fn sent(&mut self, now_ns: i64, end: End, packet: &Packet);
    /// A packet reaches the stack at `end`.
    fn received(&mut self, now_ns: i64, end: End, packet: &Packet);
    /// A packet passes the place between the first two lines of its route.
    fn between(&mut self, _now_ns: i64, _packet: &Packet) {}
    /// The stack has discarded the packet that it received last, although the data was missing.
    fn refused(&mut self, _packet: &Packet) {}
    /// With this packet the stack has discarded everything that it held out of order.
    fn reneged(&mut self, _packet: &Packet) {}
}

/// Ignores all packets.
#[derive(Clone, Copy, Debug)]
pub struct NoTap;

impl Tap for NoTap {
    #[inline]
    fn sent(&mut self, _: i64, _: End, _: &Packet) {}
    #[inline]
    fn received(&mut self, _: i64, _: End, _: &Packet) {}
}
