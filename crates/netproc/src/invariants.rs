//! Invariants at every moment of every run with any configuration: no hardware unit is lost or duplicated, and every
//! packet is in exactly one place.

use std::collections::BTreeMap;

use inorder_nets::{Held, Live, Port, Stop};
use proptest::prelude::*;

use crate::account::HELD;
use crate::config::TICKS_PER_CYCLE;
use crate::model::processor;
use crate::scheme::{SCHEMES, find};
use crate::{Arbitration, Config, Dequeue, Length, Traffic, run};

/// Places and transitions in which a thread holds a packet.
const IN_HAND: &[&str] = &[
    "ready",
    "execute",
    "running",
    "command_queue",
    "sram_again",
    "issue",
    "dram_queue",
    "dram_serve",
    "dram_read",
    "dram_answer",
    "copy_read",
    "copy_answer",
    "sram_queue",
    "sram-answer",
    "received",
    "stamp",
    "processed",
    "turn_queue",
    "gate",
    "lock_queue",
    "acquire",
    "claim",
    "claim_more",
    "unsorted",
    "insert",
    "copied",
];

/// Places in which a packet has a slot but no thread.
const SLOT_ONLY: &[&str] = &["release", "released", "assigned", "transmit_buffer", "send"];

/// Transitions in which the slot is in the second token.
const SLOT_IN_POINTER: &[&str] = &["acquire", "release"];

/// The steps of a thread for a packet, by their numbers in the net.
const RECEIVE: i64 = 0;
const TRANSMIT: i64 = 4;

/// A token of the net: a packet, a thread or a turn.
#[derive(Debug, Clone)]
struct Seen {
    at: String,
    thread: i64,
    engine: i64,
    bytes: i64,
    slot: i64,
    left: i64,
    step: i64,
}

impl Seen {
    fn of(held: &Held<'_>) -> Self {
        let field = |name| held.field(name).expect("a field of a job");
        Self {
            at: held.at.to_owned(),
            thread: field("thread"),
            engine: field("engine"),
            bytes: field("bytes"),
            slot: field("slot"),
            left: field("left"),
            step: field("step"),
        }
    }

    fn is_at(&self, names: &[&str]) -> bool {
        names.contains(&self.at.as_str())
    }

    fn units(&self) -> i64 {
        units(self.bytes)
    }
}

/// Mpackets of 64 bytes.
fn units(bytes: i64) -> i64 {
    ((bytes + 63) / 64).max(1)
}

struct Bench {
    config: Config,
    net: Live,
    arrived: u64,
    left: u64,
    /// The tokens of each place of plain ones at the start, by key.
    initial: BTreeMap<&'static str, Vec<u32>>,
}

/// All tokens at a moment: packets, and what else there is.
struct Moment {
    packets: Vec<Seen>,
    others: Vec<Seen>,
}

impl Bench {
    fn new(config: &Config) -> Self {
        let ports = ["line1", "out"].map(|place| Port { place, fields: &[] });
        let study = processor(config, true).expect("builds");
        let net = study.live(config.seed, &[], &ports).expect("is a net");
        let places = [
            "engine",
            "command_free",
            "command_bus",
            "dram",
            "slot_free",
            "transmit_pointer",
            "receive_free",
            "lock",
            "sequencer",
            "sorter",
        ];
        let initial = places.into_iter().filter_map(|place| {
            // At most 128 slots.
            let counts = (0..200).map(|key| net.plain(place, key));
            Some((place, counts.collect::<Option<Vec<u32>>>()?))
        });
        Self {
            config: config.clone(),
            initial: initial.collect(),
            net,
            arrived: 0,
            left: 0,
        }
    }

    fn run_until(&mut self, ticks: u64) -> Result<(), TestCaseError> {
        let (arrived, left) = (&mut self.arrived, &mut self.left);
        let stop = self.net.run_until(ticks, &mut |_, exit, _| {
            *if exit == 0 { &mut *arrived } else { &mut *left } += 1;
            true
        });
        prop_assert_eq!(stop.expect("runs"), Stop::TimeReached);
        Ok(())
    }

    /// Transitions hold packets while they fire; the slot of some is in their second token.
    fn look(&self) -> Moment {
        let (mut packets, mut others): (Vec<Seen>, Vec<Seen>) = (Vec::new(), Vec::new());
        self.net.each_token(&mut |held| {
            let seen = Seen::of(held);
            let is_packet = HELD.iter().any(|&(at, ..)| at == held.at) && held.at != "arrive";
            match (is_packet, held.of_firing) {
                (true, None | Some(0)) => packets.push(seen),
                (true, Some(1)) if SLOT_IN_POINTER.contains(&held.at) => {
                    packets.last_mut().expect("the first token").slot = seen.slot;
                }
                (true, Some(_)) => {}
                (false, _) => others.push(seen),
            }
        });
        Moment { packets, others }
    }

    fn count(&self, place: &str) -> u32 {
        let keys = self.initial.get(place).map_or(0, Vec::len);
        let counts = (0..keys).map(|key| self.net.plain(place, key as u32).unwrap_or(0));
        counts.sum()
    }

    fn initial(&self, place: &str) -> u32 {
        self.initial.get(place).into_iter().flatten().sum()
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let moment = self.look();
        self.threads(&moment)?;
        self.engines(&moment.packets)?;
        self.transmit_buffer(&moment.packets)?;
        self.receive_buffer(&moment.packets)?;
        self.single_tokens(&moment)?;
        let inside = moment.packets.len() as u64;
        prop_assert_eq!(
            self.arrived,
            inside + self.left,
            "packets in = inside + out"
        );
        Ok(())
    }

    /// Every thread is idle or holds one packet.
    fn threads(&self, moment: &Moment) -> Result<(), TestCaseError> {
        let pools = [
            "thread",
            "receive_thread",
            "process_thread",
            "transmit_thread",
        ];
        let idle = moment.others.iter().filter(|s| s.is_at(&pools));
        let busy = moment.packets.iter().filter(|s| s.is_at(IN_HAND));
        let mut all: Vec<i64> = idle.chain(busy).map(|seen| seen.thread).collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        prop_assert_eq!(all.len(), count, "no thread twice");
        prop_assert_eq!(count as u32, self.thread_count(), "threads");
        Ok(())
    }

    fn thread_count(&self) -> u32 {
        let config = &self.config;
        let engines = match config.scheme.as_str() {
            "contiguous" | "strided" => {
                let lengths = config.traffic.lengths.iter();
                let longest = lengths.map(|length| length.bytes).max().expect("a length");
                let slots = (128 / units(longest.into())).max(1) as u32;
                return (config.engines * config.threads).min(slots);
            }
            "aisr" => 1 + 4 + 2,
            "aisr-wide" => 2 + 4 + 2,
            "aisr-receive" => 1,
            "packet-sort" => 4 + 3,
            _ => config.engines,
        };
        engines * config.threads
    }

    /// An engine is free, executing, or blocked with a command it cannot issue; its command queue holds a fixed
    /// number of entries.
    fn engines(&self, packets: &[Seen]) -> Result<(), TestCaseError> {
        let engines = self.initial("engine");
        for engine in 0..engines {
            let of = |at: &[&str]| {
                let here = packets
                    .iter()
                    .filter(|s| s.engine == i64::from(engine) && s.is_at(at));
                here.count() as u32
            };
            let free = self.net.plain("engine", engine).expect("an engine");
            prop_assert_eq!(free + of(&["execute", "running"]), 1, "engine {}", engine);
            let credits = self.net.plain("command_free", engine).expect("a queue")
                + of(&["command_queue", "issue"]);
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
    fn transmit_buffer(&self, packets: &[Seen]) -> Result<(), TestCaseError> {
        let slots = self.initial("slot_free");
        if slots == 0 {
            return Ok(());
        }
        let has_slot = |s: &&Seen| {
            s.is_at(SLOT_ONLY) || s.at == "acquire" || s.is_at(IN_HAND) && s.step == TRANSMIT
        };
        let mut used = vec![0; slots as usize];
        for s in packets.iter().filter(has_slot) {
            prop_assert!(s.slot < slots.into(), "slot of {:?}", s);
            used[s.slot as usize] += 1;
        }
        for (slot, used) in (0..).zip(used) {
            let free = self.net.plain("slot_free", slot).expect("a slot");
            prop_assert_eq!(free + used, 1, "slot {}", slot);
        }
        Ok(())
    }

    /// Free and held mpackets add up to the size of the buffer.
    fn receive_buffer(&self, packets: &[Seen]) -> Result<(), TestCaseError> {
        let freed_early = |s: &Seen| match self.config.scheme.as_str() {
            "aisr" | "aisr-wide" | "aisr-receive" => s.step != RECEIVE,
            "packet-sort" => s.step == TRANSMIT,
            _ => false,
        };
        let held = packets
            .iter()
            .filter(|s| s.at == "receive_buffer" || s.is_at(IN_HAND) && !freed_early(s));
        let held: i64 = held.map(Seen::units).sum();
        prop_assert_eq!(i64::from(self.count("receive_free")) + held, 128);
        Ok(())
    }

    /// There is exactly one transmit pointer, one lock, one START, one END, one sequencer, and so on.
    fn single_tokens(&self, Moment { packets, others }: &Moment) -> Result<(), TestCaseError> {
        let at = |names: &[&str]| packets.iter().filter(|s| s.is_at(names)).count() as u32;
        let step = |step| {
            packets
                .iter()
                .filter(move |s| s.is_at(IN_HAND) && s.step == step)
        };
        let transmitting = step(TRANSMIT).count() as u32 + at(&["acquire"]);
        let receiving = step(RECEIVE).count() as u32;
        for (place, busy) in [
            ("command_bus", at(&["issue"])),
            ("dram", at(&["dram_serve"])),
            ("transmit_pointer", at(&["send"])),
            ("lock", transmitting),
            ("sequencer", receiving),
            ("sorter", at(&["insert"])),
        ] {
            if self.initial.contains_key(place) {
                prop_assert_eq!(self.count(place) + busy, self.initial(place), "{}", place);
            }
        }
        if self.config.scheme == "its" {
            let turns = |name: &str| others.iter().filter(|s| s.at == name).count() as u32;
            let unissued = ["ready", "execute", "running", "command_queue", "issue"];
            let grabbed = step(RECEIVE).filter(|s| s.is_at(&unissued) && s.left == s.units());
            prop_assert_eq!(turns("start") + grabbed.count() as u32, 1, "START");
            prop_assert_eq!(turns("finish_turn") + transmitting, 1, "END");
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

fn configs() -> impl Strategy<Value = Config> {
    let dequeue =
        prop::sample::select(vec![None, Some(Dequeue::Strict), Some(Dequeue::Completion)]);
    let shape = (0..SCHEMES.len(), 1u32..=8, 1u32..=8, 1u32..=3);
    let rest = (traffic(), arbitration(), dequeue, any::<u64>());
    (shape, rest).prop_map(|((scheme, engines, threads, hops), rest)| {
        let (traffic, arbitration, dequeue, seed) = rest;
        let scheme = SCHEMES[scheme].name.to_owned();
        Config {
            scheme,
            engines,
            threads,
            hops,
            traffic,
            arbitration,
            dequeue,
            seed,
            packets: 200,
            ..Config::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn hardware_is_neither_lost_nor_doubled(config in configs(), pace in 50.0f64..4_000.0) {
        let mut bench = Bench::new(&Config { hops: 1, ..config });
        bench.check()?;
        for look in 1..80 {
            bench.run_until((f64::from(look) * pace * TICKS_PER_CYCLE) as u64)?;
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
        let keeps = find(&config.scheme).is_ok_and(|s| s.keeps_order);
        if keeps && (config.dequeue != Some(Dequeue::Completion) || config.scheme == "its") {
            prop_assert!(outcome.hops.iter().all(|hop| hop.dupacks == 0 && hop.reordered == 0));
            prop_assert_eq!(outcome.reordering.reordered_ratio(), 0.0);
        }
        let again = run(&config).expect("no deadlock");
        prop_assert_eq!(format!("{outcome:?}"), format!("{again:?}"));
    }
}
