//! A TCP connection in the simulated world: two endpoints, an application, and what is recorded about them.

use inorder_base::random::Random;
use inorder_scenario::config::{self as plain, Direction};
use inorder_tcp::{Endpoint, Segment};

use crate::application::Application;
use crate::build::Recipe;
use crate::limits::{self, FlowLimits, Watch};
use crate::observer::SharedLog;
use crate::order::Order;
use crate::packet::{Body, Channel, End, Packet};
use crate::pool::Pool;
use crate::spurious::Spurious;
use crate::work::Work;

mod counts;

pub use counts::Counts;

/// One of the two endpoints of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Role {
    /// Opens the connection and sends the data.
    Sender,
    /// Receives it.
    Receiver,
}

/// An endpoint in the simulated world.
#[derive(Debug)]
pub(crate) struct Side {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Time of the earliest timer event in the queue.
    pub armed_ns: i64,
    /// Number of packets sent.
    packets: u32,
    /// End of the data sent so far, bytes.
    top: u64,
    /// Number of segments with new data sent.
    originals: u32,
}

impl Side {
    fn new(recipe: &Recipe, random: &mut Random) -> Self {
        let isn = random.next_u32();
        // A stream of its own, so that the random numbers of an algorithm do not affect other parts.
        let seed = random.fork(0).next_u64();
        Side {
            endpoint: recipe.make(isn, seed),
            armed_ns: i64::MAX,
            packets: 0,
            top: 0,
            originals: 0,
        }
    }
}

/// What is recorded about the data of a flow.
#[derive(Debug)]
pub(crate) struct Notes {
    /// Order of originals in front of the receiver's card.
    pub before: Order,
    /// Order of originals as TCP receives them.
    pub after: Order,
    /// The truth about retransmissions.
    pub spurious: Spurious,
    /// The work of the sender's machine.
    pub work: Work,
    /// Sum of the one-way delays of originals, nanoseconds.
    pub delay_sum_ns: i64,
    /// Packets lost on the path or at the card, in either direction.
    pub damaged: u64,
    /// The counters at the end of the warm-up.
    pub at_warm_up: Counts,
    /// True if all data has arrived.
    pub completed_ns: Option<i64>,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Flow {
    /// Index of its `[[flow]]`.
    pub group: usize,
    /// Number among the connections of that `[[flow]]`.
    pub number: u32,
    /// Time at which it opens, nanoseconds.
    pub start_ns: i64,
    /// Delay added in each direction, nanoseconds.
    pub access_ns: i64,
    /// True if its packets pass only the cards, and no stage of the paths.
    pub own_path: bool,
    /// Total bytes to carry, if known.
    pub size: Option<u64>,
    /// Sender and receiver.
    pub sides: [Side; 2],
    /// The application.
    pub application: Application,
    /// Time of the application's event in the queue.
    pub application_ns: i64,
    /// The log of the sender, if its events are to be kept.
    pub log: Option<SharedLog>,
    /// The records about the data.
    pub notes: Notes,
    /// What limits each of its directions, if that is to be known.
    pub watch: Option<Box<[Watch; 2]>>,
    index: u32,
    source: End,
}

impl Flow {
    /// A closed connection.
    pub(crate) fn new(
        index: u32,
        (group, plan): (usize, &plain::Flow),
        (number, start_ns): (u32, i64),
        recipes: &[Recipe; 2],
        output: &plain::Output,
        random: &Random,
    ) -> Self {
        let mut numbers = random.fork(u64::from(index));
        let mut sides = recipes
            .each_ref()
            .map(|recipe| Side::new(recipe, &mut numbers));
        let log = (output.events || plan.events).then(SharedLog::default);
        if let Some(log) = &log {
            let sender = &mut sides[Role::Sender as usize];
            sender.endpoint.observe(log.observer());
        }
        let threshold = output.metrics.then_some(200);
        let application = Application::new(plan, numbers);
        Flow {
            group,
            number,
            start_ns,
            access_ns: plan.access_delay_ns,
            own_path: plan.path == plain::PathUse::Own,
            size: application.size(),
            sides,
            application,
            application_ns: i64::MAX,
            log,
            notes: Notes {
                before: Order::new(threshold),
                after: Order::new(threshold),
                spurious: Spurious::default(),
                work: Work::default(),
                delay_sum_ns: 0,
                damaged: 0,
                at_warm_up: Counts::default(),
                completed_ns: None,
            },
            watch: output
                .limits
                .then(|| Box::new([Watch::new(), Watch::new()])),
            index,
            source: match plan.direction {
                Direction::Forward => End::A,
                Direction::Reverse => End::B,
            },
        }
    }

    /// One of its sides.
    #[inline]
    pub(crate) fn side(&mut self, role: Role) -> &mut Side {
        &mut self.sides[role as usize]
    }

    /// The end at which packets of this role are sent.
    #[inline]
    pub(crate) fn end_of(&self, role: Role) -> End {
        match role {
            Role::Sender => self.source,
            Role::Receiver => self.source.other(),
        }
    }

    /// The channel of packets of this role.
    #[inline]
    pub(crate) fn channel(&self, role: Role) -> Channel {
        Channel(self.index * 2 + role as u32)
    }

    /// Tells the endpoint of this role whether its device takes a packet of full size; `refuses` answers for a size in
    /// bytes, IP header included.
    #[inline]
    pub(crate) fn meet_device(&mut self, role: Role, refuses: impl FnOnce(u32) -> bool) {
        /// The headers of a segment with timestamps.
        const HEADERS: u32 = 52;
        let endpoint = &mut self.sides[role as usize].endpoint;
        let full = refuses(endpoint.snd_mss().saturating_add(HEADERS));
        endpoint.set_device_full(full);
    }

    /// The next packet that this role has to send, in a box of `pool`.
    #[inline]
    pub(crate) fn transmit(
        &mut self,
        now_ns: i64,
        role: Role,
        pool: &mut Pool,
    ) -> Option<Box<Packet>> {
        let channel = self.channel(role);
        let side = &mut self.sides[role as usize];
        let polled = side.endpoint.poll_transmit(now_ns);
        // By reference: a segment is large.
        let segment = polled.as_ref()?;
        let id = side.packets;
        side.packets = side.packets.wrapping_add(1);
        let top = side.top;
        let mut packet = pool.take();
        *packet = Packet {
            body: Body::Tcp(*segment),
            sent_ns: now_ns,
            offset: 0,
            channel,
            id,
            original: 0,
            frames: 1,
            passed: 0,
            corrupted: false,
        };
        if segment.payload > 0 {
            self.number_data(&mut packet, segment, role);
        }
        if self.watch.is_some() {
            self.watch_sent(&packet, top, role);
        }
        Some(packet)
    }

    /// True if it is sent for the first time; retransmitted bytes are reported to the truth.
    #[inline]
    fn number_data(&mut self, packet: &mut Packet, segment: &Segment, role: Role) {
        let side = &mut self.sides[role as usize];
        let start = side.endpoint.stream_offset(segment);
        let end = start + u64::from(segment.payload);
        packet.offset = start;
        let top = side.top;
        if role == Role::Sender {
            let again = start < top;
            self.notes.work.sends(packet.sent_ns, start, end, again);
        }
        if end > top {
            side.originals = side.originals.saturating_add(1);
            packet.original = side.originals;
            side.top = end;
        }
        if start < top && role == Role::Sender {
            let truth = &mut self.notes.spurious;
            truth.sent_again(packet.sent_ns, packet.id, start, end.min(top));
        }
    }

    /// A data packet reaches the receiver's card.
    #[inline]
    pub(crate) fn note_at_card(&mut self, now_ns: i64, packet: &Packet) {
        if packet.original > 0 {
            self.notes
                .before
                .update(packet.original, now_ns, packet.payload());
        }
    }

    /// A data packet reaches the receiver's TCP.
    #[inline]
    pub(crate) fn note_at_stack(&mut self, now_ns: i64, packet: &Packet) {
        let payload = packet.payload();
        let notes = &mut self.notes;
        if packet.original > 0 {
            notes.after.update(packet.original, now_ns, payload);
            notes.delay_sum_ns = notes.delay_sum_ns.saturating_add(now_ns - packet.sent_ns);
        }
    }

    /// A packet leaves; `top` is the end of the data sent before it.
    #[inline(never)]
    fn watch_sent(&mut self, packet: &Packet, top: u64, role: Role) {
        let end = packet.offset + u64::from(packet.payload());
        let data = (packet.payload() > 0).then_some((packet.offset, end, top));
        if let Some(watch) = &mut self.watch {
            watch[role as usize].sent(packet.sent_ns, packet.id, data);
        }
    }

    /// A packet that this role has sent arrives at the other one, which may discard it.
    #[inline(never)]
    pub(crate) fn watch_arrival(
        &mut self,
        now_ns: i64,
        packet: &Packet,
        from: Role,
        refused: bool,
    ) {
        let Some(watch) = &mut self.watch else {
            return;
        };
        watch.iter_mut().for_each(|each| each.arrived(now_ns));
        let end = packet.offset + u64::from(packet.payload());
        let [sender, receiver] = watch.as_mut();
        let (from, to) = match from {
            Role::Sender => (sender, receiver),
            Role::Receiver => (receiver, sender),
        };
        to.heard(now_ns);
        if packet.payload() > 0 {
            from.delays.arrived(packet.sent_ns, now_ns);
        }
        if packet.payload() > 0 && !refused {
            from.taken(packet.id, packet.offset, end);
        }
    }

    /// What keeps both ends from sending more, after an event.
    #[inline(never)]
    pub(crate) fn watch_state(&mut self, now_ns: i64) {
        if let Some(watch) = &mut self.watch {
            let blocked = self.application.is_blocked();
            let ends = watch.iter_mut().zip(&self.sides).zip(blocked);
            for ((watch, side), blocked) in ends {
                watch.note(now_ns, &side.endpoint, blocked);
            }
        }
    }

    /// What limited each direction that carried data, on a path with these properties.
    pub(crate) fn limits(
        &mut self,
        path: &mut dyn FnMut(Channel) -> limits::Path,
    ) -> Vec<FlowLimits> {
        let Some(watch) = self.watch.take() else {
            return Vec::new();
        };
        let shortest = self
            .sides
            .iter()
            .map(|side| side.endpoint.info().timing.min_rtt);
        let shortest = shortest.filter(|rtt| *rtt > 0).min().unwrap_or(1_000_000);
        let mut out = Vec::new();
        for (role, watch) in [Role::Sender, Role::Receiver].into_iter().zip(*watch) {
            if self.sides[role as usize].top > 0 {
                let channel = self.channel(role);
                let path = limits::Path {
                    round_ns: shortest,
                    ..path(channel)
                };
                out.push(FlowLimits {
                    channel,
                    from: self.end_of(role),
                    stretches: limits::timeline(&watch, &path),
                    delays: watch.delays,
                });
            }
        }
        out
    }

    /// The receiver's TCP has accepted the data packet.
    #[inline]
    pub(crate) fn note_taken(&mut self, packet: &Packet) {
        let end = packet.offset + u64::from(packet.payload());
        self.notes.spurious.arrives(packet.id, packet.offset, end);
    }

    /// An acknowledgement reaches the sender's TCP.
    #[inline]
    pub(crate) fn note_ack(&mut self, segment: &Segment) {
        if !segment.sack.is_empty() {
            let mss = self.sides[Role::Sender as usize].endpoint.snd_mss();
            self.notes.work.sacked(segment, mss);
        }
    }

    /// True if the application need not be called.
    #[inline]
    pub(crate) fn application_rests(&self) -> bool {
        self.application
            .rests(&self.sides[Role::Sender as usize].endpoint)
    }

    /// Calls the application; returns the time of its next call.
    #[inline]
    pub(crate) fn progress(&mut self, now_ns: i64) -> Option<i64> {
        let [sender, receiver] = &mut self.sides;
        let next = self
            .application
            .progress(now_ns, &mut sender.endpoint, &mut receiver.endpoint);
        if self.size.is_some() && self.notes.completed_ns.is_none() {
            self.note_completion(now_ns);
        }
        next
    }

    fn note_completion(&mut self, now_ns: i64) {
        let [_, receiver] = &mut self.sides;
        let complete = self
            .size
            .is_some_and(|size| receiver.endpoint.counters().received.bytes_received >= size);
        if complete && receiver.endpoint.peer_closed() {
            self.notes.completed_ns = Some(now_ns);
            receiver.endpoint.close();
        }
    }
}
