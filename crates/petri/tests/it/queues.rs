//! Simulated queues with closed forms: the formula must be within the interval. [`super::closed_forms`] has those of which only one
//! number is asked.
//!
//! The intervals have a confidence of 99.9 %, so a true value is outside in one of a thousand cases. `--nocapture`
//! prints all.

use crate::common::runs::{
    Length, birth_death, holds, mean_of, measured, net, pollaczek_khinchine, raced, single_server,
};
use inorder_petri::coloured::{CounterSpec, Delay, Engine, Model, QueueSpec, Token};
use inorder_petri::race::Memory;
use inorder_petri::statistics::{Estimate, Measures};

/// Ticks per unit of time in the coloured models here.
const UNIT: f64 = 1e6;

fn coloured<T: Token>(net: Model<T>, units: f64) -> Measures {
    let length = Length {
        ticks_per_unit: UNIT,
        units,
        confidence: 0.999,
    };
    measured(Engine::new(net, 1).unwrap(), length)
}

fn race(text: &str, memory: Memory, units: f64) -> Measures {
    raced(&net(text), memory, units, Vec::new())
}

#[test]
fn m_m_1() {
    let text = single_server("exponential rate 0.7", "exponential rate 1");
    let measures = race(&text, Memory::Enabling, 150_000.0);
    let queue = measures.place("queue").unwrap();
    holds("M/M/1: customers", queue.tokens, 0.7 / 0.3, 0.2);
    holds("M/M/1: stay", queue.sojourn.unwrap(), 1.0 / 0.3, 0.2);
    let serve = measures.transition("serve").unwrap();
    holds("M/M/1: utilisation", serve.utilisation.unwrap(), 0.7, 0.05);
    holds("M/M/1: throughput", serve.throughput, 0.7, 0.05);
}

/// The queue M/D/1 as a coloured net that holds tokens while it serves them.
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
    let measures = coloured(net, 100_000.0);
    // Only waiting customers are in the place.
    let exact = pollaczek_khinchine(0.6, 1.0, 1.0) - 0.6;
    let place = &measures.places[0];
    holds("M/D/1 coloured: waiting", place.tokens, exact, 0.2);
    holds(
        "M/D/1 coloured: wait",
        place.sojourn.unwrap(),
        exact / 0.6,
        0.2,
    );
    let busy = measures.transition("serve").unwrap().utilisation.unwrap();
    holds("M/D/1 coloured: utilisation", busy, 0.6, 0.05);
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
    let measures = coloured(net, 60_000.0);
    let in_system = Estimate {
        mean: 10.0 - measures.place("room").unwrap().tokens.mean,
        ..measures.places[1].tokens
    };
    holds(
        "M/M/4/10: in the system",
        in_system,
        mean_of(&p, |n| n),
        0.05,
    );
    let rate = |name: &str| measures.transition(name).unwrap().throughput;
    holds(
        "M/M/4/10: throughput",
        rate("serve"),
        3.6 * (1.0 - p[10]),
        0.02,
    );
    holds("M/M/4/10: lost", rate("lose"), 3.6 * p[10], 0.2);
    let busy = measures.transition("serve").unwrap().busy.unwrap();
    holds(
        "M/M/4/10: busy servers",
        busy,
        mean_of(&p, |n| n.min(4.0)),
        0.02,
    );
}

#[test]
fn machine_repairman() {
    // Six machines fail at rate 0.2 each; two repairmen.
    let p = birth_death(
        6,
        |down| 0.2 * f64::from(6 - down),
        |down| f64::from(down.min(2)),
    );
    let machines = "place up 6\nplace down\n\
        transition fail exponential rate 0.2 servers infinite\n in up\n out down\n\
        transition repair exponential rate 1 servers 2\n in down\n out up\n";
    let measures = race(machines, Memory::Enabling, 100_000.0);
    let down = measures.place("down").unwrap().tokens;
    holds("repairman: down", down, mean_of(&p, |n| n), 0.05);
    let busy = mean_of(&p, |n| n.min(2.0));
    let repair = measures.transition("repair").unwrap();
    holds("repairman: repairs", repair.throughput, busy, 0.02);
    holds(
        "repairman: utilisation",
        repair.utilisation.unwrap(),
        busy / 2.0,
        0.02,
    );
}

#[test]
fn tandem() {
    // Jackson: each queue behaves as if it were alone.
    let text = "place first\nplace second\ntransition arrive exponential rate 0.5\n out first\n\
        transition serve1 exponential rate 1\n in first\n out second\n\
        transition serve2 exponential rate 0.8\n in second\n";
    let measures = race(text, Memory::Enabling, 100_000.0);
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
    let measures = coloured(net, 100_000.0);
    let stay = measures.place("in system").unwrap().sojourn.unwrap();
    holds(
        "fork-join: time in system",
        stay,
        (12.0 - 0.5) / 8.0 / 0.5,
        0.1,
    );
}

#[test]
fn memory_policies() {
    // A job of fixed length 1 that is interrupted at rate 0.8 for a mean of 0.5. Mean times to completion: resumed, 1 + failures *
    // repair; repeated from the start, (e^(0.8) - 1) * (1 / 0.8 + 0.5) (D. P. Gaver, J. Royal Statistical Society B 24(1), 1962). If
    // the time is drawn anew after every firing, each repair and each failure restarts it: the result is the same for a fixed length.
    let interrupted = "place up 1\nplace down\n\
        transition fail exponential rate 0.8\n in up\n out down\n\
        transition repair exponential rate 2\n in down\n out up\n\
        transition work deterministic 1\n read up\n";
    let resumed = 1.0 + 0.8 * 0.5;
    let repeated = (libm::exp(0.8) - 1.0) * (1.0 / 0.8 + 0.5);
    for (memory, mean) in [
        (Memory::Age, resumed),
        (Memory::Enabling, repeated),
        (Memory::Resampling, repeated),
    ] {
        let measures = race(interrupted, memory, 60_000.0);
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
    // A clock that ticks at rate 0.8 next to work of length 1: only resampling is affected. What counts of this time can be divided into
    // observations of whole ticks, so that the rate without resampling is exact.
    let ticking = "transition tick exponential rate 0.8\ntransition work deterministic 1\n";
    let rate = |memory| {
        race(ticking, memory, 64_000.0)
            .transition("work")
            .unwrap()
            .throughput
    };
    let restarted = 0.8 / (libm::exp(0.8) - 1.0);
    holds(
        "beside a ticking clock",
        rate(Memory::Resampling),
        restarted,
        0.05,
    );
    for memory in [Memory::Enabling, Memory::Age] {
        let mean = rate(memory).mean;
        assert!((mean - 1.0).abs() < 1e-12, "{mean}");
    }
}
