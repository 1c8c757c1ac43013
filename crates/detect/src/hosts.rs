//! What connections of a capture show of their hosts, for the other connections of the same hosts.
//!
//! Most connections are short: a sender that repeats nothing does not show what it would do with the identification. What another connection of
//! the same host shows holds for it, too. It is known once the capture has been read, so that what is said does not depend on the order of the
//! connections: a second reading begins with it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::IpAddr;

use inorder_wire::{Dir, FlowKey};

use crate::habits::Repeats;
use crate::kept::Kept;
use crate::result::{FlowId, FlowReport, NotSeen};

/// What is known of the senders of a capture.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Hosts {
    /// Do they keep the identification of what they send again? Those of which all connections that show it show the same.
    keep: BTreeMap<Host, Kept>,
    /// The shortest round trip from the capture point to the first of two hosts, by any connection between them, nanoseconds.
    near: BTreeMap<(Host, IpAddr), i64>,
    /// Connections show that the capture's times are those at which packets were fetched, many at once.
    pub(crate) in_batches: bool,
}

/// Flows of which that must be known: both of a connection, whose hosts have clocks of their own.
const MIN_IN_BATCHES: usize = 2;

/// What other connections have shown of the host of one direction.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Known {
    pub(crate) kept: Kept,
    pub(crate) round_trip_ns: Option<i64>,
}

/// An address in its network: the same one in another overlay is another host.
type Host = (IpAddr, u32);

impl Hosts {
    /// What these flows show of their senders.
    pub(crate) fn of(flows: &[FlowReport]) -> Self {
        let mut keep = BTreeMap::new();
        for flow in flows {
            let Some(shown) = shown(flow) else { continue };
            match keep.entry(sender(&flow.flow)) {
                Entry::Vacant(new) => {
                    new.insert(shown);
                }
                // Several hosts behind one address.
                Entry::Occupied(mut other) if *other.get() != shown => {
                    other.insert(Kept::Unknown);
                }
                Entry::Occupied(_) => {}
            }
        }
        keep.retain(|_, kept| *kept != Kept::Unknown);
        let mut near = BTreeMap::new();
        for flow in flows {
            if let Some(ns) = flow.vantage.to_sender_ns {
                let shortest = near.entry(both(&flow.flow)).or_insert(ns);
                *shortest = ns.min(*shortest);
            }
        }
        let in_batches = flows.iter().filter(|f| f.blind.has(NotSeen::Times)).count();
        Hosts {
            keep,
            near,
            in_batches: in_batches >= MIN_IN_BATCHES,
        }
    }

    /// Some flow has left open what is known of its sender, and something depends on it, or was taken to have the times of its packets.
    pub(crate) fn teach(&self, flows: &[FlowReport]) -> bool {
        if self.in_batches && flows.iter().any(|flow| !flow.blind.has(NotSeen::Times)) {
            return true;
        }
        let in_doubt = |flow: &&FlowReport| repeats(flow) == Repeats::InDoubt;
        let mut senders = flows.iter().filter(in_doubt).map(|flow| sender(&flow.flow));
        senders.any(|sender| self.keep.contains_key(&sender))
    }

    /// What is known of the host from which packets go `dir`.
    pub(crate) fn known(&self, key: &FlowKey, dir: Dir) -> Known {
        let (from, to) = key.ends(dir);
        let from = (from.socket_addr().ip(), key.overlay);
        let pair = (from, to.socket_addr().ip());
        Known {
            kept: self.keep.get(&from).copied().unwrap_or_default(),
            round_trip_ns: self.near.get(&pair).copied(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keep.is_empty() && !self.in_batches
    }
}

fn sender(flow: &FlowId) -> Host {
    (flow.src.ip(), flow.overlay)
}

fn both(flow: &FlowId) -> (Host, IpAddr) {
    (sender(flow), flow.dst.ip())
}

fn repeats(flow: &FlowReport) -> Repeats {
    flow.endpoints.habits.sender_repeats
}

fn shown(flow: &FlowReport) -> Option<Kept> {
    match repeats(flow) {
        Repeats::Kept => Some(Kept::Yes),
        Repeats::Renewed => Some(Kept::No),
        Repeats::InDoubt | Repeats::Unknown => None,
    }
}
