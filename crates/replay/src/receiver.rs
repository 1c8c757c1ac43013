//! The simulated receiver: a ring with interrupt coalescing, the sorter, and the time of delivery.

use std::collections::VecDeque;
use std::io::{self, Write};

use inorder_sort::{AnySorter, Batch, Batcher, ConfigError, Meta, Sorter, srpic};
use inorder_wire::{Frame, LinkType};

use crate::classify::{Classified, Classifier, Flow, Placed};
use crate::output::Output;
use crate::settings::Settings;
use crate::tally::{Summary, Tally};

/// Takes frames as they were captured and delivers them as the stack would have received them.
pub(crate) struct Receiver {
    batcher: Batcher,
    sorter: AnySorter<Flow, Held>,
    classifier: Classifier,
    /// Frames that have arrived and whose interrupt has not fired yet: at most one ring.
    waiting: VecDeque<(Option<Meta<Flow>>, Held)>,
    /// Delivered frames that are not written yet.
    ready: Vec<Held>,
    /// Buffers for reuse.
    spare: Vec<Vec<u8>>,
    tally: Tally,
    /// The latest time of any frame; if times run backwards, the clock stands still.
    now_ns: i64,
}

/// A copy of a frame, which outlives the buffer it was read into.
struct Held {
    ts_ns: i64,
    link: LinkType,
    orig_len: u32,
    data: Vec<u8>,
    placed: Option<Placed>,
}

impl Receiver {
    pub(crate) fn new(settings: &Settings) -> Result<Self, ConfigError> {
        let around = settings.around();
        let literal = settings.sorter.value(&srpic::LITERAL) != 0;
        let filter = settings.filter.clone();
        Ok(Receiver {
            // The softirq takes no time in this model, because a capture does not show how long it takes.
            batcher: Batcher::new(settings.coalesce_ns, around.ring_packets, 0),
            sorter: settings.sorter.build(&around)?,
            classifier: Classifier::new(settings.services, literal, filter),
            now_ns: i64::MIN,
            waiting: VecDeque::new(),
            ready: Vec::new(),
            spare: Vec::new(),
            tally: Tally::default(),
        })
    }

    /// A frame reaches the card.
    pub(crate) fn arrive<W: Write>(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Output<W>,
    ) -> io::Result<()> {
        self.now_ns = self.now_ns.max(frame.ts_ns);
        if let Some(batch) = self.batcher.arrive(frame.ts_ns).ended {
            self.end_batch(&batch, out)?;
        }
        self.release(self.now_ns, out)?;
        let classified = self.classifier.classify(frame);
        let held = self.hold(frame, classified.as_ref());
        self.tally.arrived(held.placed.as_ref(), held.ts_ns);
        self.waiting.push_back((classified.map(|c| c.meta), held));
        // The interrupt has already fired, by time or by a full ring, and the softirq is running. It also takes
        // frames that arrive at this very moment, so never more than one ring waits.
        match self.batcher.fired().copied() {
            Some(batch) => self.fetch(&batch, out),
            None => Ok(()),
        }
    }

    /// Ends the input.
    pub(crate) fn finish<W: Write>(&mut self, out: &mut Output<W>) -> io::Result<()> {
        if let Some(batch) = self.batcher.finish() {
            self.end_batch(&batch, out)?;
        }
        self.release(i64::MAX, out)
    }

    pub(crate) fn summary(&self) -> Summary {
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

    /// The softirq passes the frames of the ring to the sorter.
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

    /// Runs the sorter's deadlines up to `until_ns`, each at its own time.
    fn release<W: Write>(&mut self, until_ns: i64, out: &mut Output<W>) -> io::Result<()> {
        while let Some(due_ns) = self.sorter.next_deadline_ns().filter(|at| *at <= until_ns) {
            let ready = &mut self.ready;
            self.sorter.on_deadline(due_ns, &mut |p| ready.push(p));
            self.write(due_ns, out)?;
        }
        Ok(())
    }

    /// Writes the frames that were delivered, with the time of delivery.
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
