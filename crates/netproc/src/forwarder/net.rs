//! The net of the forwarder: arrivals, rings, cores that poll, work and send in bursts, and the outgoing line.

use inorder_base::random::Random;
use inorder_petri::coloured::{CounterSpec, Delay, Model, Queue, QueueSpec};

use super::{
    ForwarderConfig, Order, Packet, Sights, Spray, TICKS_PER_NS, receiver, reorder, ticks,
};

/// Builds the whole net.
pub(super) fn build(net: &mut Model<Packet>, config: &ForwarderConfig) -> Sights {
    let dropped = net.sink("dropped");
    let stack = net.sink("stack");
    let rings = arrivals(net, config, dropped);
    let forwarded = net.queue("forwarded", QueueSpec::fifo());
    cores(net, config, &rings, forwarded);
    let to_line = match config.order {
        Order::ReorderBuffer {
            window,
            timeout_ns,
            work_ns,
        } => reorder::build(net, forwarded, window, timeout_ns, work_ns),
        Order::Unordered | Order::Receiver(_) => forwarded,
    };
    let sent = line(net, config, to_line);
    receiver::build(net, config, sent, stack);
    Sights {
        sent,
        stack,
        dropped,
    }
}

fn by_core(packet: &Packet) -> u32 {
    u32::from(packet.core)
}

/// The rings of the cores with their free descriptors.
struct Rings {
    filled: Queue,
    free: inorder_petri::coloured::Counter,
}

fn arrivals(net: &mut Model<Packet>, config: &ForwarderConfig, dropped: Queue) -> Rings {
    let cores = config.cores;
    let source = net.queue("source", QueueSpec::fifo().tokens([Packet::default()]));
    let dealt = net.queue("dealt", QueueSpec::fifo().keyed(cores, by_core));
    let rings = Rings {
        filled: net.queue("ring", QueueSpec::fifo().keyed(cores, by_core)),
        free: net.counter("descriptors", CounterSpec::keyed(cores, config.ring)),
    };
    let mut deal = Deal::new(config);
    let mean = 1000.0 * TICKS_PER_NS / config.offered_mpps;
    net.transition("arrive")
        .take(source)
        .delay(Delay::exponential(mean))
        .pass(source, 0)
        .put(dealt, move |b| deal.next(b.now));
    // Packets are numbered when they have entered a ring, so that a dropped packet leaves no gap: only the order of
    // forwarded packets counts.
    let (mut order, mut next) = (0u32, vec![0u32; config.flows as usize]);
    net.transition("enqueue")
        .priority(2)
        .take(dealt)
        .spend(rings.free, 1)
        .put(rings.filled, move |b| {
            let seq = next.get_mut(usize::from(b[0].flow));
            let seq = seq.map_or(0, |seq| std::mem::replace(seq, seq.wrapping_add(1)));
            let packet = Packet { seq, order, ..b[0] };
            order = order.wrapping_add(1);
            packet
        });
    net.transition("drop").take(dealt).pass(dropped, 0);
    rings
}

/// Chooses the core and the flow of each packet.
struct Deal {
    random: Random,
    spray: Spray,
    cores: u64,
    flows: u64,
    core: u64,
}

impl Deal {
    fn new(config: &ForwarderConfig) -> Self {
        Self {
            random: Random::new(config.seed, "deal"),
            spray: config.spray,
            cores: config.cores.into(),
            flows: config.flows.into(),
            core: 0,
        }
    }

    fn next(&mut self, now: u64) -> Packet {
        self.core = match self.spray {
            Spray::RoundRobin => (self.core + 1) % self.cores,
            Spray::Random => self.random.below(self.cores),
        };
        let flow = self.random.below(self.flows) as u16;
        Packet {
            flow,
            core: self.core as u16,
            arrived: now,
            ..Packet::default()
        }
    }
}

/// A core polls, works on the packets it took, and sends them; each of these states is a place.
fn cores(net: &mut Model<Packet>, config: &ForwarderConfig, rings: &Rings, forwarded: Queue) {
    let cores = config.cores;
    let keyed = || QueueSpec::fifo().keyed(cores, by_core);
    let all = (0..cores).map(|core| Packet {
        core: core as u16,
        ..Packet::default()
    });
    let polling = net.queue("polling", keyed().tokens(all));
    let working = net.queue("working", keyed());
    let sending = net.queue("sending", keyed());
    let batch = net.queue("batch", keyed());
    let done = net.queue("done", keyed());
    let room = net.counter("burst-room", CounterSpec::keyed(cores, config.burst));

    net.transition("fetch")
        .priority(4)
        .read(polling)
        .take(rings.filled)
        .spend(room, 1)
        .give(rings.free, 1)
        .pass(batch, 1);
    let begin = BurstStart::new(config);
    net.transition("begin")
        .priority(3)
        .take(polling)
        .read(batch)
        .delay_by(move |_, random| begin.ticks(random))
        .pass(working, 0);
    let (least, variable) = (ticks(config.packet_ns), config.variable_ns * TICKS_PER_NS);
    net.transition("work")
        .take(working)
        .take(batch)
        .delay_by(move |_, random| least + (variable * random.exponential() + 0.5) as u64)
        .pass(working, 0)
        .pass(done, 1);
    net.transition("worked")
        .take(working)
        .inhibit_colour(batch, 1)
        .pass(sending, 0);
    net.transition("send")
        .priority(4)
        .read(sending)
        .take(done)
        .give(room, 1)
        .pass(forwarded, 1);
    net.transition("sent")
        .take(sending)
        .inhibit_colour(done, 1)
        .pass(polling, 0);
}

/// Time before the first packet of a burst: the poll, and the time for which the operating system takes the core.
struct BurstStart {
    work: u64,
    stall: f64,
    stall_ticks: f64,
}

impl BurstStart {
    fn new(config: &ForwarderConfig) -> Self {
        Self {
            work: ticks(config.burst_ns),
            stall: config.stall,
            stall_ticks: config.stall_ns * TICKS_PER_NS,
        }
    }

    fn ticks(&self, random: &mut Random) -> u64 {
        let away = if random.chance(self.stall) {
            self.stall_ticks * random.exponential()
        } else {
            0.0
        };
        self.work + (away + 0.5) as u64
    }
}

/// A line that sends one packet after the other; returns the place at its far end.
fn line(net: &mut Model<Packet>, config: &ForwarderConfig, from: Queue) -> Queue {
    let sent = net.queue("receiver-ring", QueueSpec::fifo());
    let ns = f64::from(config.bytes) * 8.0 / config.line_gbps;
    net.transition("transmit")
        .take(from)
        .servers(1)
        .delay(Delay::Deterministic(ticks(ns)))
        .pass(sent, 0);
    sent
}
