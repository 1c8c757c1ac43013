//! The sorter itself, `inorder_sort`, for each block size.

use inorder_base::heap::Heap;
use std::cell::OnceCell;
use std::fmt;

use inorder_sort::Meta;
use inorder_sort::srpic::{Config, Srpic};

use crate::runs::{self, Data, Runs};

/// One sorter for each block size, empty but while it sorts; and the stretch to sort.
///
/// In one block the sorter is a stable sort by sequence number, and that runs over runs, not over
/// packets; where runs lie across one another, and of more than a block, the sorter itself runs.
pub(crate) struct Sorters {
    sorters: Vec<Sorter>,
    stretch: Vec<Data>,
    /// Segments in it.
    len: u64,
    out: Vec<Data>,
    /// `out` is the whole stretch, sorted as one block.
    whole: bool,
}

impl Heap for Sorters {
    fn heap_bytes(&self) -> usize {
        let made = self.sorters.iter().filter_map(|sorter| sorter.srpic.get());
        let made: usize = made
            .flatten()
            .map(inorder_sort::Sorter::memory_footprint)
            .sum();
        self.sorters.heap_bytes() + made + self.stretch.heap_bytes() + self.out.heap_bytes()
    }
}

struct Sorter {
    block_size: usize,
    /// Made when first needed, which in most flows is never; `None` if there is no memory for it:
    /// then it leaves everything as it comes.
    srpic: OnceCell<Option<Srpic<u32, Data>>>,
}

impl Sorter {
    fn srpic(&mut self) -> Option<&mut Srpic<u32, Data>> {
        self.srpic.get_or_init(|| {
            let config = Config::new(self.block_size, self.block_size);
            Srpic::new(&Config {
                flow_capacity: 1,
                ..config
            })
            .ok()
        });
        self.srpic.get_mut()?.as_mut()
    }
}

impl fmt::Debug for Sorters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sorters").finish_non_exhaustive()
    }
}

impl Sorters {
    /// `ring`: segments in a stretch at most.
    pub(crate) fn new(block_sizes: &[u32], ring: u64) -> Self {
        let sorter = |&block_size: &u32| {
            // A larger block than the stretch is never full. A ring no larger than the block is
            // full when the block is, and then the sorter starts over as after a full block.
            let block_size = u64::from(block_size).clamp(1, ring) as usize;
            Sorter {
                block_size,
                srpic: OnceCell::new(),
            }
        };
        Sorters {
            sorters: block_sizes.iter().map(sorter).collect(),
            stretch: Vec::new(),
            len: 0,
            out: Vec::new(),
            whole: false,
        }
    }

    /// The stretch to sort, arrivals `from..to`: suitable segments of one batch, or one
    /// unsuitable.
    pub(crate) fn load(&mut self, runs: &Runs, from: u64, to: u64) {
        runs.copy_to(&mut self.stretch, from, to);
        self.len = to - from;
        self.whole = false;
    }

    /// The stretch as it came.
    pub(crate) fn unsorted(&self) -> &[Data] {
        &self.stretch
    }

    pub(crate) fn len(&self) -> usize {
        self.sorters.len()
    }

    /// The stretch fits in one block of every size.
    pub(crate) fn is_one_block(&self) -> bool {
        let fits = |sorter: &Sorter| self.len <= sorter.block_size as u64;
        self.sorters.iter().all(fits)
    }

    /// The stretch as sorter `n` delivers it.
    pub(crate) fn sorted(&mut self, n: usize) -> &[Data] {
        let Some(sorter) = self.sorters.get_mut(n) else {
            return &[];
        };
        let whole = self.len <= sorter.block_size as u64;
        if whole && self.whole {
            return &self.out;
        }
        self.whole = whole;
        if whole && runs::sort(&self.stretch, &mut self.out) {
            return &self.out;
        }
        self.out.clear();
        let Some(srpic) = sorter.srpic() else {
            return &self.stretch;
        };
        let out = &mut self.out;
        for run in &self.stretch {
            for i in 0..run.count {
                let start = run.at(i);
                // Sequence numbers wrap as they do on the wire.
                let meta = Meta::data(0, start as u32, run.len);
                let data = Data {
                    start,
                    count: 1,
                    ..*run
                };
                srpic.push(&meta, data, &mut |d| join(out, d));
            }
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
