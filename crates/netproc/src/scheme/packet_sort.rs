//! Packet Sort: m engines receive and process, n sort each flow into order, k transmit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use inorder_petri::coloured::{CounterSpec, Queue, QueueSpec};

use super::{aisr, frees};
use crate::config::{Dequeue, ticks};
use crate::hop::{CoreSpec, Hop};
use crate::job::{Job, Step};

pub(super) fn build(hop: &mut Hop<'_>, out: Queue) {
    let config = hop.config;
    let stages = config.stages;
    // Packet Sort has no separate receiving stage; those engines transmit.
    let engines = stages.process + stages.transmit + stages.receive;
    let unsorted = hop.queue("unsorted", QueueSpec::fifo());
    let spec = CoreSpec {
        processed: Some(unsorted),
        sections: &[Step::Transmit],
        regular: hop.config.regular.unwrap_or(false),
        ..CoreSpec::default()
    };
    let core = hop.core(engines, spec);
    let slots = config.slots();
    let buffer = hop.buffer(slots, config.dequeue.unwrap_or(Dequeue::Strict), out);

    let threads = hop.threads(0..stages.process, u32::MAX);
    let idle = hop.queue("process-thread", QueueSpec::fifo().tokens(threads));
    // The insertion walks along the flow's list, so its time depends on the list's length. The lengths are stored
    // outside the net, one for each lane, because a delay function sees only its own tokens.
    let in_work: Arc<[AtomicU32]> = (0..config.traffic.flows)
        .map(|_| AtomicU32::new(0))
        .collect();
    let grabbed = Arc::clone(&in_work);
    let line = hop.received_line;
    hop.transition("grab")
        .take(line)
        .take(idle)
        .put(core.ready, move |b| {
            add(&grabbed, &b[0], 1);
            b[0].held_by(&b[1]).at(Step::Receive, b[0].units())
        });

    let released = sort(hop, unsorted, idle, in_work);
    let assigned = hop.queue("assigned", QueueSpec::fifo());
    let next = hop.queue("next-slot", QueueSpec::fifo().tokens([Job::default()]));
    hop.transition("assign")
        .take(released)
        .take(next)
        .spend_at(buffer.free, 1, |b| u32::from(b[1].slot))
        .put(assigned, |b| Job {
            slot: b[1].slot,
            ..b[0]
        })
        .put(next, move |b| Job {
            slot: ((u32::from(b[1].slot) + 1) % slots) as u16,
            ..b[1]
        });
    aisr::transmit(hop, stages.process..engines, assigned, &core, &buffer);
}

/// Inserts the packet into the list of its flow while its thread waits, so all lists together are not longer than the
/// number of threads of the first stage. Packets are released while the head is the flow's next packet.
fn sort(hop: &mut Hop<'_>, unsorted: Queue, idle: Queue, in_work: Arc<[AtomicU32]>) -> Queue {
    let config = hop.config;
    let flows = config.traffic.flows;
    let by_lane = |job: &Job| u32::from(job.lane);
    let sorter = hop.counter("sorter", CounterSpec::new(config.stages.order));
    let by_turn = QueueSpec::least(|job: &Job| u64::from(job.turn)).keyed(flows, by_lane);
    let lists = hop.queue("lists", by_turn);
    let (base, step) = (
        ticks(config.calibration.sort_base),
        ticks(config.calibration.sort_step),
    );
    let counted = Arc::clone(&in_work);
    let free = hop.receive_free;
    let insert = hop
        .transition("insert")
        .take(unsorted)
        .spend(sorter, 1)
        .delay_by(move |b, _| {
            let packets = counted
                .get(usize::from(b[0].lane))
                .map_or(0, |count| count.load(Relaxed));
            base + step * u64::from(packets)
        })
        .give(sorter, 1)
        .put(lists, move |b| {
            add(&in_work, &b[0], -1);
            b[0]
        })
        .pass(idle, 0);
    frees(insert, free);
    let firsts = (0..flows).map(|lane| Job {
        lane: lane as u16,
        ..Job::default()
    });
    let expected = hop.queue(
        "expected",
        QueueSpec::fifo().keyed(flows, by_lane).tokens(firsts),
    );
    let released = hop.queue("sorted", QueueSpec::fifo());
    hop.transition("release")
        .take(lists)
        .take(expected)
        .guard(|b| b[0].turn == b[1].turn)
        .pass(released, 0)
        .put(expected, |b| Job {
            turn: b[1].turn.wrapping_add(1),
            ..b[1]
        });
    released
}

fn add(in_work: &[AtomicU32], job: &Job, change: i32) {
    if let Some(count) = in_work.get(usize::from(job.lane)) {
        // One thread at a time counts, so reading and writing need not be one step.
        count.store(count.load(Relaxed).saturating_add_signed(change), Relaxed);
    }
}
