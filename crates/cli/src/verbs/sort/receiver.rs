//! The receiver: a ring whose interrupt is coalesced, the sorter, the time of delivery.

use std::collections::VecDeque;
use std::io::{self, Write};

use inorder_sort::{
    AnySorter, Batch, Batcher, ConfigError, Hashed, Meta, Sorter, SorterConfig, Surroundings, srpic,
};
use inorder_wire::{Frame, LinkType};

use super::classify::{Classified, Classifier, Flow, Placed};
use super::output::Output;
use super::tally::{Summary, Tally};

/// Takes frames as they were captured, gives them on as the stack would have got them.
pub struct Receiver {
    batcher: Batcher,
    sorter: AnySorter<Hashed<Flow>, Held>,
    classifier: Classifier,
    /// Arrived, their interrupt not yet fired: at most a ring of them.
    waiting: VecDeque<(Option<Meta<Hashed<Flow>>>, Held)>,
    /// Delivered, to be written.
    ready: Vec<Held>,
    /// Buffers to use again.
    spare: Vec<Vec<u8>>,
    tally: Tally,
    /// The latest time of any frame: time that runs backwards counts as standing still.
    now_ns: i64,
}

/// A frame that outlives the buffer it was read into.
struct Held {
    ts_ns: i64,
    link: LinkType,
    orig_len: u32,
    data: Vec<u8>,
    placed: Option<Placed>,
}

impl Receiver {
    pub fn new(
        config: &SorterConfig,
        around: &Surroundings,
        coalesce_ns: i64,
        services: bool,
    ) -> Result<Self, ConfigError> {
        let literal = config.value(&srpic::LITERAL) != 0;
        Ok(Receiver {
            // The softirq takes no time: how long it would is not in a capture.
            batcher: Batcher::new(coalesce_ns, around.ring_packets, 0),
            sorter: config.build(around)?,
            classifier: Classifier::new(services, literal),
            now_ns: i64::MIN,
            waiting: VecDeque::new(),
            ready: Vec::new(),
            spare: Vec::new(),
            tally: Tally::default(),
        })
    }

    /// A frame reaches the card.
    pub fn arrive<W: Write>(&mut self, frame: &Frame<'_>, out: &mut Output<W>) -> io::Result<()> {
        self.now_ns = self.now_ns.max(frame.ts_ns);
        if let Some(batch) = self.batcher.arrive(frame.ts_ns).ended {
            self.end_batch(&batch, out)?;
        }
        self.release(self.now_ns, out)?;
        let classified = self.classifier.classify(frame);
        let held = self.hold(frame, classified.as_ref());
        self.tally.arrived(held.placed.as_ref(), held.ts_ns);
        self.waiting.push_back((classified.map(|c| c.meta), held));
        // Fired already, by time or by a full ring: the softirq is at work. Whatever still comes
        // at this very moment it takes along, and no more than a ring waits.
        match self.batcher.fired().copied() {
            Some(batch) => self.fetch(&batch, out),
            None => Ok(()),
        }
    }

    /// Nothing more arrives.
    pub fn finish<W: Write>(&mut self, out: &mut Output<W>) -> io::Result<()> {
        if let Some(batch) = self.batcher.finish() {
            self.end_batch(&batch, out)?;
        }
        self.release(i64::MAX, out)
    }

    pub fn summary(&self) -> Summary {
        self.tally.summary(&self.sorter.counters())
    }

    fn hold(&mut self, frame: &Frame<'_>, classified: Option<&Classified>) -> Held {
        let mut data = self.spare.pop().unwrap_or_default();
        data.clear();
        data.extend_from_slice(frame.data);
        Held {
            ts_ns: frame.ts_ns,
            link: frame.link,
            orig_len: frame.orig_len,
            data,
            placed: classified.and_then(|c| c.placed),
        }
    }

    /// The softirq hands what is in the ring to the sorter.
    fn fetch<W: Write>(&mut self, batch: &Batch, out: &mut Output<W>) -> io::Result<()> {
        let ready = &mut self.ready;
        for (meta, held) in self.waiting.drain(..) {
            match meta {
                Some(meta) => {
                    let out = &mut |p| ready.push(p);
                    self.sorter.push(&meta, held, batch.end_ns, out);
                }
                None => ready.push(held),
            }
        }
        self.write(batch.end_ns, out)
    }

    fn end_batch<W: Write>(&mut self, batch: &Batch, out: &mut Output<W>) -> io::Result<()> {
        self.release(batch.end_ns, out)?;
        self.fetch(batch, out)?;
        let ready = &mut self.ready;
        self.sorter
            .end_of_batch(batch.end_ns, &mut |p| ready.push(p));
        self.tally.batch(batch.packets);
        self.write(batch.end_ns, out)
    }

    /// The sorter's deadlines up to `until_ns` come, each at its time.
    fn release<W: Write>(&mut self, until_ns: i64, out: &mut Output<W>) -> io::Result<()> {
        while let Some(due_ns) = self.sorter.next_deadline_ns().filter(|at| *at <= until_ns) {
            let ready = &mut self.ready;
            self.sorter.on_deadline(due_ns, &mut |p| ready.push(p));
            self.write(due_ns, out)?;
        }
        Ok(())
    }

    /// Writes what has been delivered, at the time it was.
    fn write<W: Write>(&mut self, now_ns: i64, out: &mut Output<W>) -> io::Result<()> {
        for held in self.ready.drain(..) {
            let frame = Frame {
                ts_ns: now_ns,
                number: 0,
                link: held.link,
                orig_len: held.orig_len,
                data: &held.data,
            };
            out.write(&frame)?;
            self.tally
                .delivered(held.placed.as_ref(), held.ts_ns, now_ns);
            self.spare.push(held.data);
        }
        Ok(())
    }
}
