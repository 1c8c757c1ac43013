//! Boxes of packets that have arrived, for those that are sent next.

use crate::packet::{Body, Channel, Packet};

/// Boxes whose packets are not needed any more. There are never more than packets were in transit at once.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    #[expect(
        clippy::vec_box,
        reason = "a packet stays in its box all the way, and the box is what is kept"
    )]
    unused: Vec<Box<Packet>>,
}

impl Pool {
    /// A box for a packet; it holds an old one, or none that means anything.
    #[inline]
    pub(crate) fn take(&mut self) -> Box<Packet> {
        self.unused.pop().unwrap_or_else(new_box)
    }

    /// The packet is not needed any more.
    #[inline]
    pub(crate) fn give_back(&mut self, used: Box<Packet>) {
        self.unused.push(used);
    }
}

#[cold]
fn new_box() -> Box<Packet> {
    Box::new(Packet {
        body: Body::Probe(0),
        sent_ns: 0,
        offset: 0,
        channel: Channel(0),
        id: 0,
        original: 0,
        frames: 1,
        passed: 0,
        corrupted: false,
    })
}
