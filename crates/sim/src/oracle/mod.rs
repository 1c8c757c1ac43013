//! A sorter that cannot exist: it knows which packets are late and which were lost.
//!
//! The oracle is the yardstick of sorters that have to guess. It holds a packet exactly as long as original data
//! that is missing below it is still under way, and never for data that was lost. It knows this from the simulator, which
//! notes every packet that is sent, dropped, or arrives ([`Knowledge`]). It has no bound on its hold, so it is not the
//! best possible sorter: a sender may lose more by a long hold than by the reordering.
//!
//! It lives in the simulator, works on the simulator's packets only, and is in no list of sorters, so that it cannot
//! be used on real traffic. Scenarios ask for it by [`NAME`].

mod knowledge;

use std::collections::BTreeMap;

use inorder_sort::{Counters, Kind, Meta, Sorter};

use crate::packet::{Channel, Packet};

pub(crate) use knowledge::Knowledge;

/// What scenarios call it.
pub const NAME: &str = "oracle";

/// While it holds something, it looks this often whether what it waits for has been dropped meanwhile, nanoseconds.
/// Nearly all drops are known when a packet is sent, because paths are evaluated ahead of time.
const LOOK_NS: i64 = 50_000;

/// What is held of a channel, by the position of its data in the stream.
#[derive(Debug, Default)]
struct Flow {
    next: u64,
    held: BTreeMap<u64, Vec<Packet>>,
}

/// The sorter; see the module's text.
pub(crate) struct Oracle {
    knowledge: Knowledge,
    flows: BTreeMap<Channel, Flow>,
    held: usize,
    look_ns: Option<i64>,
    counters: Counters,
}

impl Oracle {
    /// One that knows what `knowledge` notes.
    pub(crate) fn new(knowledge: Knowledge) -> Self {
        Oracle {
            knowledge,
            flows: BTreeMap::new(),
            held: 0,
            look_ns: None,
            counters: Counters::default(),
        }
    }

    /// Delivers what nothing is waited for before any longer; `all`: whatever is held of the channel.
    fn settle(&mut self, channel: Channel, all: bool, out: &mut (impl FnMut(Packet) + ?Sized)) {
        let Some(flow) = self.flows.get_mut(&channel) else {
            return;
        };
        while let Some(first) = flow.held.first_entry() {
            let offset = *first.key();
            if !all && self.knowledge.is_coming(channel, flow.next, offset) {
                return;
            }
            for packet in first.remove() {
                flow.next = flow.next.max(offset + u64::from(packet.payload()));
                self.held -= 1;
                out(packet);
            }
        }
    }

    /// It looks again after a while, if it holds anything.
    fn look_again(&mut self, now_ns: i64) {
        self.look_ns = (self.held > 0).then(|| now_ns.saturating_add(LOOK_NS));
    }

    fn settle_all(&mut self, all: bool, out: &mut (impl FnMut(Packet) + ?Sized)) {
        let waiting = self.flows.iter().filter(|(_, flow)| !flow.held.is_empty());
        let waiting: Vec<Channel> = waiting.map(|(channel, _)| *channel).collect();
        for channel in waiting {
            self.settle(channel, all, out);
        }
    }
}

impl Sorter<u32, Box<Packet>> for Oracle {
    fn push(
        &mut self,
        meta: &Meta<u32>,
        packet: Box<Packet>,
        now_ns: i64,
        out: &mut (impl FnMut(Box<Packet>) + ?Sized),
    ) {
        let channel = packet.channel;
        let mut boxed = |packet| out(Box::new(packet));
        self.knowledge.arrives(&packet);
        if meta.is_suitable() {
            self.counters = add(self.counters, 1, 0, 0);
            let flow = self.flows.entry(channel).or_default();
            flow.held.entry(packet.offset).or_default().push(*packet);
            self.held += 1;
            self.settle(channel, false, &mut boxed);
        } else {
            self.counters = add(self.counters, 0, 1, 0);
            if meta.kind != Kind::Ack {
                self.settle(channel, true, &mut boxed);
            }
            out(packet);
        }
        self.look_again(now_ns);
    }

    fn end_of_batch(&mut self, _now_ns: i64, _out: &mut (impl FnMut(Box<Packet>) + ?Sized)) {
        self.counters = add(self.counters, 0, 0, 1);
    }

    fn next_deadline_ns(&self) -> Option<i64> {
        self.look_ns
    }

    fn on_deadline(&mut self, now_ns: i64, out: &mut (impl FnMut(Box<Packet>) + ?Sized)) {
        self.settle_all(false, &mut |packet| out(Box::new(packet)));
        self.look_again(now_ns);
    }

    fn flush(&mut self, now_ns: i64, out: &mut (impl FnMut(Box<Packet>) + ?Sized)) {
        self.settle_all(true, &mut |packet| out(Box::new(packet)));
        self.look_again(now_ns);
    }

    fn held(&self) -> usize {
        self.held
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    /// Not bounded: it is a yardstick, not a sorter for use.
    fn memory_footprint(&self) -> usize {
        size_of::<Self>() + self.held * size_of::<Packet>()
    }
}

fn add(to: Counters, suitable: u64, unsuitable: u64, batches: u64) -> Counters {
    Counters::new(
        to.suitable + suitable,
        to.unsuitable + unsuitable,
        to.batches + batches,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Body;
    use inorder_tcp::{Flags, Segment};

    /// Packet `n` of the channel, one byte long.
    fn packet(n: u64) -> Packet {
        let segment = Segment {
            seq: n as u32,
            payload: 1,
            flags: Flags::ACK,
            ..Segment::default()
        };
        Packet {
            body: Body::Tcp(segment),
            sent_ns: 0,
            offset: n,
            channel: Channel(0),
            id: n as u32,
            original: n as u32 + 1,
            frames: 1,
            passed: 0,
            corrupted: false,
        }
    }

    struct Trace {
        knowledge: Knowledge,
        oracle: Oracle,
        up: Vec<u64>,
    }

    impl Trace {
        /// Packets 0 to `sent` - 1 are under way.
        fn new(sent: u64) -> Self {
            let knowledge = Knowledge::default();
            (0..sent).for_each(|n| knowledge.sent(&packet(n)));
            Trace {
                oracle: Oracle::new(knowledge.clone()),
                knowledge,
                up: Vec::new(),
            }
        }

        fn arrive(&mut self, n: u64) -> &[u64] {
            let up = &mut self.up;
            self.oracle.push(
                &Meta::data(0, n as u32, 1),
                Box::new(packet(n)),
                0,
                &mut |p| {
                    up.push(p.offset);
                },
            );
            &self.up
        }
    }

    #[test]
    fn a_late_packet_is_waited_for_and_a_lost_one_is_not() {
        let mut trace = Trace::new(6);
        trace.knowledge.dropped(&packet(3));
        assert_eq!(trace.arrive(0), [0]);
        assert_eq!(trace.arrive(2), [0]); // 1 is coming
        assert_eq!(trace.arrive(4), [0]);
        assert_eq!(trace.arrive(1), [0, 1, 2, 4]); // 3 is not
        assert_eq!(trace.arrive(5), [0, 1, 2, 4, 5]);
        assert_eq!(trace.oracle.held(), 0);
        assert_eq!(trace.oracle.next_deadline_ns(), None);
    }

    #[test]
    fn what_is_dropped_while_it_is_waited_for_is_found_by_looking() {
        let mut trace = Trace::new(3);
        trace.arrive(1);
        assert_eq!(trace.oracle.next_deadline_ns(), Some(LOOK_NS));
        trace.knowledge.dropped(&packet(0));
        let up = &mut trace.up;
        trace
            .oracle
            .on_deadline(LOOK_NS, &mut |p: Box<Packet>| up.push(p.offset));
        assert_eq!(trace.up, [1]);
        assert_eq!(trace.oracle.next_deadline_ns(), None);
    }

    #[test]
    fn a_retransmission_is_not_waited_for() {
        let mut trace = Trace::new(2);
        trace.knowledge.dropped(&packet(0));
        trace.knowledge.sent(&Packet {
            original: 0,
            ..packet(0)
        });
        assert_eq!(trace.arrive(1), [1]);
        assert_eq!(trace.arrive(0), [1, 0]);
    }
}
