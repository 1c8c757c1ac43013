//! What a run of the mobile paper's experiments keeps of a flow.

use inorder_sim::{EventKind, RunResult, Sample};
use inorder_tcp::CaState;

/// States and retransmissions of a flow over time, seconds.
#[derive(Debug, Clone)]
pub(super) struct Watched {
    /// State every 10 ms.
    samples: Vec<Sample>,
    /// Every change of the duplicate-ACK threshold: time and segments.
    thresholds: Vec<(f64, u32)>,
    /// First retransmissions in fast recovery.
    again: Vec<Again>,
    /// Retransmissions that the receiver did not need.
    pub(super) spurious: u64,
    /// Payload, Mbit/s.
    pub(super) throughput: f64,
}

/// A segment sent for the second time.
#[derive(Debug, Clone, Copy)]
struct Again {
    at_s: f64,
    /// Since its first transmission, less the round-trip time, ns.
    extra_ns: f64,
    rtt_ns: f64,
}

fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

impl Watched {
    /// Flow `number` of a run with events and samples.
    pub(super) fn new(run: &RunResult, number: usize) -> Self {
        let samples = run.samples.iter();
        let mut watched = Watched {
            samples: samples
                .filter(|s| s.flow as usize == number)
                .copied()
                .collect(),
            thresholds: Vec::new(),
            again: Vec::new(),
            spurious: 0,
            throughput: 0.0,
        };
        if let Some(flow) = run.flows.get(number) {
            watched.spurious = flow.counts.spurious;
            watched.throughput = flow.throughput_bits_per_s() / 1e6;
            watched.read(&flow.events);
        }
        watched
    }

    fn read(&mut self, events: &[inorder_sim::SenderEvent]) {
        let mut rtt_ns = 0.0;
        for event in events {
            match &event.kind {
                EventKind::Window(now) => {
                    rtt_ns = now.srtt as f64;
                    let last = self.thresholds.last().map(|(_, threshold)| *threshold);
                    if last != Some(now.dupthresh) {
                        self.thresholds
                            .push((seconds(event.time_ns), now.dupthresh));
                    }
                }
                EventKind::Retransmission(segment)
                    if segment.transmissions == 2
                        && segment.state == CaState::Recovery
                        && rtt_ns > 0.0 =>
                {
                    self.again.push(Again {
                        at_s: seconds(event.time_ns),
                        extra_ns: segment.delay as f64 - rtt_ns,
                        rtt_ns,
                    });
                }
                _ => {}
            }
        }
    }

    fn between(&self, from_s: f64, to_s: f64) -> impl Iterator<Item = &Sample> {
        let inside = move |s: &&Sample| (from_s..to_s).contains(&seconds(s.time_ns));
        self.samples.iter().filter(inside)
    }

    /// Greatest duplicate-ACK threshold in force between two times; `None` before the connection.
    pub(super) fn greatest_threshold(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let changes = self.thresholds.iter();
        let before = changes.clone().rev().find(|(at, _)| *at < from_s);
        let inside = changes.filter(|(at, _)| (from_s..to_s).contains(at));
        let all = before.into_iter().chain(inside).map(|(_, t)| f64::from(*t));
        all.reduce(f64::max)
    }

    /// Mean threshold while something is missing but not taken for lost, of the samples between two times.
    pub(super) fn threshold_in_disorder(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let disorder = |s: &&Sample| s.state == CaState::Disorder;
        mean(
            self.between(from_s, to_s)
                .filter(disorder)
                .map(|s| f64::from(s.dupthresh)),
        )
    }

    /// Mean window, segments.
    pub(super) fn mean_window(&self, from_s: f64, to_s: f64) -> Option<f64> {
        mean(self.between(from_s, to_s).map(|s| f64::from(s.cwnd)))
    }

    /// Greatest window, segments.
    pub(super) fn greatest_window(&self, from_s: f64, to_s: f64) -> Option<f64> {
        self.between(from_s, to_s)
            .map(|s| f64::from(s.cwnd))
            .reduce(f64::max)
    }

    /// Segments sent again between two times.
    pub(super) fn retransmissions(&self, from_s: f64, to_s: f64) -> f64 {
        self.again
            .iter()
            .filter(|a| (from_s..to_s).contains(&a.at_s))
            .count() as f64
    }

    fn delays(&self, from_s: f64, to_s: f64) -> impl Iterator<Item = &Again> {
        let inside = move |a: &&Again| (from_s..to_s).contains(&a.at_s);
        self.again.iter().filter(inside)
    }

    /// Mean additional delay of retransmissions, ms.
    pub(super) fn extra_delay_ms(&self, from_s: f64, to_s: f64) -> Option<f64> {
        mean(self.delays(from_s, to_s).map(|a| a.extra_ns / 1e6))
    }

    /// Additional delays in round-trip times of their moment.
    pub(super) fn extra_delays_rtt(&self, from_s: f64, to_s: f64) -> impl Iterator<Item = f64> {
        self.delays(from_s, to_s).map(|a| a.extra_ns / a.rtt_ns)
    }

    /// Mean smoothed round-trip time, ms.
    pub(super) fn rtt_ms(&self, from_s: f64, to_s: f64) -> Option<f64> {
        mean(self.between(from_s, to_s).map(|s| s.srtt_ns as f64 / 1e6))
    }

    /// Changes of the threshold.
    pub(super) fn threshold_steps(&self) -> usize {
        self.thresholds.len().saturating_sub(1)
    }

    /// Of those, downwards.
    pub(super) fn threshold_falls(&self) -> usize {
        self.thresholds
            .windows(2)
            .filter(|pair| pair[1].1 < pair[0].1)
            .count()
    }
}

/// Mean of some numbers; `None` of none.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u64), |(sum, n), value| (sum + value, n + 1));
    (n > 0).then(|| sum / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_holds_until_the_next() {
        let watched = Watched {
            samples: Vec::new(),
            thresholds: vec![(0.1, 3), (2.0, 40), (5.0, 20)],
            again: vec![
                Again {
                    at_s: 1.0,
                    extra_ns: 20e6,
                    rtt_ns: 40e6,
                },
                Again {
                    at_s: 9.0,
                    extra_ns: 40e6,
                    rtt_ns: 40e6,
                },
            ],
            spurious: 0,
            throughput: 0.0,
        };
        assert_eq!(watched.greatest_threshold(3.0, 4.0), Some(40.0));
        assert_eq!(watched.greatest_threshold(6.0, 9.0), Some(20.0));
        assert_eq!(watched.greatest_threshold(0.0, 0.1), None);
        assert_eq!(
            (watched.threshold_steps(), watched.threshold_falls()),
            (2, 1)
        );
        assert_eq!(
            watched.extra_delays_rtt(0.0, 5.0).collect::<Vec<_>>(),
            [0.5]
        );
        assert_eq!(watched.extra_delay_ms(0.0, 10.0), Some(30.0));
        assert_eq!(watched.extra_delay_ms(2.0, 3.0), None);
    }
}
