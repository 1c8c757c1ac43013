//! The truth about what limited each direction of a flow at each time.
//!
//! The simulator knows the sender's state, which of its retransmissions were needed, when each link was busy and when the
//! path was interrupted. One limit holds at each instant: the first of these that is true.
//!
//! 1. `handshake`: the connection is not open.
//! 2. `path-dead`: nothing gets through, from the last arrival before to the first one after, where two time-outs in a row were
//!    not answered or the path was interrupted; after an interruption only until it ends.
//! 3. `timer-needed`, `timer-unneeded`: the sender waits for a retransmission timer that expires, since it last heard or sent
//!    something; needed if something it waits for was lost.
//! 4. `recovery-needed`, `recovery-unneeded`: from the first retransmission until what had been sent then is acknowledged, or
//!    the reduction is undone; needed if something of it was lost.
//! 5. `application`: nothing to send.
//! 6. `receiver-window`: the receiver's window, not the congestion window, holds back what there is.
//! 7. `send-buffer`: the application would write more, but the buffer is full of data in flight. Of 6 and 7 the cause is `line` while a
//!    link is busy, too: more room alone would fill its queue.
//! 8. The congestion window or pacing: `line` if a link of the path is busy for nearly all of the round trip around that time;
//!    otherwise `start` before any reduction, `window-needed` or `window-unneeded` after one, by what had caused the last.
//!
//! - `watch`: what is recorded of a sender. `timeline`: what follows from it. `busy`: when a link counts as busy. `delays`: when the
//!   receiver saw it.

mod busy;
mod delays;
mod timeline;
mod watch;

use std::io::{self, Write};

pub use inorder_base::limit::Limit;

use crate::capture::{BEGIN_NS, addresses};
use crate::packet::{Channel, End};

pub(crate) use busy::{BusyTimes, Time};
pub(crate) use delays::Delays;
pub(crate) use timeline::{Path, timeline};
pub(crate) use watch::Watch;

/// A time with one limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Nanoseconds since the start of the run.
    pub start_ns: i64,
    /// Start of the next one, or the last packet of the flow at this end.
    pub end_ns: i64,
    /// The limit.
    pub limit: Limit,
    /// What caused it, where there are several causes; else empty.
    pub cause: &'static str,
}

/// What limited one direction of a flow, from its first packet to its last one, without gaps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlowLimits {
    pub(crate) channel: Channel,
    pub(crate) from: End,
    /// In order of time.
    pub stretches: Vec<Stretch>,
    pub(crate) delays: Delays,
}

impl FlowLimits {
    /// When the receiver saw that this limit began to hold at this time: with the first packet that was sent then, or the last
    /// one where the sender had nothing more to send.
    pub fn received_ns(&self, at_ns: i64, limit: Limit) -> i64 {
        let whole_burst = limit == Limit::Application;
        at_ns.saturating_add(self.delays.at(at_ns, whole_burst))
    }
}

/// When a link was busy.
pub(crate) fn busy(times: &[inorder_path::Busy]) -> BusyTimes {
    BusyTimes::new(times.iter().map(|busy| Time {
        start_ns: busy.start_ns,
        end_ns: busy.end_ns,
    }))
}

/// Writes a line for each stretch, also with the times at which the receiver saw its start and end; times are nanoseconds since
/// the epoch, as in captures.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(flows: &[FlowLimits], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "flow,start_ns,end_ns,limit,cause,received_start_ns,received_end_ns"
    )?;
    for flow in flows {
        let [source, target] = addresses(flow.channel, flow.from);
        let name = |(address, port): ([u8; 4], u16)| {
            let [a, b, c, d] = address;
            format!("{a}.{b}.{c}.{d}:{port}")
        };
        let name = format!("{}->{}", name(source), name(target));
        let next = flow.stretches.iter().skip(1).map(|next| next.limit);
        let next = next.chain([Limit::Application]);
        for (stretch, next) in flow.stretches.iter().zip(next) {
            let (start_ns, end_ns) = (BEGIN_NS + stretch.start_ns, BEGIN_NS + stretch.end_ns);
            let from_ns = BEGIN_NS + flow.received_ns(stretch.start_ns, stretch.limit);
            let to_ns = BEGIN_NS + flow.received_ns(stretch.end_ns, next);
            let (limit, cause) = (stretch.limit.name(), stretch.cause);
            writeln!(
                out,
                "{name},{start_ns},{end_ns},{limit},{cause},{from_ns},{to_ns}"
            )?;
        }
    }
    Ok(())
}
