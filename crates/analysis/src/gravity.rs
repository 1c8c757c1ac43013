//! Flows and streams in the order of their [`Gravity`].

use inorder_detect::{FlowReport, Gravity, StreamReport};

use crate::model::Analysis;

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
    pub(crate) fn gravity(&self) -> Gravity {
        match self {
            Subject::Flow(flow) => Gravity::of_flow(flow),
            Subject::Stream(stream) => Gravity::of_stream(stream),
        }
    }
}

/// The flows of one analysis, the most severe first; among equals the one with more data, then in the order found.
pub(crate) fn flows_by_gravity(flows: &[FlowReport]) -> Vec<&FlowReport> {
    sorted(flows, |flow| {
        (Gravity::of_flow(flow).key(), flow.originals.bytes)
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

/// Flows and streams with problems in one order, the most severe first.
pub(crate) fn troubled(analysis: &Analysis) -> Vec<Subject<'_>> {
    let flows = flows_by_gravity(&analysis.flows).into_iter();
    let flows = flows.filter(|flow| flow.has_problems()).map(Subject::Flow);
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
