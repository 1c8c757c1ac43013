//! Several threads: whoever is idle takes the next piece of work.
//!
//! Every thread has shards of its own, so that what is known of their connections stays in its
//! cache. Consuming those comes first, so that little waits in memory; then reading, which is
//! limited by the number of block buffers; then what others have not got to. Within a shard,
//! blocks are consumed in order, a few at a time, while no other thread works on it.
//!
//! With few connections one thread consumes and the others parse, and each waits for the other
//! now and then, mostly for less time than it takes to be put to sleep and woken. So who finds
//! nothing to do first looks on for a moment.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use inorder_capture::Block;
use inorder_wire::Other;

use super::batch::Parsed;
use super::fragments::Reassembling;
use super::sink::{SHARDS, Sink};
use super::tally::Tally;
use crate::source::Reader;

/// Block buffers, at most; reading waits when all are in use. Two more than threads keep all at
/// work; to touch more of them for the first time would cost more than it helps.
const MAX_BUFFERS_IN_USE: usize = 16;
/// Looks for news before a thread goes to sleep: some ten microseconds.
const LOOKS: u32 = 1_000;

/// Reads everything on `threads` threads into sinks that `sink` makes, one a shard.
pub(crate) fn run<S: Sink>(
    reader: &mut Reader,
    sink: impl Fn() -> S,
    threads: usize,
) -> (Vec<S>, Tally) {
    let mut sinks: Vec<_> = (0..SHARDS).map(|_| Reassembling::new(sink())).collect();
    let mut tally = run_into(reader, &mut sinks, threads);
    // Every shard's table of fragments is the same.
    let unused = sinks.first().map_or(0, Reassembling::unused_frames);
    tally.skip_more(Other::Fragment, unused);
    let sinks = sinks.into_iter().map(Reassembling::into_sink);
    (sinks.collect(), tally)
}

fn run_into<S: Sink>(reader: &mut Reader, sinks: &mut [Reassembling<S>], threads: usize) -> Tally {
    let team = Team {
        board: Mutex::new(Board::new((threads + 2).min(MAX_BUFFERS_IN_USE))),
        news: Condvar::new(),
        changes: AtomicU32::new(0),
        reader: Mutex::new(reader),
        sinks: sinks.iter_mut().map(Mutex::new).collect(),
    };
    std::thread::scope(|scope| {
        for thread in 1..threads {
            let team = &team;
            scope.spawn(move || team.work(thread, threads));
        }
        team.work(0, threads);
    });
    team.board
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .tally
}

/// What the threads share.
struct Team<'t, S> {
    board: Mutex<Board>,
    news: Condvar,
    /// Counts the changes of the board, for those who look on without holding it.
    changes: AtomicU32,
    reader: Mutex<&'t mut Reader>,
    sinks: Vec<Mutex<&'t mut Reassembling<S>>>,
}

/// A piece of work, with the room it needs.
enum Task {
    /// A block, and its packets into this.
    Read(Arc<Parsed>),
    /// The packets of this shard in some blocks.
    Consume(usize),
    End,
}

/// A thread's view of the shards.
#[derive(Clone, Copy)]
struct Place {
    thread: usize,
    threads: usize,
}

impl Place {
    fn owns(self, shard: usize) -> bool {
        shard % self.threads == self.thread
    }
}

impl<S: Sink> Team<'_, S> {
    fn work(&self, thread: usize, threads: usize) {
        let place = Place { thread, threads };
        // Who reads a block also parses it, and then needs it no more: one for each thread, which
        // stays in its cache.
        let (mut block, mut blocks) = (Block::default(), Vec::new());
        loop {
            match self.next_task(place, &mut blocks) {
                Task::Read(parsed) => self.read(&mut block, parsed),
                Task::Consume(shard) => self.consume(shard, &mut blocks),
                Task::End => return,
            }
        }
    }

    /// What to do next; `blocks` are those to consume.
    fn next_task(&self, place: Place, blocks: &mut Vec<Arc<Parsed>>) -> Task {
        let mut board = lock(&self.board);
        let mut may_look = true;
        loop {
            if let Some(task) = board.take(place, blocks) {
                return task;
            }
            if std::mem::take(&mut may_look) {
                let seen = self.changes.load(Ordering::Relaxed);
                drop(board);
                self.look_on(seen);
                board = lock(&self.board);
                continue;
            }
            may_look = true;
            board.idle += 1;
            board = self
                .news
                .wait(board)
                .unwrap_or_else(PoisonError::into_inner);
            board.idle -= 1;
        }
    }

    /// Waits a moment for the board to change.
    fn look_on(&self, seen: u32) {
        for _ in 0..LOOKS {
            if self.changes.load(Ordering::Relaxed) != seen {
                return;
            }
            std::hint::spin_loop();
        }
    }

    /// Changes the board, and wakes those who may have been waiting for it: a call of the system,
    /// so not when nobody does.
    fn post<T>(&self, change: impl FnOnce(&mut Board) -> T) -> T {
        let mut board = lock(&self.board);
        let result = change(&mut board);
        self.changes.fetch_add(1, Ordering::Relaxed);
        let idle = board.idle > 0;
        drop(board);
        if idle {
            self.news.notify_all();
        }
        result
    }

    /// Reads a block while holding the reader, then lets the next thread read and parses.
    fn read(&self, block: &mut Block, mut parsed: Arc<Parsed>) {
        let read = lock(&self.reader).read(block);
        let turn = self.post(|board| board.has_read(read.is_some()));
        if let Some(frames_before) = read {
            // Nobody else holds it any more, so nothing is cloned.
            let tally = Arc::make_mut(&mut parsed).read(block, frames_before);
            self.post(|board| board.has_parsed(turn, &tally, parsed));
        }
    }

    fn consume(&self, shard: usize, blocks: &mut Vec<Arc<Parsed>>) {
        if let Some(sink) = self.sinks.get(shard) {
            let mut sink = lock(sink);
            for parsed in &*blocks {
                parsed.hand_over(shard, &mut sink);
            }
        }
        let count = blocks.len();
        // Given back before the buffers can be used again.
        blocks.clear();
        self.post(|board| board.has_consumed(shard, count));
    }
}

/// What is done, waiting and free.
struct Board {
    tally: Tally,
    /// Threads that wait for news.
    idle: usize,
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
    /// Blocks of a shard that are consumed at a time, at most: their buffers come free together,
    /// and the others go on parsing only while there are some.
    at_a_time: usize,
    free: Vec<Arc<Parsed>>,
    /// Parsed blocks that not all shards have consumed, the oldest first; `None` while a
    /// block is being parsed.
    parsed: VecDeque<Option<Waiting>>,
    /// Number of the oldest block in `parsed`.
    oldest: u64,
    shards: [Shard; SHARDS],
}

/// A parsed block.
struct Waiting {
    parsed: Arc<Parsed>,
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
            idle: 0,
            reading: false,
            at_end: false,
            next_block: 0,
            parsing: 0,
            unmade: buffers,
            at_a_time: (buffers / 4).max(1),
            free: Vec::new(),
            parsed: VecDeque::new(),
            oldest: 0,
            shards: [Shard::default(); SHARDS],
        }
    }

    /// The most urgent work that can be done now.
    fn take(&mut self, place: Place, blocks: &mut Vec<Arc<Parsed>>) -> Option<Task> {
        if let Some(shard) = self.take_packets(blocks, |shard| place.owns(shard)) {
            return Some(Task::Consume(shard));
        }
        if !self.at_end
            && !self.reading
            && let Some(parsed) = self.take_buffer()
        {
            self.reading = true;
            return Some(Task::Read(parsed));
        }
        if let Some(shard) = self.take_packets(blocks, |_| true) {
            return Some(Task::Consume(shard));
        }
        let idle = !self.reading && self.parsing == 0 && self.parsed.is_empty();
        (self.at_end && idle).then_some(Task::End)
    }

    fn take_buffer(&mut self) -> Option<Arc<Parsed>> {
        self.free.pop().or_else(|| {
            self.unmade = self.unmade.checked_sub(1)?;
            Some(Arc::default())
        })
    }

    /// The blocks that one of the shards `among` may consume now; blocks with nothing for it
    /// are passed over.
    fn take_packets(
        &mut self,
        blocks: &mut Vec<Arc<Parsed>>,
        among: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        for shard in (0..SHARDS).filter(|&shard| among(shard)) {
            if self.shards[shard].busy {
                continue;
            }
            while self.block_of(shard, 0).is_some_and(|b| b.is_empty(shard)) {
                self.step(shard);
            }
            let parsed = (0..self.at_a_time).map_while(|ahead| self.block_of(shard, ahead));
            blocks.extend(parsed.cloned());
            if !blocks.is_empty() {
                self.shards[shard].busy = true;
                return Some(shard);
            }
        }
        None
    }

    /// The block `ahead` of the one that is next in turn for a shard, if it is parsed.
    fn block_of(&self, shard: usize, ahead: usize) -> Option<&Arc<Parsed>> {
        let next = self.shards[shard].next_block.checked_sub(self.oldest)?;
        let place = usize::try_from(next).ok()?.checked_add(ahead)?;
        let waiting = self.parsed.get(place)?;
        waiting.as_ref().map(|w| &w.parsed)
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
                self.free.push(done.parsed);
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

    fn has_parsed(&mut self, turn: u64, tally: &Tally, parsed: Arc<Parsed>) {
        self.tally.add(tally);
        self.parsing -= 1;
        let place = usize::try_from(turn.saturating_sub(self.oldest)).unwrap_or(usize::MAX);
        if let Some(slot) = self.parsed.get_mut(place) {
            let left = SHARDS;
            *slot = Some(Waiting { parsed, left });
        }
    }

    fn has_consumed(&mut self, shard: usize, blocks: usize) {
        self.shards[shard].busy = false;
        (0..blocks).for_each(|_| self.step(shard));
    }
}

/// A thread that panicked aborts the program (release) or fails the test; the data stay usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
