//! The network device of the sending host itself, with its queue.

use inorder_base::random::Random;
use inorder_scenario::config as plain;

use super::link::Link;
use crate::busy::BusyLog;
use crate::declared::Declared;
use crate::packet::Packet;
use crate::stage::{Outbox, Pass, Stage};

/// A [`Link`] whose sender can see whether its queue has room.
///
/// A host hands packets to its own device with a function call, which says whether the packet was taken. So data that
/// finds the queue full is not lost: TCP keeps the segment, reduces its window once, and tries again with a later
/// acknowledgement (Linux: `NET_XMIT_DROP` in `tcp_transmit_skb`, which calls `tcp_enter_cwr`; web100 counts it as
/// `SendStall`). Whoever sends has to ask [`Device::has_room`] first; a packet that is pushed into a full queue all
/// the same, such as an acknowledgement without data, is dropped.
#[derive(Clone, Debug)]
pub struct Device {
    link: Link,
}

impl Device {
    /// An idle device.
    pub fn new(line: &plain::Line) -> Self {
        Device {
            link: Link::new(line),
        }
    }

    /// When it is busy.
    pub(crate) fn log(&mut self) -> &mut BusyLog {
        self.link.log()
    }

    /// True if a packet of `bytes` (IP) would be taken now.
    #[inline]
    pub fn has_room(&mut self, now_ns: i64, bytes: u32) -> bool {
        self.link.has_room(now_ns, bytes)
    }
}

impl<P: Packet> Stage<P> for Device {
    #[inline]
    fn push(&mut self, now_ns: i64, packet: P, out: &mut Outbox<P>) {
        Stage::<P>::push(&mut self.link, now_ns, packet, out);
    }

    #[inline]
    fn pass(&mut self, now_ns: i64, packet: &mut P, out: &mut Outbox<P>) -> Pass {
        Stage::<P>::pass(&mut self.link, now_ns, packet, out)
    }

    fn keeps_order(&self) -> bool {
        true
    }
}

impl<P: Packet> Declared<P> for plain::Device {
    type Stage = Device;

    fn build(&self, _: Random) -> Device {
        Device::new(&self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;
    use inorder_scenario::config::{Framing, Line, QueueLimit};

    #[test]
    fn a_packet_finds_room_exactly_if_it_would_not_be_dropped() {
        // 1,250 bytes take a millisecond; one is being sent while two wait.
        let mut device = Device::new(&Line {
            buffer: QueueLimit::Packets(2).into(),
            framing: Framing::None,
            ..Line::new(10_000_000)
        });
        let mut out = Outbox::new();
        for (at_ns, room) in [
            (0, true),
            (0, true),
            (0, true),
            (0, false),
            (999_999, false),
            (1_000_000, true),
        ] {
            assert_eq!(device.has_room(at_ns, 1250), room, "at {at_ns} ns");
            let before = out.counters().dropped();
            device.push(at_ns, Probe::new(0, 1250), &mut out);
            assert_eq!(out.counters().dropped() == before, room, "at {at_ns} ns");
        }
    }
}
