//! The sorter itself, `inorder_srpic`, for each block size.

use std::fmt;

use inorder_srpic::{Config, Meta, Srpic};

use super::runs::Data;

/// One sorter for each block size, empty but while it sorts; and the stretch to sort.
pub(super) struct Sorters {
    sorters: Vec<Sorter>,
    stretch: Vec<Data>,
    out: Vec<Data>,
    /// `out` is the whole stretch, sorted as one block.
    whole: bool,
}

struct Sorter {
    block_size: usize,
    /// `None` if there is no memory for it: then it leaves everything as it comes.
    srpic: Option<Srpic<u32, Data>>,
}

impl fmt::Debug for Sorters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sorters").finish_non_exhaustive()
    }
}

impl Sorters {
    /// `ring`: segments in a stretch at most.
    pub(super) fn new(block_sizes: &[u32], ring: u64) -> Self {
        let sorter = |&block_size: &u32| {
            // A larger block than the stretch is never full. A ring no larger than the block is
            // full when the block is, and then the sorter starts over as after a full block.
            let block_size = u64::from(block_size).clamp(1, ring) as usize;
            Sorter {
                block_size,
                srpic: Srpic::new(&Config {
                    flow_capacity: 1,
                    ..Config::new(block_size, block_size)
                })
                .ok(),
            }
        };
        Sorters {
            sorters: block_sizes.iter().map(sorter).collect(),
            stretch: Vec::new(),
            out: Vec::new(),
            whole: false,
        }
    }

    /// The stretch to sort: suitable segments of one batch, or one unsuitable.
    pub(super) fn load(&mut self, stretch: impl Iterator<Item = Data>) {
        self.stretch.clear();
        self.whole = false;
        for run in stretch {
            let segments = (0..run.count).map(|i| Data {
                start: run.at(i),
                count: 1,
                ..run
            });
            self.stretch.extend(segments);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.sorters.len()
    }

    /// The stretch fits in one block of every size.
    pub(super) fn is_one_block(&self) -> bool {
        let fits = |sorter: &Sorter| self.stretch.len() <= sorter.block_size;
        self.sorters.iter().all(fits)
    }

    /// The stretch as sorter `n` delivers it.
    pub(super) fn sorted(&mut self, n: usize) -> &[Data] {
        let Some(sorter) = self.sorters.get_mut(n) else {
            return &[];
        };
        let whole = self.stretch.len() <= sorter.block_size;
        if whole && self.whole {
            return &self.out;
        }
        self.whole = whole;
        self.out.clear();
        let Some(srpic) = &mut sorter.srpic else {
            return &self.stretch;
        };
        let out = &mut self.out;
        for &data in &self.stretch {
            // Sequence numbers wrap as they do on the wire.
            srpic.push(
                &Meta::data(0, data.start as u32, data.len),
                data,
                &mut |d| {
                    join(out, d);
                },
            );
        }
        srpic.end_of_batch(&mut |d| join(out, d));
        out
    }
}

/// Appends a segment, to the last run if it continues it.
#[inline]
fn join(out: &mut Vec<Data>, data: Data) {
    if let Some(last) = out.last_mut()
        && last.end() == data.start
        && last.len == data.len
        && last.retransmission == data.retransmission
    {
        last.count += 1;
    } else {
        out.push(data);
    }
}
