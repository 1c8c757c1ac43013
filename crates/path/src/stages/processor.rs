//! A network processor on the path: packets share its threads and memories with other traffic, and may leave out of order.

use std::collections::VecDeque;

use inorder_base::random::Random;
use inorder_netproc::{Config, Dequeue, Length, NetprocError, Online, Traffic};
use inorder_scenario::config as plain;
use inorder_sort::FlowKey;

use crate::counters::Reason;
use crate::declared::Declared;
use crate::packet::Packet;
use crate::stage::{Outbox, Stage};

/// Lanes of the processor for the flows of the path, and for the other traffic. Flows share a lane if their hashes do.
const LANES: u32 = 32;

/// Settings of a [`Processor`].
#[derive(Clone, PartialEq, Debug)]
pub struct ProcessorConfig {
    /// The processor; its traffic is used for the longest packet only.
    pub processor: Config,
    /// Other packets through it, a second, at random times.
    pub background_per_s: f64,
    /// Length of the other packets, bytes.
    pub background_bytes: u16,
    /// Packets that may wait for room in its receive buffer.
    pub queue_packets: u32,
}

/// The IXP 2400 of `inorder-netproc` as a part of a path, under an ordering scheme.
pub struct Processor<P> {
    online: Online,
    /// The packets inside; `None`: the place is free, or its packet is of the other traffic.
    inside: Vec<Option<P>>,
    free: VecDeque<u32>,
    longest: u16,
    queue: u32,
    /// When something happens in it next, nanoseconds.
    event_ns: Option<i64>,
    random: Random,
    seed: u64,
    background: Option<Background>,
}

/// The other traffic.
struct Background {
    bytes: u16,
    mean_gap_ns: f64,
    next_ns: f64,
}

/// The number of a packet of the other traffic.
const OTHER: u32 = u32::MAX;

impl<P: Packet> Processor<P> {
    /// An idle processor; fails if the configuration is not valid.
    pub fn new(config: &ProcessorConfig, mut random: Random) -> Result<Self, NetprocError> {
        let mut processor = config.processor.clone();
        processor.seed = random.next_u64();
        processor.traffic.flows = 2 * LANES;
        let longest = processor.traffic.lengths.iter().map(|length| length.bytes);
        let mean_gap_ns = 1e9 / config.background_per_s;
        let background = (config.background_per_s > 0.0).then(|| Background {
            bytes: config.background_bytes,
            mean_gap_ns,
            next_ns: random.exponential() * mean_gap_ns,
        });
        Ok(Processor {
            longest: longest.max().unwrap_or(0),
            online: Online::new(&processor)?,
            inside: Vec::new(),
            free: VecDeque::new(),
            queue: config.queue_packets,
            event_ns: None,
            seed: random.next_u64(),
            random,
            background,
        })
    }

    /// Lets the other traffic arrive until `now_ns`, and passes on what has left.
    fn run_until(&mut self, now_ns: i64, out: &mut Outbox<P>) -> Result<(), NetprocError> {
        while let Some(background) = &mut self.background
            && background.next_ns <= now_ns as f64
        {
            let at = background.next_ns as i64;
            background.next_ns += self.random.exponential() * background.mean_gap_ns;
            let bytes = background.bytes;
            self.online.run_until(at)?;
            if self.online.waiting() < self.queue {
                let lane = LANES + self.random.below(LANES.into()) as u32;
                self.online.put(at, lane, bytes, OTHER)?;
            }
        }
        self.online.run_until(now_ns)?;
        for exit in self.online.exits() {
            let place = self.inside.get_mut(exit.number as usize);
            if let Some(packet) = place.and_then(Option::take) {
                self.free.push_back(exit.number);
                out.send(exit.time_ns.max(now_ns), packet);
            }
        }
        self.event_ns = self.online.next_ns();
        Ok(())
    }

    fn enter(&mut self, now_ns: i64, packet: P, out: &mut Outbox<P>) -> Result<(), NetprocError> {
        let Some(bytes) = fitting(packet.wire_bytes(), self.longest) else {
            out.drop(packet, Reason::TooLarge);
            return Ok(());
        };
        if self.online.waiting() >= self.queue {
            out.drop(packet, Reason::QueueFull);
            return Ok(());
        }
        let lane = (packet.flow().hash64(self.seed) % u64::from(LANES)) as u32;
        let number = self.free.pop_front().unwrap_or(self.inside.len() as u32);
        match self.inside.get_mut(number as usize) {
            Some(place) => *place = Some(packet),
            None => self.inside.push(Some(packet)),
        }
        self.online.put(now_ns, lane, bytes, number)?;
        self.event_ns = self.online.next_ns();
        Ok(())
    }
}

fn fitting(bytes: u32, longest: u16) -> Option<u16> {
    u16::try_from(bytes).ok().filter(|bytes| *bytes <= longest)
}

impl<P: Packet> Stage<P> for Processor<P> {
    fn push(&mut self, now_ns: i64, packet: P, out: &mut Outbox<P>) {
        // A net that was built and checked only fails if it fires without end at one time, which its construction excludes.
        let entered = self
            .run_until(now_ns, out)
            .and_then(|()| self.enter(now_ns, packet, out));
        debug_assert!(entered.is_ok(), "{entered:?}");
    }

    fn next_wake_ns(&self) -> Option<i64> {
        // Without packets of the path inside, what the other traffic does is caught up with at the next arrival.
        let busy = self.inside.len() > self.free.len();
        let arrival = self
            .background
            .as_ref()
            .map(|other| other.next_ns.ceil() as i64);
        busy.then(|| self.event_ns.into_iter().chain(arrival).min())
            .flatten()
    }

    fn wake(&mut self, now_ns: i64, out: &mut Outbox<P>) {
        let ran = self.run_until(now_ns, out);
        debug_assert!(ran.is_ok(), "{ran:?}");
    }

    fn keeps_order(&self) -> bool {
        // Departure times never decrease; which packet leaves at which time is decided inside.
        true
    }
}

impl<P: Packet> Declared<P> for plain::Processor {
    type Stage = Box<Processor<P>>;

    fn build(&self, random: Random) -> Box<Processor<P>> {
        let longest = u16::try_from(self.longest_bytes).unwrap_or(u16::MAX);
        let background_bytes = self
            .background_bytes
            .map_or(longest, |bytes| u16::try_from(bytes).unwrap_or(longest));
        let processor = Config {
            scheme: self.scheme.name().to_owned(),
            engines: self.engines,
            threads: self.threads,
            dequeue: match self.dequeue {
                plain::Dequeue::Scheme => None,
                plain::Dequeue::Strict => Some(Dequeue::Strict),
                plain::Dequeue::Completion => Some(Dequeue::Completion),
            },
            traffic: Traffic {
                lengths: vec![Length {
                    bytes: longest,
                    share: 1.0,
                }],
                ..Traffic::default()
            },
            ..Config::default()
        };
        let bits = 8.0 * f64::from(background_bytes);
        let config = ProcessorConfig {
            processor,
            background_per_s: self
                .background_bits_per_s
                .map_or(0.0, |rate| rate as f64 / bits),
            background_bytes,
            queue_packets: u32::try_from(self.queue_packets).unwrap_or(u32::MAX),
        };
        let built = Processor::new(&config, random);
        // The keys' ranges are those of the processor's configuration.
        Box::new(built.unwrap_or_else(|error| unreachable!("{error}")))
    }
}
