//! Captures with defects: a stage behind the run that takes the frames of a whole capture and gives those of a damaged one, as a
//! function of them, of the scenario's `[[capture]]` and of a stream of random numbers.
//!
//! The order is that of the way a frame takes: which frames reach the capturing point (`missing`), in which form (`wrap`, `merge`),
//! how often and when (`copies`, `clock`), and how much of each is kept.

mod clock;
mod copies;
mod merge;
mod missing;
mod wrap;

use inorder_base::random::Random;
use inorder_scenario::config::Capture;

use crate::packet::End;

/// A frame as it was captured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Captured {
    /// Time, nanoseconds from the begin of the run.
    pub ts_ns: i64,
    /// The end that sent it.
    pub from: End,
    /// Index of its connection.
    pub flow: u32,
    /// Its numbers in the whole capture: several if it was merged.
    pub originals: Vec<u64>,
    /// What was kept of it, from the Ethernet header on.
    pub bytes: Vec<u8>,
    /// Its length on the wire.
    pub length: u32,
}

/// What a capture with defects holds of `frames`, which are in order of time.
pub(super) fn apply(frames: Vec<Captured>, plan: &Capture, random: &Random) -> Vec<Captured> {
    let mut frames = missing::apply(frames, plan, &mut random.fork(0));
    frames = merge::apply(frames, plan);
    if plan.vlans {
        frames.iter_mut().for_each(wrap::same_ports);
    }
    frames = copies::apply(frames, plan);
    wrap::tunnel(&mut frames, plan, &mut random.fork(1));
    frames = clock::apply(frames, plan, &mut random.fork(2));
    if let Some(cut) = plan.cut {
        frames
            .iter_mut()
            .for_each(|frame| frame.bytes.truncate(cut as usize));
    }
    frames
}
