//! The loop of everything that stands between two interfaces.

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use super::LiveError;
use super::clock;
use super::port::Port;
use crate::frame::Frame;
use crate::lane::Lane;

/// Before a lane is due, the loop does not sleep any more: a sleep ends up to this much too late, nanoseconds.
const SPIN_NS: i64 = 15_000;
/// How often `stop` is looked at, nanoseconds.
const LOOK_NS: i64 = 100_000_000;
/// How often the counts of the kernel are read, and the report is made.
const REPORT_NS: i64 = 1_000_000_000;
/// Frames taken from one interface before the other one has its turn.
const BURST: usize = 64;

/// Where frames come from and go to.
pub(super) trait End: AsRawFd {
    /// The next frame, with its time on [`clock::monotonic_ns`]; `None` if none is waiting.
    fn receive(&mut self) -> Result<Option<Frame>, LiveError>;
    /// Sends a frame; one that is refused is counted.
    fn send(&mut self, frame: &Frame);
    /// Frames dropped before they were received, and not sent, since the last call.
    fn take_counts(&mut self) -> (u64, u64);
    /// True if nothing will come from it any more: then the run ends.
    fn has_ended(&self) -> bool {
        false
    }
}

impl End for Port {
    fn receive(&mut self) -> Result<Option<Frame>, LiveError> {
        Port::receive(self)
    }

    fn send(&mut self, frame: &Frame) {
        Port::send(self, frame);
    }

    fn take_counts(&mut self) -> (u64, u64) {
        Port::take_counts(self)
    }
}

/// Forwards frames from end A through lane 0 to end B and from B through lane 1 to A, until `stop` or for
/// `duration_ns`. Time in the lanes begins with 0. `report` is called
/// once a second and at the end, with the time.
pub(super) fn run<A: End, B: End, L: Lane, M: Lane>(
    (a, b): (&mut A, &mut B),
    lanes: &mut (L, M),
    duration_ns: Option<i64>,
    stop: &AtomicBool,
    report: &mut dyn FnMut(i64, &(L, M)),
) -> Result<(), LiveError> {
    let start_ns = clock::monotonic_ns();
    let end_ns = duration_ns.map_or(i64::MAX, |ns| start_ns.saturating_add(ns));
    let mut report_ns = start_ns + REPORT_NS;
    loop {
        turn(a, b, &mut lanes.0, start_ns)?;
        turn(b, a, &mut lanes.1, start_ns)?;
        let now_ns = clock::monotonic_ns();
        let ended = a.has_ended() || b.has_ended();
        let ends = now_ns >= end_ns || ended || stop.load(Ordering::Relaxed);
        if ends {
            lanes.0.end(now_ns - start_ns);
            send_all(b, &mut lanes.0, start_ns);
            lanes.1.end(now_ns - start_ns);
            send_all(a, &mut lanes.1, start_ns);
        }
        if ends || now_ns >= report_ns {
            let ((missed_a, unsent_a), (missed_b, unsent_b)) = (a.take_counts(), b.take_counts());
            lanes.0.count(missed_a, unsent_b);
            lanes.1.count(missed_b, unsent_a);
            report_ns = now_ns + REPORT_NS;
            report(now_ns - start_ns, lanes);
        }
        if ends {
            return Ok(());
        }
        let next_ns = lanes.0.next_ns().into_iter().chain(lanes.1.next_ns()).min();
        let next_ns = next_ns.map_or(i64::MAX, |ns| ns.saturating_add(start_ns));
        let wait_ns = next_ns
            .saturating_sub(now_ns + SPIN_NS)
            .min(LOOK_NS)
            .min(end_ns - now_ns);
        if wait_ns > 0 {
            clock::wait(&mut [clock::readable(a), clock::readable(b)], Some(wait_ns));
        }
    }
}

/// Takes what waits at `from`, and sends what is due to `to`.
fn turn<L: Lane>(
    from: &mut impl End,
    to: &mut impl End,
    lane: &mut L,
    start_ns: i64,
) -> Result<(), LiveError> {
    let elapsed_ns = || clock::monotonic_ns() - start_ns;
    for _ in 0..BURST {
        let Some(mut frame) = from.receive()? else {
            break;
        };
        frame.arrived_ns -= start_ns;
        lane.arrive(frame, elapsed_ns());
    }
    lane.drained(elapsed_ns());
    send_all(to, lane, start_ns);
    Ok(())
}

fn send_all(to: &mut impl End, lane: &mut impl Lane, start_ns: i64) {
    while let Some(frame) = lane.take(clock::monotonic_ns() - start_ns) {
        to.send(&frame);
    }
}
