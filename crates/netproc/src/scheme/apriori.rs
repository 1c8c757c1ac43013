//! Contiguous and strided allocation: every thread has its own slots.

use inorder_petri::coloured::{Queue, QueueSpec};

use super::frees;
use crate::config::Dequeue;
use crate::hop::{CoreSpec, Hop};
use crate::job::{Job, Step};

pub(super) fn contiguous(hop: &mut Hop<'_>, out: Queue) {
    let threads = hop.config.threads;
    build(hop, out, move |engine, thread| engine * threads + thread);
}

pub(super) fn strided(hop: &mut Hop<'_>, out: Queue) {
    let engines = hop.config.engines;
    build(hop, out, move |engine, thread| thread * engines + engine);
}

/// `place` arranges the threads (engine, thread within the engine) along the buffer. The number of working threads is
/// limited by the number of slots for the longest packet. If there is room, each thread has two slots and uses them
/// alternately.
fn build(hop: &mut Hop<'_>, out: Queue, place: impl Fn(u32, u32) -> u32) {
    let (config, per_engine) = (hop.config, hop.config.threads);
    let mut threads = hop.threads(0..config.engines, config.slots());
    let mut ranks: Vec<u32> = threads
        .iter()
        .map(|t| place_of(t, per_engine, &place))
        .collect();
    ranks.sort_unstable();
    for thread in &mut threads {
        let rank = ranks
            .binary_search(&place_of(thread, per_engine, &place))
            .unwrap_or(0);
        thread.slot = rank as u16;
    }
    let count = threads.len() as u32;
    let each = (config.slots() / count).clamp(1, 2);
    let idle = hop.queue("thread", QueueSpec::fifo().tokens(threads));
    let slots = count * each;
    let gate = QueueSpec::fifo().keyed(slots, |job: &Job| u32::from(job.slot));
    let gate = hop.queue("gate", gate);
    let core = hop.core(
        config.engines,
        CoreSpec {
            regular: config.regular.unwrap_or(false),
            processed: Some(gate),
            ..CoreSpec::default()
        },
    );
    let buffer = hop.buffer(slots, config.dequeue.unwrap_or(Dequeue::Strict), out);

    let line = hop.received_line;
    hop.transition("grab")
        .take(line)
        .take(idle)
        .put(core.ready, move |b| {
            let slot = b[1].slot + if b[1].second { count as u16 } else { 0 };
            Job {
                slot,
                second: b[1].second,
                ..b[0].held_by(&b[1]).at(Step::Receive, b[0].units())
            }
        });
    hop.transition("open-gate")
        .take(gate)
        .spend(buffer.free, 1)
        .put(core.ready, |b| b[0].at(Step::Transmit, b[0].units()));
    let free = hop.receive_free;
    let finish = hop
        .transition("finish")
        .take(core.copied)
        .pass(buffer.filled, 0);
    frees(finish, free).put(idle, move |b| {
        let slot = b[0].slot % count as u16;
        Job {
            engine: b[0].engine,
            thread: b[0].thread,
            slot,
            second: each > 1 && !b[0].second,
            ..Job::default()
        }
    });
}

fn place_of(thread: &Job, per_engine: u32, place: &impl Fn(u32, u32) -> u32) -> u32 {
    let engine = u32::from(thread.engine);
    place(engine, u32::from(thread.thread) - engine * per_engine)
}
