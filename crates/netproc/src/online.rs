//! A processor that packets enter one by one, at times from outside: a device on the path of other traffic.

use inorder_nets::{Live, Port};

use crate::config::{Config, TICKS_PER_CYCLE};
use crate::error::NetprocError;
use crate::model::processor;

/// Where packets arrive; the number is returned with the exit.
const LINE: Port<'_> = Port {
    place: "line1",
    fields: &["flow", "turn", "lane", "bytes"],
};

const OUT: Port<'_> = Port {
    place: "out",
    fields: &["flow"],
};

/// A running processor without a source of its own.
pub struct Online {
    net: Live,
    /// The packets that have left, with their times in ticks.
    left: Vec<(u64, u32)>,
    /// Number of packets put into each lane.
    turns: Vec<u32>,
    ticks_per_ns: f64,
}

/// A packet that left the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// When, nanoseconds.
    pub time_ns: i64,
    /// The number with which it was put in.
    pub number: u32,
}

impl Online {
    /// An idle processor. Of the configuration's traffic, lengths (the longest decides about the slots of the transmit buffer) and
    /// the number of lanes are used; the number of processors and of packets is not.
    pub fn new(config: &Config) -> Result<Self, NetprocError> {
        let one = Config {
            hops: 1,
            ..config.clone()
        };
        let study = processor(&one, false)?;
        Ok(Self {
            net: study.live(config.seed, &[LINE], &[OUT])?,
            left: Vec::new(),
            turns: vec![0; config.traffic.flows as usize],
            ticks_per_ns: config.calibration.clock_mhz * TICKS_PER_CYCLE / 1000.0,
        })
    }

    /// A packet of `bytes` arrives on the line at `time_ns`, which may not be before an earlier call. Packets of a lane are one flow
    /// for schemes that order flows; `number` is returned with its exit.
    pub fn put(
        &mut self,
        time_ns: i64,
        lane: u32,
        bytes: u16,
        number: u32,
    ) -> Result<(), NetprocError> {
        self.run_until(time_ns)?;
        let lanes = self.turns.len().max(1);
        let lane = lane as usize % lanes;
        let Some(turn) = self.turns.get_mut(lane) else {
            return Ok(());
        };
        let packet = [number.into(), (*turn).into(), lane as i64, bytes.into()];
        *turn = turn.wrapping_add(1);
        self.net.put(0, &packet)?;
        // What it enables starts now, so that `next_ns` knows when it ends.
        self.run_until(time_ns)
    }

    /// Lets everything happen until `time_ns`, inclusive.
    pub fn run_until(&mut self, time_ns: i64) -> Result<(), NetprocError> {
        let end = self.ticks(time_ns);
        if end >= self.net.now() {
            let left = &mut self.left;
            self.net.run_until(end, &mut |now, _, fields| {
                let number = fields
                    .first()
                    .and_then(|&number| u32::try_from(number).ok());
                left.extend(number.map(|number| (now, number)));
                true
            })?;
        }
        Ok(())
    }

    /// Takes the packets that have left, in the order in which they left.
    pub fn exits(&mut self) -> impl Iterator<Item = Exit> + '_ {
        let ticks_per_ns = self.ticks_per_ns;
        self.left.drain(..).map(move |(at, number)| Exit {
            time_ns: (at as f64 / ticks_per_ns) as i64,
            number,
        })
    }

    /// When something happens next, nanoseconds rounded up; `None` if nothing does before another packet arrives.
    pub fn next_ns(&mut self) -> Option<i64> {
        let at = self.net.next_time()?;
        Some((at as f64 / self.ticks_per_ns).ceil() as i64)
    }

    /// Packets that wait on the line for room in the receive buffer.
    pub fn waiting(&self) -> u32 {
        self.net.waiting(0)
    }

    fn ticks(&self, time_ns: i64) -> u64 {
        (time_ns.max(0) as f64 * self.ticks_per_ns) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Dequeue, Length, Traffic};

    fn config(scheme: &str) -> Config {
        Config {
            scheme: scheme.to_owned(),
            traffic: Traffic {
                lengths: vec![Length {
                    bytes: 512,
                    share: 1.0,
                }],
                flows: 4,
                ..Traffic::default()
            },
            ..Config::default()
        }
    }

    /// Departures of 4000 packets that arrive every 1.4 us, close to what the processor can carry.
    fn departures(config: &Config) -> Vec<Exit> {
        let mut online = Online::new(config).expect("builds");
        for number in 0..4000u32 {
            let at = i64::from(number) * 1400;
            online.put(at, number % 4, 512, number).expect("runs");
        }
        online.run_until(10_000_000).expect("runs");
        online.exits().collect()
    }

    #[test]
    fn every_packet_leaves_once_and_threads_reorder() {
        let completion = Config {
            dequeue: Some(Dequeue::Completion),
            ..config("contiguous")
        };
        let exits = departures(&completion);
        let mut numbers: Vec<u32> = exits.iter().map(|exit| exit.number).collect();
        assert!(
            exits
                .windows(2)
                .all(|pair| pair[0].time_ns <= pair[1].time_ns)
        );
        let falls = numbers.windows(2).filter(|pair| pair[1] < pair[0]).count();
        assert!(falls > 40, "{falls}");
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..4000));
    }

    #[test]
    fn a_sorting_scheme_keeps_the_order_of_each_lane() {
        for scheme in ["packet-sort", "its"] {
            let exits = departures(&config(scheme));
            assert!(exits.len() > 3900, "{scheme}: {}", exits.len());
            for lane in 0..4 {
                let of_lane = exits
                    .iter()
                    .map(|exit| exit.number)
                    .filter(|n| n % 4 == lane);
                assert!(of_lane.is_sorted(), "{scheme}");
            }
        }
    }

    #[test]
    fn nothing_happens_without_packets() {
        let mut online = Online::new(&config("contiguous")).expect("builds");
        online.run_until(1_000_000).expect("runs");
        assert_eq!((online.next_ns(), online.exits().count()), (None, 0));
        online.put(1_000_000, 9, 512, 7).expect("runs");
        assert!(online.next_ns() > Some(1_000_000));
    }
}
