//! Distinguishes RTP and other services from foreign traffic where that needs more than one packet.

use crate::numbered::{Numbered, StreamKey};
use crate::{FlowKey, Other};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Number of packets with nearly consecutive numbers that confirm a stream. A random packet follows another one this
/// closely with probability 1/2000, three in a row with probability 10^-10.
const PROOF: usize = 4;

/// Maximum distance of a number from the highest one before it, in either direction (RFC 3550 A.1 allows 100
/// backwards for a stream that is already confirmed).
const NEAR: u64 = 16;

/// Maximum number of confirmed streams that are remembered.
const MAX_PROVED: usize = 1 << 17;

/// Maximum number of unconfirmed streams that are remembered in each of two generations.
const CANDIDATES: usize = 8192;

/// A filter for numbered packets: passes most services at once, and those that one packet does not prove (RTP, L2TPv3,
/// STAMP) as soon as a stream is confirmed.
///
/// [`crate::parse`] sees one packet at a time and therefore returns everything that may be RTP as RTP. This filter
/// holds the first packets of a stream until four of them have nearly consecutive numbers and the same addresses,
/// ports and identifier. Then it passes all of them in the order of arrival.
///
/// Memory for unconfirmed streams is bounded: those without packets for the longest time are dropped.
#[derive(Default, Debug)]
pub struct Gate {
    proved: HashSet<StreamKey>,
    recent: HashMap<StreamKey, Candidate>,
    older: HashMap<StreamKey, Candidate>,
    unproved: BTreeMap<Other, u64>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    held: [Numbered; PROOF - 1],
    len: usize,
    highest: u64,
}

/// By how much `to` follows `from`; both wrap at `bits`.
fn ahead(from: u64, to: u64, bits: u32) -> u64 {
    to.wrapping_sub(from) << (64 - bits) >> (64 - bits)
}

impl Candidate {
    fn new(first: Numbered) -> Self {
        Candidate {
            held: [first; PROOF - 1],
            len: 1,
            highest: first.seq,
        }
    }

    fn held(&self) -> &[Numbered] {
        self.held.get(..self.len).unwrap_or_default()
    }

    /// True if `seq` of `bits` width continues the stream: it is near the highest number and new.
    fn continues(&self, seq: u64, bits: u32) -> bool {
        let near = ahead(self.highest, seq, bits).min(ahead(seq, self.highest, bits)) <= NEAR;
        near && !self.repeats(seq)
    }

    fn repeats(&self, seq: u64) -> bool {
        self.held().iter().any(|n| n.seq == seq)
    }

    fn push(&mut self, packet: Numbered, bits: u32) {
        if let Some(slot) = self.held.get_mut(self.len) {
            *slot = packet;
            self.len += 1;
        }
        if ahead(self.highest, packet.seq, bits) <= NEAR {
            self.highest = packet.seq;
        }
    }
}

impl Gate {
    /// A filter without any streams.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one packet and passes to `emit` either nothing, this packet, or the held packets followed by this one.
    pub fn push(
        &mut self,
        key: StreamKey,
        packet: Numbered,
        mut emit: impl FnMut(StreamKey, Numbered),
    ) {
        if !key.service.needs_proof() || self.proved.contains(&key) {
            return emit(key, packet);
        }
        let without_proof = self.unproved.entry(otherwise(&key)).or_default();
        *without_proof += 1;
        let (seq, bits) = (packet.seq, key.service.bits());
        let known = self.recent.remove(&key).or_else(|| self.older.remove(&key));
        let candidate = match known {
            None => Candidate::new(packet),
            // A duplicate neither confirms nor refutes a stream; it is not held either.
            Some(candidate) if candidate.repeats(seq) => candidate,
            Some(candidate) if !candidate.continues(seq, bits) => Candidate::new(packet),
            Some(candidate) if candidate.len + 1 == PROOF => {
                *without_proof -= PROOF as u64;
                candidate.held().iter().for_each(|&held| emit(key, held));
                emit(key, packet);
                if self.proved.len() >= MAX_PROVED {
                    // All streams must be confirmed again: a few packets of each are held again.
                    self.proved.clear();
                }
                self.proved.insert(key);
                return;
            }
            Some(mut candidate) => {
                candidate.push(packet, bits);
                candidate
            }
        };
        self.remember(key, candidate);
    }

    /// Number of streams confirmed so far.
    pub fn streams(&self) -> usize {
        self.proved.len()
    }

    /// Packets that were not passed, because nothing confirmed their streams so far, by what they are otherwise.
    pub fn unproved(&self) -> &BTreeMap<Other, u64> {
        &self.unproved
    }

    /// The streams that wait for proof; at most some thousands, those that had packets last.
    pub fn waiting(&self) -> impl Iterator<Item = &StreamKey> {
        self.recent.keys().chain(self.older.keys())
    }

    fn remember(&mut self, key: StreamKey, candidate: Candidate) {
        if self.recent.len() >= CANDIDATES {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(key, candidate);
    }
}

/// What a packet is if it does not belong to the service: of UDP, whose ports its key has, or of IP.
fn otherwise(key: &StreamKey) -> Other {
    match key.service.is_over_udp() && key.dst.port != 0 {
        true => Other::Udp(FlowKey::default()),
        false => Other::Protocol(L2TP),
    }
}

/// Protocol number of L2TPv3, the only service right above IP that needs proof.
const L2TP: u8 = 115;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Endpoint, Service};

    fn key(service: Service, id: u32) -> StreamKey {
        StreamKey {
            service,
            src: Endpoint::v4(1, 5004),
            dst: Endpoint::v4(2, 5006),
            id,
            overlay: 0,
        }
    }

    fn pass(gate: &mut Gate, key: StreamKey, seq: u64) -> Vec<u64> {
        let packet = Numbered {
            ts_ns: 0,
            frame: 0,
            seq,
            payload_len: 160,
            ..Numbered::default()
        };
        let mut out = Vec::new();
        gate.push(key, packet, |_, n| out.push(n.seq));
        out
    }

    fn trace(seqs: &[u64]) -> Vec<Vec<u64>> {
        let mut gate = Gate::new();
        seqs.iter()
            .map(|&seq| pass(&mut gate, key(Service::Rtp, 7), seq))
            .collect()
    }

    #[test]
    fn four_nearly_consecutive_packets_confirm_a_stream() {
        let out = trace(&[65534, 65535, 1, 0, 9000]);
        let none = Vec::<u64>::new;
        assert_eq!(
            out,
            [none(), none(), none(), vec![65534, 65535, 1, 0], vec![9000]]
        );
    }

    #[test]
    fn packets_without_proof_are_counted() {
        let mut gate = Gate::new();
        let mut without = |seqs: &[u64]| {
            for &seq in seqs {
                pass(&mut gate, key(Service::Rtp, 7), seq);
            }
            gate.unproved().values().sum::<u64>()
        };
        assert_eq!(without(&[1, 500, 501]), 3);
        // Two of them and these confirm the stream; the first does not belong to it.
        assert_eq!(without(&[502, 503, 504]), 1);
        assert_eq!(gate.waiting().count(), 0);
    }

    #[test]
    fn jumps_and_repeats_do_not_confirm_a_stream() {
        assert!(trace(&[1, 2, 3, 500, 501, 502, 40]).concat().is_empty());
        assert!(trace(&[5; 50]).concat().is_empty());
    }

    #[test]
    fn duplicates_do_not_prevent_confirmation() {
        assert_eq!(trace(&[1, 1, 2, 2, 3, 4]).concat(), [1, 2, 3, 4]);
    }

    #[test]
    fn other_services_pass_without_delay() {
        let mut gate = Gate::new();
        assert_eq!(pass(&mut gate, key(Service::Esp, 1), 9), [9]);
        assert_eq!(gate.streams(), 0);
    }

    #[test]
    fn random_packets_do_not_grow_the_tables() {
        let mut gate = Gate::new();
        for id in 0..100_000 {
            assert!(pass(&mut gate, key(Service::Rtp, id), u64::from(id as u16)).is_empty());
        }
        assert!(gate.recent.len() + gate.older.len() <= 2 * CANDIDATES);
    }
}
