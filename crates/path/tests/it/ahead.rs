//! A path evaluated ahead of time gives the same result as a path with an event at every stage.

use inorder_base::random::Random;
use inorder_path::config::{
    self, Charge, CrossSource, Distribution, Framing, GilbertElliott, Lane, Line, Pattern,
    Periodic, Policy, QueueLimit, StageKind, Uniform,
};
use inorder_path::*;
use proptest::prelude::*;

/// Small numbers, so that equal times, full queues and late packets are frequent.
fn stage(kind: u8, a: u64, b: u64, seed: u64) -> AnyStage<Probe> {
    let random = Random::new(seed, "ahead");
    let (a_ns, b_ns) = (a.cast_signed(), b.cast_signed());
    let often = 0.3;
    let line = Line {
        delay_ns: b_ns,
        buffer: QueueLimit::Packets(a % 7).into(),
        framing: Framing::None,
        ..Line::new(1_000_000_000 * (1 + a % 3))
    };
    let jitter = config::Delay {
        distribution: Distribution::Uniform,
        limit_packets: Some(1 + b % 9),
        ..config::Delay::normal(a_ns, b_ns)
    };
    let uniform = uniform(often, often);
    let declared = match kind {
        0 => return Link::new(&line).into(),
        1 => return Delay::new(&jitter, random).into(),
        2 => return Delay::new(&config::Delay::constant(a_ns), random).into(),
        3 => StageKind::Loss(uniform),
        4 => StageKind::Loss(bursts(often)),
        5 => StageKind::Duplicate(config::Duplicate {
            probability: often,
            correlation: 0.0,
            copy_delay_ns: a_ns % 3 * b_ns,
        }),
        6 => StageKind::Corrupt(config::Corrupt {
            probability: often,
            correlation: often,
            discard: a.is_multiple_of(2),
        }),
        7 => StageKind::Reorder(config::Reorder {
            probability: 1.0,
            correlation: 0.0,
            gap: a as u32 % 5,
            delay_ns: a_ns,
        }),
        8 => StageKind::Late(late(often, b_ns)),
        9 => {
            let config = NetemConfig {
                duplicate: Probability::ratio(often),
                loss: uniform,
                reorder: Probability::ratio(often),
                gap: a as u32 % 3,
                rate_bits_per_s: b % 2 * 8_000_000_000,
                ..NetemConfig::delay(jitter)
            };
            return Netem::new(&config, &random).into();
        }
        10 => {
            let lane = |delay_ns, jitter_ns, loss| Lane {
                link: Line {
                    delay_ns,
                    ..line.clone()
                },
                jitter_ns,
                loss,
            };
            StageKind::Spray(config::Spray {
                lanes: vec![lane(b_ns, 0, 0.0), lane(a_ns, b_ns, often)],
                policy: [Policy::Random, Policy::RoundRobin][a as usize % 2],
                flowlet_gap_ns: 0,
            })
        }
        11 => StageKind::Radio(config::Radio {
            tti_ns: a_ns % 50,
            block_error: often,
            block_error_again: 0.1,
            retransmission_error: 0.1,
            harq_rtt_ns: b_ns,
            harq_retransmissions: 4,
            rlc_delay_ns: Some(20_000_000),
            in_order: a.is_multiple_of(2),
        }),
        12 => StageKind::SharedLink(config::SharedLink {
            link: line,
            cross: vec![CrossSource {
                pattern: Pattern::Poisson,
                bits_per_s: 300_000_000,
                packet_bytes: 30,
            }],
        }),
        13 => StageKind::TokenBucket(config::TokenBucket {
            bits_per_s: 1_000_000_000,
            burst_bytes: 40 + a,
            peak_bits_per_s: Some(2_000_000_000),
            peak_burst_bytes: 50,
            charge: Charge::ALL[b as usize % 2],
            buffer: QueueLimit::Bytes(a).into(),
            framing: Framing::None,
        }),
        14 => StageKind::Periodic(Periodic {
            interval_packets: 1 + a % 4,
            device_queue_packets: Some(1 + b % 9),
            link: Line {
                buffer: QueueLimit::Unlimited.into(),
                ..line
            },
        }),
        15 => return Box::new(processor(a, b, random)).into(),
        _ => {
            let config = NicConfig {
                ring_packets: 3 + b as usize % 20,
                coalesce: Coalesce::delay(a_ns),
                service_ns: b_ns % 30,
                ..NicConfig::default()
            };
            return Nic::new(&config.with_srpic(1 + a as usize % 5))
                .unwrap()
                .into();
        }
    };
    AnyStage::declared(&declared, random)
}

fn uniform(probability: f64, correlation: f64) -> config::Loss {
    config::Loss::Uniform(Uniform {
        probability,
        correlation,
    })
}

/// Losses one behind the other, each behind the one before with the probability `1 - to_bad`.
fn bursts(to_bad: f64) -> config::Loss {
    config::Loss::GilbertElliott(GilbertElliott {
        to_bad,
        to_good: None,
        loss_in_bad: 1.0,
        loss_in_good: 0.0,
    })
}

fn late(probability: f64, delay_ns: i64) -> config::Late {
    config::Late {
        probability,
        correlation: 0.0,
        delay_ns,
        from_ns: i64::MIN,
        until_ns: None,
    }
}

const KINDS: u8 = 17;

/// A processor in which no packet waits for others: what it holds at the end would not be delivered.
fn processor(a: u64, b: u64, random: Random) -> Processor<Probe> {
    let schemes = ["contiguous", "local", "its", "packet-sort"];
    let config = ProcessorConfig {
        processor: inorder_netproc::Config {
            scheme: schemes[a as usize % 4].to_owned(),
            dequeue: Some(inorder_netproc::Dequeue::Completion),
            ..inorder_netproc::Config::default()
        },
        background_per_s: 1e6 * (b % 3) as f64,
        background_bytes: 64,
        queue_packets: 1 + b as u32 % 9,
    };
    Processor::new(&config, random).unwrap()
}

/// All deliveries in order, and the counters of each stage.
fn run(path: Path<Probe>, gaps: &[(i64, u32)]) -> (Vec<(i64, Probe)>, Vec<Counters>) {
    let mut line = Timeline::new(path);
    let mut delivered = Vec::new();
    let mut now = 0;
    for (number, &(gap, bytes)) in gaps.iter().enumerate() {
        now += gap;
        line.push(now, Probe::of_flow(bytes % 3, number as u64, bytes));
        // The time of popping must not matter, so it happens at random.
        if bytes % 4 == 0 {
            delivered.extend(std::iter::from_fn(|| line.pop(now)));
        }
    }
    delivered.extend(std::iter::from_fn(|| line.pop(i64::MAX)));
    (delivered, line.counters().to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn ahead_is_the_same(
        stages in prop::collection::vec((0..KINDS, 0u64..150, 0u64..150), 0..6),
        seed in any::<u64>(),
        gaps in prop::collection::vec((0i64..120, 1u32..100), 1..80),
    ) {
        let build = || stages.iter().zip(seed..).map(|(&(kind, a, b), seed)| stage(kind, a, b, seed));
        let ahead = run(Path::new(build().collect()), &gaps);
        let naive = run(Path::with_an_event_at_every_stage(build().collect()), &gaps);
        prop_assert_eq!(&ahead.1, &naive.1);
        prop_assert_eq!(ahead.0, naive.0);
        for counters in &ahead.1 {
            // At the end no packet is held: those that arrived or were created have been forwarded or dropped.
            let gone = counters.sent + counters.dropped();
            prop_assert_eq!(counters.arrived + counters.duplicated, gone);
        }
    }
}

#[test]
fn a_link_and_netem_cost_one_event_per_packet() {
    let link = Link::new(&Line::new(1_000_000_000));
    let jitter = NetemConfig::delay(config::Delay::normal(2_500_000, 250_000));
    let netem = Netem::new(&jitter, &Random::new(1, "netem"));
    let mut path = Path::new(vec![link.into(), netem.into()]);
    let mut events = Vec::new();
    for n in 0..1000 {
        path.push(0, Probe::new(n, 1500), &mut |_, place: Place, _| {
            events.push(place);
        });
    }
    assert_eq!(events, vec![Place::END; 1000]);
}

#[test]
fn a_stage_that_depends_on_the_order_waits_for_its_event_after_jitter() {
    let jitter = || {
        Delay::new(
            &config::Delay::normal(10_000, 1_000),
            Random::new(1, "jitter"),
        )
    };
    let constant = || Delay::new(&config::Delay::constant(10_000), Random::new(1, "constant"));
    let link = || Link::new(&Line::new(1_000_000_000));
    let mut path = Path::new(vec![
        link().into(),
        jitter().into(),
        constant().into(),
        link().into(),
    ]);
    let mut places = Vec::new();
    path.push(0, Probe::new(0, 1500), &mut |t, place: Place, p| {
        places.push((t, place, p));
    });
    let (t, place, packet) = places.pop().unwrap();
    assert!(!place.is_end());
    path.resume(t, place, packet, &mut |t, place: Place, p| {
        places.push((t, place, p));
    });
    assert!(places.len() == 1 && places[0].1.is_end());
}

/// A driver that records the truth.
struct Truth(Vec<Mark<Probe>>);

impl Driver<Probe> for Truth {
    const WATCHES: bool = true;

    fn transfer(&mut self, _: i64, _: Place, _: Probe) {}

    fn watch(&mut self, mark: Mark<Probe>) {
        self.0.push(mark);
    }
}

#[test]
fn a_driver_that_watches_is_told_the_truth() {
    let loss = Loss::new(&uniform(0.1, 0.0), Random::new(1, "loss"));
    let late = Late::new(&late(0.05, 2_500), Random::new(1, "late"));
    let mut path = Path::new(vec![loss.into(), late.into()]);
    let mut truth = Truth(Vec::new());
    (0..1000).for_each(|n| path.push(n as i64 * 1000, Probe::new(n, 100), &mut truth));

    let count = |stage, fate| {
        let told = truth
            .0
            .iter()
            .filter(|m| m.stage == stage && m.fate == fate);
        told.count() as u64
    };
    let counters = path.counters();
    assert_eq!(
        count(0, Fate::Dropped(Reason::Loss)),
        counters[0].dropped_for(Reason::Loss)
    );
    assert_eq!(count(1, Fate::HeldBack(Some(2_500))), counters[1].held_back);
    assert_eq!(count(1, Fate::Overtook), counters[1].overtook);
    assert!(counters[0].dropped() > 50 && counters[1].held_back > 20);
    assert!(
        truth
            .0
            .iter()
            .all(|mark| mark.time_ns >= mark.packet.number as i64 * 1000)
    );
    // Each delayed packet is overtaken by the next two that arrive.
    assert!(counters[1].overtook > counters[1].held_back);
}

/// Holds one packet until a second arrives, then sends them in reverse order.
struct Swap(Option<Probe>);

impl Stage<Probe> for Swap {
    fn push(&mut self, now_ns: i64, packet: Probe, out: &mut Outbox<Probe>) {
        match self.0.take() {
            None => self.0 = Some(packet),
            Some(held) => {
                out.send(now_ns, packet);
                out.send(now_ns, held);
            }
        }
    }

    fn keeps_order(&self) -> bool {
        true
    }
}

#[test]
fn a_custom_stage() {
    let link = Link::new(&Line::new(1_000_000_000));
    let swap = AnyStage::Custom(Box::new(Swap(None)));
    let mut line = Timeline::new(Path::new(vec![swap, link.into()]));
    (0..4).for_each(|n| line.push(0, Probe::new(n, 1212)));
    let arrived: Vec<_> = std::iter::from_fn(|| line.pop(i64::MAX)).collect();
    let arrived: Vec<_> = arrived.iter().map(|(t, p)| (t / 1000, p.number)).collect();
    assert_eq!(arrived, [(10, 1), (20, 0), (30, 3), (40, 2)]);
}

#[test]
fn a_path_can_go_to_another_thread() {
    fn sends<T: Send>() {}
    sends::<Path<Probe>>();
    sends::<Timeline<Probe>>();
}

#[test]
fn an_empty_path_delivers_at_once() {
    let mut line = Timeline::new(Path::new(Vec::new()));
    line.push(7, Probe::new(1, 100));
    assert_eq!(line.pop(7), Some((7, Probe::new(1, 100))));
}
