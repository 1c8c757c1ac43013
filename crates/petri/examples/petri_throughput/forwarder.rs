//! A simplified network processor that forwards 64-byte packets: 8 engines of 8 threads.

use inorder_petri::coloured::{CounterSpec, Delay, Engine, Model, ModelError, QueueSpec};

use crate::Case;

const ENGINES: u32 = 8;
const THREADS: u32 = 8;
const SLOTS: u32 = 2 * ENGINES * THREADS;
/// Picoseconds; the clock runs at 600 MHz.
const CYCLE: f64 = 1e6 / 600.0;
/// Mean engine time of each step, in cycles.
const EXECUTE: [f64; 7] = [26.0, 20.0, 34.0 / 3.0, 34.0 / 3.0, 34.0 / 3.0, 20.0, 20.0];
/// DRAM service of each step, in cycles; 0 for an access to SRAM.
const DRAM: [f64; 7] = [49.8, 2.1, 0.0, 0.0, 0.0, 2.1, 49.8];
/// The step that puts the packet into the transmit buffer.
const LAST: u8 = 6;

/// A packet and the current step of its thread.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Job {
    flow: u32,
    bytes: u32,
    sequence: u64,
    engine: u8,
    thread: u8,
    step: u8,
    /// Which of the thread's two slots is used next.
    turn: u8,
    slot: u32,
}

fn ticks(cycles: f64) -> u64 {
    (cycles * CYCLE) as u64
}

/// Where a job goes after its memory access: to its next step, to the gate before the last step, or out.
fn next(job: Job) -> (usize, Job) {
    let job = Job {
        step: job.step + 1,
        ..job
    };
    if job.step < LAST {
        (0, job)
    } else if job.step == LAST {
        let base = u32::from(job.engine) * THREADS + u32::from(job.thread);
        let slot = base + u32::from(job.turn) * ENGINES * THREADS;
        (1, Job { slot, ..job })
    } else {
        (2, job)
    }
}

pub(crate) fn case() -> Result<Case, ModelError> {
    let mut net: Model<Job> = Model::new();
    let by_engine = || QueueSpec::fifo().keyed(ENGINES, |job: &Job| u32::from(job.engine));

    let line = net.queue(
        "INPUT_LINE",
        QueueSpec::fifo().tokens([Job {
            bytes: 64,
            ..Job::default()
        }]),
    );
    let imac = net.counter("IMAC", CounterSpec::new(16));
    let iport = net.counter("IPORT", CounterSpec::new(1));
    let rmacmem = net.queue("RMACMEM", QueueSpec::fifo());
    let rf_free = net.counter("RF_FREE", CounterSpec::new(128));
    let rbuf = net.queue("RBUF", QueueSpec::fifo());
    let threads = (0..THREADS).flat_map(|t| (0..ENGINES).map(move |e| (e as u8, t as u8)));
    let threads = threads.map(|(engine, thread)| Job {
        engine,
        thread,
        ..Job::default()
    });
    let thread = net.queue("THREAD", QueueSpec::fifo().tokens(threads));
    let ue = net.counter("UE", CounterSpec::keyed(ENGINES, 1));
    let ready = net.queue("READY", by_engine());
    let run = net.queue("RUN", by_engine());
    let cmd_free = net.counter("CMD_FREE", CounterSpec::keyed(ENGINES, 4));
    let cmd_q = net.queue("CMD_Q", by_engine());
    let cmd_bus = net.counter("CMD_BUS", CounterSpec::new(1));
    let dram_q = net.queue("DRAM_Q", QueueSpec::fifo());
    let dram = net.counter("DRAM", CounterSpec::new(1));
    let dram_xfer = net.queue("DRAM_XFER", QueueSpec::fifo());
    let sram_wait = net.queue("SRAM_WAIT", QueueSpec::fifo());
    let gate = net.queue("GATE", QueueSpec::fifo().keyed(SLOTS, |job: &Job| job.slot));
    let done = net.queue("DONE", QueueSpec::fifo());
    let slot_free = net.counter("SLOT_FREE", CounterSpec::keyed(SLOTS, 1));
    let tbuf = net.queue("TBUF", QueueSpec::fifo().keyed(SLOTS, |job: &Job| job.slot));
    let txptr = net.queue("TXPTR", QueueSpec::fifo().tokens([Job::default()]));
    let out = net.sink("OUT");

    net.transition("ARRIVE")
        .take(line)
        .spend(imac, 1)
        .spend(iport, 1)
        .delay_by(|b, _| (f64::from(b[0].bytes) * 8.0 / 3.3 * 1000.0) as u64)
        .pass(rmacmem, 0)
        .put(line, |b| Job {
            flow: (b[0].flow + 1) % 32,
            sequence: b[0].sequence + 1,
            ..b[0]
        })
        .give(iport, 1);
    net.transition("TO_RBUF")
        .take(rmacmem)
        .spend_with(rf_free, |b| b[0].bytes.div_ceil(64))
        .pass(rbuf, 0)
        .give(imac, 1);
    net.transition("GRAB")
        .take(rbuf)
        .take(thread)
        .put(ready, |b| Job {
            engine: b[1].engine,
            thread: b[1].thread,
            turn: b[1].turn,
            ..b[0]
        });
    net.transition("EXEC")
        .take(ready)
        .spend(ue, 1)
        .delay_by(|b, random| (random.exponential() * EXECUTE[b[0].step as usize] * CYCLE) as u64)
        .pass(run, 0);
    net.transition("SWAP_OUT")
        .take(run)
        .spend(cmd_free, 1)
        .give(ue, 1)
        .pass(cmd_q, 0);
    net.transition("ISSUE")
        .take(cmd_q)
        .spend(cmd_bus, 1)
        .delay(Delay::Deterministic(ticks(2.0)))
        .give(cmd_bus, 1)
        .give(cmd_free, 1)
        .put_if(dram_q, |b| (DRAM[b[0].step as usize] > 0.0).then_some(b[0]))
        .put_if(sram_wait, |b| {
            (DRAM[b[0].step as usize] == 0.0).then_some(b[0])
        });
    net.transition("DRAM_SERVE")
        .take(dram_q)
        .spend(dram, 1)
        .delay_by(|b, _| ticks(DRAM[b[0].step as usize]))
        .give(dram, 1)
        .pass(dram_xfer, 0);
    let after_memory = [ready, gate, done];
    net.transition("DRAM_LAT")
        .take(dram_xfer)
        .delay(Delay::exponential(74.0 * CYCLE))
        .route(after_memory, |b| next(b[0]));
    net.transition("SRAM")
        .take(sram_wait)
        .delay(Delay::exponential(90.0 * CYCLE))
        .route(after_memory, |b| next(b[0]));
    net.transition("PASS_GATE")
        .take(gate)
        .spend(slot_free, 1)
        .pass(ready, 0);
    net.transition("FINISH")
        .take(done)
        .pass(tbuf, 0)
        .put(thread, |b| Job {
            turn: 1 - b[0].turn,
            ..b[0]
        })
        .give_with(rf_free, |b| b[0].bytes.div_ceil(64));
    net.transition("SEND")
        .take(txptr)
        .take_at(tbuf, |b| b[0].slot)
        .delay(Delay::Deterministic(ticks(10.0)))
        .put(txptr, |b| Job {
            slot: (b[0].slot + 1) % SLOTS,
            ..b[0]
        })
        .give_at(slot_free, 1, |b| b[0].slot)
        .pass(out, 1);
    Ok(Case {
        name: "forwarder",
        net: Box::new(Engine::new(net, 1)?),
        round_ticks: 20_000_000,
    })
}
