//! Asynchronous insert, synchronous remove: a receiving stage numbers packets and buffers them in DRAM in order of
//! arrival, other threads process them in any order, and they are released by number.

use inorder_petri::coloured::{Counter, CounterSpec, Delay, Queue, QueueSpec};

use super::frees;
use crate::config::{Dequeue, ticks};
use crate::hop::{Buffer, Core, CoreSpec, Hop};
use crate::job::{Job, Step};

pub(super) fn build(hop: &mut Hop<'_>, out: Queue) {
    let engines = hop.config.stages.receive;
    let operations = hop.config.calibration.aisr_scratch_operations;
    pipeline(hop, engines, operations, out);
}

pub(super) fn wide(hop: &mut Hop<'_>, out: Queue) {
    let engines = 2 * hop.config.stages.receive;
    let operations = hop.config.calibration.aisr_wide_scratch_operations;
    pipeline(hop, engines, operations, out);
}

/// The receiving stage alone: received packets leave at once.
pub(super) fn receive_only(hop: &mut Hop<'_>, out: Queue) {
    let engines = hop.config.stages.receive;
    let spec = spec(hop);
    let core = hop.core(engines, spec);
    let numbered = receive(hop, engines, 0.0, &core);
    hop.transition("leave").take(numbered).pass(out, 0);
}

fn spec(hop: &Hop<'_>) -> CoreSpec {
    CoreSpec {
        regular: hop.config.regular.unwrap_or(false),
        stop_after_receive: true,
        sections: &[Step::Receive, Step::Transmit],
        ..CoreSpec::default()
    }
}

fn pipeline(hop: &mut Hop<'_>, receiving: u32, operations: f64, out: Queue) {
    let stages = hop.config.stages;
    let transmitting = receiving + stages.process;
    let engines = transmitting + stages.transmit;
    let spec = spec(hop);
    let core = hop.core(engines, spec);
    let slots = hop.config.slots();
    let buffer = hop.buffer(slots, hop.config.dequeue.unwrap_or(Dequeue::Strict), out);
    let numbered = receive(hop, receiving, operations, &core);
    let done = process(hop, receiving..transmitting, numbered, &core);
    let released = release(hop, done, &buffer);
    transmit(hop, transmitting..engines, released, &core, &buffer);
}

/// One packet at a time: the transfer to DRAM, then the scratchpad operations that number the packet.
fn receive(hop: &mut Hop<'_>, engines: u32, operations: f64, core: &Core) -> Queue {
    let threads = hop.threads(0..engines, u32::MAX);
    let idle = hop.queue("receive-thread", QueueSpec::fifo().tokens(threads));
    let sequencer: Counter = hop.counter("sequencer", CounterSpec::new(1));
    let number = hop.queue("number", QueueSpec::fifo().tokens([Job::default()]));
    let numbered = hop.queue("numbered", QueueSpec::fifo());
    let stamp = ticks(operations * hop.config.calibration.scratch);
    let (line, free) = (hop.received_line, hop.receive_free);
    hop.transition("grab")
        .take(line)
        .take(idle)
        .spend(sequencer, 1)
        .put(core.ready, |b| {
            b[0].held_by(&b[1]).at(Step::Receive, b[0].units())
        });
    let stamping = hop
        .transition("stamp")
        .take(core.received)
        .take(number)
        .delay(Delay::Deterministic(stamp))
        .give(sequencer, 1)
        .put(numbered, |b| Job {
            order: b[1].order,
            ..b[0]
        })
        .put(number, |b| Job {
            order: b[1].order.wrapping_add(1),
            ..b[1]
        })
        .pass(idle, 0);
    frees(stamping, free);
    numbered
}

/// Header and look-up, by any free thread.
fn process(hop: &mut Hop<'_>, engines: std::ops::Range<u32>, from: Queue, core: &Core) -> Queue {
    let threads = hop.threads(engines, u32::MAX);
    let idle = hop.queue("process-thread", QueueSpec::fifo().tokens(threads));
    let done = hop.queue(
        "reorder-buffer",
        QueueSpec::least(|job: &Job| u64::from(job.order)),
    );
    hop.transition("begin")
        .take(from)
        .take(idle)
        .put(core.ready, |b| b[0].held_by(&b[1]).at(Step::HeaderRead, 1));
    hop.transition("processed-by")
        .take(core.processed)
        .pass(done, 0)
        .pass(idle, 0);
    done
}

/// The reordering engine: puts the packet with the next number into the next slot.
fn release(hop: &mut Hop<'_>, done: Queue, buffer: &Buffer) -> Queue {
    let released = hop.queue("released", QueueSpec::fifo());
    let expected = hop.queue("expected", QueueSpec::fifo().tokens([Job::default()]));
    let slots = buffer.slots;
    let work = ticks(hop.config.calibration.aisr_emit);
    hop.transition("release")
        .take(done)
        .take(expected)
        .spend_at(buffer.free, 1, |b| u32::from(b[1].slot))
        .guard(|b| b[0].order == b[1].order)
        .delay(Delay::Deterministic(work))
        .put(released, |b| Job {
            slot: b[1].slot,
            ..b[0]
        })
        .put(expected, move |b| {
            let slot = (u32::from(b[1].slot) + 1) % slots;
            Job {
                order: b[1].order.wrapping_add(1),
                slot: slot as u16,
                ..b[1]
            }
        });
    released
}

/// The transfer from DRAM to the assigned slot; shared with Packet Sort.
pub(super) fn transmit(
    hop: &mut Hop<'_>,
    engines: std::ops::Range<u32>,
    from: Queue,
    core: &Core,
    buffer: &Buffer,
) {
    let threads = hop.threads(engines, u32::MAX);
    let idle = hop.queue("transmit-thread", QueueSpec::fifo().tokens(threads));
    hop.transition("transmit")
        .take(from)
        .take(idle)
        .put(core.ready, |b| {
            b[0].held_by(&b[1]).at(Step::Transmit, b[0].units())
        });
    hop.transition("finish")
        .take(core.copied)
        .pass(buffer.filled, 0)
        .pass(idle, 0);
}
