//! Where packets spend their time: the mean number of packets at each resource, and the time by Little's law.
//!
//! [`HELD`] lists every place and timed transition that holds packets; all others hold threads, turns and pointers. A
//! packet is always in exactly one of those listed, so the times add up to its total time.

use inorder_nets::Ran;
use serde::Serialize;

use crate::config::TICKS_PER_CYCLE;

/// The resources for which packets wait, or which serve them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// The arriving line.
    Line,
    /// Mpackets of the receive buffer.
    ReceiveBuffer,
    /// Threads.
    Threads,
    /// Micro-engines.
    Engines,
    /// The bus for commands to memories, with the engines' command queues.
    CommandBus,
    /// DRAM.
    Dram,
    /// From the end of the DRAM access to the signal; any number of accesses at the same time.
    DramLatency,
    /// SRAM; any number of accesses at the same time.
    Sram,
    /// Locks, turns, sequencers and sorters of the ordering scheme.
    Ordering,
    /// Slots of the transmit buffer.
    TransmitBuffer,
    /// The transmit pointer and the MAC behind it.
    TransmitPointer,
}

impl Resource {
    /// All, in the order in which a packet uses them.
    pub const ALL: [Self; 11] = [
        Self::Line,
        Self::ReceiveBuffer,
        Self::Threads,
        Self::Engines,
        Self::CommandBus,
        Self::Dram,
        Self::DramLatency,
        Self::Sram,
        Self::Ordering,
        Self::TransmitBuffer,
        Self::TransmitPointer,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::ReceiveBuffer => "receive buffer",
            Self::Threads => "threads",
            Self::Engines => "engines",
            Self::CommandBus => "command bus",
            Self::Dram => "DRAM",
            Self::DramLatency => "DRAM latency",
            Self::Sram => "SRAM",
            Self::Ordering => "ordering",
            Self::TransmitBuffer => "transmit buffer",
            Self::TransmitPointer => "transmit pointer",
        }
    }
}

/// Whether packets wait for the resource or are served by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Waits,
    Served,
}

use Doing::{Served, Waits};

/// Places and transitions that hold packets.
pub(crate) const HELD: &[(&str, Resource, Doing)] = &[
    ("arrive", Resource::Line, Served),
    ("line1", Resource::ReceiveBuffer, Waits),
    ("receive_buffer", Resource::Threads, Waits),
    ("ready", Resource::Engines, Waits),
    ("execute", Resource::Engines, Served),
    ("running", Resource::CommandBus, Waits),
    ("command_queue", Resource::CommandBus, Waits),
    ("sram_again", Resource::CommandBus, Waits),
    ("issue", Resource::CommandBus, Served),
    ("dram_queue", Resource::Dram, Waits),
    ("dram_serve", Resource::Dram, Served),
    ("dram_read", Resource::DramLatency, Waits),
    ("dram_answer", Resource::DramLatency, Served),
    ("copy_read", Resource::DramLatency, Waits),
    ("copy_answer", Resource::DramLatency, Served),
    ("sram_queue", Resource::Sram, Waits),
    ("sram-answer", Resource::Sram, Served),
    ("received", Resource::Ordering, Waits),
    ("stamp", Resource::Ordering, Served),
    ("numbered", Resource::Threads, Waits),
    ("processed", Resource::Ordering, Waits),
    ("turn_queue", Resource::Ordering, Waits),
    ("lock_queue", Resource::Ordering, Waits),
    ("acquire", Resource::Ordering, Served),
    ("claim", Resource::Ordering, Waits),
    ("claim_more", Resource::Ordering, Served),
    ("reorder_buffer", Resource::Ordering, Waits),
    ("release", Resource::Ordering, Served),
    ("released", Resource::Threads, Waits),
    ("unsorted", Resource::Ordering, Waits),
    ("insert", Resource::Ordering, Served),
    ("lists", Resource::Ordering, Waits),
    ("sorted", Resource::TransmitBuffer, Waits),
    ("assigned", Resource::Threads, Waits),
    ("gate", Resource::TransmitBuffer, Waits),
    ("copied", Resource::TransmitBuffer, Waits),
    ("transmit_buffer", Resource::TransmitPointer, Waits),
    ("send", Resource::TransmitPointer, Served),
];

/// Free units of resources, and the counter or queue that holds them.
const FREE: &[(&str, &str)] = &[
    ("mac_free", "MAC"),
    ("receive_free", "receive buffer"),
    ("thread", "threads"),
    ("receive_thread", "receiving threads"),
    ("process_thread", "processing threads"),
    ("transmit_thread", "transmitting threads"),
    ("engine", "engines"),
    ("command_free", "command queues"),
    ("command_bus", "command bus"),
    ("dram", "DRAM"),
    ("sequencer", "sequencer"),
    ("lock", "locks"),
    ("sorter", "sorters"),
    ("slot_free", "transmit buffer"),
    ("transmit_pointer", "transmit pointer"),
];

/// Resources without a limit, and the transitions whose firings in progress are counted.
const OUTSTANDING: &[(&[&str], &str)] = &[
    (&["sram-answer"], "SRAM accesses"),
    (
        &["stamp", "acquire", "claim_more"],
        "scratchpad and lock operations",
    ),
];

/// Utilisation of a resource.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Utilisation {
    /// Processor of the chain, from 1.
    pub hop: u32,
    /// The resource.
    pub resource: &'static str,
    /// Mean units in use.
    pub busy: f64,
    /// Number of units; `None` if there is no limit.
    pub units: Option<f64>,
}

impl Utilisation {
    /// Share of the units in use, 0 to 1; if there is no limit, of one unit.
    pub fn share(&self) -> f64 {
        self.busy / self.units.unwrap_or(1.0)
    }
}

/// Mean time of a packet at a resource.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spent {
    /// Processor of the chain, from 1.
    pub hop: u32,
    /// The resource.
    pub resource: Resource,
    /// Waiting time, cycles per packet.
    pub waiting: f64,
    /// Service time, cycles per packet.
    pub served: f64,
}

/// A processor between the end of the warm-up and the end of the run.
pub(crate) struct Interval<'a> {
    /// Its number in the chain, from 1.
    pub(crate) hop: u32,
    pub(crate) ran: &'a Ran,
}

impl Interval<'_> {
    fn ticks(&self) -> f64 {
        let ticks = self.ran.end.ticks - self.ran.warm.ticks;
        ticks.max(1) as f64
    }

    /// Places and their mean numbers of tokens.
    fn places(&self) -> impl Iterator<Item = (&str, f64)> {
        let (from, to) = (&self.ran.warm.totals.places, &self.ran.end.totals.places);
        let means = from
            .iter()
            .zip(to)
            .map(|(from, to)| to.integral - from.integral);
        let names = self.ran.layout.places.iter().map(String::as_str);
        names.zip(means.map(|sum| sum as f64 / self.ticks()))
    }

    /// Transitions and their mean numbers of firings in progress.
    fn transitions(&self) -> impl Iterator<Item = (&str, f64)> {
        let (from, to) = (&self.ran.warm.totals, &self.ran.end.totals);
        let pairs = from.transitions.iter().zip(&to.transitions);
        let means = pairs.map(|(from, to)| to.busy - from.busy);
        let names = self.ran.layout.transitions.iter();
        let names = names.map(|(name, _)| name.split_once('/').map_or(name.as_str(), |(_, n)| n));
        names.zip(means.map(|sum| sum as f64 / self.ticks()))
    }

    /// Units in use of every resource.
    pub(crate) fn utilisation(&self) -> Vec<Utilisation> {
        let places: Vec<(&str, f64)> = self.places().collect();
        let used = |&(free, resource): &(&str, &'static str)| {
            let index = places.iter().position(|(name, _)| *name == free)?;
            // A transmit pointer is away from its place while a slot is sent; all other units are in place at the
            // start.
            let units = f64::from(*self.ran.initial.get(index)?);
            let (_, mean) = places.get(index)?;
            Some(Utilisation {
                hop: self.hop,
                resource,
                busy: (units - mean).max(0.0),
                units: Some(units),
            })
        };
        let limited = FREE.iter().filter_map(used);
        limited.chain(self.outstanding()).collect()
    }

    fn outstanding(&self) -> impl Iterator<Item = Utilisation> {
        OUTSTANDING.iter().filter_map(|&(names, resource)| {
            let of_it = || self.transitions().filter(|(name, _)| names.contains(name));
            of_it().next()?;
            Some(Utilisation {
                hop: self.hop,
                resource,
                busy: of_it().map(|(_, busy)| busy).sum(),
                units: None,
            })
        })
    }

    /// Little's law: the mean number of packets at a resource divided by the rate at which packets left the processor.
    pub(crate) fn spent(&self) -> Vec<Spent> {
        let packets = self.ran.end.counted - self.ran.warm.counted;
        let cycles = self.ticks() / (TICKS_PER_CYCLE * packets.max(1) as f64);
        let mut all = Resource::ALL.map(|resource| Spent {
            hop: self.hop,
            resource,
            waiting: 0.0,
            served: 0.0,
        });
        // Where packets in the receive buffer wait for a turn or a sequencer, not for any free thread.
        let in_turn = self
            .places()
            .any(|(name, _)| matches!(name, "start" | "sequencer"));
        for (name, mean) in self.places().chain(self.transitions()) {
            let Some(&(_, resource, doing)) = HELD.iter().find(|(held, ..)| *held == name) else {
                continue;
            };
            let resource = match name {
                "receive_buffer" if in_turn => Resource::Ordering,
                _ => resource,
            };
            let spent = &mut all[resource as usize];
            match doing {
                Waits => spent.waiting += mean * cycles,
                Served => spent.served += mean * cycles,
            }
        }
        let all = all.into_iter();
        all.filter(|spent| spent.waiting + spent.served > 0.0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use inorder_nets::{Port, Stop};

    use super::*;
    use crate::model::processor;
    use crate::scheme::SCHEMES;
    use crate::{Config, Length, Traffic, run, warm_up};

    #[test]
    fn resources_are_listed_by_number() {
        for (index, resource) in Resource::ALL.into_iter().enumerate() {
            assert_eq!(resource as usize, index);
        }
    }

    #[test]
    fn every_name_is_that_of_a_place_or_a_transition() {
        let mut names: Vec<String> = Vec::new();
        for scheme in SCHEMES {
            let config = Config {
                scheme: scheme.name.to_owned(),
                packets: 10,
                ..Config::default()
            };
            let study = processor(&config, true).expect("builds");
            let rans = study.account(1, &|_| true).expect("runs");
            let layout = &rans[0].layout;
            names.extend(layout.places.iter().cloned());
            names.extend(layout.transitions.iter().map(|(name, _)| name.clone()));
        }
        let held = HELD.iter().map(|(name, ..)| *name);
        let free = FREE.iter().map(|(name, _)| *name);
        for name in held.chain(free) {
            assert!(names.iter().any(|other| other == name), "{name}");
        }
    }

    /// The twin of Little's law: the time of every single packet, as far as it lies after the warm-up.
    #[derive(Default)]
    struct Stays {
        warm: u64,
        wanted: u64,
        entered: BTreeMap<Vec<i64>, u64>,
        from: u64,
        left: u64,
        ticks: u64,
    }

    impl Stays {
        fn entered(&mut self, now: u64, packet: &[i64]) {
            self.entered.insert(packet.to_vec(), now);
        }

        fn left(&mut self, now: u64, packet: &[i64]) {
            if self.left == self.wanted {
                return;
            }
            self.left += 1;
            let entered = self.entered.remove(packet).expect("came in");
            if self.left == self.warm {
                self.from = now;
            } else if self.left > self.warm {
                self.ticks += now - entered.max(self.from);
            }
            if self.left == self.wanted {
                let inside = self.entered.values().map(|&t| now - t.max(self.from));
                self.ticks += inside.sum::<u64>();
            }
        }
    }

    #[test]
    fn times_add_up_to_the_stays_of_the_packets() {
        let lengths = [64, 512].map(|bytes| Length { bytes, share: 1.0 }).to_vec();
        for scheme in SCHEMES {
            let traffic = Traffic {
                lengths: lengths.clone(),
                ..Traffic::default()
            };
            let scheme = scheme.name.to_owned();
            let config = Config {
                scheme,
                traffic,
                packets: 1_000,
                ..Config::default()
            };
            let mut stays = Stays {
                warm: warm_up(config.packets),
                wanted: config.packets,
                ..Stays::default()
            };
            let study = processor(&config, true).expect("builds");
            let ports = ["line1", "out"].map(|place| Port {
                place,
                fields: &["lane", "turn"],
            });
            let mut net = study.live(config.seed, &[], &ports).expect("is a net");
            let ended = net.run_until(u64::MAX, &mut |now, exit, packet| {
                match exit {
                    0 => stays.entered(now, packet),
                    _ => stays.left(now, packet),
                }
                stays.left < stays.wanted
            });
            assert_eq!(ended, Ok(Stop::Observer));
            let outcome = run(&config).expect("runs");
            let inside = outcome
                .spent
                .iter()
                .filter(|s| s.resource != Resource::Line);
            let cycles: f64 = inside.map(|s| s.waiting + s.served).sum();
            let ticks = cycles * TICKS_PER_CYCLE * (stays.wanted - stays.warm) as f64;
            let error = ticks / stays.ticks as f64 - 1.0;
            assert!(error.abs() < 1e-9, "{}: {error}", config.scheme);
        }
    }

    #[test]
    fn packets_wait_for_the_scarce_resource() {
        for (scheme, scarce) in [
            ("contiguous", Resource::Threads),
            ("aisr", Resource::Ordering),
        ] {
            let scheme = scheme.to_owned();
            let outcome = run(&Config {
                scheme,
                packets: 2_000,
                ..Config::default()
            })
            .expect("runs");
            let before = outcome
                .spent
                .iter()
                .filter(|s| s.resource <= Resource::Threads || s.resource == Resource::Ordering);
            let longest = before
                .max_by(|a, b| a.waiting.total_cmp(&b.waiting))
                .expect("some");
            assert_eq!(longest.resource, scarce);
        }
    }

    #[test]
    fn the_limiting_memory_is_always_busy() {
        let outcome = run(&Config {
            packets: 5_000,
            ..Config::default()
        })
        .expect("runs");
        let share = |name: &str| {
            let found = outcome.utilisation.iter().find(|u| u.resource == name);
            found.map_or(f64::NAN, Utilisation::share)
        };
        assert!(share("DRAM") > 0.999, "{}", share("DRAM"));
        // Seven commands of 2 cycles for each 103.8 cycles of DRAM.
        assert!(
            (share("command bus") - 14.0 / 103.8).abs() < 0.002,
            "{}",
            share("command bus")
        );
    }
}
