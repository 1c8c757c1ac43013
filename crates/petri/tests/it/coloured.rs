//! Small coloured nets as traces: which token arrived where, and when.

use inorder_petri::coloured::{
    Bound, CounterSpec, Delay, Engine, Model, ModelError, Observer, PlaceId, Queue, QueueSpec,
    RunError, Stop, TransitionBuilder, TransitionId,
};

/// Records the deposits in one place.
struct Trace<T> {
    place: PlaceId,
    seen: Vec<(u64, T)>,
}

impl<T> Trace<T> {
    fn of(place: Queue) -> Self {
        Self {
            place: place.into(),
            seen: Vec::new(),
        }
    }
}

impl<T: Copy> Observer<T> for Trace<T> {
    fn deposited(&mut self, now: u64, place: PlaceId, token: &T) {
        if place == self.place {
            self.seen.push((now, *token));
        }
    }
}

/// Runs until nothing happens any more; returns the tokens that arrived at `out`, with their times.
#[track_caller]
fn trace(net: Model<u32>, out: Queue, seed: u64) -> Vec<(u64, u32)> {
    let mut trace = Trace::of(out);
    let stop = Engine::new(net, seed)
        .unwrap()
        .run_until(1_000_000, &mut trace)
        .unwrap();
    assert_eq!(stop, Stop::Dead);
    trace.seen
}

/// Runs a net in which `serve` takes the tokens of a queue to `out`; returns these with their times.
fn served(
    queue: QueueSpec<u32>,
    seed: u64,
    serve: impl for<'m> Fn(TransitionBuilder<'m, u32>) -> TransitionBuilder<'m, u32>,
) -> Vec<(u64, u32)> {
    let mut net = Model::new();
    let waiting = net.queue("waiting", queue);
    let out = net.sink("out");
    serve(net.transition("serve").take(waiting)).pass(out, 0);
    trace(net, out, seed)
}

fn tokens(seen: Vec<(u64, u32)>) -> Vec<u32> {
    seen.into_iter().map(|(_, token)| token).collect()
}

#[test]
fn one_server_serves_in_order() {
    let delay = Delay::Deterministic(10);
    let seen = served(QueueSpec::fifo().tokens([7, 8, 9]), 1, |serve| {
        serve.servers(1).delay(delay.clone())
    });
    assert_eq!(seen, [(10, 7), (20, 8), (30, 9)]);
}

#[test]
fn the_delay_may_depend_on_the_token() {
    // Without a limit all are served at once.
    let seen = served(QueueSpec::fifo().tokens([30, 10, 20]), 1, |serve| {
        serve.delay_by(|b, _| u64::from(b[0]))
    });
    assert_eq!(seen, [(10, 10), (20, 20), (30, 30)]);
}

#[test]
fn colours_join_keyed_places() {
    // Two engines, each with its own work; engine 1 is missing.
    let mut net = Model::new();
    let ready = QueueSpec::fifo()
        .keyed(3, |job: &u32| job % 3)
        .tokens([1, 0, 3, 2]);
    let ready = net.queue("ready", ready);
    let engine = net.counter("engine", CounterSpec::counts(vec![1, 0, 1]));
    let out = net.sink("out");
    net.transition("execute")
        .take(ready)
        .spend(engine, 1)
        .delay_by(|b, _| 10 + u64::from(b.colour))
        .give(engine, 1)
        .pass(out, 0);
    assert_eq!(trace(net, out, 1), [(10, 0), (12, 2), (20, 3)]);
}

#[test]
fn a_random_key_is_served_but_each_key_in_order() {
    let order = |seed| {
        let jobs = QueueSpec::fifo().keyed(2, |job: &u32| job % 2).tokens(0..6);
        tokens(served(jobs, seed, |serve| {
            serve.servers(1).delay(Delay::Deterministic(1))
        }))
    };
    let orders: Vec<Vec<u32>> = (0..20).map(order).collect();
    for order in &orders {
        let even: Vec<_> = order.iter().filter(|job| *job % 2 == 0).collect();
        assert_eq!(even, [&0, &2, &4], "{order:?}");
    }
    assert!(orders.iter().any(|order| *order != orders[0]));
}

#[test]
fn the_least_rank_comes_first() {
    let mut net = Model::new();
    let sorted = QueueSpec::least(|token: &u32| u64::from(*token)).tokens([5, 3, 9, 4]);
    let sorted = net.queue("sorted", sorted);
    let expected = net.queue("expected", QueueSpec::fifo().tokens([3]));
    let out = net.sink("out");
    // Released in the order of their numbers, as far as there is no gap.
    net.transition("release")
        .take(expected)
        .take(sorted)
        .guard(|b| b[0] == b[1])
        .put(expected, |b| b[0] + 1)
        .pass(out, 1);
    assert_eq!(trace(net, out, 1), [(0, 3), (0, 4), (0, 5)]);
}

#[test]
fn a_guard_blocks_the_head_of_a_queue_but_searches_a_random_place() {
    let run = |spec: QueueSpec<u32>| {
        let even = served(spec.tokens([1, 2, 3, 4]), 1, |serve| {
            serve.guard(|b| b[0].is_multiple_of(2))
        });
        let mut even = tokens(even);
        even.sort_unstable();
        even
    };
    assert_eq!(run(QueueSpec::fifo()), [0; 0]);
    assert_eq!(run(QueueSpec::random()), [2, 4]);
}

#[test]
fn a_key_may_be_computed_from_the_tokens() {
    // A pointer visits slots in order, which are filled out of order.
    let mut net = Model::new();
    let filled = net.queue("filled", QueueSpec::fifo().keyed(4, |slot: &u32| *slot));
    let pointer = net.queue("pointer", QueueSpec::fifo().tokens([0]));
    let arriving = net.queue("arriving", QueueSpec::fifo().tokens([2, 0, 3, 1]));
    let out = net.sink("out");
    let delay = Delay::Deterministic(10);
    net.transition("fill")
        .take(arriving)
        .servers(1)
        .delay(delay)
        .pass(filled, 0);
    net.transition("send")
        .take(pointer)
        .take_at(filled, |b| b[0])
        .delay(Delay::Deterministic(1))
        .put(pointer, |b| (b[0] + 1) % 4)
        .pass(out, 1);
    assert_eq!(trace(net, out, 1), [(21, 0), (41, 1), (42, 2), (43, 3)]);
}

#[test]
fn inhibitors_reads_and_resets() {
    let mut net = Model::new();
    let waiting = net.queue("waiting", QueueSpec::fifo().tokens([1, 2, 3]));
    let policy = net.queue("policy", QueueSpec::fifo().tokens([100]));
    let done = net.counter("done", CounterSpec::new(0));
    let out = net.sink("out");
    // The policy is read and not taken; after two firings the rest waits.
    net.transition("serve")
        .take(waiting)
        .read(policy)
        .inhibit(done, 2)
        .servers(1)
        .delay(Delay::Deterministic(10))
        .give(done, 1)
        .put(out, |b| b[0] + b[1]);
    let mut engine = Engine::new(net, 1).unwrap();
    let mut seen = Trace::of(out);
    assert_eq!(engine.run_until(1000, &mut seen), Ok(Stop::Dead));
    assert_eq!(seen.seen, [(10, 101), (20, 102)]);
    assert_eq!(
        (
            engine.len(policy),
            engine.len(waiting),
            engine.count(done, 0)
        ),
        (1, 1, 2)
    );

    let mut net: Model<u32> = Model::new();
    let junk = net.queue("junk", QueueSpec::fifo().tokens(0..9));
    let go = net.counter("go", CounterSpec::new(1));
    net.transition("flush").spend(go, 1).reset(junk);
    let mut engine = Engine::new(net, 1).unwrap();
    engine.run_until(0, &mut ()).unwrap();
    assert_eq!(engine.len(junk), 0);
}

#[test]
fn capacity_includes_firings_in_progress() {
    let mut net = Model::new();
    let source = net.queue("source", QueueSpec::fifo().tokens(0..5));
    let buffer = net.queue("buffer", QueueSpec::fifo().capacity(2));
    let out = net.sink("out");
    net.transition("fill")
        .take(source)
        .delay(Delay::Deterministic(10))
        .pass(buffer, 0);
    net.transition("drain")
        .take(buffer)
        .servers(1)
        .delay(Delay::Deterministic(100))
        .pass(out, 0);
    let mut engine = Engine::new(net, 1).unwrap();
    engine.run_until(0, &mut ()).unwrap();
    // Two may start filling: there is no room to reserve for a third.
    assert_eq!(engine.len(source), 3);
    engine.run_until(15, &mut ()).unwrap();
    // One is being drained, so one more may start.
    assert_eq!((engine.len(buffer), engine.len(source)), (1, 2));
}

#[test]
fn priorities_and_weights() {
    let mut net: Model<u32> = Model::new();
    let waiting = net.queue("waiting", QueueSpec::fifo().tokens(0..10_000));
    let first = net.counter("first", CounterSpec::new(10));
    let urgent = net
        .transition("urgent")
        .take(waiting)
        .spend(first, 1)
        .priority(9)
        .id();
    let heavy = net.transition("heavy").take(waiting).weight(3.0).id();
    let light = net.transition("light").take(waiting).id();
    let mut engine = Engine::new(net, 1).unwrap();
    engine.run_until(0, &mut ()).unwrap();
    assert_eq!(engine.firings(urgent), 10);
    // 9990 choices with probability 3/4: four standard deviations are 173.
    let heavy = engine.firings(heavy);
    assert!((7492 - 173..7492 + 173).contains(&heavy), "{heavy}");
    assert_eq!(heavy + engine.firings(light), 9990);
}

#[test]
fn batches_and_tokens_held_by_a_firing() {
    let mut net = Model::new();
    let waiting = net.queue("waiting", QueueSpec::fifo().tokens(0..7));
    let out = net.sink("out");
    let burst = net
        .transition("burst")
        .take_many(waiting, 3)
        .servers(1)
        .delay(Delay::Deterministic(5))
        .put_many(out, |b: &Bound<'_, u32>, out| {
            out.extend(b.tokens.iter().rev());
        })
        .id();
    let mut engine = Engine::new(net, 1).unwrap();
    engine.run_until(4, &mut ()).unwrap();
    let held: Vec<Vec<u32>> = engine.under_way(burst).map(|b| b.tokens.to_vec()).collect();
    assert_eq!((held, engine.busy(burst)), (vec![vec![0, 1, 2]], 1));
    let mut seen = Trace::of(out);
    engine.run_until(100, &mut seen).unwrap();
    assert_eq!(
        seen.seen,
        [(5, 2), (5, 1), (5, 0), (10, 5), (10, 4), (10, 3)]
    );
}

/// Stops after a number of firings.
struct Firings(u32);

impl Observer<u32> for Firings {
    fn fired(&mut self, _: TransitionId, _: &Bound<'_, u32>) {
        self.0 -= 1;
    }

    fn is_done(&self) -> bool {
        self.0 == 0
    }
}

#[test]
fn an_observer_may_stop_the_run_and_tokens_come_from_outside() {
    let mut net = Model::new();
    let waiting = net.queue("waiting", QueueSpec::fifo());
    let out = net.sink("out");
    net.transition("serve")
        .take(waiting)
        .servers(1)
        .delay(Delay::Deterministic(10))
        .pass(out, 0);
    let mut engine = Engine::new(net, 1).unwrap();
    assert_eq!(engine.run_until(100, &mut Firings(2)), Ok(Stop::Dead));
    for token in 0..5 {
        engine.put(waiting, token).unwrap();
    }
    // Time advanced although nothing happened.
    assert_eq!(engine.run_until(200, &mut Firings(2)), Ok(Stop::Observer));
    // The third of five is being served.
    assert_eq!((engine.now(), engine.len(waiting)), (120, 2));
}

#[test]
fn equal_seeds_give_equal_runs() {
    let run = |seed| {
        served(QueueSpec::random().tokens(0..50), seed, |serve| {
            serve.servers(3).delay(Delay::exponential(100.0))
        })
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn many_tokens_that_fire_at_one_time_are_no_loop() {
    let mut net: Model<u32> = Model::new();
    let a = net.counter("a", CounterSpec::new(1_200_000));
    let b = net.counter("b", CounterSpec::new(0));
    net.transition("all").spend(a, 1).give(b, 1);
    let mut engine = Engine::new(net, 1).unwrap();
    engine.run_until(1, &mut ()).unwrap();
}

#[test]
fn zero_time_loops_are_refused() {
    let mut net: Model<u32> = Model::new();
    let a = net.counter("a", CounterSpec::new(1));
    net.transition("forever").spend(a, 1).give(a, 1);
    let error = Engine::new(net, 1).err().unwrap();
    assert!(matches!(error, ModelError::ZeroTimeLoop { .. }));
    assert!(error.to_string().contains("`forever`"), "{error}");

    // Two transitions that enable each other are detected only during the run.
    let mut net: Model<u32> = Model::new();
    let a = net.counter("a", CounterSpec::new(1));
    let b = net.counter("b", CounterSpec::new(0));
    net.transition("there").spend(a, 1).give(b, 1);
    net.transition("back").spend(b, 1).give(a, 1);
    let error = Engine::new(net, 1)
        .unwrap()
        .run_until(1, &mut ())
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("`there`") && text.contains("`back`"),
        "{text}"
    );
    assert!(
        text.contains("place `b`") || text.contains("place `a`"),
        "{text}"
    );
}

#[test]
fn bad_models_are_refused_by_name() {
    let refused = |why: &str, make: &dyn Fn(&mut Model<u32>)| {
        let mut net = Model::new();
        make(&mut net);
        let text = net.check().unwrap_err().to_string();
        assert!(text.contains(why), "{text}");
    };
    refused("place `p`: 3 tokens", &|net| {
        net.counter("p", CounterSpec::new(3).capacity(2));
    });
    refused("token 1", &|net| {
        net.queue("p", QueueSpec::fifo().keyed(2, |t| *t).tokens([1, 2]));
    });
    refused("transition `t`: more than one arc from `p`", &|net| {
        let p = net.queue("p", QueueSpec::fifo());
        net.transition("t").take(p).take(p);
    });
    refused("no keyed input tells which key of `p`", &|net| {
        let p = net.counter("p", CounterSpec::keyed(2, 0));
        let delay = Delay::Deterministic(1);
        net.transition("t").delay(delay).give(p, 1);
    });
    refused("weight", &|net| {
        let p = net.counter("p", CounterSpec::new(1));
        net.transition("t").spend(p, 1).weight(-1.0);
    });
    refused("passes token 1, but binds 1", &|net| {
        let p = net.queue("p", QueueSpec::fifo());
        net.transition("t").take(p).pass(p, 1);
    });
}

#[test]
fn keys_out_of_range_end_the_run_by_name() {
    let mut net = Model::new();
    let p = net.queue("p", QueueSpec::fifo().tokens([5]));
    let q = net.queue("q", QueueSpec::fifo().keyed(2, |t: &u32| *t));
    net.transition("t").take(p).pass(q, 0);
    let error = Engine::new(net, 1)
        .unwrap()
        .run_until(1, &mut ())
        .unwrap_err();
    assert_eq!(
        error,
        RunError::Key {
            place: "q".into(),
            key: 5,
            keys: 2
        }
    );
}
