//! The report on one direction.

use super::engines::Engines;
use super::{Shared, Side};
use crate::arrival::{ArrivalEnd, Context};
use crate::cause::{Flow, Mark};
use crate::collect::{Certain, Collected};
use crate::complaints::{self, Proven};
use crate::cost::bound;
use crate::habits::{Habits, Identification};
use crate::kept::Kept;
use crate::limits::Ends;
use crate::limits::Life;
use crate::result::{
    AckPath, Artefacts, Avoidance, Blind, Bounds, Bursts, Cause, Confidence, Event, FlowId,
    FlowReport, Handshake, Kind, NotSeen, Reason, Recoveries, Reordering, Retransmission,
    Retransmissions, Shrunk, Vantage, VantageBasis, VantageChoice, Verdict,
};
use crate::sender::SenderEnd;

impl Side {
    pub(super) fn report(&self, mut engines: Box<Engines>, flow: FlowId, end: &End) -> FlowReport {
        let mss = match end.shared.full {
            0 => self.max_payload,
            full => full,
        };
        let cx = Context {
            mss: mss.max(1),
            timestamps: end.shared.timestamps,
            sack: end.shared.sack.unwrap_or(true),
            ip_id: self.ids.trusted() && self.kept != Kept::Yes,
            counts: self.ids.trusted(),
            kept: self.kept,
            newest: false,
            follows: false,
            step: 0,
            to_sender_ns: end.choice.to_sender_ns,
            tick_ns: self.clock.tick_ns(),
            una: engines.una,
            syn_seen: end.syn_seen,
        };
        let vantage = engines.choice.vantage;
        let what_if = engines.take_what_if();
        let arrival = engines
            .arrival
            .finish(&cx, end.answered.then_some(end.last_ns));
        let sender = engines.sender;
        let sender = sender.map(|s| s.finish(end.last_ns, end.answered));
        let (points, stretch_ns) = engines
            .points
            .map(|points| points.finish())
            .unwrap_or_default();
        let mut artefacts = Artefacts {
            duplicated_frames: self.duplicated + end.answers_duplicated,
            time_reversals: end.reversals,
            ..Artefacts::default()
        };
        let choice = VantageChoice {
            to_receiver_ns: end.choice.to_receiver_ns,
            to_sender_ns: end.choice.to_sender_ns,
            ..engines.choice
        };
        let ack_path = sender.as_ref().map_or_else(AckPath::default, |s| AckPath {
            acks: s.acks,
            reordered: s.acks_reordered,
            missing: s.acks_missing,
        });
        let sack_unknown = sender.as_ref().is_some_and(|s| s.sack_unknown);
        let habits = Habits {
            sender_identification: self.identification(),
            sender_tick_ns: end.shared.timestamps.then(|| self.clock.tick_ns()),
            receiver_identification: end.receiver_identification,
            ..sender.as_ref().map_or_else(Habits::default, |s| s.habits)
        };
        let mut upstream = None;
        let (rough, sack_used) = sender
            .as_ref()
            .map_or((false, end.sack_seen), |s| (s.rough, s.sack));
        let min_rtt_ns = sender
            .as_ref()
            .and_then(|s| s.min_rtt)
            .or(choice.to_sender_ns);
        let mut main = match sender {
            Some(s) => {
                artefacts.missing_segments = s.missing;
                let main = Main::from_sender(s);
                if vantage == Vantage::Middle {
                    upstream = Some(Box::new(arrival.collector.finish_summary()));
                } else {
                    artefacts.swapped_frames = arrival.collector.reordered();
                }
                main
            }
            None => {
                artefacts.missing_segments = arrival.missing;
                Main::from_arrival(arrival)
            }
        };
        let flow_facts = Flow {
            marks: &main.marks,
            rtts: &engines.rtts,
            mss: cx.mss,
            acks_overtaken: ack_path.reordered > 0,
        };
        flow_facts.assign(&mut main.recoveries, &mut main.list);
        main.name_proven();
        let at_receiver = vantage == Vantage::Receiver;
        // What showed that packets went missing behind the capture point came after the choice.
        let refuted = at_receiver
            && end.choice.basis == VantageBasis::Missing
            && end.choice.vantage != Vantage::Receiver;
        let lacking = [
            (
                NotSeen::Vantage,
                choice.basis == VantageBasis::Unknown || refuted,
            ),
            (NotSeen::SackOptions, !at_receiver && end.blocks_hidden > 0),
            (NotSeen::OneWay, !end.answered),
            (NotSeen::Order, end.disorder),
            (NotSeen::Sack, !at_receiver && sack_unknown),
        ];
        let lacking = lacking.into_iter().filter(|(_, lacks)| *lacks);
        let blind: Blind = lacking.map(|(what, _)| what).collect();
        if at_receiver && !blind.has(NotSeen::Vantage) && !blind.has(NotSeen::Order) {
            // The order of arrivals is seen all the same.
            if blind.has(NotSeen::OneWay) {
                main.doubt_spurious();
            }
            if end.blocks_hidden > 0 {
                main.weaken(|event| event.kind == Kind::Refused);
            }
        } else if blind.iter().any(|what| what != NotSeen::SackOptions) {
            main.doubt();
        } else if blind.any() {
            main.weaken(|_| true);
            main.weaken_list();
        }
        // What rests on the forgotten ranges was never asserted.
        let blind = if main.forgot {
            blind.with(NotSeen::Holes)
        } else {
            blind
        };
        let certain = &main.certain;
        let avoidance = Avoidance::of(&main.recoveries, &certain.extents, &certain.late_ns);
        let ends = Ends {
            vantage,
            mss: cx.mss,
            rtt_ns: round_trip(&choice, min_rtt_ns),
            spurious: main.retransmissions.spurious,
        };
        let mut cost = engines.cost.finish(&main.recoveries.list, &ends);
        let rtts = engines.rtts.samples();
        let life = Life {
            first_ns: end.first_ns,
            last_ns: end.last_ns,
            opened_ns: end.opened_ns,
            unscaled: end.unscaled,
            rtts: &rtts,
            line_bps: cost.bottleneck_bps,
            marks: &main.marks,
        };
        let limits = engines.cost.limits(&life, &main.recoveries.list, &ends);
        bound(&mut cost, &limits);
        if !engines.keep_events {
            main.recoveries.list = Vec::new();
        }
        let (reordering, bursts, by_rate, events) = main.collector;
        FlowReport {
            flow,
            vantage: choice,
            first_ns: end.first_ns,
            last_ns: end.last_ns,
            syn_seen: end.syn_seen,
            habits,
            handshake: end.handshake,
            sack: end.shared.sack.unwrap_or(sack_used),
            timestamps: end.shared.timestamps,
            mss: cx.mss,
            min_rtt_ns,
            data_packets: main.packets,
            data_bytes: main.bytes,
            retransmissions: main.retransmissions,
            losses: main.losses,
            icmp: complaints::sum(&main.proven),
            shrunk: main.shrunk,
            refused: main.refused,
            outside_window: main.outside_window,
            undecided: main.undecided,
            unfilled: main.unfilled,
            avoidance,
            cost,
            limits,
            reordering,
            bounds: main.bounds,
            upstream,
            rough: rough || blind.any(),
            blind,
            bursts,
            by_rate,
            recoveries: main.recoveries,
            ack_path,
            artefacts,
            what_if,
            events,
            retransmission_list: main.list,
            points,
            stretch_ns,
        }
    }
}

/// The shortest round trip between sender and receiver, as far as the capture shows both parts, nanoseconds.
fn round_trip(choice: &VantageChoice, shortest_ns: Option<i64>) -> Option<i64> {
    match choice.vantage {
        Vantage::Sender => shortest_ns,
        Vantage::Receiver => choice.to_sender_ns,
        Vantage::Middle => Some(choice.to_receiver_ns?.saturating_add(choice.to_sender_ns?)),
    }
}

/// What the connection knows at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) shared: Shared,
    pub(crate) choice: VantageChoice,
    pub(crate) reuse: u32,
    pub(crate) first_ns: i64,
    pub(crate) last_ns: i64,
    /// Packets of the receiver with SACK blocks that the capture does not show.
    pub(crate) blocks_hidden: u64,
    /// Packets of the receiver that were captured twice, where no data goes the other way.
    pub(crate) answers_duplicated: u64,
    /// The receiver's packets had SACK blocks.
    pub(crate) sack_seen: bool,
    /// The receiver's packets were captured.
    pub(crate) answered: bool,
    /// Times and order of the packets contradict each other.
    pub(crate) disorder: bool,
    /// The SYN of the data's sender was captured.
    pub(crate) syn_seen: bool,
    /// When the sender could send data, as its packets come by, nanoseconds; `None` if the handshake was not captured.
    pub(crate) opened_ns: Option<i64>,
    /// The handshake shows that no window is scaled.
    pub(crate) unscaled: bool,
    /// How the connection was opened, if this direction speaks for that.
    pub(crate) handshake: Handshake,
    /// How often its packets went back in time.
    pub(crate) reversals: u64,
    /// How the receiver numbers its packets.
    pub(crate) receiver_identification: Identification,
}

/// The half that speaks for the whole flow.
struct Main {
    collector: Collected,
    marks: Vec<Mark>,
    certain: Certain,
    bounds: Bounds,
    packets: u64,
    bytes: u64,
    retransmissions: Retransmissions,
    losses: u64,
    refused: u64,
    outside_window: u64,
    undecided: u64,
    unfilled: u64,
    recoveries: Recoveries,
    list: Vec<Retransmission>,
    shrunk: Option<Shrunk>,
    /// What did not arrive, as ICMP says.
    proven: Vec<Proven>,
    /// Some of what was missing at once has been forgotten.
    forgot: bool,
}

impl Main {
    /// Recoveries of which ICMP explains all losses have the cause that it says, and so have the retransmissions.
    fn name_proven(&mut self) {
        if self.proven.is_empty() {
            return;
        }
        let lost = |from: i64, to: i64| {
            let marks = self.marks.iter();
            let within =
                marks.filter(move |m| m.kind == Kind::Lost && (from..=to).contains(&m.start));
            within.map(|m| m.start)
        };
        let offset = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
        for phase in &mut self.recoveries.list {
            let from = offset(phase.seq_offset);
            let told = complaints::cause_of(&self.proven, lost(from, phase.facts.last.max(from)));
            if let Some(cause) = told {
                phase.cause = cause;
            }
        }
        let needed = self
            .list
            .iter_mut()
            .filter(|r| r.verdict == Verdict::Needed);
        for one in needed {
            let from = offset(one.seq_offset);
            let told = complaints::cause_of(&self.proven, [from].into_iter());
            one.cause = told.unwrap_or(one.cause);
        }
        self.recoveries.count_causes();
    }

    /// Nothing that rests on what could not be seen is more than ambiguous: counts become ambiguous,
    /// events and verdicts with them.
    fn doubt(&mut self) {
        let (reordering, bursts, by_rate, events) = &mut self.collector;
        let doubted = reordering.reordered + self.losses + self.refused;
        *reordering = Reordering {
            received: reordering.received,
            ambiguous: reordering.ambiguous + doubted,
            ..Reordering::default()
        };
        *bursts = Bursts::default();
        for class in by_rate {
            (class.reordered, class.mean_extent, class.mean_late_ns) = (0, 0.0, 0.0);
            class.extent_bytes = Vec::new();
        }
        for event in events.iter_mut() {
            event.confidence = Confidence::Ambiguous;
            event.reason.get_or_insert(Reason::NotSeen);
        }
        (self.losses, self.refused, self.outside_window) = (0, 0, 0);
        self.bounds = Bounds::default();
        self.proven = Vec::new();
        let counts = &mut self.retransmissions;
        counts.ambiguous += counts.needed + counts.spurious;
        (counts.needed, counts.spurious) = (0, 0);
        for one in &mut self.list {
            (one.verdict, one.cause) = (Verdict::Ambiguous, Cause::Unknown);
        }
        self.recoveries.doubt();
    }

    /// Whether what passed here arrived is not seen: a second copy need not have been one too many.
    fn doubt_spurious(&mut self) {
        let counts = &mut self.retransmissions;
        counts.ambiguous += std::mem::take(&mut counts.spurious);
        let spurious = self
            .list
            .iter_mut()
            .filter(|r| r.verdict == Verdict::Spurious);
        spurious.for_each(|r| (r.verdict, r.cause) = (Verdict::Ambiguous, Cause::Unknown));
        self.recoveries.doubt();
    }

    /// Some of the SACK blocks, which show what the receiver took and when, were cut off: of what they could show otherwise
    /// nothing is certain.
    fn weaken(&mut self, which: impl Fn(&Event) -> bool) {
        let (.., events) = &mut self.collector;
        let certain = |e: &&mut Event| e.confidence == Confidence::Certain && which(e);
        for event in events.iter_mut().filter(certain) {
            event.confidence = Confidence::Likely;
            event.reason.get_or_insert(Reason::NotSeen);
        }
    }

    /// As [`Main::weaken`], of retransmissions.
    fn weaken_list(&mut self) {
        let certain = |r: &&mut Retransmission| r.confidence == Confidence::Certain;
        for one in self.list.iter_mut().filter(certain) {
            one.confidence = Confidence::Likely;
        }
    }

    fn from_sender(mut s: SenderEnd) -> Self {
        let losses = s.collector.losses();
        let (marks, certain) = s.collector.take_marks();
        Main {
            marks,
            certain,
            bounds: s.collector.bounds(),
            packets: s.data_packets,
            bytes: s.data_bytes,
            retransmissions: split(s.retransmissions, s.needed, s.spurious),
            losses,
            refused: s.collector.refusals(),
            outside_window: s.collector.outside_window(),
            undecided: s.undecided,
            unfilled: s.unfilled,
            recoveries: s.recoveries,
            list: s.list,
            shrunk: s.shrunk,
            proven: s.proven,
            forgot: s.forgot,
            collector: s.collector.finish(),
        }
    }

    fn from_arrival(mut a: ArrivalEnd) -> Self {
        let losses = a.collector.losses();
        let (marks, certain) = a.collector.take_marks();
        let (packets, bytes) = a.collector.all_sent();
        Main {
            marks,
            certain,
            bounds: a.collector.bounds(),
            // Originals, lost ones included: the flow's, not the capture's.
            packets: packets + losses,
            bytes,
            retransmissions: split(a.retransmissions, a.needed, a.spurious),
            losses,
            refused: a.collector.refusals(),
            outside_window: a.collector.outside_window(),
            undecided: a.undecided,
            // At a receiver every gap that is left lies below something that came.
            unfilled: a.undecided,
            recoveries: a.recoveries,
            list: a.list,
            shrunk: None,
            proven: Vec::new(),
            forgot: a.forgot,
            collector: a.collector.finish(),
        }
    }
}

/// Parts of one retransmission can fill several holes and meet different fates; it counts once,
/// as needed if any of it was.
fn split(total: u64, needed: u64, spurious: u64) -> Retransmissions {
    let needed = needed.min(total);
    let spurious = spurious.min(total - needed);
    let ambiguous = total - needed - spurious;
    Retransmissions {
        total,
        needed,
        spurious,
        ambiguous,
    }
}
