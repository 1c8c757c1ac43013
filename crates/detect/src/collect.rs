//! Where the engines of one flow put what they find.

use inorder_metrics::ReorderDensity;

use crate::order::Late;
use crate::rate::Rates;
use crate::result::{
    Bursts, Confidence, Distribution, Event, Evidence, Half, Kind, RateClass, Reason, Reordering,
};

/// Displacements beyond this count as lost in RD (DT of RFC 5236; the value of the entropy paper,
/// table 3 and below).
const RD_THRESHOLD: u16 = 200;

/// What an event rests on and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Basis {
    pub(crate) evidence: Evidence,
    pub(crate) confidence: Confidence,
    pub(crate) reason: Option<Reason>,
}

impl Basis {
    pub(crate) fn certain(evidence: Evidence) -> Self {
        Basis {
            evidence,
            confidence: Confidence::Certain,
            reason: None,
        }
    }

    /// The same, one step less sure, because of `reason`.
    pub(crate) fn weaker(self, reason: Reason) -> Self {
        let confidence = match self.confidence {
            Confidence::Certain => Confidence::Likely,
            lower => lower,
        };
        Basis {
            confidence,
            reason: self.reason.or(Some(reason)),
            ..self
        }
    }

    pub(crate) fn ambiguous(evidence: Evidence, reason: Reason) -> Self {
        Basis {
            evidence,
            confidence: Confidence::Ambiguous,
            reason: Some(reason),
        }
    }
}

/// A segment as events name it.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Place {
    pub(crate) start: i64,
    pub(crate) len: u32,
    pub(crate) frame: u64,
    pub(crate) proof_frame: u64,
    pub(crate) at_ns: i64,
    /// When the original was sent (or arrived, at a receiver), for the rate.
    pub(crate) sent_ns: i64,
}

/// Everything one half of the path tells about the originals of one flow.
#[derive(Debug)]
pub(crate) struct Collector {
    half: Half,
    keep_events: bool,
    arrived: u64,
    reordered: u64,
    ambiguous: u64,
    lost: u64,
    extents: Distribution,
    late_ns: Distribution,
    extent_bytes: Distribution,
    rd: ReorderDensity,
    burst: u64,
    bursts: Bursts,
    rates: Rates,
    max_late_ns: i64,
    events: Vec<Event>,
}

impl Collector {
    pub(crate) fn new(half: Half, keep_events: bool) -> Self {
        Collector {
            half,
            keep_events,
            arrived: 0,
            reordered: 0,
            ambiguous: 0,
            lost: 0,
            extents: Distribution::default(),
            late_ns: Distribution::default(),
            extent_bytes: Distribution::default(),
            rd: ReorderDensity::new(RD_THRESHOLD),
            burst: 0,
            bursts: Bursts::default(),
            rates: Rates::default(),
            max_late_ns: 0,
            events: Vec::new(),
        }
    }

    /// An original was sent (or, at a receiver, came by) at `now`: feeds the rate.
    #[inline]
    pub(crate) fn sent(&mut self, now: i64, bytes: u32) {
        self.rates.sent(now, bytes);
    }

    /// Originals sent (or come by) so far, and their bytes.
    pub(crate) fn all_sent(&self) -> (u64, u64) {
        self.rates.all_sent()
    }

    /// When the interval of the rate that the last original fell into begins, nanoseconds.
    pub(crate) fn interval_ns(&self) -> i64 {
        self.rates.interval_ns()
    }

    /// More originals in the same interval.
    pub(crate) fn sent_on(&mut self, packets: u64, bytes: u64) {
        self.rates.sent_on(packets, bytes);
    }

    /// An original arrived in order; `label` is its packet number.
    #[inline]
    pub(crate) fn in_order(&mut self, label: u64) {
        self.arrived += 1;
        self.rd.update(label);
        if self.burst > 0 {
            self.end_burst();
        }
    }

    /// So many originals arrived in order; `first` is the packet number of the first.
    pub(crate) fn in_order_run(&mut self, first: u64, packets: u64) {
        self.arrived += packets;
        self.rd.update_run(first, packets);
        if self.burst > 0 {
            self.end_burst();
        }
    }

    fn end_burst(&mut self) {
        self.bursts.count += 1;
        self.bursts.lengths.update(self.burst);
        self.burst = 0;
    }

    /// An original arrived late.
    pub(crate) fn late(&mut self, place: Place, late: Late, label: u64, basis: Basis) {
        self.arrived += 1;
        self.burst += 1;
        self.rd.update(label);
        let basis = if late.opener_unsure {
            basis.weaker(Reason::AckCompression)
        } else {
            basis
        };
        if basis.confidence == Confidence::Ambiguous {
            self.ambiguous += 1;
        } else {
            self.reordered += 1;
            self.extents.update(u64::from(late.extent));
            self.late_ns.update(late.late_ns.max(0) as u64);
            self.extent_bytes.update(late.bytes);
            self.max_late_ns = self.max_late_ns.max(late.late_ns);
            self.rates.reordered(place.sent_ns, Some(&late));
        }
        self.push(place, Kind::Reordered, basis, Some(late));
    }

    /// A late arrival of which only the fact is known, not how far (no SACK).
    pub(crate) fn late_unmeasured(&mut self, place: Place, basis: Basis) {
        self.arrived += 1;
        self.burst += 1;
        if basis.confidence == Confidence::Ambiguous {
            self.ambiguous += 1;
        } else {
            self.reordered += 1;
            self.rates.reordered(place.sent_ns, None);
        }
        self.push(place, Kind::Reordered, basis, None);
    }

    /// An arrival that may have been late; nothing tells, so it is counted and no event made.
    pub(crate) fn late_perhaps(&mut self) {
        self.arrived += 1;
        self.ambiguous += 1;
    }

    /// An original never arrived.
    pub(crate) fn lost(&mut self, place: Place, basis: Basis) {
        if basis.confidence == Confidence::Ambiguous {
            self.ambiguous += 1;
        } else {
            self.lost += 1;
        }
        self.push(place, Kind::Lost, basis, None);
    }

    fn push(&mut self, place: Place, kind: Kind, basis: Basis, late: Option<Late>) {
        if !self.keep_events {
            return;
        }
        self.events.push(Event {
            kind,
            confidence: basis.confidence,
            evidence: basis.evidence,
            reason: basis.reason,
            half: self.half,
            at_ns: place.at_ns,
            frame: place.frame,
            proof_frame: place.proof_frame,
            seq_offset: place.start.max(0) as u64,
            len: place.len,
            extent: late.map(|l| l.extent),
            extent_bytes: late.map(|l| l.bytes),
            late_ns: late.map(|l| l.late_ns),
        });
    }

    /// Originals lost for sure.
    pub(crate) fn losses(&self) -> u64 {
        self.lost
    }

    /// Originals that have arrived.
    pub(crate) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Originals found to be late, not counting ambiguous ones.
    pub(crate) fn reordered(&self) -> u64 {
        self.reordered
    }

    /// The summary, the bursts, the rate classes and the events, in the order of time.
    pub(crate) fn finish(mut self) -> (Reordering, Bursts, Vec<RateClass>, Vec<Event>) {
        if self.burst > 0 {
            self.end_burst();
        }
        let rd = self.rd.finish();
        let reordering = Reordering {
            arrived: self.arrived,
            reordered: self.reordered,
            ambiguous: self.ambiguous,
            extents: self.extents,
            late_ns: self.late_ns,
            extent_bytes: self.extent_bytes,
            mean_displacement: rd.mean_displacement(),
            entropy: rd.entropy(),
            rd: rd.density().collect(),
        };
        self.events.sort_by_key(|e| (e.at_ns, e.seq_offset));
        (reordering, self.bursts, self.rates.finish(), self.events)
    }
}
