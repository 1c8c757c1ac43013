//! Several threads: whoever is idle takes the next piece of work.
//!
//! Consuming comes first, so that little waits in memory; reading ahead is limited by the
//! number of block buffers. Within a shard, blocks are consumed in order: a shard's next packets
//! are taken only when it is that block's turn and no other thread works on the shard.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use inorder_capture::Block;

use super::batch::Parsed;
use super::{Reader, SHARDS, Sink, Tally};

/// Block buffers, at most; reading waits when all are in use.
const MOST_IN_FLIGHT: usize = 16;

/// Reads everything into `sinks`, one a shard, on `threads` threads.
pub fn run<S: Sink>(reader: &mut Reader<'_>, sinks: &mut [S], threads: usize) -> Tally {
    let team = Team {
        board: Mutex::new(Board::new((2 * threads + 2).min(MOST_IN_FLIGHT))),
        news: Condvar::new(),
        reader: Mutex::new(reader),
        sinks: sinks.iter_mut().map(Mutex::new).collect(),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| team.work());
        }
        team.work();
    });
    team.board
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .tally
}

/// What the threads share.
struct Team<'t, 'r, S> {
    board: Mutex<Board>,
    news: Condvar,
    reader: Mutex<&'t mut Reader<'r>>,
    sinks: Vec<Mutex<&'t mut S>>,
}

/// A piece of work, with the buffers it needs.
enum Task {
    Read(Box<Buffers>),
    Consume(usize, Arc<Parsed>),
    End,
}

/// Buffers of a block on its way from the file to the consumers.
#[derive(Default)]
struct Buffers {
    block: Block,
    parsed: Arc<Parsed>,
}

impl<S: Sink> Team<'_, '_, S> {
    fn work(&self) {
        loop {
            match self.next_task() {
                Task::Read(buffers) => self.read(buffers),
                Task::Consume(shard, parsed) => self.consume(shard, parsed),
                Task::End => return,
            }
        }
    }

    fn next_task(&self) -> Task {
        let mut board = lock(&self.board);
        loop {
            if let Some(task) = board.take() {
                return task;
            }
            board = self
                .news
                .wait(board)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reads a block while holding the reader, then lets the next thread read and parses.
    fn read(&self, mut buffers: Box<Buffers>) {
        let read = lock(&self.reader).read(&mut buffers.block);
        let turn = lock(&self.board).has_read(read.is_some());
        self.news.notify_all();
        if let Some(frames_before) = read {
            // Nobody else holds it any more, so nothing is cloned.
            let parsed = Arc::make_mut(&mut buffers.parsed);
            let tally = parsed.read(&buffers.block, frames_before);
            lock(&self.board).has_parsed(turn, &tally, buffers);
            self.news.notify_all();
        }
    }

    fn consume(&self, shard: usize, parsed: Arc<Parsed>) {
        if let Some(sink) = self.sinks.get(shard) {
            parsed.hand_over(shard, &mut **lock(sink));
        }
        // Given back before the buffers can be used again.
        drop(parsed);
        lock(&self.board).has_consumed(shard);
        self.news.notify_all();
    }
}

/// What is done, waiting and free.
struct Board {
    tally: Tally,
    /// Another thread holds the reader.
    reading: bool,
    /// There is no more to read.
    at_end: bool,
    /// Number of the next block to be read.
    next_block: u64,
    /// Blocks read and not yet parsed.
    parsing: usize,
    /// Buffers that may still be made.
    unmade: usize,
    #[expect(
        clippy::vec_box,
        reason = "boxes travel between queues, buffers stay in place"
    )]
    free: Vec<Box<Buffers>>,
    /// Parsed blocks that not all shards have consumed, the oldest first; `None` while a
    /// block is being parsed.
    parsed: VecDeque<Option<Waiting>>,
    /// Number of the oldest block in `parsed`.
    oldest: u64,
    shards: [Shard; SHARDS],
}

/// A parsed block.
struct Waiting {
    buffers: Box<Buffers>,
    /// Shards that have not consumed it yet.
    left: usize,
}

/// One shard's place in the sequence of blocks.
#[derive(Clone, Copy, Default)]
struct Shard {
    busy: bool,
    next_block: u64,
}

impl Board {
    fn new(buffers: usize) -> Self {
        Board {
            tally: Tally::default(),
            reading: false,
            at_end: false,
            next_block: 0,
            parsing: 0,
            unmade: buffers,
            free: Vec::new(),
            parsed: VecDeque::new(),
            oldest: 0,
            shards: [Shard::default(); SHARDS],
        }
    }

    /// The most urgent work that can be done now.
    fn take(&mut self) -> Option<Task> {
        if let Some(task) = self.take_packets() {
            return Some(task);
        }
        if !self.at_end
            && !self.reading
            && let Some(buffers) = self.take_buffers()
        {
            self.reading = true;
            return Some(Task::Read(buffers));
        }
        let idle = !self.reading && self.parsing == 0 && self.parsed.is_empty();
        (self.at_end && idle).then_some(Task::End)
    }

    fn take_buffers(&mut self) -> Option<Box<Buffers>> {
        self.free.pop().or_else(|| {
            self.unmade = self.unmade.checked_sub(1)?;
            Some(Box::default())
        })
    }

    /// The oldest packets that a shard may consume now; blocks without any are passed over.
    fn take_packets(&mut self) -> Option<Task> {
        for shard in 0..SHARDS {
            if self.shards[shard].busy {
                continue;
            }
            while let Some(parsed) = self.next_of(shard) {
                if parsed.is_empty(shard) {
                    self.step(shard);
                    continue;
                }
                let parsed = Arc::clone(parsed);
                self.shards[shard].busy = true;
                return Some(Task::Consume(shard, parsed));
            }
        }
        None
    }

    /// The block that is next in turn for a shard, if it is parsed.
    fn next_of(&self, shard: usize) -> Option<&Arc<Parsed>> {
        let place = self.shards[shard].next_block.checked_sub(self.oldest)?;
        let waiting = self.parsed.get(usize::try_from(place).ok()?)?;
        waiting.as_ref().map(|w| &w.buffers.parsed)
    }

    /// A shard is done with its block; buffers of blocks that all shards are done with come free.
    fn step(&mut self, shard: usize) {
        let place = self.shards[shard].next_block.saturating_sub(self.oldest);
        self.shards[shard].next_block += 1;
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        if let Some(Some(waiting)) = self.parsed.get_mut(place) {
            waiting.left = waiting.left.saturating_sub(1);
        }
        while let Some(Some(Waiting { left: 0, .. })) = self.parsed.front() {
            if let Some(Some(done)) = self.parsed.pop_front() {
                self.free.push(done.buffers);
            }
            self.oldest += 1;
        }
    }

    /// Reading is done; returns the number of the block read.
    fn has_read(&mut self, more: bool) -> u64 {
        self.reading = false;
        let turn = self.next_block;
        if more {
            self.next_block += 1;
            self.parsing += 1;
            self.parsed.push_back(None);
        } else {
            self.at_end = true;
        }
        turn
    }

    fn has_parsed(&mut self, turn: u64, tally: &Tally, buffers: Box<Buffers>) {
        self.tally.add(tally);
        self.parsing -= 1;
        let place = usize::try_from(turn.saturating_sub(self.oldest)).unwrap_or(usize::MAX);
        if let Some(slot) = self.parsed.get_mut(place) {
            let left = SHARDS;
            *slot = Some(Waiting { buffers, left });
        }
    }

    fn has_consumed(&mut self, shard: usize) {
        self.shards[shard].busy = false;
        self.step(shard);
    }
}

/// A thread that panicked aborts the program (release) or fails the test; the data stay usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
