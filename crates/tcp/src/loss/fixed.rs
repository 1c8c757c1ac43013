//! A fixed duplicate-ACK threshold: RFC 6675 section 5 with SACK, RFC 5681 section 3.2 and RFC 6582 section 3.2 without. The "S-Sender" of the SRPIC
//! paper; Linux with `tcp_reordering = tcp_max_reordering = 3` and `tcp_recovery = 0`.

use super::newreno::mark_without_sack;
use super::{AckNews, Context, Entry, LossDetection, Verdict};

pub(super) const ENTRY: Entry = Entry {
    name: "static",
    about: "a fixed threshold of three duplicates",
    source: "RFC 6675, RFC 5681; Linux with tcp_max_reordering=3, tcp_recovery=0",
    build: || Box::new(Static::new(3)),
};

/// A constant threshold (DupThresh of RFC 6675 section 2), without adaptation.
#[derive(Debug, Clone)]
pub struct Static {
    threshold: u32,
}

impl Static {
    /// A threshold of `threshold` segments, at least 1.
    pub fn new(threshold: u32) -> Self {
        Self {
            threshold: threshold.max(1),
        }
    }
}

impl LossDetection for Static {
    fn dupthresh(&self) -> u32 {
        self.threshold
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        if cx.sack {
            let marked = cx.board.mark_by_threshold(self.threshold);
            return Verdict::recover_if(marked > 0 || cx.board.lost_out() > 0);
        }
        Verdict::recover_if(mark_without_sack(cx, ack, self.threshold))
    }
}
