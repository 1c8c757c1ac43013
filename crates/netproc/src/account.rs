//! Where packets spend their time: the mean number of packets at each resource, and the time by Little's law.
//!
//! [`HELD`] lists every place and timed transition that holds packets; all others hold threads, turns and pointers. A
//! packet is always in exactly one of those listed, so the times add up to its total time.

use inorder_petri::statistics::{Layout, Totals};
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

/// Places and transitions that hold packets; names without the prefix of the hop.
pub(crate) const HELD: &[(&str, Resource, Doing)] = &[
    ("arrive", Resource::Line, Served),
    ("line", Resource::ReceiveBuffer, Waits),
    ("receive-buffer", Resource::Threads, Waits),
    ("ready", Resource::Engines, Waits),
    ("execute", Resource::Engines, Served),
    ("run", Resource::CommandBus, Waits),
    ("command-queue", Resource::CommandBus, Waits),
    ("sram-again", Resource::CommandBus, Waits),
    ("issue", Resource::CommandBus, Served),
    ("dram-queue", Resource::Dram, Waits),
    ("dram-serve", Resource::Dram, Served),
    ("dram-latency", Resource::DramLatency, Waits),
    ("dram-answer", Resource::DramLatency, Served),
    ("copy-latency", Resource::DramLatency, Waits),
    ("copy-answer", Resource::DramLatency, Served),
    ("sram-queue", Resource::Sram, Waits),
    ("sram-answer", Resource::Sram, Served),
    ("received", Resource::Ordering, Waits),
    ("stamp", Resource::Ordering, Served),
    ("numbered", Resource::Threads, Waits),
    ("processed", Resource::Ordering, Waits),
    ("turn", Resource::Ordering, Waits),
    ("lock-queue", Resource::Ordering, Waits),
    ("acquire", Resource::Ordering, Served),
    ("claim", Resource::Ordering, Waits),
    ("claim-more", Resource::Ordering, Served),
    ("reorder-buffer", Resource::Ordering, Waits),
    ("release", Resource::Ordering, Served),
    ("released", Resource::Threads, Waits),
    ("unsorted", Resource::Ordering, Waits),
    ("insert", Resource::Ordering, Served),
    ("lists", Resource::Ordering, Waits),
    ("sorted", Resource::TransmitBuffer, Waits),
    ("assigned", Resource::Threads, Waits),
    ("gate", Resource::TransmitBuffer, Waits),
    ("copied", Resource::TransmitBuffer, Waits),
    ("transmit-buffer", Resource::TransmitPointer, Waits),
    ("send", Resource::TransmitPointer, Served),
];

/// Free units of resources, and the counter or queue that holds them.
const FREE: &[(&str, &str)] = &[
    ("mac-free", "MAC"),
    ("receive-free", "receive buffer"),
    ("thread", "threads"),
    ("receive-thread", "receiving threads"),
    ("process-thread", "processing threads"),
    ("transmit-thread", "transmitting threads"),
    ("engine", "engines"),
    ("command-free", "command queues"),
    ("command-bus", "command bus"),
    ("dram", "DRAM"),
    ("sequencer", "sequencer"),
    ("lock", "locks"),
    ("sorter", "sorters"),
    ("slot-free", "transmit buffer"),
    ("transmit-pointer", "transmit pointer"),
];

/// Resources without a limit, and the transitions whose firings in progress are counted.
const OUTSTANDING: &[(&[&str], &str)] = &[
    (&["sram-answer"], "SRAM accesses"),
    (
        &["stamp", "acquire", "claim-more"],
        "scratchpad and lock operations",
    ),
];

/// Time average of a place or a transition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Occupancy {
    /// Its name in the net.
    pub name: String,
    /// Mean number of tokens, or of firings in progress.
    pub mean: f64,
    /// True for a transition (service), false for a place (waiting packets, or free units).
    pub is_transition: bool,
}

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

/// Part of a run: time integrals of the net between its start and end.
pub(crate) struct Interval<'a> {
    pub(crate) layout: &'a Layout,
    /// Tokens in each place at the start of the run.
    pub(crate) initial: &'a [u32],
    pub(crate) from: &'a Totals,
    pub(crate) to: &'a Totals,
    /// Its length.
    pub(crate) ticks: u64,
}

impl Interval<'_> {
    fn mean(&self, integral: i128) -> f64 {
        integral as f64 / self.ticks.max(1) as f64
    }

    fn place(&self, index: usize) -> f64 {
        match (self.from.places.get(index), self.to.places.get(index)) {
            (Some(from), Some(to)) => self.mean(to.integral - from.integral),
            _ => 0.0,
        }
    }

    fn transition(&self, index: usize) -> f64 {
        let (from, to) = (&self.from.transitions, &self.to.transitions);
        match (from.get(index), to.get(index)) {
            (Some(from), Some(to)) => self.mean(to.busy - from.busy),
            _ => 0.0,
        }
    }

    /// Places first, then timed transitions, in the order of the net.
    pub(crate) fn occupancy(&self) -> Vec<Occupancy> {
        let places = self.layout.places.iter().enumerate();
        let places = places.map(|(index, name)| Occupancy {
            name: name.clone(),
            mean: self.place(index),
            is_transition: false,
        });
        let timed = self.layout.transitions.iter().enumerate();
        let timed = timed.filter(|(_, (_, servers))| servers.is_some());
        let timed = timed.map(|(index, (name, _))| Occupancy {
            name: name.clone(),
            mean: self.transition(index),
            is_transition: true,
        });
        places.chain(timed).collect()
    }

    /// Units in use of every resource of every hop.
    pub(crate) fn utilisation(&self) -> Vec<Utilisation> {
        let mut all = Vec::new();
        for (index, name) in self.layout.places.iter().enumerate() {
            let (hop, bare) = split(name);
            let Some((_, resource)) = FREE.iter().find(|(free, _)| *free == bare) else {
                continue;
            };
            // A transmit pointer is away from its place while a slot is sent; all other units are in place at the
            // start.
            let units = f64::from(self.initial.get(index).copied().unwrap_or(0));
            all.push(Utilisation {
                hop,
                resource,
                busy: (units - self.place(index)).max(0.0),
                units: Some(units),
            });
        }
        let hops = all.iter().map(|u| u.hop).max().unwrap_or(1);
        all.extend((1..=hops).flat_map(|hop| self.outstanding(hop)));
        all.sort_by_key(|u| u.hop);
        all
    }

    fn outstanding(&self, hop: u32) -> impl Iterator<Item = Utilisation> {
        OUTSTANDING.iter().filter_map(move |&(names, resource)| {
            let timed = self.layout.transitions.iter().enumerate();
            let mut of_it = timed
                .filter(|(_, (name, _))| {
                    let (at, bare) = split(name);
                    at == hop && names.contains(&bare)
                })
                .peekable();
            of_it.peek()?;
            Some(Utilisation {
                hop,
                resource,
                busy: of_it.map(|(index, _)| self.transition(index)).sum(),
                units: None,
            })
        })
    }

    /// Little's law: the mean number of packets at a resource divided by the rate at which `packets` left the
    /// processor.
    /// All names must belong to one processor.
    pub(crate) fn spent(&self, packets: u64) -> Vec<Spent> {
        let places = self.layout.places.iter().enumerate();
        let places = places.map(|(n, name)| (name, self.place(n)));
        let transitions = self.layout.transitions.iter().enumerate();
        let transitions = transitions.map(|(n, (name, _))| (name, self.transition(n)));
        let mut all = Resource::ALL.map(|resource| nothing(1, resource));
        let in_turn = receives_in_turn(self.layout);
        for (name, mean) in places.chain(transitions) {
            let (hop, bare) = split(name);
            let Some(&(_, resource, doing)) = HELD.iter().find(|(held, ..)| *held == bare) else {
                continue;
            };
            let resource = match bare {
                "receive-buffer" if in_turn => Resource::Ordering,
                _ => resource,
            };
            let cycles = mean * self.ticks as f64 / (TICKS_PER_CYCLE * packets.max(1) as f64);
            let spent = &mut all[resource as usize];
            spent.hop = hop;
            match doing {
                Waits => spent.waiting += cycles,
                Served => spent.served += cycles,
            }
        }
        let all = all.into_iter();
        all.filter(|spent| spent.waiting + spent.served > 0.0)
            .collect()
    }
}

/// True if packets in the receive buffer wait for a turn or a sequencer, false if they wait for any free thread.
fn receives_in_turn(layout: &Layout) -> bool {
    let names = layout.places.iter().map(|name| split(name).1);
    names
        .into_iter()
        .any(|bare| matches!(bare, "start" | "sequencer"))
}

fn nothing(hop: u32, resource: Resource) -> Spent {
    Spent {
        hop,
        resource,
        waiting: 0.0,
        served: 0.0,
    }
}

/// The hop of a name, from 1, and the name without its prefix.
pub(crate) fn split(name: &str) -> (u32, &str) {
    let numbered = |text: &str| text.parse().ok().filter(|&hop| hop > 0);
    if let Some(hop) = name.strip_prefix("line").and_then(numbered) {
        return (hop, "line");
    }
    let prefixed = name
        .strip_prefix("hop")
        .and_then(|rest| rest.split_once('/'));
    match prefixed {
        Some((hop, bare)) => (numbered(hop).unwrap_or(1), bare),
        None => (1, name),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use inorder_petri::coloured::{Engine, Observer, PlaceId};

    use super::*;
    use crate::job::Job;
    use crate::scheme::SCHEMES;
    use crate::{Chain, Config, Length, Traffic, run, warm_up};

    #[test]
    fn names_contain_their_hop() {
        assert_eq!(split("hop3/dram-queue"), (3, "dram-queue"));
        assert_eq!(split("dram-queue"), (1, "dram-queue"));
        assert_eq!(split("line2"), (2, "line"));
    }

    #[test]
    fn resources_are_listed_by_number() {
        for (index, resource) in Resource::ALL.into_iter().enumerate() {
            assert_eq!(resource as usize, index);
        }
    }

    /// The twin of Little's law: measures the time of every single packet, as far as it lies after the warm-up.
    struct Stays {
        line: PlaceId,
        out: PlaceId,
        warm: u64,
        wanted: u64,
        entered: BTreeMap<(u16, u32), u64>,
        from: u64,
        left: u64,
        ticks: u64,
    }

    impl Observer<Job> for Stays {
        fn deposited(&mut self, now: u64, place: PlaceId, job: &Job) {
            if place == self.line {
                self.entered.insert((job.lane, job.turn), now);
            } else if place == self.out && self.left < self.wanted {
                self.left += 1;
                let entered = self.entered.remove(&(job.lane, job.turn)).expect("came in");
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

        fn is_done(&self) -> bool {
            self.left >= self.wanted
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
            let model = Chain::new(&config).expect("builds").into_model();
            let place = |name| PlaceId::from(model.find_queue(name).expect("is there"));
            let mut stays = Stays {
                line: place("line1"),
                out: place("out"),
                warm: warm_up(config.packets),
                wanted: config.packets,
                entered: BTreeMap::new(),
                from: 0,
                left: 0,
                ticks: 0,
            };
            let mut engine = Engine::new(model, config.seed).expect("checks");
            engine.run_until(u64::MAX, &mut stays).expect("runs");
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
