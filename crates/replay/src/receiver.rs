//! The simulated receiver: a card with a sorter, and the frames that it delivers written with the time of delivery.
//!
//! The softirq takes no time in this model, because a capture does not show how long it takes.

use std::io::{self, Write};

use inorder_sort::{Batch, BatchCard, ConfigError, Sorter, srpic};
use inorder_wire::{Frame, LinkType};

use crate::classify::{Classified, Classifier, Flow, Placed};
use crate::output::Output;
use crate::settings::Settings;
use crate::tally::{Summary, Tally};

/// Takes frames as they were captured and delivers them as the stack would have received them.
pub(crate) struct Receiver {
    card: BatchCard<Flow, Held>,
    classifier: Classifier,
    /// Delivered frames that are not written yet, with the time of delivery.
    ready: Vec<(Held, i64)>,
    /// Buffers for reuse.
    spare: Vec<Vec<u8>>,
    tally: Tally,
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
            card: BatchCard::new(&settings.sorter, settings.coalesce_ns, &around)?,
            classifier: Classifier::new(settings.services, literal, filter),
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
        let ready = &mut self.ready;
        let up = &mut |held, at_ns| ready.push((held, at_ns));
        let ended = self.card.arrive(frame.ts_ns, up);
        self.end(ended, out)?;
        let classified = self.classifier.classify(frame);
        let held = self.copy(frame, classified.as_ref());
        self.tally.arrived(held.placed.as_ref(), held.ts_ns);
        self.card.hold(classified.map(|c| c.meta), held);
        let ready = &mut self.ready;
        self.card
            .fetch_fired(&mut |held, at_ns| ready.push((held, at_ns)));
        self.write(out)
    }

    /// Ends the input.
    pub(crate) fn finish<W: Write>(&mut self, out: &mut Output<W>) -> io::Result<()> {
        let ready = &mut self.ready;
        let up = &mut |held, at_ns| ready.push((held, at_ns));
        let ended = self.card.finish(up);
        self.end(ended, out)
    }

    fn end<W: Write>(&mut self, batch: Option<Batch>, out: &mut Output<W>) -> io::Result<()> {
        if let Some(batch) = batch {
            self.tally.batch(batch.packets);
        }
        self.write(out)
    }

    pub(crate) fn summary(&self) -> Summary {
        self.tally.summary(&self.card.sorter().counters())
    }

    fn copy(&mut self, frame: &Frame<'_>, classified: Option<&Classified>) -> Held {
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

    /// Writes the frames that were delivered, with the time of delivery.
    fn write<W: Write>(&mut self, out: &mut Output<W>) -> io::Result<()> {
        for (held, now_ns) in self.ready.drain(..) {
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
