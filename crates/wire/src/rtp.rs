//! Telling RTP from other UDP traffic, which takes more than one packet.

use crate::numbered::{Numbered, Service, StreamKey};
use std::collections::{HashMap, HashSet};

/// Packets in near-consecutive order that prove a stream. One random packet follows another
/// this closely once in 2000 times, three times in a row once in 10^10.
const PROOF: usize = 4;

/// How far a number may lie from the highest before it, either way (RFC 3550 A.1 allows 100
/// backwards to a stream that is already proved).
const NEAR: u16 = 16;

/// Proved streams remembered at once.
const MAX_PROVED: usize = 1 << 17;

/// Unproved streams remembered in each of two generations.
const CANDIDATES: usize = 8192;

/// A filter for numbered packets: lets all through but RTP, and RTP once its stream is proved.
///
/// [`crate::parse`] sees one packet at a time and so calls RTP whatever may be RTP. This holds
/// the first packets of a stream back until four of them have near-consecutive numbers and
/// the same addresses, ports and SSRC, then hands them all on in the order they came.
///
/// Unproved streams take bounded memory: those quiet for longest are forgotten.
#[derive(Default, Debug)]
pub struct RtpGate {
    proved: HashSet<StreamKey>,
    recent: HashMap<StreamKey, Candidate>,
    older: HashMap<StreamKey, Candidate>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    held: [Numbered; PROOF - 1],
    len: usize,
    highest: u16,
}

impl Candidate {
    fn new(first: Numbered) -> Self {
        Candidate {
            held: [first; PROOF - 1],
            len: 1,
            highest: first.seq as u16,
        }
    }

    fn held(&self) -> &[Numbered] {
        self.held.get(..self.len).unwrap_or_default()
    }

    /// True when `seq` continues the stream: near its highest number and not yet seen.
    fn continues(&self, seq: u16) -> bool {
        let ahead = seq.wrapping_sub(self.highest);
        let near = ahead <= NEAR || ahead >= NEAR.wrapping_neg();
        near && self.held().iter().all(|n| n.seq != u64::from(seq))
    }

    fn repeats(&self, seq: u16) -> bool {
        self.held().iter().any(|n| n.seq == u64::from(seq))
    }

    fn push(&mut self, packet: Numbered) {
        let seq = packet.seq as u16;
        if let Some(slot) = self.held.get_mut(self.len) {
            *slot = packet;
            self.len += 1;
        }
        if seq.wrapping_sub(self.highest) <= NEAR {
            self.highest = seq;
        }
    }
}

impl RtpGate {
    /// A gate that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one packet and hands on through `emit` what is certain: nothing, this packet, or
    /// this packet after those held back.
    pub fn push(
        &mut self,
        key: StreamKey,
        packet: Numbered,
        mut emit: impl FnMut(StreamKey, Numbered),
    ) {
        if key.service != Service::Rtp || self.proved.contains(&key) {
            return emit(key, packet);
        }
        let seq = packet.seq as u16;
        let known = self.recent.remove(&key).or_else(|| self.older.remove(&key));
        let candidate = match known {
            None => Candidate::new(packet),
            // A duplicate neither proves nor disproves; it is not held either.
            Some(candidate) if candidate.repeats(seq) => candidate,
            Some(candidate) if !candidate.continues(seq) => Candidate::new(packet),
            Some(candidate) if candidate.len + 1 == PROOF => {
                candidate.held().iter().for_each(|&held| emit(key, held));
                emit(key, packet);
                if self.proved.len() >= MAX_PROVED {
                    // All have to prove themselves again: a few packets of each are held back.
                    self.proved.clear();
                }
                self.proved.insert(key);
                return;
            }
            Some(mut candidate) => {
                candidate.push(packet);
                candidate
            }
        };
        self.remember(key, candidate);
    }

    /// Streams proved so far.
    pub fn streams(&self) -> usize {
        self.proved.len()
    }

    fn remember(&mut self, key: StreamKey, candidate: Candidate) {
        if self.recent.len() >= CANDIDATES {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(key, candidate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endpoint;

    fn key(service: Service, id: u32) -> StreamKey {
        StreamKey {
            service,
            src: Endpoint::v4(1, 5004),
            dst: Endpoint::v4(2, 5006),
            id,
            overlay: 0,
        }
    }

    fn pass(gate: &mut RtpGate, key: StreamKey, seq: u64) -> Vec<u64> {
        let packet = Numbered {
            ts_ns: 0,
            frame: 0,
            seq,
            payload_len: 160,
        };
        let mut out = Vec::new();
        gate.push(key, packet, |_, n| out.push(n.seq));
        out
    }

    fn trace(seqs: &[u64]) -> Vec<Vec<u64>> {
        let mut gate = RtpGate::new();
        seqs.iter()
            .map(|&seq| pass(&mut gate, key(Service::Rtp, 7), seq))
            .collect()
    }

    #[test]
    fn four_near_consecutive_packets_prove_a_stream() {
        let out = trace(&[65534, 65535, 1, 0, 9000]);
        let none = Vec::<u64>::new;
        assert_eq!(
            out,
            [none(), none(), none(), vec![65534, 65535, 1, 0], vec![9000]]
        );
    }

    #[test]
    fn jumps_and_repeats_prove_nothing() {
        assert!(trace(&[1, 2, 3, 500, 501, 502, 40]).concat().is_empty());
        assert!(trace(&[5; 50]).concat().is_empty());
    }

    #[test]
    fn duplicates_do_not_stop_a_proof() {
        assert_eq!(trace(&[1, 1, 2, 2, 3, 4]).concat(), [1, 2, 3, 4]);
    }

    #[test]
    fn other_services_pass_at_once() {
        let mut gate = RtpGate::new();
        assert_eq!(pass(&mut gate, key(Service::Esp, 1), 9), [9]);
        assert_eq!(gate.streams(), 0);
    }

    #[test]
    fn noise_does_not_grow_the_gate() {
        let mut gate = RtpGate::new();
        for id in 0..100_000 {
            assert!(pass(&mut gate, key(Service::Rtp, id), u64::from(id as u16)).is_empty());
        }
        assert!(gate.recent.len() + gate.older.len() <= 2 * CANDIDATES);
    }
}
