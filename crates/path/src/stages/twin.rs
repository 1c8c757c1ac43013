//! For tests of queues: a packet that can be marked, and a link that is simulated event by event.

use crate::packet::Packet;
use crate::{AnyStage, Path, Timeline};

/// What a packet's IP header says of ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Capable {
    No,
    Ect0,
    Ect1,
}

/// A numbered packet that can be marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Numbered {
    pub number: u64,
    pub bytes: u32,
    pub capable: Capable,
    pub marked: bool,
}

impl Packet for Numbered {
    type Flow = u32;
    fn wire_bytes(&self) -> u32 {
        self.bytes
    }
    fn flow(&self) -> u32 {
        0
    }
    fn mark_congestion(&mut self) -> bool {
        self.marked |= self.capable != Capable::No;
        self.marked
    }
    fn wants_low_latency(&self) -> bool {
        self.capable == Capable::Ect1 || self.marked
    }
}

/// Packets of these times, sizes and kinds, numbered.
pub(super) fn packets(list: &[(i64, u32, Capable)]) -> Vec<(i64, Numbered)> {
    let numbered = list.iter().zip(0..);
    numbered
        .map(|(&(at_ns, bytes, capable), number)| {
            let packet = Numbered {
                number,
                bytes,
                capable,
                marked: false,
            };
            (at_ns, packet)
        })
        .collect()
}

/// What a stage delivers of these packets, and when.
pub(super) fn through(
    stage: impl Into<AnyStage<Numbered>>,
    arrivals: &[(i64, Numbered)],
) -> Vec<(i64, Numbered)> {
    let mut line = Timeline::new(Path::new(vec![stage.into()]));
    for (at_ns, packet) in arrivals {
        line.push(*at_ns, *packet);
    }
    std::iter::from_fn(|| line.pop(i64::MAX)).collect()
}

/// A queue whose calculations are made at their times.
pub(super) trait Twin {
    /// A regular calculation.
    fn tick(&mut self, now_ns: i64);
    /// A packet arrives.
    fn arrive(&mut self, now_ns: i64, packet: Numbered);
    /// The link is free.
    fn depart(&mut self, now_ns: i64) -> Option<Numbered>;
}

/// What a link delivers that needs `ns_per_byte` for each byte. At equal times calculations come first, arrivals last.
pub(super) fn slow(
    mut twin: impl Twin,
    tick_ns: i64,
    ns_per_byte: i64,
    arrivals: &[(i64, Numbered)],
) -> Vec<(i64, Numbered)> {
    let mut out = Vec::new();
    let mut busy_until: Option<i64> = None;
    let Some(&(first_ns, _)) = arrivals.first() else {
        return out;
    };
    let mut tick_at = first_ns + tick_ns;
    let mut coming = arrivals.iter().peekable();
    loop {
        let arrival_at = coming.peek().map(|(at_ns, _)| *at_ns);
        let Some(now) = arrival_at.into_iter().chain(busy_until).min() else {
            return out;
        };
        if tick_at <= now {
            twin.tick(tick_at);
            tick_at += tick_ns;
            continue;
        }
        let is_departure = busy_until == Some(now);
        if is_departure {
            busy_until = None;
        } else if let Some((_, packet)) = coming.next() {
            twin.arrive(now, *packet);
        }
        if busy_until.is_none() {
            let next = twin.depart(now);
            busy_until = next.map(|packet| now + i64::from(packet.bytes) * ns_per_byte);
            out.extend(busy_until.zip(next));
        }
    }
}
