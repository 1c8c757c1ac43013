//! The simulated world: paths, cards, flows and probes with one event queue.

use inorder_path::nic::Account;
use inorder_path::{Counters, Place};

use crate::destinations::Destinations;
use crate::error::Error;
use crate::event::{APPLICATION, Event, OBSERVE, PATH, TIMER};
use crate::flow::Counts;
use crate::flow::{Flow, Role};
use crate::network::Network;
use crate::oracle::Knowledge;
use crate::packet::{Channel, End, LineId, Packet};
use crate::pool::Pool;
use crate::probes::Probes;
use crate::queue::Queue;
use crate::samples::Sample;
use crate::standstill::Standstill;
use crate::tap::Tap;

/// Number of events between two checks whether to continue: a few hundredths of a second.
const EVENTS_BETWEEN_CHECKS: u64 = 1 << 17;

/// Reads the packets of events that come soon, all of them at once: of very many packets in transit no cache holds all, and memory answers
/// many questions in the time of one. Each packet is two lines of the cache, of which the second will at least be written.
fn look_ahead<'a>(soon: impl Iterator<Item = &'a Event>) {
    let packets = soon.filter_map(|event| match event {
        Event::Transfer { packet, .. } | Event::Enter { packet } => Some(packet),
        _ => None,
    });
    let read = packets.fold(0, |sum, packet| {
        let second_line = packet.segment().map(|segment| segment.sack_permitted);
        sum ^ packet.id ^ u32::from(second_line == Some(true))
    });
    std::hint::black_box(read);
}

/// What a line has counted.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// Of each of its stages.
    pub(crate) stages: Vec<Counters>,
    /// Of its card.
    pub(crate) account: Option<Account>,
}

/// The complete state of a run.
pub(crate) struct World {
    pub(crate) queue: Queue<Event>,
    /// Boxes for packets.
    pub(crate) pool: Pool,
    pub(crate) network: Network,
    pub(crate) flows: Vec<Flow>,
    /// What senders keep for later connections.
    pub(crate) destinations: Destinations,
    pub(crate) probes: Vec<Probes>,
    /// In a run with an oracle, what the oracle knows.
    pub(crate) knowledge: Option<Knowledge>,
    /// What each line had counted at the end of the warm-up; empty before.
    pub(crate) at_warm_up: Vec<Counted>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) sample_interval_ns: Option<i64>,
    /// What limits the flows is recorded.
    pub(crate) watched: bool,
    pub(crate) events: u64,
}

impl World {
    /// Runs until `end_ns`, or until `go_on`, which is called now and then with the simulated time, returns false.
    ///
    /// # Errors
    /// If the run is incomplete: it was stopped, or its time stands still.
    pub(crate) fn run<T: Tap>(
        &mut self,
        end_ns: i64,
        tap: &mut T,
        go_on: &mut dyn FnMut(i64) -> bool,
    ) -> Result<(), Error> {
        let mut standstill = Standstill::default();
        while let Some((now_ns, event)) = self.queue.pop() {
            if now_ns > end_ns || self.queue.has_overflowed() {
                break;
            }
            self.events += 1;
            if self.events.is_multiple_of(EVENTS_BETWEEN_CHECKS) {
                if !go_on(now_ns) {
                    return Err(Error::Stopped);
                }
                standstill.check(now_ns)?;
            }
            if let Some(soon) = self.queue.soon() {
                look_ahead(soon);
            }
            if self.watched {
                self.handle_watched(now_ns, event, tap);
            } else {
                self.handle(now_ns, event, tap);
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn handle_watched<T: Tap>(&mut self, now_ns: i64, event: Event, tap: &mut T) {
        let flow = event.flow();
        self.handle(now_ns, event, tap);
        if let Some(flow) = flow.and_then(|flow| self.flows.get_mut(flow as usize)) {
            flow.watch_state(now_ns);
        }
    }

    #[inline(always)]
    fn handle<T: Tap>(&mut self, now_ns: i64, event: Event, tap: &mut T) {
        match event {
            Event::Transfer { place, packet, .. } if place.is_end() => {
                self.leave(now_ns, packet, tap);
            }
            Event::Transfer {
                line,
                place,
                packet,
            } => self.resume(now_ns, line, place, packet),
            Event::Enter { packet } => self.go_on(now_ns, packet, tap),
            Event::Wake { line } => self.wake(now_ns, line),
            Event::Timer { flow, role } => self.timer(now_ns, flow, role, tap),
            Event::Open(flow) => self.open(now_ns, flow, tap),
            Event::Application(flow) => self.application(now_ns, flow, tap),
            Event::Probe(probe) => self.probe(now_ns, probe, tap),
            Event::WarmUp => self.begin_measuring(),
            Event::Sample => self.sample(now_ns),
        }
    }

    fn resume(&mut self, now_ns: i64, line: LineId, place: Place, packet: Box<Packet>) {
        if let Some(line) = self.network.line(line) {
            line.resume(now_ns, place, packet, &mut self.queue);
        }
    }

    fn wake(&mut self, now_ns: i64, line: LineId) {
        if let Some(line) = self.network.line(line) {
            line.wake(now_ns, &mut self.queue);
        }
    }

    /// A packet has passed a line.
    #[inline]
    fn leave<T: Tap>(&mut self, now_ns: i64, mut packet: Box<Packet>, tap: &mut T) {
        packet.passed = packet.passed.saturating_add(1);
        self.go_on(now_ns, packet, tap);
    }

    /// A packet enters the next line of its route, or reaches the end of the route.
    #[inline]
    fn go_on<T: Tap>(&mut self, now_ns: i64, packet: Box<Packet>, tap: &mut T) {
        let Some(step) = self.network.step(packet.channel, packet.passed) else {
            return;
        };
        if step.at_card
            && let Some((flow, Role::Sender)) = self.whose(packet.channel)
        {
            flow.note_at_card(now_ns, &packet);
        }
        match step.line.and_then(|line| self.network.line(line)) {
            Some(line) => {
                if packet.passed == 1 && !packet.corrupted {
                    tap.between(now_ns, &packet);
                }
                line.push(now_ns, packet, &mut self.queue);
            }
            None => {
                self.deliver(now_ns, step.end, &packet, tap);
                self.pool.give_back(packet);
            }
        }
    }

    /// The flow of a channel, and the endpoint that sends on it.
    #[inline]
    fn whose(&mut self, channel: Channel) -> Option<(&mut Flow, Role)> {
        let role = if channel.0.is_multiple_of(2) {
            Role::Sender
        } else {
            Role::Receiver
        };
        let flow = self.flows.get_mut((channel.0 / 2) as usize)?;
        Some((flow, role))
    }

    /// A packet reaches the stack.
    #[inline]
    fn deliver<T: Tap>(&mut self, now_ns: i64, end: End, packet: &Packet, tap: &mut T) {
        let channel = packet.channel;
        let Some(segment) = packet.segment() else {
            return self.deliver_probe(now_ns, end, packet, tap);
        };
        let Some((flow, from)) = self.whose(channel) else {
            return;
        };
        if packet.corrupted {
            flow.notes.damaged += 1;
            return;
        }
        tap.received(now_ns, end, packet);
        let to = match from {
            Role::Sender => Role::Receiver,
            Role::Receiver => Role::Sender,
        };
        let data = from == Role::Sender && segment.payload > 0;
        if data {
            flow.note_at_stack(now_ns, packet);
        }
        if to == Role::Sender {
            flow.note_ack(segment);
        }
        let endpoint = &mut flow.side(to).endpoint;
        let before = endpoint.counters();
        let (refused, reneges) = (before.received.refused_segs_in, before.received.reneges);
        endpoint.on_segment(now_ns, segment);
        if endpoint.counters().received.reneges > reneges {
            tap.reneged(packet);
        }
        let refused = endpoint.counters().received.refused_segs_in > refused;
        if refused {
            tap.refused(packet);
        } else if data {
            flow.note_taken(packet);
        }
        if flow.watch.is_some() {
            flow.watch_arrival(now_ns, packet, from, refused);
        }
        let index = channel.0 / 2;
        self.transmit(now_ns, index, to, tap);
        self.application(now_ns, index, tap);
        self.arm(now_ns, index, to);
    }

    fn deliver_probe<T: Tap>(&mut self, now_ns: i64, end: End, packet: &Packet, tap: &mut T) {
        let number = (packet.channel.0 as usize).checked_sub(self.flows.len() * 2);
        let probes = number.and_then(|number| self.probes.get_mut(number));
        if let Some(probes) = probes
            && !packet.corrupted
        {
            tap.received(now_ns, end, packet);
            probes.receive(now_ns, packet);
        }
    }

    /// Sends the pending packets of an endpoint.
    #[inline]
    fn transmit<T: Tap>(&mut self, now_ns: i64, index: u32, role: Role, tap: &mut T) {
        let Some(flow) = self.flows.get_mut(index as usize) else {
            return;
        };
        let end = flow.end_of(role);
        let at_once = flow.access_ns == 0 && !flow.own_path;
        let step = self.network.step(flow.channel(role), 0);
        let first = step.and_then(|step| step.line).filter(|_| at_once);
        let mut first = first.and_then(|line| self.network.line(line));
        loop {
            if let Some(line) = &mut first
                && line.begins_with_device()
            {
                flow.meet_device(role, |bytes| line.refuses(now_ns, bytes));
            }
            let Some(packet) = flow.transmit(now_ns, role, &mut self.pool) else {
                return;
            };
            tap.sent(now_ns, end, &packet);
            if let Some(knowledge) = &self.knowledge {
                knowledge.sent(&packet);
            }
            if let Some(line) = &mut first {
                line.push(now_ns, packet, &mut self.queue);
            } else {
                let at_ns = now_ns.saturating_add(flow.access_ns);
                self.queue.push(at_ns, PATH, Event::Enter { packet });
            }
        }
    }

    /// Calls the application, and sends what it wrote.
    #[inline]
    fn application<T: Tap>(&mut self, now_ns: i64, index: u32, tap: &mut T) {
        let Some(flow) = self.flows.get_mut(index as usize) else {
            return;
        };
        if now_ns >= flow.application_ns {
            flow.application_ns = i64::MAX;
        }
        if flow.application_rests() {
            return;
        }
        let next_ns = flow.progress(now_ns);
        let wrote =
            [Role::Sender, Role::Receiver].map(|role| flow.side(role).endpoint.take_touched());
        if let Some(next_ns) = next_ns
            && next_ns < flow.application_ns
        {
            flow.application_ns = next_ns;
            self.queue
                .push(next_ns, APPLICATION, Event::Application(index));
        }
        for (role, wrote) in [Role::Sender, Role::Receiver].into_iter().zip(wrote) {
            if wrote {
                self.transmit(now_ns, index, role, tap);
                self.arm(now_ns, index, role);
            }
        }
    }

    /// Ensures that an endpoint's timer is in the queue.
    #[inline]
    fn arm(&mut self, now_ns: i64, index: u32, role: Role) {
        let Some(flow) = self.flows.get_mut(index as usize) else {
            return;
        };
        let side = flow.side(role);
        if let Some(due_ns) = side.endpoint.next_timer() {
            let due_ns = due_ns.max(now_ns);
            if due_ns < side.armed_ns {
                side.armed_ns = due_ns;
                self.queue
                    .push(due_ns, TIMER, Event::Timer { flow: index, role });
            }
        }
    }

    /// A timer event; one that was replaced by an earlier one has no effect.
    fn timer<T: Tap>(&mut self, now_ns: i64, index: u32, role: Role, tap: &mut T) {
        let Some(flow) = self.flows.get_mut(index as usize) else {
            return;
        };
        let side = flow.side(role);
        if side.armed_ns != now_ns {
            return;
        }
        side.armed_ns = i64::MAX;
        if side
            .endpoint
            .next_timer()
            .is_some_and(|due_ns| due_ns <= now_ns)
        {
            side.endpoint.on_timer(now_ns);
            self.transmit(now_ns, index, role, tap);
        }
        self.arm(now_ns, index, role);
    }

    fn open<T: Tap>(&mut self, now_ns: i64, index: u32, tap: &mut T) {
        self.destinations.open(index, &mut self.flows);
        let Some(flow) = self.flows.get_mut(index as usize) else {
            return;
        };
        flow.side(Role::Receiver).endpoint.listen();
        flow.side(Role::Sender).endpoint.connect(now_ns);
        self.transmit(now_ns, index, Role::Sender, tap);
        self.application(now_ns, index, tap);
        self.arm(now_ns, index, Role::Sender);
    }

    fn probe<T: Tap>(&mut self, now_ns: i64, number: u32, tap: &mut T) {
        let Some(probes) = self.probes.get_mut(number as usize) else {
            return;
        };
        let (packet, next_ns) = probes.send(now_ns);
        let source = probes.source();
        tap.sent(now_ns, source, &packet);
        if let Some(next_ns) = next_ns {
            self.queue.push(next_ns, APPLICATION, Event::Probe(number));
        }
        let mut boxed = self.pool.take();
        *boxed = packet;
        self.go_on(now_ns, boxed, tap);
    }

    fn begin_measuring(&mut self) {
        self.at_warm_up = self.network.counted();
        for probes in &mut self.probes {
            probes.begin_measuring();
        }
        for flow in &mut self.flows {
            flow.notes.at_warm_up = Counts::of(flow);
        }
    }

    fn sample(&mut self, now_ns: i64) {
        for (index, flow) in self.flows.iter().enumerate() {
            let [sender, receiver] = &flow.sides;
            let info = sender.endpoint.info();
            if flow.start_ns > now_ns {
                continue;
            }
            let (hold_ns, held) = self.network.holding(flow.channel(Role::Sender));
            let in_order = receiver.endpoint.counters().received.bytes_received;
            self.samples.push(Sample {
                time_ns: now_ns,
                flow: index as u32,
                cwnd: info.cwnd,
                ssthresh: info.ssthresh,
                dupthresh: info.reordering,
                pipe: info.flight.pipe,
                srtt_ns: info.timing.rtt,
                state: info.ca_state,
                delivered_bytes: in_order,
                arrived_bytes: in_order + receiver.endpoint.waiting_bytes(),
                retransmissions: sender.endpoint.counters().sent.retrans_segs,
                hold_ns,
                held,
            });
        }
        if let Some(interval_ns) = self.sample_interval_ns {
            self.queue
                .push(now_ns.saturating_add(interval_ns), OBSERVE, Event::Sample);
        }
    }
}
