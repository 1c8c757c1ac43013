//! The order of gravity: which trouble of a flow, and which flow or stream of a capture, comes first in the headline,
//! in tables and on the page.
//!
//! Every trouble is converted to a number of *affected packets* by the weights below, because packets are what flows of
//! TCP and streams of other services have in common. Of two flows with equally many affected packets the smaller one is
//! worse off; of two flows with the same share of them the larger one. Flows are therefore ordered by
//! affected packets x share of affected packets. The weights decide the order only: no output prints them.

use inorder_detect::{Cause, FlowReport, StreamReport};

use crate::model::Analysis;

/// A window reduced once: a new round trip or more is spent at a lower rate.
const PER_REDUCTION: f64 = 2.0;
/// A time-out: the sender stands still for at least 200 ms (Linux's `TCP_RTO_MIN`; RFC 6298 says 1 s), then starts
/// with a window of one segment.
const PER_TIMEOUT: f64 = 8.0;
/// A late packet that misled nobody, an undecided event, a copy too many: what delays no data.
const PER_HARMLESS: f64 = 0.1;
/// Packets in order that every flow is taken to have in addition: without them a flow of three packets of which one was
/// repeated would come before a call of a thousand packets of which thirty were late.
const ASSUMED_IN_ORDER: f64 = 1_000.0;

/// What is wrong with a flow or stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trouble {
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
    /// Recoveries that nothing in the capture explains.
    Unexplained,
    /// Events that cannot be decided.
    Unclear,
    /// Packets of a stream that arrived more than once.
    Copies,
}

impl Trouble {
    /// To which trouble the recoveries of a cause belong.
    fn of(cause: Cause) -> Trouble {
        match cause {
            Cause::QueueLoss | Cause::RandomLoss | Cause::Loss => Trouble::Loss,
            Cause::Refused => Trouble::Refused,
            Cause::Reordering => Trouble::Reordering,
            Cause::AckReordering => Trouble::AckReordering,
            Cause::TailProbe => Trouble::TailProbe,
            Cause::DelayJump => Trouble::DelayJump,
            _ => Trouble::Unexplained,
        }
    }
}

/// The troubles of one flow or stream, the gravest first.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Gravity {
    /// Each trouble with its affected packets, which are more than 0.
    troubles: Vec<(Trouble, f64)>,
    packets: f64,
}

impl Gravity {
    /// The troubles of a TCP flow.
    pub fn of_flow(flow: &FlowReport) -> Gravity {
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
        let order = &flow.reordering;
        let probes = recovered(Trouble::TailProbe).0;
        let late = PER_HARMLESS * order.reordered as f64;
        let troubles = [
            whole(Trouble::Loss, flow.losses),
            whole(Trouble::Refused, flow.refused),
            (Trouble::Reordering, late + whole(Trouble::Reordering, 0).1),
            whole(Trouble::AckReordering, 0),
            whole(Trouble::DelayJump, 0),
            // A probe that repeats what had arrived reduces no window (RFC 8985 section 7.4).
            (Trouble::TailProbe, PER_HARMLESS * probes),
            whole(Trouble::Unexplained, 0),
            (Trouble::Unclear, PER_HARMLESS * order.ambiguous as f64),
        ];
        Gravity::new(&troubles, flow.data_packets)
    }

    /// The troubles of a stream of numbered packets. A late packet counts as much as a missing one: what plays sound
    /// or decrypts within a window cannot wait for it.
    pub fn of_stream(stream: &StreamReport) -> Gravity {
        let order = &stream.order;
        let troubles = [
            (Trouble::Loss, stream.missing as f64),
            (Trouble::Reordering, order.reordered as f64),
            (Trouble::Unclear, PER_HARMLESS * order.ambiguous as f64),
            (Trouble::Copies, PER_HARMLESS * stream.duplicates as f64),
        ];
        Gravity::new(&troubles, order.received.saturating_add(stream.missing))
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

    /// The gravest trouble; `None` if there is none.
    pub fn worst(&self) -> Option<Trouble> {
        self.troubles.first().map(|(trouble, _)| *trouble)
    }

    /// The key of the order: 0 without any trouble, greater for graver ones.
    pub fn key(&self) -> f64 {
        let affected: f64 = self.troubles.iter().map(|(_, n)| n).sum();
        affected * (affected / (self.packets + ASSUMED_IN_ORDER)).min(1.0)
    }
}

/// A flow or a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'a> {
    /// One direction of a TCP connection.
    Flow(&'a FlowReport),
    /// A stream of another service.
    Stream(&'a StreamReport),
}

impl Subject<'_> {
    /// Its troubles.
    pub fn gravity(&self) -> Gravity {
        match self {
            Subject::Flow(flow) => Gravity::of_flow(flow),
            Subject::Stream(stream) => Gravity::of_stream(stream),
        }
    }
}

/// True if something happened to the flow that the reader should look at.
pub(crate) fn has_problems(flow: &FlowReport) -> bool {
    let upstream = flow.upstream.as_ref().map_or(0, |u| u.reordered);
    Gravity::of_flow(flow).worst().is_some() || flow.retransmissions.total + upstream > 0
}

/// The flows of one analysis, the gravest first; among equals the one with more data, then in the order found.
pub(crate) fn flows_by_gravity(flows: &[FlowReport]) -> Vec<&FlowReport> {
    sorted(flows, |flow| {
        (Gravity::of_flow(flow).key(), flow.data_bytes)
    })
}

/// The streams of one analysis in the same order.
pub(crate) fn streams_by_gravity(streams: &[StreamReport]) -> Vec<&StreamReport> {
    sorted(streams, |stream| {
        (Gravity::of_stream(stream).key(), stream.order.received)
    })
}

fn sorted<T>(of: &[T], key: impl Fn(&T) -> (f64, u64)) -> Vec<&T> {
    let mut all: Vec<((f64, u64), &T)> = of.iter().map(|one| (key(one), one)).collect();
    all.sort_by(|(a, _), (b, _)| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    all.into_iter().map(|(_, one)| one).collect()
}

/// Flows and streams with problems in one order, the gravest first.
pub(crate) fn troubled(analysis: &Analysis) -> Vec<Subject<'_>> {
    let flows = flows_by_gravity(&analysis.flows).into_iter();
    let flows = flows.filter(|flow| has_problems(flow)).map(Subject::Flow);
    let streams = streams_by_gravity(&analysis.streams).into_iter();
    let streams = streams.map(Subject::Stream);
    let streams = streams.filter(|stream| stream.gravity().worst().is_some());
    let mut all: Vec<(f64, Subject<'_>)> = flows
        .chain(streams)
        .map(|one| (one.gravity().key(), one))
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().map(|(_, one)| one).collect()
}
