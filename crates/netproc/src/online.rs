//! A processor that packets enter one by one, at times from outside: a device on the path of other traffic.

use inorder_petri::coloured::{Engine, Observer, PlaceId, Queue};

use crate::chain::Single;
use crate::config::{Config, TICKS_PER_CYCLE};
use crate::error::NetprocError;
use crate::job::Job;

/// A running processor without a source of its own.
pub struct Online {
    engine: Engine<Job>,
    line: Queue,
    exits: Exits,
    /// Number of packets put into each lane.
    turns: Vec<u32>,
    ticks_per_ns: f64,
}

/// The packets that have left, with their times.
struct Exits {
    out: PlaceId,
    left: Vec<(u64, u32)>,
}

impl Observer<Job> for Exits {
    fn deposited(&mut self, now: u64, place: PlaceId, job: &Job) {
        if place == self.out {
            self.left.push((now, job.flow));
        }
    }
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
        config.validate()?;
        let single = Single::new(config, 1)?;
        Ok(Self {
            exits: Exits {
                out: PlaceId::from(single.out),
                left: Vec::new(),
            },
            line: single.line,
            engine: Engine::new(single.model, config.seed)?,
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
        let job = Job {
            flow: number,
            turn: *turn,
            lane: lane as u16,
            bytes,
            ..Job::default()
        };
        *turn = turn.wrapping_add(1);
        self.engine.put(self.line, job)?;
        // What it enables starts now, so that `next_ns` knows when it ends.
        self.run_until(time_ns)
    }

    /// Lets everything happen until `time_ns`, inclusive.
    pub fn run_until(&mut self, time_ns: i64) -> Result<(), NetprocError> {
        let end = self.ticks(time_ns);
        if end >= self.engine.now() {
            self.engine.run_until(end, &mut self.exits)?;
        }
        Ok(())
    }

    /// Takes the packets that have left, in the order in which they left.
    pub fn exits(&mut self) -> impl Iterator<Item = Exit> + '_ {
        let ticks_per_ns = self.ticks_per_ns;
        self.exits.left.drain(..).map(move |(at, number)| Exit {
            time_ns: (at as f64 / ticks_per_ns) as i64,
            number,
        })
    }

    /// When something happens next, nanoseconds rounded up; `None` if nothing does before another packet arrives.
    pub fn next_ns(&mut self) -> Option<i64> {
        let at = self.engine.next_time()?;
        Some((at as f64 / self.ticks_per_ns).ceil() as i64)
    }

    /// Packets that wait on the line for room in the receive buffer.
    pub fn waiting(&self) -> u32 {
        self.engine.len(self.line)
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
