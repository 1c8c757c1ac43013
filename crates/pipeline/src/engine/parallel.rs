//! Several threads: each idle thread takes the next task.
//!
//! Every thread has preferred shards, so that the state of their connections stays in its cache. An idle thread first
//! consumes its own shards, so that few blocks wait in memory; then it reads, as far as free block buffers allow;
//! then it consumes shards of other threads. Within a shard, blocks are consumed in order, a few at a time, by one
//! thread at a time.
//!
//! With few connections one thread consumes and the others parse. They often wait for each other for less time than
//! sleeping and waking takes. An idle thread therefore polls for a short time before it sleeps.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use inorder_capture::Block;

use super::batch::Parsed;
use super::fragments::Reassembling;
use super::sink::{SHARDS, Sink};
use super::tally::Tally;
use crate::Selection;
use crate::selection::Chosen;
use crate::source::Reader;

/// Maximum number of block buffers beyond which reading waits. Two more than there are threads keep all threads busy;
/// touching more memory for the first time costs more than it gains.
const MAX_BUFFERS_IN_USE: usize = 16;
/// How often an idle thread polls before it sleeps: about ten microseconds in all.
const MAX_POLLS_BEFORE_SLEEP: u32 = 1_000;

/// Reads everything on `threads` threads into sinks that `sink` makes, one a shard.
pub(crate) fn run<S: Sink>(
    reader: &mut Reader,
    selection: &Selection,
    sink: impl Fn() -> S,
    threads: usize,
) -> (Vec<S>, Tally) {
    let mut sinks: Vec<_> = (0..SHARDS)
        .map(|_| Reassembling::new(sink(), selection))
        .collect();
    let mut tally = run_into(reader, selection, &mut sinks, threads);
    // Every shard keeps the same table of fragments, so the count of one of them is taken.
    for (reason, frames) in sinks
        .iter()
        .take(1)
        .flat_map(Reassembling::unused_fragments)
    {
        tally.skip_more(reason, frames);
    }
    let sinks = sinks.into_iter().map(Reassembling::into_sink);
    (sinks.collect(), tally)
}

fn run_into<S: Sink>(
    reader: &mut Reader,
    selection: &Selection,
    sinks: &mut [Reassembling<S>],
    threads: usize,
) -> Tally {
    let team = Team {
        board: Mutex::new(Board::new((threads + 2).min(MAX_BUFFERS_IN_USE))),
        news: Condvar::new(),
        changes: AtomicU32::new(0),
        reader: Mutex::new((reader, None)),
        selection,
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

/// State shared by the threads.
struct Team<'t, S> {
    board: Mutex<Board>,
    news: Condvar,
    /// Counts changes of the board, so that polling needs no lock.
    changes: AtomicU32,
    /// The reader, and the selection for this capture as soon as its first block was read.
    reader: Mutex<(&'t mut Reader, Option<Chosen>)>,
    selection: &'t Selection,
    sinks: Vec<Mutex<&'t mut Reassembling<S>>>,
}

/// A task with the buffers it needs.
enum Task {
    /// Read and parse a block into these buffers.
    Read(Arc<Parsed>),
    /// Consume the packets of one shard in these blocks.
    Consume(usize),
    End,
}

/// The shards from the point of view of one thread.
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
        // The thread that reads a block also parses it and does not need the bytes afterwards. One buffer for each
        // thread stays in that thread's cache.
        let (mut block, mut blocks) = (Block::default(), Vec::new());
        loop {
            match self.next_task(place, &mut blocks) {
                Task::Read(parsed) => self.read(&mut block, parsed),
                Task::Consume(shard) => self.consume(shard, &mut blocks),
                Task::End => return,
            }
        }
    }

    /// The next task; `blocks` receives the blocks to consume.
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
                self.poll(seen);
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

    /// Polls for a short time until the board changes.
    fn poll(&self, seen: u32) {
        for _ in 0..MAX_POLLS_BEFORE_SLEEP {
            if self.changes.load(Ordering::Relaxed) != seen {
                return;
            }
            std::hint::spin_loop();
        }
    }

    /// Changes the board and wakes waiting threads. Waking is a system call, so it is skipped if no thread sleeps.
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

    /// Reads a block under the reader's lock, then releases the lock and parses.
    fn read(&self, block: &mut Block, mut parsed: Arc<Parsed>) {
        let (read, chosen) = {
            let mut reader = lock(&self.reader);
            let read = reader.0.read(block);
            if reader.1.is_none() && read.is_some() {
                reader.1 = Chosen::of(self.selection, block);
            }
            (read, reader.1.clone())
        };
        let turn = self.post(|board| board.has_read(read.is_some()));
        if let Some(frames_before) = read {
            // No other thread holds the reader any more, so this does not copy.
            let tally = Arc::make_mut(&mut parsed).read(block, frames_before, chosen.as_ref());
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
        // Given back before the buffers become free to be used again.
        blocks.clear();
        self.post(|board| board.has_consumed(shard, count));
    }
}

/// The state of all tasks: finished, waiting, and free buffers.
struct Board {
    tally: Tally,
    /// Threads that sleep until the board changes.
    idle: usize,
    /// Another thread is using the reader.
    reading: bool,
    /// The input is at its end.
    at_end: bool,
    /// Number of the next block to be read.
    next_block: u64,
    /// Blocks that were read and are not parsed yet.
    parsing: usize,
    /// Buffers that may still be allocated.
    unmade: usize,
    /// Maximum number of blocks of a shard that are consumed in one task. Their buffers become free together, and the
    /// other threads can parse only while buffers are free.
    at_a_time: usize,
    free: Vec<Arc<Parsed>>,
    /// Parsed blocks that some shards have not consumed yet, the oldest first; `None` while a block is being parsed.
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

    /// The most urgent task that can be started now.
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

    /// The blocks that one of the shards `among` may consume now. Blocks without packets for the shard are skipped.
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

    /// The block `ahead` positions after the next one of a shard, if it is already parsed.
    fn block_of(&self, shard: usize, ahead: usize) -> Option<&Arc<Parsed>> {
        let next = self.shards[shard].next_block.checked_sub(self.oldest)?;
        let place = usize::try_from(next).ok()?.checked_add(ahead)?;
        let waiting = self.parsed.get(place)?;
        waiting.as_ref().map(|w| &w.parsed)
    }

    /// Marks blocks as consumed by a shard; buffers of blocks that all shards have consumed become free.
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

    /// Ends the use of the reader; returns the number of the block that was read.
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

/// A thread that panicked aborts the program (release) or fails the test, and leaves consistent data: the poisoned
/// lock can be used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
