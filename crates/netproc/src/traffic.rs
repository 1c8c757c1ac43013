//! The arriving packets: concurrent flows that send several packets in a row (trains).

use inorder_base::random::Random;

use crate::config::Traffic;
use crate::job::Job;

/// Generates packets. Each lane carries one flow after the other; a random lane sends a train of packets, then
/// another lane.
#[derive(Debug, Clone)]
pub struct Source {
    random: Random,
    lanes: Vec<Lane>,
    next_flow: u32,
    flow_packets: u32,
    /// Probability that a train continues.
    goes_on: f64,
    current: usize,
    /// Cumulative shares, rising to 1, with their lengths.
    lengths: Vec<(f64, u16)>,
}

#[derive(Debug, Clone, Copy)]
struct Lane {
    flow: u32,
    seq: u32,
    turn: u32,
}

impl Source {
    /// A source with a stream of random numbers of its own.
    pub fn new(traffic: &Traffic, seed: u64) -> Self {
        let total: f64 = traffic.lengths.iter().map(|l| l.share).sum();
        let mut bound = 0.0;
        let lengths = traffic.lengths.iter().map(|length| {
            bound += length.share / total;
            (bound, length.bytes)
        });
        Self {
            random: Random::new(seed, "arrivals"),
            lanes: (0..traffic.flows)
                .map(|flow| Lane {
                    flow,
                    seq: 0,
                    turn: 0,
                })
                .collect(),
            next_flow: traffic.flows,
            flow_packets: traffic.flow_packets.unwrap_or(u32::MAX),
            goes_on: 1.0 - 1.0 / traffic.train.max(1.0),
            current: 0,
            lengths: lengths.collect(),
        }
    }

    /// The next packet.
    pub fn next_packet(&mut self) -> Job {
        if !self.random.chance(self.goes_on) {
            self.current = self.random.below(self.lanes.len() as u64) as usize;
        }
        let bytes = self.length();
        let lane = &mut self.lanes[self.current];
        let job = Job {
            flow: lane.flow,
            seq: lane.seq,
            turn: lane.turn,
            lane: self.current as u16,
            bytes,
            ..Job::default()
        };
        lane.seq += 1;
        lane.turn = lane.turn.wrapping_add(1);
        if lane.seq == self.flow_packets {
            lane.flow = self.next_flow;
            lane.seq = 0;
            self.next_flow = self.next_flow.wrapping_add(1);
        }
        job
    }

    fn length(&mut self) -> u16 {
        if let [(_, only)] = self.lengths.as_slice() {
            return *only;
        }
        let at = self.random.unit();
        let found = self
            .lengths
            .iter()
            .find(|(bound, _)| at < *bound)
            .or(self.lengths.last());
        found.map_or(64, |&(_, bytes)| bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Length;

    #[test]
    fn flows_are_numbered_one_after_the_other() {
        let traffic = Traffic {
            flows: 1,
            flow_packets: Some(2),
            ..Traffic::default()
        };
        let mut source = Source::new(&traffic, 1);
        let seen: Vec<_> = (0..5)
            .map(|_| source.next_packet())
            .map(|j| (j.flow, j.seq, j.turn))
            .collect();
        assert_eq!(
            seen,
            [(0, 0, 0), (0, 1, 1), (1, 0, 2), (1, 1, 3), (2, 0, 4)]
        );
    }

    #[test]
    fn trains_and_lengths_have_the_configured_means() {
        let lengths = vec![
            Length {
                bytes: 64,
                share: 3.0,
            },
            Length {
                bytes: 512,
                share: 1.0,
            },
        ];
        let traffic = Traffic {
            lengths,
            flows: 1000,
            flow_packets: None,
            train: 1.5,
        };
        let mut source = Source::new(&traffic, 1);
        let packets: Vec<_> = (0..100_000).map(|_| source.next_packet()).collect();
        let trains = packets.chunk_by(|a, b| a.lane == b.lane).count();
        assert!((100_000.0 / trains as f64 - 1.5).abs() < 0.02, "{trains}");
        let long = packets.iter().filter(|p| p.bytes == 512).count();
        assert!((24_000..26_000).contains(&long), "{long}");
    }
}
