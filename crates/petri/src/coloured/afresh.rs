//! The straightforward twin of the agenda: checks every rule every time. Only in tests.

use proptest::prelude::*;

use super::bind;
use super::{
    Bound, Counter, CounterSpec, Delay, Engine, Model, Queue, QueueSpec, Token, TransitionBuilder,
};

impl<T: Token> Engine<T> {
    /// Panics if the agenda's enabled rules differ from those that are enabled.
    pub(super) fn compare_agenda(&mut self) {
        let mut believed = Vec::new();
        self.state.agenda.enabled(&mut believed, |_| true);
        let mut found = Vec::new();
        for (index, rule) in self.rules.iter_mut().enumerate() {
            let places = &self.state.places;
            let marked = rule.inputs().all(|place| places[place as usize].len > 0);
            let (ways, enabled) = (rule.ways, rule.enabled.clone());
            if marked && bind::look(rule, places, &mut self.binding, self.state.now) {
                found.push(index as u32);
                if believed.contains(&(index as u32)) {
                    assert_eq!((ways, enabled), (rule.ways, rule.enabled.clone()));
                }
            }
        }
        assert_eq!(believed, found);
    }
}

const KEYS: u32 = 3;

/// A place of a random model.
#[derive(Debug, Clone)]
enum APlace {
    Queue {
        order: u8,
        keyed: bool,
        tokens: Vec<u32>,
        capacity: Option<u32>,
    },
    Counter {
        keyed: bool,
        each: u32,
    },
}

/// A transition of a random model; place numbers are taken modulo the number of places.
#[derive(Debug, Clone)]
struct ATransition {
    delay: Option<u64>,
    priority: u32,
    servers: Option<u32>,
    arcs: Vec<(u8, usize, u32)>,
    guard: Option<u32>,
}

fn a_place() -> impl Strategy<Value = APlace> {
    let tokens = prop::collection::vec(0u32..20, 0..6);
    let queue = (
        0u8..3,
        any::<bool>(),
        tokens,
        prop::option::weighted(0.3, 6u32..9),
    );
    prop_oneof![
        queue.prop_map(|(order, keyed, tokens, capacity)| APlace::Queue {
            order,
            keyed,
            tokens,
            capacity
        }),
        (any::<bool>(), 0u32..3).prop_map(|(keyed, each)| APlace::Counter { keyed, each }),
    ]
}

fn a_transition() -> impl Strategy<Value = ATransition> {
    let arcs = prop::collection::vec((0u8..10, 0usize..8, 1u32..3), 1..7);
    let delay = prop::option::weighted(0.7, 1u64..7);
    let servers = prop::option::of(1u32..3);
    (
        delay,
        0u32..3,
        servers,
        arcs,
        prop::option::weighted(0.3, 2u32..4),
    )
        .prop_map(|(delay, priority, servers, arcs, guard)| ATransition {
            delay,
            priority,
            servers,
            arcs,
            guard,
        })
}

enum Handle {
    Queue(Queue),
    Counter(Counter, bool),
}

fn add_place(model: &mut Model<u32>, index: usize, place: &APlace) -> Handle {
    let name = format!("p{index}");
    match place {
        APlace::Counter { keyed: true, each } => {
            Handle::Counter(model.counter(name, CounterSpec::keyed(KEYS, *each)), true)
        }
        APlace::Counter { keyed: false, each } => {
            Handle::Counter(model.counter(name, CounterSpec::new(*each)), false)
        }
        APlace::Queue {
            order,
            keyed,
            tokens,
            capacity,
        } => {
            let mut spec = match order {
                0 => QueueSpec::fifo(),
                1 => QueueSpec::random(),
                _ => QueueSpec::least(|token: &u32| u64::from(*token)),
            };
            if *keyed {
                spec = spec.keyed(KEYS, |token| token % KEYS);
            }
            spec = capacity
                .iter()
                .fold(spec, |spec, &most| spec.capacity(most));
            Handle::Queue(model.queue(name, spec.tokens(tokens.iter().copied())))
        }
    }
}

fn key(bound: &Bound<'_, u32>) -> u32 {
    bound.tokens.first().copied().unwrap_or(0) % KEYS
}

fn add_arc<'a>(
    t: TransitionBuilder<'a, u32>,
    (kind, place, count): (u8, &Handle, u32),
) -> TransitionBuilder<'a, u32> {
    match (place, kind) {
        (&Handle::Queue(queue), 0..3) => t.take(queue),
        (&Handle::Queue(queue), 3) => t.read(queue),
        (&Handle::Queue(queue), 4) => t.inhibit(queue, count + 1),
        (&Handle::Queue(queue), 5) => t.reset(queue),
        (&Handle::Queue(queue), 6) => t.put_if(queue, |b| b.tokens.first().copied()),
        (&Handle::Queue(queue), _) => t.put(queue, |b| b.tokens.iter().sum::<u32>() % 20),
        (&Handle::Counter(counter, true), 0..3) => t.spend_at(counter, count, key),
        (&Handle::Counter(counter, true), _) => t.give_at(counter, count, key),
        (&Handle::Counter(counter, false), 0..3) => t.spend(counter, count),
        (&Handle::Counter(counter, false), 3) => t.test(counter, count),
        (&Handle::Counter(counter, false), 4) => t.inhibit(counter, count + 1),
        (&Handle::Counter(counter, false), 5) => t.spend_with(counter, |b| b[0] % 3),
        (&Handle::Counter(counter, false), _) => t.give(counter, count),
    }
}

fn model(places: &[APlace], transitions: &[ATransition]) -> Model<u32> {
    let mut model = Model::new();
    let handles: Vec<Handle> = places
        .iter()
        .enumerate()
        .map(|(i, p)| add_place(&mut model, i, p))
        .collect();
    for (index, t) in transitions.iter().enumerate() {
        let mut builder = model.transition(format!("t{index}")).priority(t.priority);
        if let Some(ticks) = t.delay {
            builder = builder.delay(Delay::Uniform {
                low: 0,
                high: ticks,
            });
        }
        builder = t
            .servers
            .into_iter()
            .fold(builder, TransitionBuilder::servers);
        let mut binds = false;
        for &(kind, place, count) in &t.arcs {
            let place = &handles[place % handles.len()];
            // Counts computed from tokens need a token.
            let kind = match (place, kind) {
                (Handle::Counter(_, false), 5) if !binds => 6,
                _ => kind,
            };
            binds |= matches!((place, kind), (Handle::Queue(_), 0..4));
            builder = add_arc(builder, (kind, place, count));
        }
        if let (Some(divisor), true) = (t.guard, binds) {
            builder.guard(move |b| !b[0].is_multiple_of(divisor));
        }
    }
    model
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    /// For every net, the agenda knows exactly which rules are enabled at every choice (`choose` compares), and no
    /// place exceeds its capacity.
    #[test]
    fn the_agenda_misses_nothing(
        places in prop::collection::vec(a_place(), 1..6),
        transitions in prop::collection::vec(a_transition(), 1..6),
        seed in 0u64..4,
    ) {
        let Ok(mut engine) = Engine::new(model(&places, &transitions), seed) else {
            return Ok(());
        };
        engine.set_zero_time_limit(200);
        for time in 1..30 {
            if engine.run_until(time * 3, &mut ()).is_err() {
                break;
            }
            for (index, place) in places.iter().enumerate() {
                if let APlace::Queue { capacity: Some(most), .. } = place {
                    prop_assert!(engine.state.places[index].len <= *most);
                }
            }
        }
    }
}
