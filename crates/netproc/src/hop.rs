//! One processor under construction: the parts that all ordering schemes share.
//!
//! ```text
//! line -> receive buffer -> threads: execute -> command bus -> DRAM | SRAM -> execute ... -> transmit buffer -> out
//! ```
//!
//! A thread that waits for a memory releases its engine; an engine runs one thread at a time. Each queue for a shared
//! resource is one place, so that the time spent in it can be measured.

use inorder_petri::coloured::{
    Counter, CounterSpec, Delay, Model, Queue, QueueSpec, TransitionBuilder,
};

use crate::config::{Arbitration, Config, Dequeue, ticks};
use crate::job::{Job, Step};

/// The places a thread reaches after its five steps, or after some of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Core {
    /// Packets whose thread is ready to run on its engine, keyed by engine.
    pub(crate) ready: Queue,
    /// Packets that are received completely, if the thread stops there.
    pub(crate) received: Queue,
    /// Packets whose headers are written back.
    pub(crate) processed: Queue,
    /// Packets that are completely in the transmit buffer.
    pub(crate) copied: Queue,
}

/// How the core differs between schemes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CoreSpec {
    /// True if the thread that received a packet does not process it.
    pub(crate) stop_after_receive: bool,
    /// Where packets wait after their headers are written back; the default is a queue of the core.
    pub(crate) processed: Option<Queue>,
    /// Where a packet waits between two transfers to the transmit buffer; by default it continues at once.
    pub(crate) between_transfers: Option<Queue>,
    /// Receives the token of the next thread when the first command of a packet is issued.
    pub(crate) receive_issued: Option<(Queue, u32)>,
    /// Steps whose instructions are an ordered or locked section, which takes a fixed time.
    pub(crate) sections: &'static [Step],
    /// True if all instructions and memory accesses take their mean time.
    pub(crate) regular: bool,
}

/// The transmit buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Buffer {
    /// Free slots, keyed by slot.
    pub(crate) free: Counter,
    /// Filled slots.
    pub(crate) filled: Queue,
    /// Number of slots.
    pub(crate) slots: u32,
}

/// One processor of a chain.
pub struct Hop<'a> {
    pub(crate) net: &'a mut Model<Job>,
    pub(crate) config: &'a Config,
    /// Packets in the receive buffer.
    pub(crate) received_line: Queue,
    /// Free mpackets of the receive buffer.
    pub(crate) receive_free: Counter,
    prefix: String,
}

impl<'a> Hop<'a> {
    /// Starts building processor `index`, whose packets arrive at `line`. The first processor has a MAC that stops
    /// the line when it is full.
    pub(crate) fn new(
        net: &'a mut Model<Job>,
        config: &'a Config,
        index: u32,
        line: Queue,
        mac: Option<Counter>,
    ) -> Self {
        let prefix = if config.hops > 1 {
            format!("hop{}/", index + 1)
        } else {
            String::new()
        };
        let received_line = net.queue(format!("{prefix}receive-buffer"), QueueSpec::fifo());
        let units = CounterSpec::new(config.buffer_units());
        let receive_free = net.counter(format!("{prefix}receive-free"), units);
        let store = net
            .transition(format!("{prefix}store"))
            .take(line)
            .spend_with(receive_free, |b| b[0].units())
            .pass(received_line, 0);
        if let Some(mac) = mac {
            store.give(mac, 1);
        }
        Self {
            net,
            config,
            received_line,
            receive_free,
            prefix,
        }
    }

    pub(crate) fn queue(&mut self, name: &str, spec: QueueSpec<Job>) -> Queue {
        self.net.queue(format!("{}{name}", self.prefix), spec)
    }

    pub(crate) fn counter(&mut self, name: &str, spec: CounterSpec) -> Counter {
        self.net.counter(format!("{}{name}", self.prefix), spec)
    }

    pub(crate) fn transition(&mut self, name: &str) -> TransitionBuilder<'_, Job> {
        self.net.transition(format!("{}{name}", self.prefix))
    }

    /// The threads of `engines`, thread 0 of every engine first; at most `most` threads.
    pub(crate) fn threads(&self, engines: std::ops::Range<u32>, most: u32) -> Vec<Job> {
        let per_engine = self.config.threads;
        let all = (0..per_engine).flat_map(|t| engines.clone().map(move |e| (e, t)));
        all.take(most as usize)
            .map(|(e, t)| Job {
                engine: e as u8,
                thread: (e * per_engine + t) as u16,
                ..Job::default()
            })
            .collect()
    }

    /// Engines, command bus and memories.
    pub(crate) fn core(&mut self, engines: u32, spec: CoreSpec) -> Core {
        let by_engine = |job: &Job| u32::from(job.engine);
        let ready = self.queue("ready", QueueSpec::fifo().keyed(engines, by_engine));
        let processed = spec.processed;
        let core = Core {
            ready,
            received: self.queue("received", QueueSpec::fifo()),
            processed: processed.unwrap_or_else(|| self.queue("processed", QueueSpec::fifo())),
            copied: self.queue("copied", QueueSpec::fifo()),
        };
        let commands = self.engines(engines, ready, &spec);
        let (dram, sram) = self.command_bus(engines, commands, spec.receive_issued);
        self.dram(dram, &core, &spec);
        self.sram(sram, commands, ready, spec.regular);
        core
    }

    /// Threads run until they issue a command, and keep the engine while the command queue is full.
    fn engines(&mut self, engines: u32, ready: Queue, spec: &CoreSpec) -> Commands {
        let by_engine = |job: &Job| u32::from(job.engine);
        let engine = self.counter("engine", CounterSpec::keyed(engines, 1));
        let run = self.queue("run", QueueSpec::fifo().keyed(engines, by_engine));
        let depth = self.config.calibration.command_fifo as u32;
        let commands = Commands {
            free: self.counter("command-free", CounterSpec::keyed(engines, depth)),
            queue: self.queue("command-queue", QueueSpec::fifo()),
        };
        let means = Instructions::new(self.config, spec);
        self.transition("execute")
            .take(ready)
            .spend(engine, 1)
            .delay_by(move |b, random| means.ticks(&b[0], random))
            .pass(run, 0);
        self.transition("swap-out")
            .take(run)
            .spend(commands.free, 1)
            .give(engine, 1)
            .pass(commands.queue, 0);
        commands
    }

    /// The command bus, which carries one command at a time. Returns the queues of DRAM and SRAM.
    fn command_bus(
        &mut self,
        engines: u32,
        commands: Commands,
        issued: Option<(Queue, u32)>,
    ) -> (Queue, Queue) {
        let bus = self.counter("command-bus", CounterSpec::new(1));
        let dram = self.queue("dram-queue", arbitrated(self.config.dram, engines));
        let sram = self.queue("sram-queue", QueueSpec::fifo());
        let cycles = ticks(self.config.calibration.command_bus);
        let issue = self
            .transition("issue")
            .take(commands.queue)
            .spend(bus, 1)
            .delay(Delay::Deterministic(cycles))
            .give(bus, 1)
            .give_at(commands.free, 1, |b| u32::from(b[0].engine))
            .route([dram, sram], |b| {
                (usize::from(b[0].step == Step::Lookup), b[0])
            });
        if let Some((next, threads)) = issued {
            issue.put_if(next, move |b| {
                let first = b[0].step == Step::Receive && u32::from(b[0].left) == b[0].units();
                first.then(|| successor(&b[0], threads))
            });
        }
        (dram, sram)
    }

    fn dram(&mut self, queue: Queue, core: &Core, spec: &CoreSpec) {
        let c = &self.config.calibration;
        let (transfer, header, latency) = (
            ticks(c.dram_transfer),
            ticks(c.dram_header),
            ticks(c.dram_latency),
        );
        let lookups = c.lookups as u32;
        let dram = self.counter("dram", CounterSpec::new(1));
        let read = self.queue("dram-latency", QueueSpec::fifo());
        let copy = self.queue("copy-latency", QueueSpec::fifo());
        self.transition("dram-serve")
            .take(queue)
            .spend(dram, 1)
            .delay_by(move |b, _| {
                if is_header(b[0].step) {
                    header
                } else {
                    transfer
                }
            })
            .give(dram, 1)
            .route([read, copy], |b| {
                (usize::from(b[0].step == Step::Transmit), b[0])
            });
        let stops = spec.stop_after_receive;
        self.transition("dram-answer")
            .take(read)
            .delay(Delay::Deterministic(latency))
            .route([core.ready, core.processed, core.received], move |b| {
                after_dram(&b[0], lookups, stops)
            });
        let more = spec.between_transfers.unwrap_or(core.ready);
        self.transition("copy-answer")
            .take(copy)
            .delay(Delay::Deterministic(latency))
            .route([core.copied, more], |b| match b[0].left {
                0 | 1 => (0, b[0]),
                _ => (1, b[0].accessed()),
            });
    }

    /// Look-ups: consecutive accesses without instructions between them.
    fn sram(&mut self, queue: Queue, commands: Commands, ready: Queue, regular: bool) {
        let again = self.queue("sram-again", QueueSpec::fifo());
        let mean = self.config.calibration.sram * crate::config::TICKS_PER_CYCLE;
        let delay = if regular {
            Delay::Deterministic(mean as u64)
        } else {
            Delay::exponential(mean)
        };
        self.transition("sram-answer")
            .take(queue)
            .delay(delay)
            .route([again, ready], |b| match b[0].left {
                0 | 1 => (1, b[0].at(Step::HeaderWrite, 1)),
                _ => (0, b[0].accessed()),
            });
        self.transition("lookup-again")
            .take(again)
            .spend_at(commands.free, 1, |b| u32::from(b[0].engine))
            .pass(commands.queue, 0);
    }

    /// The transmit buffer, and the process that empties it into `out`.
    pub(crate) fn buffer(&mut self, slots: u32, dequeue: Dequeue, out: Queue) -> Buffer {
        let free = self.counter("slot-free", CounterSpec::keyed(slots, 1));
        let media = ticks(self.config.calibration.transmit_media);
        let spec = QueueSpec::fifo();
        let filled = match dequeue {
            Dequeue::Strict => spec.keyed(slots, |job: &Job| u32::from(job.slot)),
            Dequeue::Completion => spec,
        };
        let filled = self.queue("transmit-buffer", filled);
        let pointers = match dequeue {
            Dequeue::Strict => CounterSpec::counts((0..slots).map(|s| u32::from(s == 0)).collect()),
            Dequeue::Completion => CounterSpec::new(1),
        };
        let pointer = self.counter("transmit-pointer", pointers);
        let send = self
            .transition("send")
            .take(filled)
            .spend(pointer, 1)
            .delay_by(move |b, _| media * u64::from(b[0].units()))
            .give_at(free, 1, |b| u32::from(b[0].slot))
            .pass(out, 0);
        match dequeue {
            Dequeue::Strict => {
                send.give_at(pointer, 1, move |b| (u32::from(b[0].slot) + 1) % slots)
            }
            Dequeue::Completion => send.give(pointer, 1),
        };
        Buffer {
            free,
            filled,
            slots,
        }
    }

    /// A queue for a lock, with the configured arbiter.
    pub(crate) fn lock_queue(&mut self, name: &str, engines: u32) -> Queue {
        let spec = arbitrated(self.config.lock, engines);
        self.queue(name, spec)
    }
}

/// The command queues of the engines and of the bus.
#[derive(Debug, Clone, Copy)]
struct Commands {
    free: Counter,
    queue: Queue,
}

fn arbitrated(by: Arbitration, engines: u32) -> QueueSpec<Job> {
    match by {
        Arbitration::Fifo => QueueSpec::fifo(),
        Arbitration::RandomEngine => {
            QueueSpec::fifo().keyed(engines, |job: &Job| u32::from(job.engine))
        }
        Arbitration::Random => QueueSpec::random(),
    }
}

fn is_header(step: Step) -> bool {
    matches!(step, Step::HeaderRead | Step::HeaderWrite)
}

/// The state of a packet whose memory access is complete: ready for its engine (0), processed (1) or received (2).
fn after_dram(job: &Job, lookups: u32, stops_after_receive: bool) -> (usize, Job) {
    match job.step {
        Step::Receive if job.left > 1 => (0, job.accessed()),
        Step::Receive if stops_after_receive => (2, *job),
        Step::Receive => (0, job.at(Step::HeaderRead, 1)),
        Step::HeaderRead => (0, job.at(Step::Lookup, lookups)),
        _ => (1, *job),
    }
}

/// The token of the thread after this one, of `threads`.
pub(crate) fn successor(job: &Job, threads: u32) -> Job {
    let next = (u32::from(job.thread) + 1) % threads;
    Job {
        thread: next as u16,
        ..Job::default()
    }
}

/// Mean number of ticks of the instructions of each step.
#[derive(Debug, Clone, Copy)]
struct Instructions {
    means: [f64; 5],
    section: u64,
    sections: &'static [Step],
    regular: bool,
}

impl Instructions {
    fn new(config: &Config, spec: &CoreSpec) -> Self {
        let c = &config.calibration;
        let cycles = [
            c.receive_instructions,
            c.header_read_instructions,
            c.lookup_instructions,
            c.header_write_instructions,
            c.transmit_instructions,
        ];
        Self {
            means: cycles.map(|m| m * crate::config::TICKS_PER_CYCLE),
            section: ticks(c.section_instructions),
            sections: spec.sections,
            regular: spec.regular,
        }
    }

    fn ticks(&self, job: &Job, random: &mut inorder_base::random::Random) -> u64 {
        if self.sections.contains(&job.step) {
            return self.section;
        }
        let factor = if self.regular {
            1.0
        } else {
            random.exponential()
        };
        (factor * self.means[job.step as usize] + 0.5) as u64
    }
}
