//! The order of gravity: which trouble of a flow, and which flow or stream of a capture, comes first in the headline,
//! in tables and on the page.
//!
//! Every trouble is converted to a number of *affected packets* by the weights below, because packets are what flows of
//! TCP and streams of other services have in common. Of two flows with equally many affected packets the smaller one is
//! worse off; of two flows with the same share of them the larger one. Flows are therefore ordered by
//! affected packets x share of affected packets. The weights decide the order only: no output prints them.

use inorder_limits::{Limit as Held, LimitSet};

use crate::result::{
    Attempts, Cause, FlowReport, Limit, Outcome, StreamDoubt, StreamReport, Vantage,
};

/// Weight of one reduction of the window: a round trip or more passes at a lower rate.
const PER_REDUCTION: f64 = 2.0;
/// Weight of a time-out: the sender stands still for at least 200 ms (Linux's `TCP_RTO_MIN`; RFC 6298 section 2 step (2.4) says 1 s),
/// then starts with a window of one segment (RFC 5681 section 3.1).
const PER_TIMEOUT: f64 = 8.0;
/// A reset that leaves no more packets than this without an acknowledgement may end a transfer that was nearly over: a sender with more to
/// send has a round trip's worth of packets under way, and at first ten (RFC 6928).
const MAX_LEFT_AT_END: u64 = 2;
/// It does not if they are a larger part of all packets than one in this many.
const LEAST_PACKETS_FOR_EACH_LEFT: u64 = 4;
/// Weight of a second of silence in which a stream's numbers ran on: nothing is heard or seen.
const PER_SILENT_SECOND: f64 = 1.0;
/// Weight of what delays no data: a late packet without a spurious retransmission, an undecided event, a duplicate.
const PER_HARMLESS: f64 = 0.1;
/// Weight of a packet of a flow while a window or a buffer held the sender back: it came, but might have come sooner.
const PER_HELD_BACK: f64 = 0.1;
/// Minimum share of its life in which a window or buffer held a flow back, from which on this counts as trouble.
const MIN_HELD_BACK: f64 = 0.1;
/// Shorter flows end before a window is known to hold them back, unless it was closed.
const MIN_HELD_PACKETS: u64 = 100;
/// An attempt to open a connection that failed at once: whoever made it can try another address.
const PER_REFUSED_ATTEMPT: f64 = 2.0;
/// Packets in order that every flow is taken to have in addition: without them a flow of three packets of which one was
/// repeated would come before a call of a thousand packets of which thirty were late.
const ASSUMED_IN_ORDER: f64 = 1_000.0;

/// What is wrong with a flow or stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// Packets that never arrived.
    Loss,
    /// Packets that the receiver discarded although it lacked them.
    Refused,
    /// Late packets, and what the sender did because it took them for lost.
    Reordering,
    /// Recoveries because acknowledgements overtook each other.
    AckReordering,
    /// Time-outs although everything had arrived.
    DelayJump,
    /// Tail loss probes that repeated what had arrived.
    TailProbe,
    /// Data that was sent again and never acknowledged.
    Unanswered,
    /// Copies in advance of what had arrived.
    InAdvance,
    /// The receiver's window, the sender's buffer or a dead path held the sender back for a good part of the time.
    HeldBack,
    /// SYNs that were sent again until one was answered.
    Handshake,
    /// Keep-alives that nothing answered.
    Silence,
    /// A FIN that was sent again.
    Closing,
    /// A reset while data was under way.
    Reset,
    /// Recoveries that nothing in the capture explains.
    Unexplained,
    /// Events that cannot be decided.
    Unclear,
    /// Packets of a stream that arrived more than once.
    Copies,
    /// Silences for which the numbers of a stream ran on.
    Pauses,
    /// Numbers of a stream that are absent: lost, or carried elsewhere.
    Absent,
}

impl Trouble {
    /// To which trouble the recoveries of a cause belong.
    fn of(cause: Cause) -> Trouble {
        match cause {
            _ if cause.is_loss() => Trouble::Loss,
            Cause::Refused => Trouble::Refused,
            Cause::Reordering => Trouble::Reordering,
            Cause::AckReordering => Trouble::AckReordering,
            Cause::TailProbe => Trouble::TailProbe,
            Cause::DelayJump => Trouble::DelayJump,
            Cause::InAdvance => Trouble::InAdvance,
            Cause::Unanswered => Trouble::Unanswered,
            _ => Trouble::Unexplained,
        }
    }
}

/// The troubles of one flow or stream, the most severe first.
#[derive(Clone, PartialEq, Debug)]
pub struct Gravity {
    /// Each trouble with its affected packets, which are more than 0.
    troubles: Vec<(Trouble, f64)>,
    packets: f64,
}

impl Gravity {
    /// The troubles of a TCP flow.
    pub fn of_flow(flow: &FlowReport) -> Gravity {
        let order = &flow.reordering;
        if flow.recoveries.by_cause.is_empty()
            && flow.originals.lost + flow.originals.refused + order.reordered + order.ambiguous == 0
            && flow.endpoints.handshake.syns_again + flow.endpoints.closing.fins_again == 0
            && !flow.was_cut_off()
            && flow.endpoints.closing.silence.is_none()
            && flow.held_back() < MIN_HELD_BACK
        {
            // As most flows are: none of the numbers below would be more than 0.
            return Gravity::new(&[], flow.originals.packets);
        }
        let recovered = |trouble| {
            let causes = flow.recoveries.by_cause.iter();
            let of_it = causes.filter(move |c| Trouble::of(c.cause) == trouble);
            of_it.fold((0.0, 0.0), |(repeated, slowed), c| {
                let stops = PER_REDUCTION * c.recoveries as f64 + PER_TIMEOUT * c.timeouts as f64;
                (repeated + c.retransmissions as f64, slowed + stops)
            })
        };
        // A lost packet and its retransmission are one affected packet.
        let whole = |trouble, packets: u64| {
            let (repeated, slowed) = recovered(trouble);
            (trouble, slowed + repeated.max(packets as f64))
        };
        let probes = recovered(Trouble::TailProbe).0;
        let late = PER_HARMLESS * flow.late() as f64;
        let silence = flow.endpoints.closing.silence;
        let silent = silence.map_or(0.0, |silence| silence.keep_alives as f64);
        let troubles = [
            whole(Trouble::Loss, flow.originals.lost),
            whole(Trouble::Refused, flow.originals.refused),
            (Trouble::Reordering, late + whole(Trouble::Reordering, 0).1),
            whole(Trouble::AckReordering, 0),
            whole(Trouble::DelayJump, 0),
            // A probe that repeats what had arrived reduces no window (RFC 8985 section 7.4).
            (Trouble::TailProbe, PER_HARMLESS * probes),
            (
                Trouble::InAdvance,
                PER_HARMLESS * recovered(Trouble::InAdvance).0,
            ),
            whole(Trouble::Unanswered, 0),
            (Trouble::HeldBack, held_back(flow)),
            (
                Trouble::Handshake,
                PER_TIMEOUT * flow.endpoints.handshake.syns_again as f64,
            ),
            (Trouble::Reset, flow.cut_off() as f64),
            (Trouble::Silence, PER_TIMEOUT * silent),
            // All data has arrived by then.
            (
                Trouble::Closing,
                PER_HARMLESS * flow.endpoints.closing.fins_again as f64,
            ),
            whole(Trouble::Unexplained, 0),
            (Trouble::Unclear, PER_HARMLESS * order.ambiguous as f64),
        ];
        Gravity::new(&troubles, flow.originals.packets)
    }

    /// The troubles of a stream of numbered packets. A late packet counts as much as a missing one: what plays sound
    /// or decrypts within a window cannot wait for it.
    pub fn of_stream(stream: &StreamReport) -> Gravity {
        let order = &stream.order;
        let silent_s = stream.skipped.pauses.total_ns as f64 / 1e9;
        // What other traffic has is no trouble; what may have been lost is none for certain, however much it is.
        let absent = match stream.skipped.doubt {
            Some(StreamDoubt::LostOrElsewhere) => stream.skipped.absent.min(order.received),
            _ => 0,
        };
        let troubles = [
            (Trouble::Loss, stream.skipped.missing as f64),
            (Trouble::Unanswered, stream.unanswered as f64),
            (Trouble::Reordering, order.reordered as f64),
            (Trouble::Unclear, PER_HARMLESS * order.ambiguous as f64),
            (Trouble::Pauses, PER_SILENT_SECOND * silent_s),
            (Trouble::Absent, PER_HARMLESS * absent as f64),
            (
                Trouble::Copies,
                PER_HARMLESS * stream.twice.duplicates as f64,
            ),
        ];
        Gravity::new(
            &troubles,
            order.received.saturating_add(stream.skipped.missing),
        )
    }

    /// How grave the failed attempts to open connections are, as [`Gravity::key`] of flows is.
    pub fn of_attempts(attempts: &Attempts) -> f64 {
        let at_once = attempts.of(Outcome::Refused) + attempts.of(Outcome::Unreachable);
        let waited = attempts.of(Outcome::Unanswered) + attempts.syns_again;
        let affected = PER_REFUSED_ATTEMPT * at_once as f64
            + PER_HARMLESS * attempts.of(Outcome::Unfinished) as f64
            + PER_HARMLESS * attempts.of(Outcome::Cancelled) as f64
            + PER_TIMEOUT * waited as f64;
        let packets = attempts.packets as f64 + ASSUMED_IN_ORDER;
        affected * (affected / packets).min(1.0)
    }

    fn new(all: &[(Trouble, f64)], packets: u64) -> Gravity {
        let mut troubles: Vec<(Trouble, f64)> =
            all.iter().copied().filter(|(_, n)| *n > 0.0).collect();
        // Stable: among equals the order of the lists above holds.
        troubles.sort_by(|a, b| b.1.total_cmp(&a.1));
        Gravity {
            troubles,
            packets: packets as f64,
        }
    }

    /// All troubles, the most severe first.
    pub fn all(&self) -> impl Iterator<Item = Trouble> {
        self.troubles.iter().map(|(trouble, _)| *trouble)
    }

    /// Not even one packet was affected, as far as that is counted: some came late or again, and nothing slowed down for that.
    pub fn is_slight(&self) -> bool {
        self.troubles.iter().map(|(_, n)| n).sum::<f64>() < 1.0
    }

    /// The worst trouble; `None` if there is none.
    pub fn worst(&self) -> Option<Trouble> {
        self.troubles.first().map(|(trouble, _)| *trouble)
    }

    /// The key of the order: 0 without any trouble, greater for graver ones.
    pub fn key(&self) -> f64 {
        let affected: f64 = self.troubles.iter().map(|(_, n)| n).sum();
        affected * (affected / (self.packets + ASSUMED_IN_ORDER)).min(1.0)
    }
}

/// Packets that a window, a buffer or a dead path delayed.
fn held_back(flow: &FlowReport) -> f64 {
    let share = flow.held_back();
    match share >= MIN_HELD_BACK {
        true => PER_HELD_BACK * share * flow.originals.packets as f64,
        false => 0.0,
    }
}

impl FlowReport {
    /// The share of its life during which the receiver's window, the sender's buffer or a dead path held the sender back,
    /// 0 to 1, as far as that is known: by its [`limits`](Self::limits), or, where they are empty, by its closed window.
    pub fn held_back(&self) -> f64 {
        const BACK: LimitSet =
            LimitSet::of(&[Held::ReceiverWindow, Held::SendBuffer, Held::PathDead]);
        if self.limits.life_ns() > 0 {
            // A timer counts with what was sent again, if anything was.
            let cut_off = LimitSet::of(&[Held::TimerNeeded, Held::PathDead]);
            let nothing_again = self.recoveries.by_cause.is_empty();
            // Where one of several may be the limit, all of them must be such a one.
            return self
                .limits
                .share_where(|set| set.is_within(BACK) || nothing_again && set == cut_off);
        }
        let life = self.last_ns.saturating_sub(self.first_ns).max(1) as f64;
        match (self.cost.limit, self.cost.closed_ns) {
            (Limit::Receiver, 0) if self.originals.packets >= MIN_HELD_PACKETS => 0.5,
            (_, closed) => (closed as f64 / life).min(1.0),
        }
    }

    /// True if the connection was reset before all data was acknowledged, as far as acknowledgements can tell here.
    pub fn was_cut_off(&self) -> bool {
        self.cut_off() > 0
    }

    /// Packets that were not acknowledged when the connection was reset, unless that was how it ended all the same: a few at the end of
    /// many, what was said to a host that had closed (TLS says farewell), or the only byte of a connection that began before the capture:
    /// a keep-alive has one (RFC 9293 section 3.8.4). At the receiver those that come behind its reset.
    pub fn cut_off(&self) -> u64 {
        let closing = &self.endpoints.closing;
        let (packets, seen) = match self.vantage.vantage {
            Vantage::Receiver => (closing.behind_reset.min(self.originals.packets), true),
            _ => (self.originals.undecided, !self.blind.any()),
        };
        let keep_alive = self.originals.bytes == 1 && !self.endpoints.syn_seen;
        let trivial = packets <= MAX_LEFT_AT_END
            && (closing.closed_before
                || keep_alive
                || packets * LEAST_PACKETS_FOR_EACH_LEFT < self.originals.packets);
        match seen && closing.reset_by.is_some() && !trivial {
            true => packets,
            false => 0,
        }
    }

    /// True if something happened to the flow that whoever looks for trouble should look at.
    pub fn has_problems(&self) -> bool {
        self.has_problems_of(&Gravity::of_flow(self))
    }

    /// [`FlowReport::has_problems`], where its gravity is known.
    pub(crate) fn has_problems_of(&self, gravity: &Gravity) -> bool {
        let upstream = self.upstream.as_ref().map_or(0, |u| u.reordered);
        gravity.worst().is_some() || self.retransmissions.total + upstream > 0
    }
}
