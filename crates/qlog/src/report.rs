//! What the log of one end says about its loss detection.

use crate::space::Space;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::arrivals::arrivals;
use crate::connection::Connection;
use crate::cost::bytes_missing;
use crate::event::SPACES;
use crate::lost::{Transfer, lost};
use crate::result::{
    Declared, LossRow, Reduced, Report, Resent, Sufficient, Threshold, Thresholds, Traffic, Trigger,
};
use crate::space::Sent;
use crate::trigger::decide;

/// Names of the packet number spaces.
const SPACE_NAMES: [&str; SPACES] = ["initial", "handshake", "application"];

/// The space of application data.
const DATA: usize = SPACES - 1;

/// Nanoseconds in a millisecond, the unit of most logs.
const MS: i64 = 1_000_000;

/// The sum of sizes that a log may claim to be of any length.
pub(crate) fn total(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, u64::saturating_add)
}

impl Connection {
    /// What the trace says about the loss detection of this end.
    pub fn report(&self) -> Report {
        let name = self.name();
        let losses = self.losses(&name.as_str().into());
        let wrong: Vec<&LossRow> = losses
            .iter()
            .filter(|loss| loss.delivered == Some(true))
            .collect();
        let known = self.knows_deliveries();
        let sent = || self.spaces.iter().flat_map(|space| space.sent.values());
        let needless: Vec<bool> = self
            .window
            .episodes
            .iter()
            .map(|e| self.is_needless(&e.losses))
            .collect();
        let reduced = || {
            self.window
                .episodes
                .iter()
                .zip(&needless)
                .filter(|(e, _)| e.fell.is_some())
        };
        let is_needless = |i: usize| needless.get(i) == Some(&true);
        let kept = || bytes_missing(&self.window, is_needless, self.last_ns, &self.trips);
        let sent_bytes = total(sent().map(|packet| packet.bytes));
        let lost = lost(&self.window, &needless, &self.transfer(&losses));
        let cost = lost.map_or_else(kept, |l| l.share / (1.0 - l.share) * sent_bytes as f64);
        let processed = self.spaces.iter().flat_map(Space::processed);
        Report {
            vantage: self.vantage().to_owned(),
            traffic: Traffic {
                sent: sent().count() as u64,
                received: processed.count() as u64,
                sent_bytes,
                lasted_ns: self.lasted_ns(),
            },
            declared: self.declared(&losses, &wrong, known),
            sufficient: Sufficient {
                known: wrong.iter().filter(|loss| loss.knows_thresholds()).count() as u64,
                half: sufficient(&wrong, 0.5),
                most: sufficient(&wrong, 0.95),
                all: sufficient(&wrong, 1.0),
            },
            reduced: Reduced {
                reductions: reduced().count() as u64,
                needless: known
                    .then(|| reduced().filter(|(_, needless)| **needless).count() as u64),
                cost_bytes: (known && !self.window.history.is_empty()).then_some(cost),
                lost: lost.filter(|_| known),
            },
            resent: self.has_frames().then(|| self.resent()),
            arrivals: arrivals(&self.spaces[DATA].received, self.unused_there()),
            name,
            losses,
        }
    }

    /// The packets declared lost; `wrong` are those that were delivered, if that is `known`.
    fn declared(&self, losses: &[LossRow], wrong: &[&LossRow], known: bool) -> Declared {
        let by = |trigger| losses.iter().filter(|loss| loss.trigger == trigger).count() as u64;
        let dropped = || {
            losses
                .iter()
                .filter(|loss| loss.dropped == Some(true))
                .count() as u64
        };
        Declared {
            lost: losses.len() as u64,
            by_packets: by(Trigger::PacketThreshold),
            by_time: by(Trigger::TimeThreshold),
            delivered: known.then_some(wrong.len() as u64),
            delivered_bytes: known.then(|| total(wrong.iter().map(|loss| loss.bytes))),
            dropped_there: self.heard.is_some().then(dropped),
            joined_by: self.joined_by(),
            unknown: total(self.spaces.iter().map(|space| space.unknown)),
        }
    }

    /// What went over the path with application data.
    fn transfer(&self, losses: &[LossRow]) -> Transfer {
        let data = &self.spaces[DATA];
        let acked = data.sent.values();
        let acked = acked.filter_map(|sent| Some((sent.acked?.at_ns, sent.bytes)));
        let mut acked: Vec<_> = acked.collect();
        acked.sort_unstable();
        let there = self.heard.as_ref().map(|heard| heard.data.clone());
        let there = there.filter(|there| shows_line(there));
        let arrived = there.or_else(|| Some(&acked).filter(|acked| shows_line(acked)).cloned());
        // What only acknowledges or closes is no part of the transfer, and may come long after it.
        let in_flight = data.sent.values().filter(|sent| sent.in_flight);
        Transfer {
            sent: in_flight.map(|s| (s.at_ns, s.bytes)).collect(),
            arrived: arrived.unwrap_or_default(),
            acked,
            round_trips: self.trips.all().to_vec(),
            // What was lost came again, and what was not came twice.
            wasted: total(losses.iter().map(|loss| loss.bytes)),
            rtt_ns: self.least_ns.unwrap_or(0),
        }
    }

    /// True if the network lost none of the packets, also if some came so late that the other end dropped them.
    fn is_needless(&self, losses: &[(usize, u64)]) -> bool {
        losses.iter().all(|&(space, number)| {
            let sent = self.spaces[space].sent.get(&number);
            let is_delivered = |sent| self.is_delivered(space, number, sent) == Some(true);
            sent.is_some_and(is_delivered) || self.is_dropped_there(space, number) == Some(true)
        })
    }

    fn losses(&self, name: &Arc<str>) -> Vec<LossRow> {
        let (mut rows, word, order) = (Vec::new(), self.word(), self.order());
        let vantage: Arc<str> = self.vantage().into();
        for (space, of) in self.spaces.iter().enumerate() {
            for (&number, lost) in &of.lost {
                let Some(sent) = of.sent.get(&number) else {
                    continue;
                };
                let delivered = self.is_delivered(space, number, sent);
                let acked = sent.acked.filter(|acked| acked.at_ns >= lost.at_ns);
                let by_acks = acked
                    .as_ref()
                    .and_then(|acked| overtaken(acked.largest_before, number));
                let there = || self.overtaken_there(space, number, sent);
                rows.push(LossRow {
                    connection: Arc::clone(name),
                    vantage: Arc::clone(&vantage),
                    space: SPACE_NAMES[space],
                    number,
                    bytes: sent.bytes,
                    sent_ns: sent.at_ns,
                    declared_after_ns: lost.at_ns.saturating_sub(sent.at_ns),
                    trigger: decide(number, sent.at_ns, &lost.caused(order), word),
                    delivered,
                    dropped: self.is_dropped_there(space, number),
                    acked_after_ns: sent
                        .acked
                        .map(|acked| acked.at_ns.saturating_sub(sent.at_ns)),
                    needed_packets: by_acks
                        .map(|distance| Threshold {
                            packets: distance + 1,
                            at_most: false,
                        })
                        .or_else(there),
                    needed_rtts: acked
                        .as_ref()
                        .and_then(|acked| of.needed_rtts(number, sent.at_ns, acked.at_ns, order)),
                });
            }
        }
        rows.sort_by_key(|row| row.sent_ns);
        rows
    }

    /// The packet threshold that would have sufficed at most for a packet of which no acknowledgement is known: how far the
    /// highest number that the other end had was above this one when it came. No acknowledgement without this packet can
    /// have reported a higher one, but not every arrival was acknowledged by itself.
    fn overtaken_there(&self, space: usize, number: u64, sent: &Sent) -> Option<Threshold> {
        let there = self.heard.as_ref().filter(|_| sent.acked.is_none())?;
        let distance = overtaken(*there.arrived[space].get(&number)?, number)?;
        Some(Threshold {
            packets: distance + 1,
            at_most: true,
        })
    }

    /// Stream data that was sent again without a loss.
    fn resent(&self) -> Resent {
        let data = &self.spaces[DATA];
        let was_delivered = |number: &u64| {
            let sent = data.sent.get(number);
            sent.is_some_and(|sent| self.is_delivered(DATA, *number, sent) == Some(true))
        };
        // Bytes that were sent again in each packet, and those of them that were delivered before.
        let mut packets: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for again in &self.streams.again {
            let (bytes, spurious) = packets.entry(again.number).or_default();
            *bytes = bytes.saturating_add(again.bytes);
            if again.earlier.iter().any(was_delivered) {
                *spurious = spurious.saturating_add(again.bytes);
            }
        }
        let known = self.knows_deliveries();
        let all = || packets.values();
        Resent {
            packets: packets.len() as u64,
            bytes: total(all().map(|(bytes, _)| *bytes)),
            spurious_packets: known.then(|| all().filter(|(b, s)| b == s).count() as u64),
            spurious_bytes: known.then(|| total(all().map(|(_, spurious)| *spurious))),
        }
    }
}

/// True if these times can show the rate of the line: whole milliseconds say nothing of one that needs less for a packet.
fn shows_line(arrived: &[(i64, u64)]) -> bool {
    arrived.iter().any(|(at_ns, _)| at_ns % MS != 0)
}

/// How far the highest number known before was above this one; `None` if it was below: then no threshold declared it
/// lost, but a probe time-out.
fn overtaken(largest_before: Option<u64>, number: u64) -> Option<u64> {
    largest_before?
        .checked_sub(number)
        .filter(|distance| *distance > 0)
}

/// The thresholds that would have declared at most the rest of these packets lost.
fn sufficient(wrong: &[&LossRow], share: f64) -> Thresholds {
    let rank = |n: usize| ((share * n as f64).ceil() as usize).clamp(1, n.max(1)) - 1;
    let quantile = |of: fn(Threshold) -> u64| {
        let needed = wrong.iter().filter_map(|loss| loss.needed_packets);
        let mut packets: Vec<u64> = needed.map(of).collect();
        packets.sort_unstable();
        packets.get(rank(packets.len())).copied()
    };
    // What is known as a bound may be as low as nothing. It makes the result a bound if that would change it.
    let most = quantile(|needed| needed.packets);
    let least = quantile(|needed| if needed.at_most { 0 } else { needed.packets });
    let mut rtts: Vec<f64> = wrong.iter().filter_map(|loss| loss.needed_rtts).collect();
    rtts.sort_by(f64::total_cmp);
    Thresholds {
        packets: most.map(|packets| Threshold {
            packets,
            at_most: least != most,
        }),
        rtts: rtts.get(rank(rtts.len())).copied(),
    }
}
