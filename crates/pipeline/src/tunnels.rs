//! Tunnels that are seen in part: their numbers are compared with the TCP in them.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use inorder_detect::{FlowReport, StreamDoubt, StreamReport};
use inorder_wire::{Endpoint, FlowKey, InnerTcp, Service, StreamKey};

/// Compares the numbers that tunnels lack with what the TCP connections in them lack.
pub(crate) fn doubt(streams: &mut [StreamReport], flows: &[FlowReport]) {
    if streams.iter().all(|stream| stream.inside.is_none()) {
        return;
    }
    let mut lacking: HashMap<u32, u64> = HashMap::default();
    for flow in flows {
        let id = &flow.flow;
        let (key, dir) = FlowKey::new(id.src.into(), id.dst.into(), id.overlay);
        let lacks = flow.originals.lost
            + flow.originals.unfilled
            + flow.retransmissions.total
            + flow.artefacts.missing_segments;
        *lacking.entry(InnerTcp::name(&key, dir)).or_default() += lacks;
    }
    for stream in streams.iter_mut() {
        // Of a flow that is only summed nothing is known.
        stream.compare_inside(|name| lacking.get(&name).copied());
    }
    let shared: HashSet<_> = streams
        .iter()
        .filter(|stream| stream.skipped.doubt == Some(StreamDoubt::OtherTraffic))
        .map(|stream| ends(&stream.key))
        .collect();
    for stream in streams {
        let (service, src, dst) = ends(&stream.key);
        if shared.contains(&(service, dst, src)) {
            stream.share_with_others();
        }
    }
}

/// What both directions of a tunnel have in common, but for the order of its ends: their ports and identifiers may differ.
fn ends(key: &StreamKey) -> (Service, IpAddr, IpAddr) {
    let host = |end: Endpoint| end.socket_addr().ip();
    (key.service, host(key.src), host(key.dst))
}
