//! The report on one direction.

use inorder_limits::Life;

use super::engines::Engines;
use super::findings::{Findings, Weighed};
use super::{Shared, Side};
use crate::arrival::Context;
use crate::cause::Flow;
use crate::complaints;
use crate::copies::RoundTrip;
use crate::engine_end::EngineEnd;
use crate::habits::{Habits, Identification};
use crate::result::{
    Artefacts, Blind, Closing, Endpoints, FlowId, FlowReport, Handshake, NotSeen, PathFindings,
    Records, Reordering, Vantage, VantageBasis, VantageChoice,
};
use crate::sender::{AckFindings, SenderEnd};

impl Side {
    pub(super) fn report(&self, mut engines: Box<Engines>, flow: FlowId, end: &End) -> FlowReport {
        let cx = self.context_at_end(end, engines.una);
        let vantage = engines.choice.vantage;
        let what_if = engines.take_what_if();
        let heard_ns = end.answered.then_some(end.last_ns);
        let arrival = engines.arrival.finish(&cx, heard_ns);
        let sender = engines.sender;
        let sender = sender.map(|s| s.finish(end.last_ns, end.answered));
        let points = engines.points.map(|points| points.finish());
        let (points, stretch_ns) = points.unwrap_or_default();
        let Halves {
            mut main,
            acks,
            upstream,
            artefacts,
        } = Halves::of(arrival, sender, vantage);
        let choice = VantageChoice {
            to_receiver_ns: end.choice.to_receiver_ns,
            to_sender_ns: end.choice.to_sender_ns,
            ..engines.choice
        };
        let flow_facts = Flow {
            marks: &main.marks,
            rtts: &engines.rtts,
            mss: cx.mss,
            acks_overtaken: acks.is_some_and(|acks| acks.path.reordered > 0),
        };
        flow_facts.assign(&mut main.recoveries, &mut main.list);
        main.name_proven();
        let network_duplicates = engines
            .reported_twice
            .saturating_sub(main.retransmissions.total)
            .min(self.duplicated + end.answers_duplicated);
        let min_rtt_ns = shortest(acks, &choice);
        let mut blind = end.blind(&choice, acks);
        let named = vantage == Vantage::Sender || cx.marks.ip_id || cx.marks.timestamps;
        main.weigh(&Weighed {
            blind,
            vantage,
            blocks_hidden: end.blocks_hidden > 0,
            ahead_ns: end.times.ahead_ns.filter(|_| named),
            min_rtt_ns,
        });
        if main.forgot {
            // What rests on the forgotten ranges was never asserted.
            blind = blind.with(NotSeen::Holes);
        }
        let over_ns = end.over_ns(engines.recorder.last_data_ns());
        let (cost, limits) = engines.recorder.finish(&Life {
            mss: cx.mss,
            rtt_ns: round_trip(&choice, min_rtt_ns),
            rtts: &engines.rtts.samples(),
            recoveries: &main.reductions(),
            losses: &main.losses(),
            troubled: !main.marks.is_empty(),
            spurious: main.retransmissions.spurious,
            lacks: main.originals.unfilled > 0,
            ..end.life(over_ns)
        });
        let avoidance = main.avoidance();
        if !engines.keep_events {
            main.recoveries.list = Vec::new();
        }
        FlowReport {
            flow,
            vantage: choice,
            first_ns: end.first_ns,
            last_ns: end.last_ns,
            endpoints: self.endpoints(end, &cx, acks),
            min_rtt_ns,
            originals: main.originals,
            path: PathFindings {
                icmp: complaints::sum(&main.proven),
                shrunk: acks.and_then(|acks| acks.shrunk),
                swallowed: acks.and_then(|acks| acks.swallowed),
                network_duplicates,
            },
            retransmissions: main.retransmissions,
            reordering: main.collected.reordering,
            bounds: main.bounds,
            upstream,
            bursts: main.collected.bursts,
            by_rate: main.collected.by_rate,
            rough: acks.is_some_and(|acks| acks.rough) || blind.any(),
            blind,
            recoveries: main.recoveries,
            avoidance,
            cost,
            ecn_reductions: engines.recorder.marked(),
            limits,
            ack_path: acks.map(|acks| acks.path).unwrap_or_default(),
            artefacts: Artefacts {
                // What the receiver reports beside retransmissions came to it twice: these frames were not captured twice.
                duplicated_frames: self.duplicated + end.answers_duplicated - network_duplicates,
                time_reversals: end.times.reversals,
                time_leaps: end.times.leaps,
                foreign_packets: end.times.foreign,
                ..artefacts
            },
            what_if,
            records: Records {
                events: main.collected.events,
                retransmissions: main.list,
                points,
                stretch_ns,
            },
        }
    }

    /// What is known of the connection when nothing more comes; the receiver has acknowledged everything below `una`.
    fn context_at_end(&self, end: &End, una: i64) -> Context {
        // Packets may be shorter than the receiver allows.
        let mss = match self.max_payload {
            0 => end.shared.full,
            largest => largest,
        };
        let to_sender = end.choice.to_sender_ns;
        let to_sender = to_sender.map(|ns| RoundTrip::new(ns, false));
        Context {
            mss: mss.max(1),
            sack: end.shared.sack.unwrap_or(true),
            marks: self.marks(end.shared.timestamps, to_sender),
            counts: self.ids.trusted(),
            newest: false,
            step: 0,
            sent_behind_ns: 0,
            una,
            disorder: end.times.disorder,
            syn_seen: end.syn_seen,
        }
    }

    fn endpoints(&self, end: &End, cx: &Context, acks: Option<AckFindings>) -> Endpoints {
        let sack_used = acks.map_or(end.sack_seen, |acks| acks.sack);
        Endpoints {
            syn_seen: end.syn_seen,
            handshake: end.handshake,
            closing: end.closing,
            sack: end.shared.sack.unwrap_or(sack_used),
            timestamps: end.shared.timestamps,
            mss: cx.mss,
            habits: Habits {
                sender_identification: self.identification(),
                sender_repeats: self.repeating.habit(),
                sender_tick_ns: end.shared.timestamps.then(|| self.clock.tick_ns()),
                receiver_identification: end.receiver_identification,
                ..acks.map(|acks| acks.habits).unwrap_or_default()
            },
        }
    }
}

/// The engine that speaks for the whole flow, and what the other one adds.
struct Halves {
    main: Findings,
    acks: Option<AckFindings>,
    upstream: Option<Box<Reordering>>,
    artefacts: Artefacts,
}

impl Halves {
    fn of(arrival: EngineEnd, sender: Option<SenderEnd>, vantage: Vantage) -> Self {
        let mut artefacts = Artefacts::default();
        let Some(sender) = sender else {
            artefacts.missing_segments = arrival.missing;
            return Halves {
                main: Findings::of(arrival, Vec::new()),
                acks: None,
                upstream: None,
                artefacts,
            };
        };
        // What is missing at the top has no hole, and what is missing below is no number of the ACKs.
        artefacts.missing_segments = sender.data.missing.max(arrival.missing);
        let mut main = Findings::of(sender.data, sender.proven);
        let mut upstream = None;
        if vantage == Vantage::Middle {
            main.add_lost_before(&arrival.replaced);
            let (order, lost) = arrival.collector.finish_upstream();
            main.list_lost_before(lost);
            upstream = Some(Box::new(order));
        } else {
            artefacts.swapped_frames = arrival.collector.reordered();
        }
        Halves {
            main,
            acks: Some(sender.acks),
            upstream,
            artefacts,
        }
    }
}

/// The shortest round trip beyond the capture point, as acknowledgements or else the handshake tell, nanoseconds.
fn shortest(acks: Option<AckFindings>, choice: &VantageChoice) -> Option<i64> {
    let beyond_ns = match choice.vantage {
        Vantage::Sender => choice.to_receiver_ns,
        _ => choice.to_sender_ns,
    };
    acks.and_then(|acks| acks.min_rtt_ns).or(beyond_ns)
}

/// The shortest round trip between sender and receiver, as far as the capture shows both parts, nanoseconds.
fn round_trip(choice: &VantageChoice, shortest_ns: Option<i64>) -> Option<i64> {
    match choice.vantage {
        Vantage::Sender => shortest_ns,
        Vantage::Receiver => choice.to_sender_ns,
        Vantage::Middle => Some(choice.to_receiver_ns?.saturating_add(choice.to_sender_ns?)),
    }
}

/// How far the times of a connection's packets can be relied on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// They are those at which packets were fetched, many at once.
    pub(crate) in_batches: bool,
    /// Times and order of the packets contradict each other.
    pub(crate) disorder: bool,
    /// If the packets of each host are in their order: by how much times contradict it at most, or how long before what they answer answers were
    /// captured, nanoseconds.
    pub(crate) ahead_ns: Option<i64>,
    /// How often the packets of the data's sender went back in time.
    pub(crate) reversals: u64,
    /// How often the clock had been set forward before one of them or of their acknowledgements.
    pub(crate) leaps: u64,
    /// Packets in the name of one of the hosts that it has not sent.
    pub(crate) foreign: u64,
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
    pub(crate) times: Times,
    /// The SYN of the data's sender was captured.
    pub(crate) syn_seen: bool,
    /// When the sender could send data, as its packets come by, nanoseconds; `None` if the handshake was not captured.
    pub(crate) opened_ns: Option<i64>,
    /// The handshake shows that no window is scaled.
    pub(crate) unscaled: bool,
    /// How the connection was opened, if this direction speaks for that.
    pub(crate) handshake: Handshake,
    /// How its sender closed it.
    pub(crate) closing: Closing,
    /// When the receiver reset the connection, if data came by behind that, nanoseconds.
    pub(crate) refused_ns: Option<i64>,
    /// When the sender reset the connection, nanoseconds.
    pub(crate) given_up_ns: Option<i64>,
    /// The receiver repeated its FIN, and nothing acknowledged it.
    pub(crate) unheard: bool,
    /// How the receiver numbers its packets.
    pub(crate) receiver_identification: Identification,
}

impl End {
    /// When nothing limits the transfer any more, whose last data came at `last_data_ns`: the sender has reset the connection, or the
    /// receiver refuses what comes.
    fn over_ns(&self, last_data_ns: i64) -> i64 {
        let given_up_ns = self.given_up_ns.filter(|ns| *ns >= last_data_ns);
        let ended = [self.refused_ns, given_up_ns].into_iter().flatten();
        ended.fold(self.last_ns, i64::min)
    }

    /// What the connection adds to what its data shows of the transfer.
    fn life(&self, over_ns: i64) -> Life<'static> {
        Life {
            first_ns: self.first_ns,
            last_ns: self.last_ns,
            over_ns,
            opened_ns: self.opened_ns,
            unheard: self.unheard,
            unscaled: self.unscaled,
            answered: self.answered,
            ..Life::default()
        }
    }

    /// What the capture does not show, made where `choice` says; acknowledgements of the sender's side told `acks`.
    fn blind(&self, choice: &VantageChoice, acks: Option<AckFindings>) -> Blind {
        let at_receiver = choice.vantage == Vantage::Receiver;
        // What showed that packets went missing behind the capture point came after the choice.
        let refuted = at_receiver
            && self.choice.basis == VantageBasis::Missing
            && self.choice.vantage != Vantage::Receiver;
        let batches = self.times.in_batches;
        let unknown = choice.basis == VantageBasis::Unknown || refuted || batches;
        let sack_unknown = acks.is_some_and(|acks| acks.sack_unknown);
        let lacking = [
            (NotSeen::Vantage, unknown),
            (NotSeen::SackOptions, !at_receiver && self.blocks_hidden > 0),
            (NotSeen::OneWay, !self.answered),
            (NotSeen::Order, self.times.disorder),
            (NotSeen::Times, batches),
            (NotSeen::Sack, !at_receiver && sack_unknown),
        ];
        let lacking = lacking.into_iter().filter(|(_, lacks)| *lacks);
        lacking.map(|(what, _)| what).collect()
    }
}
