//! A path evaluated ahead of time gives the same result as a path with an event at every stage.

use inorder_base::random::Random;
use inorder_path::*;
use proptest::prelude::*;

/// Small numbers, so that equal times, full queues and late packets are frequent.
fn stage(kind: u8, a: u64, b: u64, seed: u64) -> AnyStage<Probe> {
    let random = Random::new(seed, "ahead");
    let (a_ns, b_ns) = (a.cast_signed(), b.cast_signed());
    let often = Probability::percent(30.0);
    let link = LinkConfig {
        propagation_ns: b_ns,
        queue: Limit::Packets(a % 7),
        framing: Framing::NONE,
        ..LinkConfig::new(1_000_000_000 * (1 + a % 3))
    };
    let jitter = DelayConfig {
        distribution: Distribution::Uniform,
        limit_packets: Some(1 + b as usize % 9),
        ..DelayConfig::normal(a_ns, b_ns)
    };
    let uniform = LossConfig::Uniform {
        probability: often,
        correlation: often,
    };
    match kind {
        0 => Link::new(&link).into(),
        1 => Delay::new(&jitter, random).into(),
        2 => Delay::new(&DelayConfig::constant(a_ns), random).into(),
        3 => Loss::new(&uniform, random).into(),
        4 => Loss::new(
            &LossConfig::GilbertElliott(GilbertElliott::new(often)),
            random,
        )
        .into(),
        5 => Duplicate::new(
            &DuplicateConfig {
                probability: often,
                correlation: Probability::NEVER,
                copy_delay_ns: a_ns % 3 * b_ns,
            },
            random,
        )
        .into(),
        6 => Corrupt::new(
            &CorruptConfig {
                probability: often,
                correlation: often,
                discard: a.is_multiple_of(2),
            },
            random,
        )
        .into(),
        7 => Reorder::new(&ReorderConfig::gap(a as u32 % 5), &jitter, random).into(),
        8 => Late::new(
            &LateConfig {
                probability: often,
                correlation: Probability::NEVER,
                delay_ns: b_ns,
            },
            random,
        )
        .into(),
        9 => Netem::new(
            &NetemConfig {
                duplicate: often,
                loss: uniform,
                reorder: ReorderConfig {
                    gap: a as u32 % 3,
                    ..ReorderConfig::probability(often)
                },
                rate_bits_per_s: b % 2 * 8_000_000_000,
                ..NetemConfig::delay(jitter)
            },
            &random,
        )
        .into(),
        10 => Spray::new(
            &SprayConfig {
                lanes: vec![
                    link.clone().into(),
                    LaneConfig {
                        jitter_ns: b_ns,
                        loss: often,
                        ..LinkConfig {
                            propagation_ns: a_ns,
                            ..link
                        }
                        .into()
                    },
                ],
                policy: [SprayPolicy::Random, SprayPolicy::RoundRobin][a as usize % 2],
            },
            random,
        )
        .into(),
        11 => Radio::new(
            &RadioConfig {
                tti_ns: a_ns % 50,
                block_error: often,
                harq_rtt_ns: b_ns,
                in_order: a.is_multiple_of(2),
                ..RadioConfig::default()
            },
            random,
        )
        .into(),
        12 => SharedLink::new(
            &SharedLinkConfig {
                link,
                sources: vec![CrossTraffic {
                    pattern: Pattern::Poisson,
                    bits_per_s: 300_000_000,
                    packet_bytes: 30,
                }],
            },
            &random,
        )
        .into(),
        13 => TokenBucket::new(&TokenBucketConfig {
            rate_bits_per_s: 1_000_000_000,
            burst_bytes: 40 + a,
            peak: Some((2_000_000_000, 50)),
            charge: [Charge::Before, Charge::After][b as usize % 2],
            queue: Limit::Bytes(a),
            framing: Framing::NONE,
        })
        .into(),
        14 => PeriodicReorder::new(&PeriodicConfig {
            reorder_interval_packets: 1 + a as usize % 4,
            device_queue_packets: 1 + b as usize % 9,
            link: LinkConfig {
                queue: Limit::Unlimited,
                ..link
            },
        })
        .into(),
        15 => Box::new(processor(a, b, random)).into(),
        _ => Nic::new(
            &NicConfig {
                ring_packets: 3 + b as usize % 20,
                coalesce: Coalesce::delay(a_ns),
                service_ns: b_ns % 30,
                ..NicConfig::default()
            }
            .with_srpic(1 + a as usize % 5),
        )
        .unwrap()
        .into(),
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
    let link = Link::new(&LinkConfig::new(1_000_000_000));
    let jitter = NetemConfig::delay(DelayConfig::normal(2_500_000, 250_000));
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
            &DelayConfig::normal(10_000, 1_000),
            Random::new(1, "jitter"),
        )
    };
    let constant = || Delay::new(&DelayConfig::constant(10_000), Random::new(1, "constant"));
    let link = || Link::new(&LinkConfig::new(1_000_000_000));
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
    let loss = LossConfig::Uniform {
        probability: Probability::percent(10.0),
        correlation: Probability::NEVER,
    };
    let loss = Loss::new(&loss, Random::new(1, "loss"));
    let late = LateConfig {
        probability: Probability::percent(5.0),
        correlation: Probability::NEVER,
        delay_ns: 2_500,
    };
    let late = Late::new(&late, Random::new(1, "late"));
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
    let link = Link::new(&LinkConfig::new(1_000_000_000));
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
