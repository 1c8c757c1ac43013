//! Measures the cost of one data segment and its acknowledgement at both endpoints: a transfer at 1 Gb/s with a
//! varying delay, driven by the simplest possible loop. Arguments: number of segments, standard deviation of the
//! delay in microseconds, congestion control, loss detection, profile, `sack` or `nosack`, and the queue limit in
//! segments.
//!
//! `cargo run --release -p inorder-tcp --example segment_cost -- 2000000 50 cubic linux-2.6.24`

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use inorder_base::random::Random;
use inorder_tcp::config::MS;
use inorder_tcp::{Endpoint, Nanos, Segment};

/// Sender, bottleneck, varying delay, receiver, and the return path.
struct World {
    now: Nanos,
    sender: Endpoint,
    receiver: Endpoint,
    forward: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    flying: Vec<Segment>,
    free: Vec<usize>,
    back: VecDeque<(Nanos, Segment)>,
    link_free: Nanos,
    queue: Nanos,
    order: u64,
    random: Random,
    deviation: f64,
    data: u64,
    dropped: u64,
}

impl World {
    fn send_data(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            let backlog = (self.link_free - self.now).max(0);
            let serialization = Nanos::from(segment.ip_bytes() + 38) * 8;
            if backlog > self.queue * 12_304 {
                self.dropped += 1;
                continue;
            }
            self.link_free = self.link_free.max(self.now) + serialization;
            let jitter = (self.random.normal() * self.deviation).max(-2_400_000.0);
            let at = (self.link_free + 2_500_000).saturating_add(jitter as Nanos);
            let slot = self.free.pop().unwrap_or(self.flying.len());
            if slot == self.flying.len() {
                self.flying.push(segment);
            } else {
                self.flying[slot] = segment;
            }
            self.order += 1;
            self.data += u64::from(segment.payload > 0);
            self.forward.push(Reverse((at, self.order, slot)));
        }
    }

    fn send_acks(&mut self) {
        while let Some(segment) = self.receiver.poll_transmit(self.now) {
            self.back.push_back((self.now + 2_500_000, segment));
        }
    }

    fn step(&mut self) -> bool {
        let forward = self.forward.peek().map_or(Nanos::MAX, |next| next.0.0);
        let back = self.back.front().map_or(Nanos::MAX, |next| next.0);
        let sender = self.sender.next_timer().unwrap_or(Nanos::MAX);
        let receiver = self.receiver.next_timer().unwrap_or(Nanos::MAX);
        let at = forward.min(back).min(sender).min(receiver);
        if at == Nanos::MAX {
            return false;
        }
        self.now = self.now.max(at);
        if at == forward {
            let slot = self.forward.pop().map_or(0, |next| next.0.2);
            let segment = self.flying[slot];
            self.free.push(slot);
            self.receiver.on_segment(self.now, &segment);
            self.send_acks();
        } else if at == back {
            if let Some((_, segment)) = self.back.pop_front() {
                self.sender.on_segment(self.now, &segment);
            }
            self.send_data();
        } else if at == sender {
            self.sender.on_timer(self.now);
            self.send_data();
        } else {
            self.receiver.on_timer(self.now);
            self.send_acks();
        }
        true
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text =
        |at: usize, default: &str| arguments.get(at).map_or(default.to_owned(), Clone::clone);
    let segments: u64 = text(0, "1000000").parse()?;
    let deviation: f64 = text(1, "50").parse()?;
    let (control, detection) = (text(2, "cubic"), text(3, "linux"));
    let profile = inorder_tcp::profiles::find(&text(4, "linux-6")).ok_or("no such profile")?;
    let config = (profile.build)().with(|config| config.options.sack = text(5, "sack") == "sack");
    let mut world = World {
        now: 0,
        sender: Endpoint::with_names(&config, &control, &detection)?,
        receiver: Endpoint::with_names(&config, &control, &detection)?,
        forward: BinaryHeap::new(),
        flying: Vec::new(),
        free: Vec::new(),
        back: VecDeque::new(),
        link_free: 0,
        queue: text(6, "1000").parse()?,
        order: 0,
        random: Random::new(1, "delay"),
        deviation: deviation * 1_000.0,
        data: 0,
        dropped: 0,
    };
    world.receiver.listen();
    world.sender.connect(0);
    world.sender.write(u64::MAX);
    world.send_data();
    while world.data < segments && world.step() {}
    let received = world.receiver.counters().received.bytes_received;
    let seconds = world.now as f64 / 1e9;
    println!(
        "{} data segments in {:.3} virtual s: {:.1} Mb/s, {} dropped, window {} ms",
        world.data,
        seconds,
        received as f64 * 8e-6 / seconds,
        world.dropped,
        world.sender.info().timing.rtt / MS
    );
    println!("{:?}\n{:?}", world.sender.info(), world.sender.counters());
    Ok(())
}
