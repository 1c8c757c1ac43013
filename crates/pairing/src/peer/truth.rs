//! What happened to every original and every retransmission, with both ends in hand.

use std::collections::BTreeMap;

use super::flow_truth::FlowTruth;
use super::matching::{Matching, frame_of};
use super::ranges::Ranges;
use super::recorder::DataFrame;
use super::stretch::{Stretch, stretches};
use inorder_detect::{
    Basis, Cause, Collector, Confidence, Evidence, Half, Place, Retransmission, Retransmissions,
    Vantage, Verdict,
};
use inorder_metrics::by_bytes::Late;

/// What is known of a flow beside its packets with data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) sent: &'a [DataFrame],
    pub(crate) arrived: &'a [DataFrame],
    /// The FIN as it arrived, if it was a packet of its own.
    pub(crate) end: Option<DataFrame>,
    /// Which end the analysed capture is.
    pub(crate) here: Vantage,
    /// The receiver's clock minus the sender's, nanoseconds.
    pub(crate) offset_ns: i64,
    /// Bytes below this were acknowledged while both captures ran; `None`: no acknowledgements.
    pub(crate) acked: Option<i64>,
    /// Sending times of the first and the last packet of the receiver's capture, by the sender's clock: packets sent
    /// before or after them are not expected in that capture.
    pub(crate) window: (i64, i64),
    /// Added to an offset for the numbering that the analysed capture alone would use.
    pub(crate) shift: i64,
}

/// What became of an original's or a retransmission's packet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Arrived(u32),
    /// It arrived, and the receiver discarded it although it lacked the bytes.
    Refused(u32),
    Missing,
    /// The receiver's capture did not run then.
    Unseen,
}

pub(crate) fn tell(found: &Matching, scene: &Scene<'_>) -> FlowTruth {
    let stretches = stretches(&found.sent, scene.sent);
    let teller = Teller {
        found,
        scene,
        refused: refusals(found, scene),
        strays: strays(found),
    };
    let mut truth = FlowTruth {
        network_duplicates: found.duplicates,
        unmatched: found.unmatched,
        uncertain_matches: found.uncertain,
        ..FlowTruth::default()
    };
    let mut collector = Box::new(Collector::new(Half::EndToEnd, true));
    teller.arrivals(&stretches, &mut collector);
    teller.missing(&stretches, &mut collector, &mut truth);
    teller.retransmissions(&stretches, &mut truth);
    for original in stretches.iter().filter(|s| s.is_original()) {
        truth.data_packets += 1;
        truth.data_bytes += (original.end - original.start) as u64;
    }
    truth.losses = collector.losses();
    truth.refused = collector.refusals();
    let told = collector.finish();
    FlowTruth {
        reordering: told.reordering,
        bursts: told.bursts,
        by_rate: told.by_rate,
        events: told.events,
        ..truth
    }
}

struct Teller<'a> {
    found: &'a Matching,
    scene: &'a Scene<'a>,
    /// For each arrival, whether the receiver discarded it although it lacked the bytes.
    refused: Vec<bool>,
    /// Bytes of arrivals that belong to no transmission captured.
    strays: Ranges,
}

/// For each arrival, whether the receiver discarded it although it lacked the bytes.
fn refusals(found: &Matching, scene: &Scene<'_>) -> Vec<bool> {
    let mut held = Ranges::default();
    let refused = found.arrived.iter().map(|piece| {
        let suspect = frame_of(scene.arrived, piece).refused();
        let refused = suspect && !held.holds(piece.start, piece.end());
        if !refused {
            held.add(piece.start, piece.end());
        }
        refused
    });
    refused.collect()
}

fn strays(found: &Matching) -> Ranges {
    let mut claimed = vec![false; found.arrived.len()];
    for &arrival in found.arrival.iter().flatten() {
        if let Some(place) = claimed.get_mut(arrival as usize) {
            *place = true;
        }
    }
    let mut strays = Ranges::default();
    let all = found.arrived.iter().zip(claimed);
    for (piece, _) in all.filter(|(_, claimed)| !claimed) {
        strays.add(piece.start, piece.end());
    }
    strays
}

impl Teller<'_> {
    fn fate(&self, stretch: &Stretch) -> Fate {
        let arrival = self.found.arrival.get(stretch.sent as usize);
        if let Some(&arrival) = arrival.and_then(Option::as_ref) {
            return match self.refused.get(arrival as usize) {
                Some(true) => Fate::Refused(arrival),
                _ => Fate::Arrived(arrival),
            };
        }
        let (first, last) = self.scene.window;
        let sent_ns = self.sending(stretch).ts_ns;
        if sent_ns < first || sent_ns > last {
            Fate::Unseen
        } else {
            Fate::Missing
        }
    }

    fn sending(&self, stretch: &Stretch) -> DataFrame {
        let piece = self.found.sent.get(stretch.sent as usize);
        frame_of(self.scene.sent, &piece.copied().unwrap_or_default())
    }

    fn arriving(&self, arrival: u32) -> DataFrame {
        let piece = self.found.arrived.get(arrival as usize);
        frame_of(self.scene.arrived, &piece.copied().unwrap_or_default())
    }

    /// How the analysed capture would name it: frames here and there, time by the clock here.
    fn place(&self, stretch: &Stretch, arrival: Option<u32>) -> Place {
        let sending = self.sending(stretch);
        let arriving = arrival.map(|a| self.arriving(a));
        let number = arriving.map_or(0, |f| f.number);
        let at_receiver = arriving.map_or_else(
            || sending.ts_ns.saturating_add(self.scene.offset_ns),
            |f| f.ts_ns,
        );
        let (frame, proof_frame, at_ns) = match self.scene.here {
            Vantage::Receiver => (number, sending.number, at_receiver),
            _ => {
                let at_sender = at_receiver.saturating_sub(self.scene.offset_ns);
                (sending.number, number, at_sender)
            }
        };
        Place {
            start: stretch.start.saturating_add(self.scene.shift),
            len: (stretch.end - stretch.start) as u32,
            frame,
            proof_frame,
            at_ns,
            sent_ns: sending.ts_ns,
        }
    }

    /// RFC 4737 sections 3 and 4.1 to 4.4 on the arrivals of originals, and of the FIN, whose number is the highest; and the rate at which
    /// they were sent.
    fn arrivals(&self, stretches: &[Stretch], collector: &mut Collector) {
        let mut originals: Vec<&Stretch> = stretches.iter().filter(|s| s.is_original()).collect();
        // Whatever was sent by then goes before an arrival, lost originals too.
        let mut sendings = originals.clone().into_iter().peekable();
        let mut sent_until = |last: u32, collector: &mut Collector| {
            while let Some(s) = sendings.next_if(|s| s.sent <= last) {
                collector.sent(self.sending(s).ts_ns, (s.end - s.start) as u32);
            }
        };
        originals.sort_by_key(|s| s.start);
        let mut order: Vec<(u32, u32)> = Vec::with_capacity(originals.len());
        for (label, original) in originals.iter().enumerate() {
            if let Fate::Arrived(arrival) | Fate::Refused(arrival) = self.fate(original) {
                order.push((arrival, label as u32));
            }
        }
        order.sort_unstable();
        let mut measure = Measure::new(originals.len() + 1);
        let mut end = self.scene.end;
        for (arrival, label) in order {
            let Some(&original) = originals.get(label as usize) else {
                continue;
            };
            let DataFrame {
                ts_ns: at_ns,
                number,
                ..
            } = self.arriving(arrival);
            if let Some(end) = end.take_if(|end| end.number < number) {
                measure.arrive(originals.len() as u32, end.ts_ns, 0);
            }
            let bytes = (original.end - original.start) as u64;
            sent_until(original.sent, collector);
            let late = measure.arrive(label, at_ns, bytes);
            let place = self.place(original, Some(arrival));
            let basis = Basis::certain(Evidence::Peer);
            match (self.refused.get(arrival as usize), late) {
                (Some(true), late) => collector.refused(place, late, basis),
                (_, Some(late)) => collector.late(place, late, u64::from(label), basis),
                (_, None) => collector.in_order(u64::from(label)),
            }
        }
        sent_until(u32::MAX, collector);
    }

    fn acknowledged(&self, end: i64) -> Option<bool> {
        self.scene.acked.map(|acked| end <= acked)
    }

    fn missing(&self, stretches: &[Stretch], collector: &mut Collector, truth: &mut FlowTruth) {
        // What the receiver has taken as far as its capture shows.
        let mut held = Ranges::default();
        for stretch in stretches {
            if matches!(self.fate(stretch), Fate::Arrived(_)) {
                held.add(stretch.start, stretch.end);
            }
        }
        for stretch in stretches.iter().filter(|s| s.first) {
            if stretch.repeats_unseen {
                self.before_capture(stretch, truth);
                continue;
            }
            let fate = self.fate(stretch);
            if matches!(fate, Fate::Arrived(_) | Fate::Refused(_)) {
                continue;
            }
            // Without acknowledgements only a copy that came tells a loss from the capture's end.
            let filled = held.holds(stretch.start, stretch.end);
            let over = self.acknowledged(stretch.end).unwrap_or(filled);
            match (fate, over, filled) {
                (Fate::Missing, true, true) => {
                    let place = self.place(stretch, None);
                    collector.lost(place, Basis::certain(Evidence::Peer));
                }
                // Acknowledged, so some transmission of it came; the receiver's capture lacks it.
                (Fate::Missing, true, false) => truth.not_captured += 1,
                _ => {
                    truth.undecided += 1;
                    truth.undecided_ranges.push(self.bytes_of(stretch));
                }
            }
        }
    }

    /// The sender's capture holds a retransmission of these bytes, not their original.
    fn before_capture(&self, stretch: &Stretch, truth: &mut FlowTruth) {
        // An arrival without a transmission is the original, which only the sender's capture lacks.
        if !touches(&self.strays, stretch.start, stretch.end) {
            truth.before_capture.push(self.bytes_of(stretch));
        }
    }

    /// From and to, bytes from the flow's first data byte.
    fn bytes_of(&self, stretch: &Stretch) -> (u64, u64) {
        let start = stretch.start.saturating_add(self.scene.shift).max(0) as u64;
        (start, start + (stretch.end - stretch.start) as u64)
    }

    fn retransmissions(&self, stretches: &[Stretch], truth: &mut FlowTruth) {
        let (mut held, mut held_originals) = (Ranges::default(), Ranges::default());
        let mut unseen = Ranges::default();
        for stretch in stretches.iter().filter(|s| s.is_original()) {
            if matches!(self.fate(stretch), Fate::Arrived(_)) {
                held_originals.add(stretch.start, stretch.end);
            }
        }
        for stretch in stretches {
            let fate = self.fate(stretch);
            let (start, end) = (stretch.start, stretch.end);
            if !stretch.is_original() {
                let verdict = if held.holds(start, end) {
                    truth.spurious_original += u64::from(held_originals.holds(start, end));
                    Verdict::Spurious
                } else if touches(&unseen, start, end) {
                    Verdict::Ambiguous
                } else {
                    match self.acknowledged(end) {
                        Some(false) => Verdict::Ambiguous,
                        _ => Verdict::Needed,
                    }
                };
                self.note(stretch, fate, verdict, truth);
            }
            match fate {
                Fate::Arrived(_) => held.add(start, end),
                Fate::Unseen => unseen.add(start, end),
                Fate::Refused(_) | Fate::Missing => {}
            }
        }
        truth
            .retransmission_list
            .sort_by_key(|r| (r.at_ns, r.seq_offset));
    }

    fn note(&self, stretch: &Stretch, fate: Fate, verdict: Verdict, truth: &mut FlowTruth) {
        count(&mut truth.retransmissions, verdict);
        let arrival = match fate {
            Fate::Arrived(arrival) | Fate::Refused(arrival) => Some(arrival),
            _ => None,
        };
        let place = self.place(stretch, arrival);
        // At its sender a retransmission is seen when it is sent, not when it arrives.
        let at_ns = match self.scene.here {
            Vantage::Receiver => place.at_ns,
            _ => place.sent_ns,
        };
        truth.retransmission_list.push(Retransmission {
            frame: place.frame,
            at_ns,
            seq_offset: place.start.max(0) as u64,
            len: place.len,
            verdict,
            confidence: match verdict {
                Verdict::Ambiguous => Confidence::Ambiguous,
                Verdict::Needed | Verdict::Spurious => Confidence::Certain,
            },
            cause: Cause::Unknown,
        });
    }
}

fn count(counts: &mut Retransmissions, verdict: Verdict) {
    counts.total += 1;
    match verdict {
        Verdict::Needed => counts.needed += 1,
        Verdict::Spurious => counts.spurious += 1,
        Verdict::Ambiguous => counts.ambiguous += 1,
    }
}

fn touches(ranges: &Ranges, start: i64, end: i64) -> bool {
    let mut any = false;
    ranges.cut(start, end, |_, _, held| any |= held);
    any
}

/// Extents by the definition of RFC 4737 section 4.2, in logarithmic time.
pub(crate) struct Measure {
    /// Arrivals larger than all before them: number to position and time. The first arrival
    /// larger than a late one is always among these.
    records: BTreeMap<u32, (u64, i64)>,
    highest: Option<u32>,
    position: u64,
    bytes: u64,
    /// Bytes arrived, by number, as a Fenwick tree: sums over prefixes.
    below: Vec<u64>,
}

impl Measure {
    /// For packets numbered below `numbers`.
    pub(crate) fn new(numbers: usize) -> Self {
        Measure {
            records: BTreeMap::new(),
            highest: None,
            position: 0,
            bytes: 0,
            below: vec![0; numbers + 1],
        }
    }

    /// The next arrival; how late it is, if it is.
    pub(crate) fn arrive(&mut self, number: u32, at_ns: i64, bytes: u64) -> Option<Late> {
        let position = self.position;
        self.position += 1;
        let late = if self.highest.is_none_or(|h| h <= number) {
            self.highest = Some(number);
            self.records.insert(number, (position, at_ns));
            None
        } else {
            let first = self.records.range(number.saturating_add(1)..).next();
            first.map(|(_, &(opened_at, opened_ns))| Late {
                extent: u32::try_from(position - opened_at).unwrap_or(u32::MAX),
                bytes: self.bytes - self.sum_to(number),
                late_ns: at_ns.saturating_sub(opened_ns),
                opener_unsure: false,
                label: u64::from(number),
            })
        };
        self.add(number, bytes);
        late
    }

    fn add(&mut self, number: u32, bytes: u64) {
        self.bytes += bytes;
        let mut at = number as usize + 1;
        while let Some(sum) = self.below.get_mut(at) {
            *sum += bytes;
            at += at & at.wrapping_neg();
        }
    }

    /// Bytes arrived of packets up to `number`.
    fn sum_to(&self, number: u32) -> u64 {
        let mut sum = 0;
        let mut at = number as usize + 1;
        while at > 0 {
            sum += self.below.get(at).copied().unwrap_or(0);
            at -= at & at.wrapping_neg();
        }
        sum
    }
}
