//! Two endpoints connected in virtual time, for tests, examples, and all uses that only need a delay and a rule for
//! the fate of each segment.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Endpoint, Nanos, Segment, State};

/// One of the two endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The one that connects.
    Client,
    /// The one that listens.
    Server,
}

impl Side {
    /// The other one.
    pub fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// A segment in transit, as passed to a [`Fate`].
#[derive(Debug)]
pub struct Departure<'a> {
    /// Time.
    pub now: Nanos,
    /// Who sends it.
    pub from: Side,
    /// Number of segments this side has sent before, including pure acknowledgements.
    pub index: u64,
    /// Number of segments with payload it has sent before, including retransmissions.
    pub data_index: u64,
    /// The segment; it may be changed in transit.
    pub segment: &'a mut Segment,
}

/// Decides the fate of a segment: pushes the additional delay (ns) of every copy that arrives; without any the
/// segment is lost.
pub type Fate = Box<dyn FnMut(Departure<'_>, &mut Vec<Nanos>) + Send>;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    at: Nanos,
    order: u64,
    to: Side,
    slot: usize,
}

/// Two endpoints and the paths between them.
pub struct Pair {
    /// Connects.
    pub client: Endpoint,
    /// Listens.
    pub server: Endpoint,
    /// Present time, ns.
    pub now: Nanos,
    /// One-way delay, ns.
    pub delay: Nanos,
    /// Called after each segment has been processed, with the side that received it, for programs that transport real
    /// bytes.
    pub on_arrival: Option<ArrivalHook>,
    fate: Fate,
    queue: BinaryHeap<Reverse<Arrival>>,
    flying: Vec<Option<(Segment, u64)>>,
    free: Vec<usize>,
    sent: [u64; 2],
    data: [u64; 2],
    order: u64,
    copies: Vec<Nanos>,
}

/// See [`Pair::on_arrival`]: the side that received the segment, its endpoint, the segment, and the offset of the
/// segment's payload in the stream of its sender.
pub type ArrivalHook = Box<dyn FnMut(Side, &Endpoint, &Segment, u64) + Send>;

impl std::fmt::Debug for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pair")
            .field("now", &self.now)
            .field("client", &self.client)
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

impl Pair {
    /// Connects two closed endpoints by paths that delay every segment by `delay` ns.
    pub fn new(client: Endpoint, server: Endpoint, delay: Nanos) -> Self {
        Self {
            client,
            server,
            now: 0,
            delay,
            on_arrival: None,
            fate: Box::new(|_, copies| copies.push(0)),
            queue: BinaryHeap::new(),
            flying: Vec::new(),
            free: Vec::new(),
            sent: [0; 2],
            data: [0; 2],
            order: 0,
            copies: Vec::new(),
        }
    }

    /// Lets `fate` decide about every segment.
    #[must_use]
    pub fn with_fate(
        mut self,
        fate: impl FnMut(Departure<'_>, &mut Vec<Nanos>) + Send + 'static,
    ) -> Self {
        self.fate = Box::new(fate);
        self
    }

    /// Opens the connection: the server listens, the client connects.
    pub fn open(&mut self) {
        self.server.listen();
        self.client.connect(self.now);
        self.flush(Side::Client);
    }

    /// The endpoint of a side.
    pub fn endpoint(&mut self, side: Side) -> &mut Endpoint {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    /// Sends what `side` has to send. Call this after using an endpoint directly.
    pub fn flush(&mut self, side: Side) {
        let now = self.now;
        while let Some(segment) = self.endpoint(side).poll_transmit(now) {
            self.depart(side, segment);
        }
    }

    fn depart(&mut self, from: Side, mut segment: Segment) {
        let at = from as usize;
        let offset = self.endpoint(from).stream_offset(&segment);
        let mut copies = std::mem::take(&mut self.copies);
        copies.clear();
        (self.fate)(
            Departure {
                now: self.now,
                from,
                index: self.sent[at],
                data_index: self.data[at],
                segment: &mut segment,
            },
            &mut copies,
        );
        self.sent[at] += 1;
        self.data[at] += u64::from(segment.payload > 0);
        for &extra in &copies {
            self.launch(from.peer(), (segment, offset), extra);
        }
        self.copies = copies;
    }

    fn launch(&mut self, to: Side, flight: (Segment, u64), extra: Nanos) {
        let slot = self.free.pop().unwrap_or(self.flying.len());
        if slot == self.flying.len() {
            self.flying.push(None);
        }
        self.flying[slot] = Some(flight);
        self.order += 1;
        self.queue.push(Reverse(Arrival {
            at: self.now.saturating_add(self.delay).saturating_add(extra),
            order: self.order,
            to,
            slot,
        }));
    }

    /// Time of the next event, if there is one.
    pub(crate) fn next_event(&self) -> Option<Nanos> {
        let arrival = self.queue.peek().map(|next| next.0.at);
        [arrival, self.client.next_timer(), self.server.next_timer()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Advances to the next event and processes it; false if there is none up to `deadline`. At equal times, timers
    /// come before arrivals, and the client's before the server's.
    pub fn step(&mut self, deadline: Nanos) -> bool {
        let Some(at) = self.next_event().filter(|&at| at <= deadline) else {
            return false;
        };
        self.now = self.now.max(at);
        for side in [Side::Client, Side::Server] {
            let now = self.now;
            if self.endpoint(side).next_timer().is_some_and(|at| at <= now) {
                self.endpoint(side).on_timer(now);
                self.flush(side);
                return true;
            }
        }
        self.arrive();
        true
    }

    fn arrive(&mut self) {
        let Some(Reverse(arrival)) = self.queue.pop() else {
            return;
        };
        let Some((segment, offset)) = self.flying[arrival.slot].take() else {
            return;
        };
        self.free.push(arrival.slot);
        let now = self.now;
        self.endpoint(arrival.to).on_segment(now, &segment);
        if let Some(mut hook) = self.on_arrival.take() {
            hook(arrival.to, self.endpoint(arrival.to), &segment, offset);
            self.on_arrival = Some(hook);
        }
        self.flush(arrival.to);
    }

    /// Processes everything up to `deadline`; this is the time afterwards.
    pub fn run_until(&mut self, deadline: Nanos) {
        while self.step(deadline) {}
        self.now = self.now.max(deadline);
    }

    /// Processes everything until there are no more events, or until `deadline`, or until `done` returns true.
    pub fn run_while(&mut self, deadline: Nanos, mut busy: impl FnMut(&Self) -> bool) {
        while busy(self) && self.step(deadline) {}
    }

    /// Opens the connection, sends `bytes` from client to server, closes both directions and waits for the end, at
    /// most until `deadline`. Returns what the server received.
    pub fn transfer(&mut self, bytes: u64, deadline: Nanos) -> u64 {
        self.open();
        self.client.write(bytes);
        self.client.close_after_open();
        self.run_while(deadline, |pair| {
            !pair.server.peer_closed() && pair.client.error().is_none()
        });
        if self.server.peer_closed() {
            self.server.close();
            self.flush(Side::Server);
        }
        self.run_while(deadline, |pair| {
            pair.server.state() != State::Closed && pair.client.error().is_none()
        });
        self.server.counters().received.bytes_received
    }
}
