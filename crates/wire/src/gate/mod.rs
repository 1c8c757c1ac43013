//! Distinguishes RTP and other services from foreign traffic where that needs more than one packet.

mod candidate;

use crate::numbered::{Numbered, StreamKey};
use crate::{FlowKey, Other};
use candidate::{Candidate, Evidence};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Maximum number of confirmed streams that are remembered.
const MAX_PROVED: usize = 1 << 17;

/// Maximum number of unconfirmed streams that are remembered in each of two generations.
const CANDIDATES: usize = 8192;

/// A filter for numbered packets: passes most services at once, and those that one packet does not prove (RTP, L2TPv3,
/// STAMP) as soon as a stream is confirmed.
///
/// [`crate::parse`] sees one packet at a time and therefore returns everything that may be RTP as RTP. This filter
/// holds the first packets of a stream until four of them have nearly consecutive numbers and the same addresses,
/// ports and identifier. Of RTP it needs five, whose timestamps run with time: the length of a message, a counter or a
/// random number in the place of RTP's number are none. Then it passes all of them, copies included, in the order of
/// arrival.
///
/// Memory for unconfirmed streams is bounded: those without packets for the longest time are dropped.
#[derive(Default, Debug)]
pub struct Gate {
    proved: HashSet<StreamKey>,
    recent: HashMap<StreamKey, Candidate>,
    older: HashMap<StreamKey, Candidate>,
    unproved: BTreeMap<Other, u64>,
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
        let known = self.recent.remove(&key).or_else(|| self.older.remove(&key));
        let candidate = match known {
            None => Candidate::new(packet),
            Some(mut candidate) => match candidate.push(packet, key.service) {
                Evidence::More => candidate,
                Evidence::Against => Candidate::new(packet),
                Evidence::Proof => {
                    for &held in candidate.held() {
                        *without_proof -= 1;
                        emit(key, held);
                    }
                    if self.proved.len() >= MAX_PROVED {
                        // All streams must be confirmed again: a few packets of each are held again.
                        self.proved.clear();
                    }
                    self.proved.insert(key);
                    return;
                }
            },
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

    /// What passes after each packet.
    fn trace(service: Service, packets: impl IntoIterator<Item = Numbered>) -> Vec<Vec<u64>> {
        let mut gate = Gate::new();
        let mut pass = |packet| {
            let mut out = Vec::new();
            gate.push(key(service, 7), packet, |_, n| out.push(n.seq));
            out
        };
        packets.into_iter().map(&mut pass).collect()
    }

    fn numbers(seqs: &[u64]) -> Vec<Vec<u64>> {
        let packet = |&seq| Numbered {
            seq,
            ..Numbered::default()
        };
        trace(Service::L2tpV3, seqs.iter().map(packet))
    }

    /// Numbers with milliseconds and ticks.
    fn clocked(packets: &[(i64, u64, u32)]) -> Vec<Vec<u64>> {
        let packet = |&(ms, seq, stamp)| Numbered {
            ts_ns: ms * 1_000_000,
            seq,
            stamp,
            ..Numbered::default()
        };
        trace(Service::Rtp, packets.iter().map(packet))
    }

    const NONE: Vec<u64> = Vec::new();

    #[test]
    fn four_nearly_consecutive_packets_confirm_a_stream() {
        let out = numbers(&[0xff_fffe, 0xff_ffff, 1, 0, 9000]);
        let all = vec![0xff_fffe, 0xff_ffff, 1, 0];
        assert_eq!(out, [NONE, NONE, NONE, all, vec![9000]]);
    }

    #[test]
    fn packets_without_proof_are_counted() {
        let mut gate = Gate::new();
        let mut without = |seqs: &[u64]| {
            for &seq in seqs {
                let packet = Numbered {
                    seq,
                    ..Numbered::default()
                };
                gate.push(key(Service::L2tpV3, 7), packet, |_, _| {});
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
        let jumps = numbers(&[1, 2, 3, 500, 501, 502, 40]);
        assert!(jumps.concat().is_empty());
        assert!(numbers(&[5; 50]).concat().is_empty());
    }

    #[test]
    fn copies_do_not_prevent_confirmation_and_pass() {
        assert_eq!(numbers(&[1, 1, 2, 2, 3, 4]).concat(), [1, 1, 2, 2, 3, 4]);
    }

    #[test]
    fn five_packets_with_a_running_clock_confirm_rtp() {
        let voice = [
            (0, 65_534, 160),
            (20, 65_535, 320),
            (61, 1, 640),
            (62, 0, 480),
            (80, 2, 800),
            (100, 3, 960),
        ];
        let all = vec![65_534, 65_535, 1, 0, 2];
        assert_eq!(clocked(&voice), [NONE, NONE, NONE, NONE, all, vec![3]]);
    }

    #[test]
    fn a_picture_of_many_packets_is_held_until_the_next_one() {
        let packet = |n: u64| (n as i64 / 10 * 33, n, n as u32 / 10 * 3_000);
        let video: Vec<_> = (0..12).map(packet).collect();
        let out = clocked(&video);
        assert_eq!(out[..10].concat(), NONE);
        assert_eq!(out[10], (0..=10).collect::<Vec<_>>());
    }

    #[test]
    fn numbers_without_a_clock_are_no_rtp() {
        let counter = |stamp: fn(u64) -> u32| {
            let packets: Vec<_> = (0..100).map(|n| (20 * n as i64, n, stamp(n))).collect();
            clocked(&packets).concat()
        };
        // A constant, a counter of packets, another one from high to low, random words.
        assert_eq!(counter(|_| 9), NONE);
        assert_eq!(counter(|n| n as u32), NONE);
        assert_eq!(counter(|n| 0u32.wrapping_sub(n as u32 * 160)), NONE);
        assert_eq!(counter(|n| (n as u32 + 1).wrapping_mul(0x9e37_79b1)), NONE);
    }

    #[test]
    fn lengths_are_no_rtp() {
        // Messages of building control, most of them every 20 s.
        let lengths = [30, 30, 30, 30, 30, 29, 29, 26, 28, 29, 29, 29, 469, 25];
        let packets: Vec<_> = (0..)
            .zip(lengths)
            .map(|(n, len)| (n * 20_000, len, n as u32))
            .collect();
        assert_eq!(clocked(&packets).concat(), NONE);
        let ascending: Vec<_> = (25..60).map(|len| (len as i64, len, 0x10c_000c)).collect();
        assert_eq!(clocked(&ascending).concat(), NONE);
    }

    #[test]
    fn other_services_pass_without_delay() {
        let packet = Numbered {
            seq: 9,
            ..Numbered::default()
        };
        assert_eq!(trace(Service::Esp, [packet]), [vec![9]]);
    }

    #[test]
    fn random_packets_do_not_grow_the_tables() {
        let mut gate = Gate::new();
        for id in 0..100_000 {
            let packet = Numbered {
                seq: u64::from(id as u16),
                ..Numbered::default()
            };
            gate.push(key(Service::Rtp, id), packet, |_, _| {
                panic!("one packet is no stream")
            });
        }
        assert!(gate.recent.len() + gate.older.len() <= 2 * CANDIDATES);
        assert_eq!(gate.streams(), 0);
    }
}
