//! What stands between two interfaces, in one direction: an emulated path, a sorter, or nothing.

use crate::frame::Frame;

/// One direction. The owner of the interfaces and of the clock calls it; times are nanoseconds since the start.
pub trait Lane {
    /// A frame was received at its `arrived_ns`; it is taken out of the interface's queue now.
    fn arrive(&mut self, frame: Frame, now_ns: i64);

    /// No more frames are waiting in the interface's queue. Called before [`Lane::take`], in every turn.
    fn drained(&mut self, now_ns: i64) {
        let _ = now_ns;
    }

    /// The next frame that is to be sent now.
    fn take(&mut self, now_ns: i64) -> Option<Frame>;

    /// When the lane is to be called although nothing arrives.
    fn next_ns(&self) -> Option<i64>;

    /// The last call: frames that are held are to be given back by [`Lane::take`].
    fn end(&mut self, now_ns: i64) {
        let _ = now_ns;
    }

    /// Frames that the kernel dropped before we received them, and that it refused to send, since the last call.
    fn count(&mut self, missed: u64, unsent: u64);
}

/// Drops everything: for a direction in which nothing is to be forwarded.
pub struct Nothing;

impl Lane for Nothing {
    fn arrive(&mut self, _: Frame, _: i64) {}

    fn take(&mut self, _: i64) -> Option<Frame> {
        None
    }

    fn next_ns(&self) -> Option<i64> {
        None
    }

    fn count(&mut self, _: u64, _: u64) {}
}
