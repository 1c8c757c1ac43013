//! Tunnels that are seen in part: their numbers are compared with the TCP in them.

use std::collections::HashMap;

use inorder_wire::{FlowKey, InnerTcp};

use crate::result::{FlowReport, StreamReport};

/// Compares the numbers that tunnels lack with what the TCP connections in them lack.
pub fn doubt_tunnels(streams: &mut [StreamReport], flows: &[FlowReport]) {
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
    for stream in streams {
        // Of a flow that is only summed nothing is known.
        stream.compare_inside(|name| lacking.get(&name).copied());
    }
}
