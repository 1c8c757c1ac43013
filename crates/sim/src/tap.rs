//! Watching packets at both ends.

use crate::packet::{End, Packet};

/// Sees packets where a capture at an end would: as they leave its TCP, and as they reach it, after
/// the card.
pub trait Tap {
    /// A packet leaves the stack at `end`.
    fn sent(&mut self, now_ns: i64, end: End, packet: &Packet);
    /// A packet reaches the stack at `end`.
    fn received(&mut self, now_ns: i64, end: End, packet: &Packet);
    /// The stack has discarded the packet it received last, though it lacked the data.
    fn refused(&mut self, _packet: &Packet) {}
}

/// Sees nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoTap;

impl Tap for NoTap {
    #[inline]
    fn sent(&mut self, _: i64, _: End, _: &Packet) {}
    #[inline]
    fn received(&mut self, _: i64, _: End, _: &Packet) {}
}
