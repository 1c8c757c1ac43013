//! Simulated queues with closed forms: the formula must be within the interval.
//!
//! The intervals have a confidence of 99.9 %, so a true value is outside in one of a thousand cases. `--nocapture`
//! prints all.

use inorder_petri::coloured::{CounterSpec, Delay, Engine, Model, QueueSpec};
use inorder_petri::net::{Net, Place, Servers, Timing, Transition};
use inorder_petri::race::{Memory, Race};
use inorder_petri::statistics::{Estimate, Measures, Simulation, Steady, steady_state};

/// Ticks per unit of time in the coloured models here.
const UNIT: f64 = 1e6;

/// Estimates over `units` of time, of which a tenth is the warm-up.
fn run(mut simulation: impl Simulation, ticks_per_unit: f64, units: f64) -> Measures {
    let plan = Steady {
        ticks_per_unit,
        warm_up: Some((0.1 * units * ticks_per_unit) as u64),
        batch: (units / 40.0 * ticks_per_unit) as u64,
        end: (units * ticks_per_unit) as u64,
        most_firings: u64::MAX,
        precision: 0.0,
        confidence: 0.999,
    };
    steady_state(&mut simulation, &plan, |_, _| true)
        .unwrap()
        .measures
}

fn race(net: &Net, units: f64) -> Measures {
    let race = Race::new(net, Memory::Enabling, 1).unwrap();
    let ticks = race.ticks_per_unit();
    run(race, ticks, units)
}

#[track_caller]
fn holds(what: &str, estimate: Estimate, exact: f64, most: f64) {
    println!(
        "{what:<44} exact {exact:9.5}  simulated {:9.5} +- {:.5}",
        estimate.mean, estimate.half_width
    );
    assert!(estimate.covers(exact), "{what}: {estimate:?}, not {exact}");
    let error = estimate.relative_error();
    assert!(error < most, "{what}: an interval of {error} shows little");
}

/// A queue with arrivals at rate `lambda` and this service.
fn single_server(lambda: f64, service: Timing) -> Net {
    let mut net = Net::new("queue");
    let queue = net.add_place(Place::new("queue", 0));
    net.add_transition(Transition::new("arrive", Timing::exponential(lambda)).output(queue, 1));
    net.add_transition(Transition::new("serve", service).input(queue, 1));
    net
}

/// Mean number in an M/G/1 queue of service time 1 (Pollaczek and Khinchine; Kleinrock, "Queueing Systems" I, 5.63).
fn pollaczek_khinchine(rho: f64, squared_variation: f64) -> f64 {
    rho + rho * rho * (1.0 + squared_variation) / (2.0 * (1.0 - rho))
}

#[test]
fn m_m_1() {
    let measures = race(&single_server(0.7, Timing::exponential(1.0)), 150_000.0);
    let queue = measures.place("queue").unwrap();
    holds("M/M/1, rho 0.7: customers", queue.tokens, 0.7 / 0.3, 0.2);
    holds(
        "M/M/1, rho 0.7: stay",
        queue.sojourn.unwrap(),
        1.0 / 0.3,
        0.2,
    );
    let serve = measures.transition("serve").unwrap();
    holds(
        "M/M/1, rho 0.7: utilisation",
        serve.utilisation.unwrap(),
        0.7,
        0.05,
    );
    holds("M/M/1, rho 0.7: throughput", serve.throughput, 0.7, 0.05);
}

#[test]
fn m_g_1_with_all_distributions() {
    let two_points = [(0.5, 2.0), (2.0, 1.0)];
    let observation = |(delay, weight)| inorder_petri::net::Observation { delay, weight };
    let services = [
        ("M/D/1", Timing::Deterministic { delay: 1.0 }, 0.0),
        (
            "M/U/1",
            Timing::Uniform {
                low: 0.0,
                high: 2.0,
            },
            1.0 / 3.0,
        ),
        (
            "M/E4/1",
            Timing::Erlang {
                stages: 4,
                rate: 4.0,
            },
            0.25,
        ),
        (
            "M/empirical/1",
            Timing::Empirical {
                values: two_points.map(observation).into(),
            },
            0.5,
        ),
    ];
    for (name, service, variation) in services {
        let net = single_server(0.6, service);
        let exact = pollaczek_khinchine(0.6, variation);
        let measures = race(&net, 60_000.0);
        holds(
            &format!("{name}, rho 0.6: customers"),
            measures.places[0].tokens,
            exact,
            0.2,
        );
    }
}

/// The same as a coloured net that holds tokens while it serves them.
#[test]
fn m_d_1_with_reservation() {
    let mut net: Model<u64> = Model::new();
    let waiting = net.queue("waiting", QueueSpec::fifo());
    let out = net.sink("out");
    net.transition("arrive")
        .delay(Delay::exponential(UNIT / 0.6))
        .put(waiting, |b| b.now);
    let delay = Delay::Deterministic(UNIT as u64);
    net.transition("serve")
        .take(waiting)
        .servers(1)
        .delay(delay)
        .pass(out, 0);
    let measures = run(Engine::new(net, 1).unwrap(), UNIT, 100_000.0);
    // Only waiting customers are in the place.
    let exact = pollaczek_khinchine(0.6, 0.0) - 0.6;
    holds(
        "M/D/1 coloured, rho 0.6: waiting",
        measures.places[0].tokens,
        exact,
        0.2,
    );
    holds(
        "M/D/1 coloured: wait",
        measures.places[0].sojourn.unwrap(),
        exact / 0.6,
        0.2,
    );
    let serve = measures.transition("serve").unwrap();
    holds(
        "M/D/1 coloured: utilisation",
        serve.utilisation.unwrap(),
        0.6,
        0.05,
    );
}

/// Probabilities of 0..=n customers if birth and death rates depend on their number.
fn birth_death(n: u32, birth: impl Fn(u32) -> f64, death: impl Fn(u32) -> f64) -> Vec<f64> {
    let mut weights = vec![1.0];
    for i in 1..=n {
        weights.push(weights[i as usize - 1] * birth(i - 1) / death(i));
    }
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}

fn mean(probabilities: &[f64]) -> f64 {
    probabilities
        .iter()
        .enumerate()
        .map(|(n, p)| n as f64 * p)
        .sum()
}

#[test]
fn m_m_4_10() {
    let p = birth_death(10, |_| 3.6, |n| f64::from(n.min(4)));
    let mut net: Model<u8> = Model::new();
    let waiting = net.queue("waiting", QueueSpec::fifo());
    let room = net.counter("room", CounterSpec::new(10));
    // Arrivals to a full system are lost: they happen in any case, and are accepted or not.
    let arrived = net.queue("arrived", QueueSpec::fifo());
    let lost = net.sink("lost");
    net.transition("arrive")
        .delay(Delay::exponential(UNIT / 3.6))
        .put(arrived, |_| 0);
    net.transition("enter")
        .take(arrived)
        .spend(room, 1)
        .priority(2)
        .pass(waiting, 0);
    net.transition("lose")
        .take(arrived)
        .priority(1)
        .pass(lost, 0);
    let service = Delay::exponential(UNIT);
    net.transition("serve")
        .take(waiting)
        .servers(4)
        .delay(service)
        .give(room, 1);
    let measures = run(Engine::new(net, 1).unwrap(), UNIT, 60_000.0);
    let serve = measures.transition("serve").unwrap();
    let in_system = Estimate {
        mean: 10.0 - measures.place("room").unwrap().tokens.mean,
        ..measures.places[1].tokens
    };
    holds("M/M/4/10: in the system", in_system, mean(&p), 0.05);
    holds(
        "M/M/4/10: throughput",
        serve.throughput,
        3.6 * (1.0 - p[10]),
        0.02,
    );
    holds(
        "M/M/4/10: lost",
        measures.transition("lose").unwrap().throughput,
        3.6 * p[10],
        0.2,
    );
    let busy: f64 = p.iter().enumerate().map(|(n, p)| p * n.min(4) as f64).sum();
    holds("M/M/4/10: busy servers", serve.busy.unwrap(), busy, 0.02);
}

#[test]
fn machine_repairman() {
    // Six machines fail at rate 0.2 each; two repairmen.
    let p = birth_death(
        6,
        |down| 0.2 * f64::from(6 - down),
        |down| f64::from(down.min(2)),
    );
    let mut net = Net::new("machines");
    let up = net.add_place(Place::new("up", 6));
    let down = net.add_place(Place::new("down", 0));
    let fail = Transition::new("fail", Timing::exponential(0.2)).servers(Servers::Infinite);
    net.add_transition(fail.input(up, 1).output(down, 1));
    let repair = Transition::new("repair", Timing::exponential(1.0)).servers(Servers::Multiple(2));
    net.add_transition(repair.input(down, 1).output(up, 1));
    let measures = race(&net, 100_000.0);
    holds(
        "repairman: down",
        measures.place("down").unwrap().tokens,
        mean(&p),
        0.05,
    );
    let busy: f64 = p.iter().enumerate().map(|(n, p)| p * n.min(2) as f64).sum();
    holds(
        "repairman: repairs",
        measures.transition("repair").unwrap().throughput,
        busy,
        0.02,
    );
    let work = measures.transition("repair").unwrap().utilisation.unwrap();
    holds("repairman: utilisation", work, busy / 2.0, 0.02);
}

#[test]
fn tandem() {
    // Jackson: each queue behaves as if it were alone.
    let mut net = Net::new("tandem");
    let first = net.add_place(Place::new("first", 0));
    let second = net.add_place(Place::new("second", 0));
    net.add_transition(Transition::new("arrive", Timing::exponential(0.5)).output(first, 1));
    let serve = |name, rate| Transition::new(name, Timing::exponential(rate));
    net.add_transition(serve("serve1", 1.0).input(first, 1).output(second, 1));
    net.add_transition(serve("serve2", 0.8).input(second, 1));
    let measures = race(&net, 100_000.0);
    holds("tandem: first", measures.places[0].tokens, 0.5 / 0.5, 0.1);
    holds("tandem: second", measures.places[1].tokens, 0.5 / 0.3, 0.15);
}

#[test]
fn fork_join() {
    // Two servers of rate 1, arrivals at rate 0.5 that go to both: mean time in the system
    // (12 - rho) / 8 / (mu - lambda) (R. Nelson and A. Tantawi, IEEE Trans. Computers 37(6), 1988, eq. 2).
    let mut net: Model<u32> = Model::new();
    // A token is the half of a job that one of the servers processes.
    let halves = net.queue("halves", QueueSpec::fifo().keyed(2, |half: &u32| *half));
    let server = net.counter("server", CounterSpec::keyed(2, 1));
    let done = [0, 1].map(|half| net.queue(format!("done{half}"), QueueSpec::fifo()));
    let in_system = net.counter("in system", CounterSpec::new(0));
    net.transition("arrive")
        .delay(Delay::exponential(UNIT / 0.5))
        .put_many(halves, |_, out| out.extend([0, 1]))
        .give(in_system, 1);
    net.transition("serve")
        .take(halves)
        .spend(server, 1)
        .delay(Delay::exponential(UNIT))
        .give(server, 1)
        .route(done, |b| (b[0] as usize, b[0]));
    // Each server works in order, so the first halves of both belong to the same job.
    net.transition("join")
        .take(done[0])
        .take(done[1])
        .spend(in_system, 1);
    let measures = run(Engine::new(net, 1).unwrap(), UNIT, 100_000.0);
    let stay = measures.place("in system").unwrap().sojourn.unwrap();
    holds(
        "fork-join, rho 0.5: time in system",
        stay,
        (12.0 - 0.5) / 8.0 / 0.5,
        0.1,
    );
}

/// A job of fixed length 1 that is interrupted at rate 0.8 for a mean of 0.5.
fn interrupted() -> Net {
    let mut net = Net::new("interrupted");
    let up = net.add_place(Place::new("up", 1));
    let down = net.add_place(Place::new("down", 0));
    let fail = Transition::new("fail", Timing::exponential(0.8));
    net.add_transition(fail.input(up, 1).output(down, 1));
    let repair = Transition::new("repair", Timing::exponential(2.0));
    net.add_transition(repair.input(down, 1).output(up, 1));
    net.add_transition(Transition::new("work", Timing::Deterministic { delay: 1.0 }).read(up, 1));
    net
}

#[test]
fn memory_policies() {
    // Mean times to completion: resumed, 1 + failures * repair; repeated from the start, (e^(0.8) - 1) * (1 / 0.8 +
    // 0.5) (D. P. Gaver, J. Royal Statistical Society B 24(1), 1962). If the time is drawn anew after every firing,
    // each repair and each failure restarts it: the result is the same for a fixed length.
    let resumed = 1.0 + 0.8 * 0.5;
    let repeated = (libm::exp(0.8) - 1.0) * (1.0 / 0.8 + 0.5);
    let policies = [
        (Memory::Age, resumed),
        (Memory::Enabling, repeated),
        (Memory::Resampling, repeated),
    ];
    for (memory, mean) in policies {
        let race = Race::new(&interrupted(), memory, 1).unwrap();
        let ticks = race.ticks_per_unit();
        let measures = run(race, ticks, 60_000.0);
        let work = measures.transition("work").unwrap().throughput;
        holds(
            &format!("{memory:?} memory: completions"),
            work,
            1.0 / mean,
            0.05,
        );
    }
}

#[test]
fn resampling_restarts_work_in_progress() {
    // A clock that ticks at rate 0.8 next to work of length 1: only resampling is affected.
    let mut net = Net::new("ticking");
    net.add_transition(Transition::new("tick", Timing::exponential(0.8)));
    net.add_transition(Transition::new(
        "work",
        Timing::Deterministic { delay: 1.0 },
    ));
    let rate = |memory| {
        let race = Race::new(&net, memory, 1).unwrap();
        let ticks = race.ticks_per_unit();
        run(race, ticks, 60_000.0)
            .transition("work")
            .unwrap()
            .throughput
    };
    let restarted = 0.8 / (libm::exp(0.8) - 1.0);
    holds(
        "beside a ticking clock, resampling",
        rate(Memory::Resampling),
        restarted,
        0.05,
    );
    for memory in [Memory::Enabling, Memory::Age] {
        let mean = rate(memory).mean;
        assert!((mean - 1.0).abs() < 1e-12, "{mean}");
    }
}
