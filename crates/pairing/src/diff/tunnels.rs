//! The tunnels in which the packets were that are compared.

use std::collections::BTreeMap;

use inorder_report::number::{count, plural};
use inorder_wire::Overlay;

use crate::diff::result::Difference;
use crate::diff::trace::Trace;

/// Tunnels of a capture that are distinguished; a sentence has the names of fewer.
const MAX_TUNNELS: usize = 64;
const MAX_NAMED: usize = 3;

/// How many packets of a capture were in which overlay network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tunnels {
    of: BTreeMap<u32, u64>,
    packets: u64,
}

impl Tunnels {
    /// A packet was in this one; 0 of a header without a network of its own (PPPoE, tags of redundant networks).
    pub(crate) fn note(&mut self, overlay: u32) {
        self.packets += 1;
        if self.of.len() < MAX_TUNNELS || self.of.contains_key(&overlay) {
            *self.of.entry(overlay).or_default() += 1;
        }
    }

    /// Their names, the one with most packets first.
    fn names(&self) -> Vec<String> {
        let mut all: Vec<(u64, String)> = self
            .of
            .iter()
            .map(|(&overlay, &packets)| (packets, name(overlay)))
            .collect();
        all.sort_by_key(|(packets, _)| std::cmp::Reverse(*packets));
        all.into_iter().map(|(_, name)| name).collect()
    }
}

fn name(overlay: u32) -> String {
    match Overlay::of(overlay) {
        Overlay::None | Overlay::Vlan(_) => "a header between link and network".to_owned(),
        network => network.to_string(),
    }
}

/// Says of which tunnels the packets were taken out.
pub(crate) fn tell(a: &Trace, b: &Trace, found: &mut Difference) {
    found.tunnels = [a, b].map(|trace| trace.tunnels.names());
    for (name, trace) in [("A", a), ("B", b)] {
        if trace.tunnels.packets == 0 {
            continue;
        }
        let names = trace.tunnels.names();
        let more = names.len().saturating_sub(MAX_NAMED);
        let mut said = names[..names.len() - more].join(", ");
        if more > 0 {
            said.push_str(&format!(" and {}", plural(more as u64, "other")));
        }
        let packets = match trace.tunnels.packets {
            1 => "1 packet of".to_owned(),
            n => format!("{} packets of", count(n)),
        };
        found.warnings.push(format!(
            "{packets} {name} {} in a tunnel ({said}): the packets within were compared",
            if trace.tunnels.packets == 1 {
                "is"
            } else {
                "are"
            },
        ));
    }
}
