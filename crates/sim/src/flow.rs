//! A TCP connection in the world: two endpoints, an application, and what is noted of them.

use inorder_random::Random;
use inorder_scenario::config::{self as plain, Direction};
use inorder_tcp::{Endpoint, Segment};

use crate::application::Application;
use crate::build::Recipe;
use crate::observer::SharedLog;
use crate::order::Order;
use crate::packet::{Body, Channel, End, Packet};
use crate::spurious::Spurious;
use crate::work::Work;

mod counts;

pub use counts::Counts;

/// Which endpoint of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Role {
    /// Opens the connection and sends the data.
    Sender,
    /// Receives it.
    Receiver,
}

/// An endpoint in the world.
#[derive(Debug)]
pub struct Side {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Time of the earliest timer event in the queue.
    pub armed_ns: i64,
    /// Packets sent.
    packets: u32,
    /// End of what has been sent for the first time.
    top: u64,
    /// Segments with new data sent.
    originals: u32,
}

impl Side {
    fn new(recipe: &Recipe, random: &mut Random) -> Self {
        let isn = random.next_u32();
        // A stream of its own: what an algorithm draws by chance moves nothing else.
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

/// What the world notes of the data of a flow.
#[derive(Debug)]
pub struct Notes {
    /// Order of originals before the receiver's card.
    pub before: Order,
    /// Order of originals as TCP sees them.
    pub after: Order,
    /// The truth about retransmissions.
    pub spurious: Spurious,
    /// What the sender's machine has to do.
    pub work: Work,
    /// Sum of the one-way delays of originals, nanoseconds.
    pub delay_sum_ns: i64,
    /// Packets lost on the way or at the card, either direction.
    pub damaged: u64,
    /// The counters when the measurement began.
    pub at_warm_up: Counts,
    /// All data has arrived.
    pub completed_ns: Option<i64>,
}

/// A connection.
#[derive(Debug)]
pub struct Flow {
    /// Position of its `[[flow]]`.
    pub group: usize,
    /// Number among those.
    pub number: u32,
    /// It opens, nanoseconds.
    pub start_ns: i64,
    /// Added each way, nanoseconds.
    pub access_ns: i64,
    /// Its packets pass none of the paths' stages, only the cards.
    pub own_path: bool,
    /// Bytes to carry, if that is known.
    pub size: Option<u64>,
    /// Sender and receiver.
    pub sides: [Side; 2],
    /// Who writes.
    pub application: Application,
    /// Time of the application's event in the queue.
    pub application_ns: i64,
    /// What the sender tells.
    pub log: SharedLog,
    /// What the world notes.
    pub notes: Notes,
    index: u32,
    source: End,
}

impl Flow {
    /// A closed connection.
    pub fn new(
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
        let log = SharedLog::new(output.events || plan.events);
        sides[Role::Sender as usize]
            .endpoint
            .observe(log.observer());
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
            index,
            source: match plan.direction {
                Direction::Forward => End::A,
                Direction::Reverse => End::B,
            },
        }
    }

    /// One of its sides.
    #[inline]
    pub fn side(&mut self, role: Role) -> &mut Side {
        &mut self.sides[role as usize]
    }

    /// Where a packet of this role's leaves from.
    #[inline]
    pub fn end_of(&self, role: Role) -> End {
        match role {
            Role::Sender => self.source,
            Role::Receiver => self.source.other(),
        }
    }

    /// What this role's packets belong to.
    #[inline]
    pub fn channel(&self, role: Role) -> Channel {
        Channel(self.index * 2 + role as u32)
    }

    /// The next packet this role has to send.
    #[inline]
    pub fn transmit(&mut self, now_ns: i64, role: Role) -> Option<Packet> {
        let channel = self.channel(role);
        let side = &mut self.sides[role as usize];
        let segment = side.endpoint.poll_transmit(now_ns)?;
        let id = side.packets;
        side.packets = side.packets.wrapping_add(1);
        let mut packet = Packet {
            body: Body::Tcp(segment),
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
            self.number_data(&mut packet, &segment, role);
        }
        Some(packet)
    }

    /// Is it sent for the first time? What of it was sent before is told to the truth.
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
    pub fn note_at_card(&mut self, now_ns: i64, packet: &Packet) {
        if packet.original > 0 {
            self.notes
                .before
                .update(packet.original, now_ns, packet.payload());
        }
    }

    /// A data packet reaches the receiver's TCP.
    #[inline]
    pub fn note_at_stack(&mut self, now_ns: i64, packet: &Packet) {
        let payload = packet.payload();
        let notes = &mut self.notes;
        if packet.original > 0 {
            notes.after.update(packet.original, now_ns, payload);
            notes.delay_sum_ns = notes.delay_sum_ns.saturating_add(now_ns - packet.sent_ns);
        }
    }

    /// The receiver's TCP has not refused the data packet.
    #[inline]
    pub fn note_taken(&mut self, packet: &Packet) {
        let end = packet.offset + u64::from(packet.payload());
        self.notes.spurious.arrives(packet.id, packet.offset, end);
    }

    /// An acknowledgement reaches the sender's TCP.
    #[inline]
    pub fn note_ack(&mut self, segment: &Segment) {
        if !segment.sack.is_empty() {
            let mss = self.sides[Role::Sender as usize].endpoint.snd_mss();
            self.notes.work.sacked(segment, mss);
        }
    }

    /// Lets the application act; gives the time it wants to be called again.
    #[inline]
    pub fn progress(&mut self, now_ns: i64) -> Option<i64> {
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
            .is_some_and(|size| receiver.endpoint.counters().bytes_received >= size);
        if complete && receiver.endpoint.peer_closed() {
            self.notes.completed_ns = Some(now_ns);
            receiver.endpoint.close();
        }
    }
}
