//! What is said of a flow's data, and what of it is taken back where the capture does not show enough.

use std::collections::BTreeSet;

use inorder_limits::{Loss, Reduction};

use crate::cause::Mark;
use crate::collect::{Certain, Collected};
use crate::complaints::{self, Proven};
use crate::engine_end::{EngineEnd, Replaced, Replacement};
use crate::result::{
    Avoidance, Blind, Bounds, Bursts, Cause, Confidence, Event, Kind, NotSeen, Originals, Reason,
    Recoveries, Recovery, Reordering, Retransmission, Retransmissions, Vantage, Verdict,
};

/// What findings are weighed by.
pub(super) struct Weighed {
    /// What the capture does not show.
    pub(super) blind: Blind,
    pub(super) vantage: Vantage,
    /// Some acknowledgements had SACK blocks that it does not show.
    pub(super) blocks_hidden: bool,
    /// If each host's packets are in their order, and what is late is known by what they carry: how long before what they answer answers were
    /// captured at most, nanoseconds.
    pub(super) ahead_ns: Option<i64>,
    /// The shortest round trip, nanoseconds, if it is known.
    pub(super) min_rtt_ns: Option<i64>,
}

/// Acknowledgements that were captured too early may be so by the shortest round trip divided by this. An ACK answers a retransmission if it
/// comes a round trip later, and the rules leave a quarter of that to spare, so an eighth takes no ACK for the answer to another packet.
const EARLY_PARTS_OF_RTT: i64 = 8;

impl Weighed {
    /// All that is not known is which of two packets came first whose times are nearly the same, and those of one host are in their order.
    fn lacks_only_order(&self) -> bool {
        let order = |what| what == NotSeen::Order;
        self.ahead_ns.is_some() && self.blind.any() && self.blind.iter().all(order)
    }

    /// Answers are early by so little of a round trip that it is still known which packet each of them answers.
    fn tells_causes(&self) -> bool {
        let ahead_ns = self.ahead_ns.unwrap_or(i64::MAX);
        let least_ns = ahead_ns.saturating_mul(EARLY_PARTS_OF_RTT);
        self.min_rtt_ns.is_some_and(|rtt_ns| least_ns <= rtt_ns)
    }
}

/// What the engine found that speaks for the whole flow.
pub(super) struct Findings {
    pub(super) collected: Collected,
    pub(super) marks: Vec<Mark>,
    pub(super) certain: Certain,
    pub(super) bounds: Bounds,
    pub(super) originals: Originals,
    pub(super) retransmissions: Retransmissions,
    pub(super) recoveries: Recoveries,
    pub(super) list: Vec<Retransmission>,
    /// What did not arrive, as ICMP says.
    pub(super) proven: Vec<Proven>,
    /// Some of what was missing at once has been forgotten.
    pub(super) forgot: bool,
}

/// It is not known whether the receiver has SACK, or what all of its blocks say.
fn is_of_sack(what: NotSeen) -> bool {
    matches!(what, NotSeen::Sack | NotSeen::SackOptions)
}

impl Findings {
    /// What an engine tells, and what ICMP does.
    pub(super) fn of(mut end: EngineEnd, proven: Vec<Proven>) -> Self {
        let (marks, certain) = end.collector.take_marks();
        let originals = Originals {
            packets: end.packets,
            bytes: end.bytes,
            lost: end.collector.losses(),
            lost_upstream: 0,
            refused: end.collector.refusals(),
            outside_window: end.collector.outside_window(),
            reneged: end.collector.reneged(),
            undecided: end.undecided,
            unfilled: end.unfilled,
        };
        Findings {
            marks,
            certain,
            bounds: end.collector.bounds(),
            originals,
            retransmissions: end.retransmissions,
            recoveries: end.recoveries,
            list: end.list,
            proven,
            forgot: end.forgot,
            collected: end.collector.finish(),
        }
    }

    /// Adds what was lost before a capture point on the path. The sender's half never saw it and decides nothing of it; that only
    /// retransmissions filled its place shows it.
    pub(super) fn add_lost_before(&mut self, replaced: &Replaced) {
        self.originals.packets += replaced.packets;
        self.originals.bytes += replaced.bytes;
        self.originals.lost += replaced.lost;
        self.originals.lost_upstream = replaced.lost;
        let counts = &mut self.retransmissions;
        let needed = replaced.needed().min(counts.ambiguous);
        counts.ambiguous -= needed;
        counts.needed += needed;
        let mark = |by: &Replacement| Mark {
            start: by.start,
            kind: Kind::Lost,
            rtt_ns: 0,
            sent_ns: by.at_ns,
        };
        let lost: Vec<Mark> = replaced.by.iter().map(mark).collect();
        self.recoveries.explain_by(&lost);
        self.marks.extend(lost);
        self.marks.sort_unstable();
        let open = |r: &&mut Retransmission| r.verdict == Verdict::Ambiguous;
        let mut told = BTreeSet::new();
        for one in self.list.iter_mut().filter(open) {
            let start = i64::try_from(one.seq_offset).unwrap_or(i64::MAX);
            let first = replaced.by.partition_point(|by| by.start < start);
            let mut same = replaced.by[first..]
                .iter()
                .take_while(|by| by.start == start);
            // What comes behind its own retransmission is listed under the frame of that, too.
            let by = same.find(|by| by.frame == one.frame);
            if let Some(by) = by.filter(|by| told.insert(by.number)) {
                (one.verdict, one.confidence) = (Verdict::Needed, by.confidence);
            }
        }
    }

    /// Lists these losses among the other events.
    pub(super) fn list_lost_before(&mut self, lost: Vec<Event>) {
        let events = &mut self.collected.events;
        events.extend(lost);
        events.sort_by_key(|e| (e.at_ns, e.seq_offset));
    }

    /// Takes back what rests on something that the capture does not show.
    pub(super) fn weigh(&mut self, weighed: &Weighed) {
        let &Weighed {
            blind,
            vantage,
            blocks_hidden,
            ..
        } = weighed;
        let order_seen = !blind.has(NotSeen::Vantage) && !blind.has(NotSeen::Order);
        if vantage == Vantage::Receiver && order_seen {
            if blocks_hidden {
                self.weaken(|event| event.kind == Kind::Refused);
            }
        } else if weighed.lacks_only_order() {
            match weighed.tells_causes() {
                true => self.weaken_all(),
                false => self.doubt_answers(vantage == Vantage::Receiver),
            }
        } else if blind.has(NotSeen::Sack) && blind.iter().all(is_of_sack) {
            self.doubt_silence();
        } else if blind.iter().any(|what| what != NotSeen::SackOptions) {
            self.doubt(false);
        } else if blind.any() {
            self.weaken_all();
        }
    }

    /// Recoveries of which ICMP explains all losses have the cause that it says, and so have the retransmissions.
    pub(super) fn name_proven(&mut self) {
        if self.proven.is_empty() {
            return;
        }
        let lost = |(from, to): (i64, i64)| {
            let marks = self.marks.iter();
            let within =
                marks.filter(move |m| m.kind == Kind::Lost && (from..=to).contains(&m.start));
            within.map(|m| m.start)
        };
        for phase in &mut self.recoveries.list {
            let told = complaints::cause_of(&self.proven, lost(phase.sent_again()));
            if let Some(cause) = told {
                phase.cause = cause;
            }
        }
        let needed = self
            .list
            .iter_mut()
            .filter(|r| r.verdict == Verdict::Needed);
        for one in needed {
            let from = i64::try_from(one.seq_offset).unwrap_or(i64::MAX);
            let told = complaints::cause_of(&self.proven, [from].into_iter());
            one.cause = told.unwrap_or(one.cause);
        }
        self.recoveries.count_causes();
    }

    /// The recoveries as what they cost is reckoned from.
    pub(super) fn reductions(&self) -> Vec<Reduction> {
        let recoveries = self.recoveries.list.iter();
        recoveries.map(Recovery::reduction).collect()
    }

    pub(super) fn losses(&self) -> Vec<Loss> {
        self.marks.iter().filter_map(Mark::loss).collect()
    }

    /// What would have kept the sender from taking late packets for lost. Where too few are certain, those that are likely to be late tell as well
    /// how long to wait.
    pub(super) fn avoidance(&self) -> Avoidance {
        let (certain, all) = (&self.certain, &self.collected.reordering);
        match certain.extents.count() {
            Avoidance::LEAST_LATE.. => {
                Avoidance::of(&self.recoveries, &certain.extents, &certain.late_ns)
            }
            _ => Avoidance::of(&self.recoveries, &all.extents, &all.late_ns),
        }
    }

    /// Nothing that rests on what could not be seen is more than ambiguous: counts become ambiguous,
    /// events and verdicts with them. But if what came by twice `comes_twice` to the receiver, a copy was likely needless.
    fn doubt(&mut self, comes_twice: bool) {
        let collected = &mut self.collected;
        let sure = &mut self.originals;
        let doubted = collected.reordering.reordered + sure.lost + sure.refused;
        (sure.lost, sure.lost_upstream) = (0, 0);
        (sure.refused, sure.outside_window, sure.reneged) = (0, 0, 0);
        collected.reordering = Reordering {
            received: collected.reordering.received,
            ambiguous: collected.reordering.ambiguous + doubted,
            ..Reordering::default()
        };
        collected.bursts = Bursts::default();
        for class in &mut collected.by_rate {
            (class.reordered, class.mean_extent, class.mean_late_ns) = (0, 0.0, 0.0);
            class.extent_bytes = Vec::new();
        }
        for event in &mut collected.events {
            event.confidence = Confidence::Ambiguous;
            event.reason.get_or_insert(Reason::NotSeen);
        }
        self.bounds = Bounds::default();
        self.proven = Vec::new();
        let counts = &mut self.retransmissions;
        counts.ambiguous += std::mem::take(&mut counts.needed);
        if !comes_twice {
            counts.ambiguous += std::mem::take(&mut counts.spurious);
        }
        for one in &mut self.list {
            one.cause = Cause::Unknown;
            match one.verdict {
                Verdict::Spurious if comes_twice => {
                    one.confidence = one.confidence.max(Confidence::Likely);
                }
                _ => one.verdict = Verdict::Ambiguous,
            }
        }
        self.recoveries.doubt();
    }

    /// Acknowledgements were captured a little before the data that they answer. So it is not known what each of them answers, and what was lost
    /// or sent again needlessly is undecided. But each host's packets are in their order, and this order alone shows which data was late, and
    /// beside the receiver what came twice: that remains likely.
    fn doubt_answers(&mut self, at_receiver: bool) {
        let late = std::mem::take(&mut self.collected.reordering);
        let bursts = std::mem::take(&mut self.collected.bursts);
        let by_rate = std::mem::take(&mut self.collected.by_rate);
        let mut events = std::mem::take(&mut self.collected.events);
        self.doubt(at_receiver);
        let doubted = self.collected.reordering.ambiguous;
        self.collected.reordering = Reordering {
            ambiguous: late.ambiguous + doubted,
            ..late
        };
        (self.collected.bursts, self.collected.by_rate) = (bursts, by_rate);
        for event in &mut events {
            event.reason.get_or_insert(Reason::NotSeen);
            event.confidence = match event.kind {
                Kind::Reordered => event.confidence.max(Confidence::Likely),
                _ => Confidence::Ambiguous,
            };
        }
        self.collected.events = events;
    }

    /// It is not known whether the receiver would report duplicates, so its silence shows no loss. But what an acknowledgement tells that came sooner
    /// than any retransmission can be answered, or a round trip behind one of what had arrived, needs no SACK: which retransmissions were
    /// needless remains likely.
    fn doubt_silence(&mut self) {
        let causes: Vec<(Verdict, Cause)> =
            self.list.iter().map(|r| (r.verdict, r.cause)).collect();
        let spurious = self.retransmissions.spurious;
        let phases = self.recoveries.list.clone();
        self.doubt(false);
        for (one, (verdict, cause)) in self.list.iter_mut().zip(causes) {
            if verdict == Verdict::Spurious {
                (one.verdict, one.cause) = (verdict, cause);
                one.confidence = one.confidence.max(Confidence::Likely);
            }
        }
        self.retransmissions.ambiguous -= spurious;
        self.retransmissions.spurious = spurious;
        self.recoveries.restore_spurious(&phases);
    }

    /// Some of the SACK blocks, which show what the receiver took and when, were cut off: of what they could show otherwise
    /// nothing is certain.
    fn weaken(&mut self, which: impl Fn(&Event) -> bool) {
        let events = self.collected.events.iter_mut();
        let certain = |e: &&mut Event| e.confidence == Confidence::Certain && which(e);
        for event in events.filter(certain) {
            event.confidence = Confidence::Likely;
            event.reason.get_or_insert(Reason::NotSeen);
        }
    }

    /// As [`Findings::weaken`], of all events and retransmissions.
    fn weaken_all(&mut self) {
        self.weaken(|_| true);
        let certain = |r: &&mut Retransmission| r.confidence == Confidence::Certain;
        for one in self.list.iter_mut().filter(certain) {
            one.confidence = Confidence::Likely;
        }
    }
}
