//! What connections of a capture show of their hosts, for the other connections of the same hosts.
//!
//! Most connections are short: a sender that repeats nothing does not show what it would do with the identification. What another connection of
//! the same host shows holds for it, too. It is known once the capture has been read, so that what is said does not depend on the order of the
//! connections: a second reading begins with it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use inorder_wire::{Dir, FlowKey};

use crate::habits::Repeats;
use crate::kept::Kept;
use crate::result::{FlowId, FlowReport, NotSeen, Vantage, VantageBasis};

/// What is known of the senders of a capture.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Hosts {
    /// Do they keep the identification of what they send again? Those of which all connections that show it show the same.
    keep: BTreeMap<Host, Kept>,
    /// The shortest round trip from the capture point to the first of two hosts, by any connection between them, nanoseconds.
    near: BTreeMap<(Host, IpAddr), i64>,
    /// Beside which hosts the capture was made: what they send is in it.
    beside: BTreeSet<Host>,
    /// Connections show that the capture's times are those at which packets were fetched, many at once.
    pub(crate) in_batches: bool,
}

/// Flows of which that must be known: both of a connection, whose hosts have clocks of their own.
const MIN_IN_BATCHES: usize = 2;
/// Flows by which it is known that the capture was made beside a host.
const MIN_BESIDE: u64 = 4;
/// What a host says within this has not passed a network, nanoseconds: round trips within a rack take longer. Others of its connections may wait in its own
/// queue before the capture point, so that they seem to come from farther away.
const MAX_AT_ONCE_NS: i64 = 50_000;

/// What other connections have shown of the host of one direction.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Known {
    pub(crate) kept: Kept,
    pub(crate) round_trip_ns: Option<i64>,
    /// The capture was made beside it.
    pub(crate) beside: bool,
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
            beside: beside(flows),
            in_batches: in_batches >= MIN_IN_BATCHES,
        }
    }

    /// Some flow has left open what is known of its sender, and something depends on it, or was taken to have the times of its packets.
    pub(crate) fn teach(&self, flows: &[FlowReport]) -> bool {
        if self.in_batches && flows.iter().any(|flow| !flow.blind.has(NotSeen::Times)) {
            return true;
        }
        if flows
            .iter()
            .any(|flow| is_unheard(flow) && self.beside.contains(&receiver(&flow.flow)))
        {
            return true;
        }
        let place = |flow: &FlowReport| {
            let (from, to) = (sender(&flow.flow), receiver(&flow.flow));
            self.beside.contains(&from) != self.beside.contains(&to)
        };
        if flows.iter().any(|flow| is_between(flow) && place(flow)) {
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
            beside: self.beside.contains(&from),
        }
    }

    /// The capture was made beside the host towards which packets go `dir`: what of its packets is not captured it did not send.
    pub(crate) fn is_beside_receiver(&self, key: &FlowKey, dir: Dir) -> bool {
        let (_, to) = key.ends(dir);
        !self.beside.is_empty() && self.beside.contains(&(to.socket_addr().ip(), key.overlay))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keep.is_empty() && self.beside.is_empty() && !self.in_batches
    }
}

/// The flow leaves open what others may show, or shows what others may leave open.
pub(crate) fn asks(flow: &FlowReport) -> bool {
    let repeats = repeats(flow) == Repeats::InDoubt;
    repeats || is_unheard(flow) || is_between(flow) || flow.blind.has(NotSeen::Times)
}

/// It seems to have been captured between its hosts, by their answering times alone.
fn is_between(flow: &FlowReport) -> bool {
    flow.vantage.vantage == Vantage::Middle && is_timed(flow.vantage.basis) && !flow.blind.any()
}

fn is_timed(basis: VantageBasis) -> bool {
    matches!(basis, VantageBasis::Handshake | VantageBasis::Timing)
}

fn sender(flow: &FlowId) -> Host {
    (flow.src.ip(), flow.overlay)
}

fn receiver(flow: &FlowId) -> Host {
    (flow.dst.ip(), flow.overlay)
}

/// Something was sent again, and nothing was captured of the receiver.
fn is_unheard(flow: &FlowReport) -> bool {
    flow.blind.has(NotSeen::OneWay) && flow.retransmissions.total > 0
}

/// Flows that say of a host that the capture was made beside it, and elsewhere; and how soon it answered in the first ones, nanoseconds.
#[derive(Clone, Copy)]
struct Votes {
    beside: u64,
    elsewhere: u64,
    answered_ns: i64,
}

impl Votes {
    /// All of them say so, or half of them, and an answer came so soon that there is no doubt.
    fn are_sure(&self) -> bool {
        let at_once = self.answered_ns <= MAX_AT_ONCE_NS && self.beside >= self.elsewhere;
        self.beside >= MIN_BESIDE && (self.elsewhere == 0 || at_once)
    }
}

/// The hosts beside which the capture was made, as their connections show that have packets of both hosts and no other doubt.
fn beside(flows: &[FlowReport]) -> BTreeSet<Host> {
    let none = Votes {
        beside: 0,
        elsewhere: 0,
        answered_ns: i64::MAX,
    };
    let mut votes: BTreeMap<Host, Votes> = BTreeMap::new();
    for flow in flows {
        let at = &flow.vantage;
        if flow.blind.any() || !is_timed(at.basis) {
            continue;
        }
        for (host, place, answered_ns) in [
            (sender(&flow.flow), Vantage::Sender, at.to_sender_ns),
            (receiver(&flow.flow), Vantage::Receiver, at.to_receiver_ns),
        ] {
            let votes = votes.entry(host).or_insert(none);
            if at.vantage == place {
                votes.beside += 1;
                votes.answered_ns = votes.answered_ns.min(answered_ns.unwrap_or(i64::MAX));
            } else {
                votes.elsewhere += 1;
            }
        }
    }
    let sure = votes.iter().filter(|(_, votes)| votes.are_sure());
    sure.map(|(host, _)| *host).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Blind, VantageChoice};
    use inorder_wire::Endpoint;
    use std::net::SocketAddr;

    /// The first byte of data from one of many servers to a host.
    fn flow(nth: u8, vantage: Vantage, blind: Blind) -> FlowReport {
        let end = |last, port| SocketAddr::from(([192, 0, 2, last], port));
        let choice = VantageChoice {
            vantage,
            basis: VantageBasis::Handshake,
            to_receiver_ns: Some(30_000),
            to_sender_ns: Some(20_000_000),
        };
        let id = FlowId {
            src: end(nth, 443),
            dst: end(1, 50_000 + u16::from(nth)),
            overlay: 0,
            reuse: 0,
        };
        let mut flow = FlowReport::new(id, choice);
        flow.blind = blind;
        flow.retransmissions.total = 1;
        flow
    }

    #[test]
    fn a_host_beside_which_the_capture_was_made_did_not_answer_where_it_is_not_heard() {
        let unheard = Blind::default().with(NotSeen::OneWay);
        let learns = |places: [Vantage; 4]| {
            let heard = (10..)
                .zip(places)
                .map(|(nth, at)| flow(nth, at, Blind::default()));
            let flows: Vec<_> = heard
                .chain([flow(20, Vantage::Receiver, unheard)])
                .collect();
            let hosts = Hosts::of(&flows);
            let (server, host) = (
                Endpoint::v4(0xc000_0214, 443),
                Endpoint::v4(0xc000_0201, 50_020),
            );
            let (key, dir) = FlowKey::new(server, host, 0);
            let known = hosts.is_beside_receiver(&key, dir);
            assert!(!hosts.is_beside_receiver(&key, dir.reverse()));
            (hosts.teach(&flows), known)
        };
        assert_eq!(learns([Vantage::Receiver; 4]), (true, true));
        let mut doubtful = [Vantage::Receiver; 4];
        doubtful[2] = Vantage::Middle;
        assert_eq!(learns(doubtful), (false, false));
    }

    /// Beside a sender that answers within this time in four connections, and seems to be farther away in some others: is the capture read once more?
    fn reads_again(answered_ns: i64, others: u8) -> bool {
        let mut flows: Vec<_> = (0..4 + others)
            .map(|nth| {
                let place = if nth < 4 {
                    Vantage::Sender
                } else {
                    Vantage::Middle
                };
                let mut flow = flow(nth, place, Blind::default());
                flow.flow.src = SocketAddr::from(([192, 0, 2, 200], 443));
                flow.vantage.to_sender_ns = Some(answered_ns);
                flow
            })
            .collect();
        flows
            .iter_mut()
            .for_each(|flow| flow.retransmissions.total = 0);
        Hosts::of(&flows).teach(&flows)
    }

    #[test]
    fn what_waits_in_the_queue_of_its_host_was_captured_beside_it_all_the_same() {
        assert!(reads_again(20_000, 3));
        assert!(!reads_again(20_000, 5), "most say otherwise");
        assert!(!reads_again(900_000, 3), "that may be a network");
        assert!(!reads_again(20_000, 0), "there is nothing to learn");
    }

    #[test]
    fn the_times_of_one_connection_are_those_of_all() {
        let batches = Blind::default().with(NotSeen::Times);
        let flows = [batches, batches, Blind::default()].map(|b| flow(9, Vantage::Middle, b));
        let teaches = |flows: &[FlowReport]| Hosts::of(flows).teach(flows);
        assert!(teaches(&flows));
        assert!(!teaches(&flows[..2]), "there is no other");
        assert!(!teaches(&flows[1..]), "one direction");
    }
}
