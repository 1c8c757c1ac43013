//! Global allocation: one lock, held from the choice of the slot until the packet is in it.
//!
//! Taking the lock costs one scratchpad operation, and so does every mpacket. A packet of n mpackets therefore holds
//! the lock for t_s (1 + n) + T_x n cycles.

use inorder_petri::coloured::{CounterSpec, Delay, Queue, QueueSpec};

use super::frees;
use crate::config::{Dequeue, ticks};
use crate::hop::{CoreSpec, Hop};
use crate::job::{Job, Step};

pub(super) fn build(hop: &mut Hop<'_>, out: Queue) {
    let config = hop.config;
    let threads = hop.threads(0..config.engines, u32::MAX);
    let idle = hop.queue("thread", QueueSpec::fifo().tokens(threads));
    let claim = hop.queue("claim", QueueSpec::fifo());
    let waiting = hop.lock_queue("lock-queue", config.engines);
    let spec = CoreSpec {
        processed: Some(waiting),
        between_transfers: Some(claim),
        sections: &[Step::Transmit],
        regular: hop.config.regular.unwrap_or(false),
        ..CoreSpec::default()
    };
    let core = hop.core(config.engines, spec);
    let slots = config.slots();
    let buffer = hop.buffer(slots, config.dequeue.unwrap_or(Dequeue::Strict), out);

    let line = hop.received_line;
    hop.transition("grab")
        .take(line)
        .take(idle)
        .put(core.ready, |b| {
            b[0].held_by(&b[1]).at(Step::Receive, b[0].units())
        });
    let lock = hop.counter("lock", CounterSpec::new(1));
    let next = hop.queue("next-slot", QueueSpec::fifo().tokens([Job::default()]));
    let scratch = ticks(config.calibration.scratch);
    hop.transition("acquire")
        .take(waiting)
        .take(next)
        .spend(lock, 1)
        .spend_at(buffer.free, 1, |b| u32::from(b[1].slot))
        .delay(Delay::Deterministic(2 * scratch))
        .put(core.ready, |b| Job {
            slot: b[1].slot,
            ..b[0].at(Step::Transmit, b[0].units())
        })
        .put(next, move |b| Job {
            slot: ((u32::from(b[1].slot) + 1) % slots) as u16,
            ..b[1]
        });
    hop.transition("claim-more")
        .take(claim)
        .delay(Delay::Deterministic(scratch))
        .pass(core.ready, 0);
    let free = hop.receive_free;
    let finish = hop
        .transition("finish")
        .take(core.copied)
        .give(lock, 1)
        .pass(buffer.filled, 0)
        .pass(idle, 0);
    frees(finish, free);
}
