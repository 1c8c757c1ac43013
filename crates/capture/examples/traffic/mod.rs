//! TCP bulk transfers as captured next to the receiver: handshake, segments of 1448 bytes, an ACK for every second
//! segment, immediate ACKs with SACK blocks while a segment is missing, FINs.
//!
//! Some data segments arrive late, behind up to eight later segments. No segment is lost or retransmitted, because
//! the senders tolerate reordering as RACK does (RFC 8985 section 6.2). The traffic is deterministic: the same
//! options give the same frames.

mod connection;
mod frame;

use connection::{Connection, Event};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What to generate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Total number of frames.
    pub packets: u64,
    /// Total number of connections; they run in parallel.
    pub connections: u32,
    /// Percentage of data segments that arrive late.
    pub displaced: f64,
    /// The same seed gives the same traffic.
    pub seed: u64,
    /// Bytes kept of each frame; 0 keeps exactly the headers.
    pub snaplen: usize,
}

/// A frame as captured.
pub(crate) struct Captured<'a> {
    pub ts_ns: i64,
    pub orig_len: u32,
    pub data: &'a [u8],
}

/// Iterator over the generated frames.
pub(crate) struct Traffic {
    options: Options,
    connections: Vec<Connection>,
    queue: BinaryHeap<Reverse<Queued>>,
    queued: u64,
    emitted: u64,
    random: Random,
    buffer: Vec<u8>,
}

/// An event and its time. Events at the same time keep the order in which they were queued.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Queued {
    at_ns: i64,
    order: u64,
    connection: u32,
    event: Event,
}

/// 2023-11-14 22:13:20 UTC.
const EPOCH_NS: i64 = 1_700_000_000_000_000_000;

/// Connections begin at times spread over this interval.
const SPREAD_NS: u64 = 200_000_000;

impl Traffic {
    pub(crate) fn new(options: Options) -> Traffic {
        let mut random = Random(options.seed);
        let share = options.packets / u64::from(options.connections.max(1));
        // Three data segments cause at least two ACKs, so this is never too few.
        let segments = share * 2 / 3 + 16;
        let connections = (0..options.connections)
            .map(|number| Connection::new(number, segments, &mut random))
            .collect();
        let mut traffic = Traffic {
            options,
            connections,
            queue: BinaryHeap::new(),
            queued: 0,
            emitted: 0,
            random,
            buffer: Vec::new(),
        };
        for connection in 0..options.connections {
            let at_ns = traffic.random.below(SPREAD_NS).cast_signed();
            traffic.push(at_ns, connection, Event::Syn);
        }
        traffic
    }

    fn push(&mut self, at_ns: i64, connection: u32, event: Event) {
        self.queue.push(Reverse(Queued {
            at_ns,
            order: self.queued,
            connection,
            event,
        }));
        self.queued += 1;
    }

    /// The next frame; `None` after the last.
    pub(crate) fn next(&mut self) -> Option<Captured<'_>> {
        if self.emitted >= self.options.packets {
            return None;
        }
        loop {
            let Reverse(Queued {
                at_ns,
                connection: number,
                event,
                ..
            }) = self.queue.pop()?;
            let connection = self.connections.get_mut(number as usize)?;
            let late = self.options.displaced / 100.0;
            let outcome = connection.happen(at_ns, event, late, &mut self.random);
            for (at_ns, event) in outcome.follow {
                self.push(at_ns, number, event);
            }
            if let Some(packet) = outcome.packet {
                self.emitted += 1;
                let orig_len = packet.write(&mut self.buffer);
                let keep = match self.options.snaplen {
                    0 => packet.headers_len(),
                    snaplen => snaplen.min(self.buffer.len()),
                };
                return Some(Captured {
                    ts_ns: EPOCH_NS + at_ns,
                    orig_len,
                    data: &self.buffer[..keep],
                });
            }
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; the bias of the remainder does not matter here.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// True with probability `p`.
    pub(crate) fn chance(&mut self, p: f64) -> bool {
        ((self.next() >> 11) as f64) < p * (1u64 << 53) as f64
    }
}
