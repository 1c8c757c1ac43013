//! Local allocation: every engine has a lock and a part of the buffer.
//!
//! The paper gives no mechanism that explains its throughput. In this model the lock is held for a fitted time in
//! addition to the transfer, exponentially distributed like all instructions.

use inorder_petri::coloured::{CounterSpec, Queue, QueueSpec};

use super::frees;
use crate::config::{Dequeue, TICKS_PER_CYCLE};
use crate::hop::{CoreSpec, Hop};
use crate::job::{Job, Step};

pub(super) fn build(hop: &mut Hop<'_>, out: Queue) {
    let config = hop.config;
    let engines = config.engines;
    let threads = hop.threads(0..engines, u32::MAX);
    let idle = hop.queue("thread", QueueSpec::fifo().tokens(threads));
    let by_engine = |job: &Job| u32::from(job.engine);
    let waiting = hop.queue("lock-queue", QueueSpec::fifo().keyed(engines, by_engine));
    let spec = CoreSpec {
        processed: Some(waiting),
        sections: &[Step::Transmit],
        regular: hop.config.regular.unwrap_or(false),
        ..CoreSpec::default()
    };
    let core = hop.core(engines, spec);
    let each = (config.slots() / engines).max(1);
    let buffer = hop.buffer(
        each * engines,
        config.dequeue.unwrap_or(Dequeue::Completion),
        out,
    );

    let line = hop.received_line;
    hop.transition("grab")
        .take(line)
        .take(idle)
        .put(core.ready, |b| {
            b[0].held_by(&b[1]).at(Step::Receive, b[0].units())
        });
    let lock = hop.counter("lock", CounterSpec::keyed(engines, 1));
    let firsts = (0..engines).map(|e| Job {
        engine: e as u8,
        slot: (e * each) as u16,
        ..Job::default()
    });
    let next = hop.queue(
        "next-slot",
        QueueSpec::fifo().keyed(engines, by_engine).tokens(firsts),
    );
    let hold = config.calibration.local_hold * TICKS_PER_CYCLE;
    hop.transition("acquire")
        .take(waiting)
        .take(next)
        .spend(lock, 1)
        .spend_at(buffer.free, 1, |b| u32::from(b[1].slot))
        .delay_by(move |b, random| {
            let holds: f64 = (0..b[0].units()).map(|_| random.exponential()).sum();
            (holds * hold + 0.5) as u64
        })
        .put(core.ready, |b| Job {
            slot: b[1].slot,
            ..b[0].at(Step::Transmit, b[0].units())
        })
        .put(next, move |b| {
            let within = (u32::from(b[1].slot) + 1) % each;
            Job {
                slot: (u32::from(b[1].engine) * each + within) as u16,
                ..b[1]
            }
        });
    let free = hop.receive_free;
    let finish = hop
        .transition("finish")
        .take(core.copied)
        .give_at(lock, 1, |b| u32::from(b[0].engine))
        .pass(buffer.filled, 0)
        .pass(idle, 0);
    frees(finish, free);
}
