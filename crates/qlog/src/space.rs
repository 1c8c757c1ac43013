//! Packets of one packet number space: sent, declared lost, acknowledged, received.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::order::Order;
use crate::result::Trigger;

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) at_ns: i64,
    pub(crate) bytes: u64,
    /// False of a packet that only acknowledges or closes: its loss reduces no window (RFC 9002 section 2).
    pub(crate) in_flight: bool,
    pub(crate) acked: Option<Acked>,
}

/// The first time a packet was declared lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub(crate) at_ns: i64,
    /// The reason in the log.
    pub(crate) said: Trigger,
    /// A packet had arrived at that very time. Otherwise a timer had expired.
    pub(crate) on_arrival: bool,
    /// Least and greatest number that may have been the highest acknowledged one; `None` if nothing shows it.
    pub(crate) highest_acked: Option<(u64, u64)>,
    /// The highest number acknowledged by a packet that the log has right behind the loss, if there is one.
    pub(crate) soon_acked: Option<u64>,
    /// The highest number that had been received in this space.
    pub(crate) heard: Option<u64>,
    /// The highest number that the other end can have acknowledged by then, if its log is known.
    pub(crate) acknowledgeable: Option<u64>,
    /// The greater of the smoothed and the latest round trip, nanoseconds; 0 if the log has not said.
    pub(crate) rtt_ns: i64,
}

impl Lost {
    /// The same with the acknowledgement that caused it, if the log has that one behind it.
    pub(crate) fn caused(&self, order: Order) -> Lost {
        let soon = self.soon_acked.filter(|_| order == Order::CauseLast);
        Lost {
            highest_acked: soon
                .map(|highest| (highest, highest))
                .or(self.highest_acked),
            ..*self
        }
    }
}

/// The acknowledgement that first contained a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    pub(crate) at_ns: i64,
    /// Highest number acknowledged before, `None` if this was the first acknowledgement.
    pub(crate) largest_before: Option<u64>,
}

/// What the sender knew from one acknowledgement to the next.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The next acknowledgement came.
    until_ns: i64,
    /// Highest number that had been acknowledged.
    highest: u64,
    /// The greater of the smoothed and the latest round trip that stands before that acknowledgement in the log, nanoseconds.
    rtt_ns: i64,
}

/// Maximum number of acknowledgements that are looked at for one packet. Time goes on from one to the next: earlier ones matter only
/// if the round trip was several times shorter then.
const MAX_STEPS: usize = 4_096;

/// Maximum number of packets, or of what the log says of them, that are looked at for what happened within a round trip: those of
/// 1 Gbit/s over 150 ms, or of 10 Gbit/s over 15 ms.
pub(crate) const MAX_IN_FLIGHT: usize = 1 << 14;

/// A packet that came from the other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) number: u64,
    pub(crate) at_ns: i64,
    pub(crate) bytes: u64,
    /// This end took it for a duplicate and did not process it.
    pub(crate) dropped: bool,
}

/// One space.
#[derive(Clone, Default, Debug)]
pub(crate) struct Space {
    pub(crate) sent: BTreeMap<u64, Sent>,
    /// Those of them that were declared lost.
    pub(crate) lost: BTreeMap<u64, Lost>,
    /// Numbers that were sent and not acknowledged yet.
    open: BTreeSet<u64>,
    /// Of these, numbers in flight that were not declared lost either.
    waiting: BTreeSet<u64>,
    pub(crate) largest_acked: Option<u64>,
    /// The times between acknowledgements, as far as the log says the round trip.
    steps: Vec<Step>,
    /// What came from the other end, in the order of arrival.
    pub(crate) received: Vec<Received>,
    /// The numbers of those that have been asked for: of the first `indexed`.
    numbers: HashSet<u64>,
    indexed: usize,
    /// The highest number of them that was processed.
    pub(crate) largest_received: Option<u64>,
    /// Losses declared of packets whose sending the log lacks.
    pub(crate) unknown: u64,
}

inorder_base::heap!(Space: sent, lost, open, waiting, steps, received, numbers);

impl Space {
    /// A packet goes out; in flight unless it only acknowledges.
    pub(crate) fn sent(&mut self, number: u64, at_ns: i64, bytes: u64, in_flight: bool) {
        let packet = Sent {
            at_ns,
            bytes,
            in_flight,
            acked: None,
        };
        if self.sent.insert(number, packet).is_none() {
            self.open.insert(number);
            if in_flight {
                self.waiting.insert(number);
            }
        }
    }

    /// A packet comes from the other end.
    pub(crate) fn received(&mut self, packet: Received) {
        if !packet.dropped {
            self.largest_received = self.largest_received.max(Some(packet.number));
        }
        self.received.push(packet);
    }

    /// True if a packet with this number was received.
    pub(crate) fn has_received(&mut self, number: u64) -> bool {
        let new = self.received.iter().skip(self.indexed);
        self.numbers.extend(new.map(|packet| packet.number));
        self.indexed = self.received.len();
        self.numbers.contains(&number)
    }

    /// What was received and processed.
    pub(crate) fn processed(&self) -> impl Iterator<Item = &Received> {
        self.received.iter().filter(|packet| !packet.dropped)
    }

    /// The packets that loss detection takes for lost next: the oldest in flight below the highest acknowledged one. Both
    /// thresholds of RFC 9002 section 6.1 take the oldest first.
    pub(crate) fn next_lost(&self) -> impl Iterator<Item = (u64, i64)> {
        let below = self.largest_acked.unwrap_or(0);
        let waiting = self.waiting.range(..below);
        waiting.filter_map(|number| Some((*number, self.sent.get(number)?.at_ns)))
    }

    /// A packet is declared lost; the packet, if it had been sent and was not declared before.
    pub(crate) fn lost(&mut self, number: u64, lost: Lost) -> Option<&mut Sent> {
        let Some(packet) = self.sent.get_mut(&number) else {
            self.unknown += 1;
            return None;
        };
        if self.lost.contains_key(&number) {
            return None;
        }
        self.lost.insert(number, lost);
        self.waiting.remove(&number);
        Some(packet)
    }

    /// Least and greatest number of the packets that were sent at this time, within `tolerance_ns`.
    pub(crate) fn sent_at(&self, at_ns: i64, tolerance_ns: u64) -> Option<(u64, u64)> {
        // Later numbers are sent later, and what is looked for was sent about a round trip ago.
        let after = |sent: &Sent| sent.at_ns.saturating_sub(at_ns) > tolerance_ns.cast_signed();
        let mut at_time = self
            .sent
            .iter()
            .rev()
            .take(MAX_IN_FLIGHT)
            .skip_while(|(_, sent)| after(sent))
            .take_while(|(_, sent)| sent.at_ns.abs_diff(at_ns) <= tolerance_ns)
            .map(|(number, _)| *number);
        let greatest = at_time.next()?;
        Some((at_time.last().unwrap_or(greatest), greatest))
    }

    /// The round trip that an acknowledgement of these ranges measures, nanoseconds: of its highest packet, if that is new (RFC
    /// 9002 section 5.1).
    pub(crate) fn measures(&self, ranges: &[(u64, u64)], at_ns: i64) -> Option<i64> {
        let highest = ranges.iter().map(|(_, last)| *last).max()?;
        let sent = self.sent.get(&highest)?;
        (sent.acked.is_none() && sent.in_flight).then(|| at_ns.saturating_sub(sent.at_ns))
    }

    /// An acknowledgement of these ranges arrives; `rtt_ns` is the greater of the smoothed and the latest round trip before it.
    pub(crate) fn acked(&mut self, ranges: &[(u64, u64)], at_ns: i64, rtt_ns: i64) {
        let acked = Acked {
            at_ns,
            largest_before: self.largest_acked,
        };
        if let Some(highest) = self
            .largest_acked
            .filter(|_| rtt_ns > 0 && !ranges.is_empty())
        {
            self.steps.push(Step {
                until_ns: at_ns,
                highest,
                rtt_ns,
            });
        }
        for &(first, last) in ranges {
            let covered: Vec<u64> = self.open.range(first..=last).copied().collect();
            for number in covered {
                self.open.remove(&number);
                self.waiting.remove(&number);
                if let Some(packet) = self.sent.get_mut(&number) {
                    packet.acked = Some(acked);
                    // An acknowledgement of what was never sent says nothing.
                    self.largest_acked = self.largest_acked.max(Some(number));
                }
            }
        }
    }

    /// The time threshold that would not have declared packet `number` lost before its acknowledgement came at `acked_ns`, in
    /// round trips. An acknowledgement of a later packet declares it lost or sets a timer (RFC 9002 section 6.1.2), which runs
    /// until the next one measures the round trip anew. `None` if no later packet was acknowledged before.
    pub(crate) fn needed_rtts(
        &self,
        number: u64,
        sent_ns: i64,
        acked_ns: i64,
        order: Order,
    ) -> Option<f64> {
        let before = self.steps.partition_point(|step| step.until_ns <= acked_ns);
        let ratio = |i: usize, step: &Step| {
            let measured = match order {
                Order::CauseFirst => step,
                // Before the first one the log has nothing better.
                Order::CauseLast => i
                    .checked_sub(1)
                    .and_then(|i| self.steps.get(i))
                    .unwrap_or(step),
            };
            let waited_ns = step.until_ns.saturating_sub(sent_ns);
            waited_ns as f64 / measured.rtt_ns as f64
        };
        let steps = self.steps.get(..before)?.iter().enumerate().rev();
        steps
            .take(MAX_STEPS)
            .take_while(|(_, step)| step.until_ns > sent_ns)
            .filter(|(_, step)| step.highest > number)
            .map(|(i, step)| ratio(i, step))
            .max_by(f64::total_cmp)
    }
}
