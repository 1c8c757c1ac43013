//! Invariants at every moment of every run with any configuration: no hardware unit is lost or duplicated, and every
//! packet is in exactly one place.

use std::collections::BTreeMap;

use inorder_petri::coloured::{Counter, Engine, Queue, Stop, TransitionId};
use proptest::prelude::*;

use crate::account::{HELD, split};
use crate::config::TICKS_PER_CYCLE;
use crate::job::{Job, Step};
use crate::scheme::SCHEMES;
use crate::{Arbitration, Chain, Config, Dequeue, Length, Stages, Traffic, run};

/// Places and transitions in which a thread holds a packet.
const IN_HAND: &[&str] = &[
    "ready",
    "execute",
    "run",
    "command-queue",
    "sram-again",
    "issue",
    "dram-queue",
    "dram-serve",
    "dram-latency",
    "dram-answer",
    "copy-latency",
    "copy-answer",
    "sram-queue",
    "sram-answer",
    "received",
    "stamp",
    "processed",
    "turn",
    "gate",
    "lock-queue",
    "acquire",
    "claim",
    "claim-more",
    "unsorted",
    "insert",
    "copied",
];

/// Places in which a packet has a slot but no thread.
const SLOT_ONLY: &[&str] = &["release", "released", "assigned", "transmit-buffer", "send"];

/// Transitions in which the slot is in the second token.
const SLOT_IN_POINTER: &[&str] = &["acquire", "release"];

/// The places and transitions of one hop, by name without prefix.
#[derive(Default)]
struct Parts {
    queues: BTreeMap<String, Queue>,
    counters: BTreeMap<String, Counter>,
    transitions: BTreeMap<String, TransitionId>,
}

/// A packet at some place of a hop.
#[derive(Debug, Clone, Copy)]
struct Seen {
    at: &'static str,
    job: Job,
    slot: u16,
}

struct Bench {
    config: Config,
    engine: Engine<Job>,
    hops: Vec<Parts>,
    /// Value of every counter at the start.
    initial: BTreeMap<(usize, String), u32>,
}

impl Bench {
    fn new(config: &Config) -> Self {
        let model = Chain::new(config).expect("builds").into_model();
        let mut hops: Vec<Parts> = (0..config.hops).map(|_| Parts::default()).collect();
        for name in model.place_names() {
            let (hop, bare) = split(name);
            let parts = &mut hops[hop as usize - 1];
            if let Some(queue) = model.find_queue(name) {
                parts.queues.insert(bare.to_owned(), queue);
            } else if let Some(counter) = model.find_counter(name) {
                parts.counters.insert(bare.to_owned(), counter);
            }
        }
        for name in model.transition_names() {
            let (hop, bare) = split(name);
            let id = model.find_transition(name).expect("is there");
            hops[hop as usize - 1]
                .transitions
                .insert(bare.to_owned(), id);
        }
        let engine = Engine::new(model, config.seed).expect("checks");
        let initial = hops.iter().enumerate().flat_map(|(hop, parts)| {
            let engine = &engine;
            parts
                .counters
                .iter()
                .map(move |(name, &c)| ((hop, name.clone()), engine.len(c)))
        });
        let initial = initial.collect();
        Self {
            config: config.clone(),
            engine,
            hops,
            initial,
        }
    }

    /// All packets of a hop; transitions count only while they fire.
    fn packets(&self, hop: usize) -> Vec<Seen> {
        let parts = &self.hops[hop];
        let mut all = Vec::new();
        for &(at, ..) in HELD {
            if let Some(&queue) = parts.queues.get(at) {
                all.extend(self.engine.tokens(queue).map(|&job| Seen {
                    at,
                    job,
                    slot: job.slot,
                }));
            }
            if let Some(&transition) = parts.transitions.get(at).filter(|_| at != "arrive") {
                all.extend(self.engine.under_way(transition).map(|bound| {
                    let from = usize::from(SLOT_IN_POINTER.contains(&at) && bound.tokens.len() > 1);
                    Seen {
                        at,
                        job: bound[0],
                        slot: bound[from].slot,
                    }
                }));
            }
        }
        all
    }

    fn queue(&self, hop: usize, name: &str) -> impl Iterator<Item = &Job> {
        let queue = self.hops[hop].queues.get(name);
        queue
            .into_iter()
            .flat_map(|&queue| self.engine.tokens(queue))
    }

    fn count(&self, hop: usize, name: &str) -> u32 {
        self.hops[hop]
            .counters
            .get(name)
            .map_or(0, |&c| self.engine.len(c))
    }

    fn count_of(&self, hop: usize, name: &str, key: u32) -> u32 {
        self.hops[hop]
            .counters
            .get(name)
            .map_or(0, |&c| self.engine.count(c, key))
    }

    fn initial(&self, hop: usize, name: &str) -> u32 {
        self.initial
            .get(&(hop, name.to_owned()))
            .copied()
            .unwrap_or(0)
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let mut inside = 0;
        for hop in 0..self.hops.len() {
            let seen = self.packets(hop);
            inside += seen.len() as u64;
            self.threads(hop, &seen)?;
            self.engines(hop, &seen)?;
            self.transmit_buffer(hop, &seen)?;
            self.receive_buffer(hop, &seen)?;
            self.single_tokens(hop, &seen)?;
        }
        let arrived = self.engine.firings(self.hops[0].transitions["arrive"]);
        prop_assert_eq!(arrived, inside + self.left(), "packets in = inside + out");
        Ok(())
    }

    /// Number of packets that have left the last hop.
    fn left(&self) -> u64 {
        let last = &self.hops[self.hops.len() - 1];
        let sends = last
            .transitions
            .get("send")
            .or(last.transitions.get("leave"));
        sends.map_or(0, |&transition| self.engine.firings(transition))
    }

    /// Every thread is idle or holds one packet.
    fn threads(&self, hop: usize, seen: &[Seen]) -> Result<(), TestCaseError> {
        let pools = [
            "thread",
            "receive-thread",
            "process-thread",
            "transmit-thread",
        ];
        let idle = pools.iter().flat_map(|pool| self.queue(hop, pool));
        let busy = seen
            .iter()
            .filter(|s| IN_HAND.contains(&s.at))
            .map(|s| &s.job);
        let mut all: Vec<u16> = idle.chain(busy).map(|job| job.thread).collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        prop_assert_eq!(all.len(), count, "no thread twice");
        prop_assert_eq!(count as u32, self.thread_count(), "threads");
        Ok(())
    }

    fn thread_count(&self) -> u32 {
        let (config, stages) = (&self.config, self.config.stages);
        match config.scheme.as_str() {
            "contiguous" | "strided" => (config.engines * config.threads).min(config.slots()),
            "aisr" => (stages.receive + stages.process + stages.transmit) * config.threads,
            "aisr-wide" => (2 * stages.receive + stages.process + stages.transmit) * config.threads,
            "aisr-receive" => stages.receive * config.threads,
            "packet-sort" => (stages.process + stages.transmit + stages.receive) * config.threads,
            _ => config.engines * config.threads,
        }
    }

    /// An engine is free, executing, or blocked with a command it cannot issue; its command queue holds a fixed
    /// number of entries.
    fn engines(&self, hop: usize, seen: &[Seen]) -> Result<(), TestCaseError> {
        for engine in 0..self.initial(hop, "engine") {
            let of = |at: &[&str]| {
                let here = seen
                    .iter()
                    .filter(|s| u32::from(s.job.engine) == engine && at.contains(&s.at));
                here.count() as u32
            };
            let free = self.count_of(hop, "engine", engine);
            prop_assert_eq!(free + of(&["execute", "run"]), 1, "engine {}", engine);
            let credits =
                self.count_of(hop, "command-free", engine) + of(&["command-queue", "issue"]);
            prop_assert_eq!(
                credits,
                self.config.calibration.command_fifo as u32,
                "commands of engine {}",
                engine
            );
        }
        Ok(())
    }

    /// Every slot is free, reserved for one packet, or filled by one.
    fn transmit_buffer(&self, hop: usize, seen: &[Seen]) -> Result<(), TestCaseError> {
        let slots = self.initial(hop, "slot-free");
        if slots == 0 {
            return Ok(());
        }
        let has_slot = |s: &&Seen| {
            SLOT_ONLY.contains(&s.at)
                || s.at == "acquire"
                || IN_HAND.contains(&s.at) && s.job.step == Step::Transmit
        };
        let mut used = vec![0; slots as usize];
        for s in seen.iter().filter(has_slot) {
            prop_assert!(u32::from(s.slot) < slots, "slot of {:?}", s);
            used[usize::from(s.slot)] += 1;
        }
        for (slot, used) in used.into_iter().enumerate() {
            let free = self.count_of(hop, "slot-free", slot as u32);
            prop_assert_eq!(free + used, 1, "slot {}", slot);
        }
        Ok(())
    }

    /// Free and held mpackets add up to the size of the buffer.
    fn receive_buffer(&self, hop: usize, seen: &[Seen]) -> Result<(), TestCaseError> {
        let freed_early = |job: &Job| match self.config.scheme.as_str() {
            "aisr" | "aisr-wide" | "aisr-receive" => job.step != Step::Receive,
            "packet-sort" => job.step == Step::Transmit,
            _ => false,
        };
        let held = seen.iter().filter(|s| {
            s.at == "receive-buffer" || IN_HAND.contains(&s.at) && !freed_early(&s.job)
        });
        let held: u32 = held.map(|s| s.job.units()).sum();
        prop_assert_eq!(
            self.count(hop, "receive-free") + held,
            self.config.buffer_units()
        );
        Ok(())
    }

    /// There is exactly one transmit pointer, one lock, one START, one END, one sequencer, and so on.
    fn single_tokens(&self, hop: usize, seen: &[Seen]) -> Result<(), TestCaseError> {
        let at = |names: &[&str]| seen.iter().filter(|s| names.contains(&s.at)).count() as u32;
        let step = |step: Step| {
            seen.iter()
                .filter(move |s| IN_HAND.contains(&s.at) && s.job.step == step)
        };
        let transmitting = || step(Step::Transmit).count() as u32 + at(&["acquire"]);
        let parts = &self.hops[hop];
        let queued = |name: &str| self.queue(hop, name).count() as u32;
        prop_assert_eq!(self.count(hop, "command-bus") + at(&["issue"]), 1, "bus");
        prop_assert_eq!(self.count(hop, "dram") + at(&["dram-serve"]), 1, "DRAM");
        if parts.counters.contains_key("transmit-pointer") {
            prop_assert_eq!(
                self.count(hop, "transmit-pointer") + at(&["send"]),
                1,
                "pointer"
            );
        }
        if parts.counters.contains_key("lock") {
            prop_assert_eq!(
                self.count(hop, "lock") + transmitting(),
                self.initial(hop, "lock"),
                "lock"
            );
        }
        if parts.queues.contains_key("start") {
            let unissued = ["ready", "execute", "run", "command-queue", "issue"];
            let first =
                |s: &&Seen| unissued.contains(&s.at) && u32::from(s.job.left) == s.job.units();
            let grabbed = step(Step::Receive).filter(first).count() as u32;
            prop_assert_eq!(queued("start") + grabbed, 1, "START");
            prop_assert_eq!(queued("end") + transmitting(), 1, "END");
        }
        if parts.counters.contains_key("sequencer") {
            let receiving = step(Step::Receive).count() as u32;
            prop_assert_eq!(self.count(hop, "sequencer") + receiving, 1, "sequencer");
        }
        if parts.counters.contains_key("sorter") {
            prop_assert_eq!(
                self.count(hop, "sorter") + at(&["insert"]),
                self.config.stages.order,
                "sorter"
            );
        }
        Ok(())
    }
}

fn lengths() -> impl Strategy<Value = Vec<Length>> {
    let one = (
        prop::sample::select(vec![40u16, 64, 65, 128, 512, 1500]),
        0.1f64..4.0,
    );
    let one = one.prop_map(|(bytes, share)| Length { bytes, share });
    prop::collection::vec(one, 1..4)
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let ends = prop::option::weighted(0.8, 1u32..60);
    (lengths(), 1u32..40, ends, 1.0f64..4.0).prop_map(|(lengths, flows, flow_packets, train)| {
        Traffic {
            lengths,
            flows,
            flow_packets,
            train,
        }
    })
}

fn arbitration() -> impl Strategy<Value = Arbitration> {
    prop::sample::select(vec![
        Arbitration::Fifo,
        Arbitration::RandomEngine,
        Arbitration::Random,
    ])
}

fn stages() -> impl Strategy<Value = Stages> {
    (1u32..3, 1u32..5, 1u32..3, 1u32..4).prop_map(|(receive, process, order, transmit)| Stages {
        receive,
        process,
        order,
        transmit,
    })
}

fn configs() -> impl Strategy<Value = Config> {
    let dequeue =
        prop::sample::select(vec![None, Some(Dequeue::Strict), Some(Dequeue::Completion)]);
    let shape = (0..SCHEMES.len(), 1u32..=8, 1u32..=8, 1u32..=3, stages());
    let rest = (
        traffic(),
        arbitration(),
        arbitration(),
        dequeue,
        any::<u64>(),
        any::<Option<bool>>(),
    );
    (shape, rest).prop_map(|((scheme, engines, threads, hops, stages), rest)| {
        let (traffic, dram, lock, dequeue, seed, regular) = rest;
        let scheme = SCHEMES[scheme].name.to_owned();
        Config {
            scheme,
            engines,
            threads,
            hops,
            stages,
            traffic,
            dram,
            lock,
            dequeue,
            seed,
            regular,
            packets: 200,
            ..Config::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn hardware_is_neither_lost_nor_doubled(config in configs(), pace in 50.0f64..4_000.0) {
        let mut bench = Bench::new(&config);
        bench.check()?;
        for look in 1..80 {
            let stop = bench.engine.run_until((f64::from(look) * pace * TICKS_PER_CYCLE) as u64, &mut ());
            prop_assert_eq!(stop.expect("runs"), Stop::TimeReached);
            bench.check()?;
        }
    }

    #[test]
    fn packets_come_out_and_in_order_where_promised(config in configs()) {
        let outcome = run(&config).expect("no deadlock");
        prop_assert_eq!(outcome.packets, config.packets);
        for hop in &outcome.hops {
            prop_assert!(hop.packets >= config.packets);
        }
        // Emptying the buffer in the order of completion destroys the order that a scheme established before; ITS
        // copies packets in turn.
        let keeps = crate::scheme::find(&config.scheme).is_some_and(|s| s.keeps_order);
        if keeps && (config.dequeue != Some(Dequeue::Completion) || config.scheme == "its") {
            prop_assert!(outcome.hops.iter().all(|hop| hop.dupacks == 0 && hop.reordered == 0));
            prop_assert_eq!(outcome.reordering.reordered_ratio(), 0.0);
        }
        let again = run(&config).expect("no deadlock");
        prop_assert_eq!(format!("{outcome:?}"), format!("{again:?}"));
    }
}
