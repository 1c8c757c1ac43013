//! What stands at a device on the way.

use super::card;
use super::netem::Netem;

/// A queueing discipline at a device of its own.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Hop {
    /// Loss, duplication, damage, delay.
    Netem(Box<Netem>),
    /// A rate and a queue.
    Rate(Rate),
    /// No discipline, but a card that receives by interrupt at the other end of the line.
    Card(card::Settings),
    /// Several lines side by side.
    Lanes(Lanes),
}

/// A rate and a queue.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Rate {
    /// The shaper: words of HTB's class, or of TBF.
    pub(super) shaper: Shaper,
    /// Bytes charged for a packet beyond those that the kernel counts.
    pub(super) overhead: i64,
    /// Words of the queue's discipline.
    pub(super) queue: String,
    /// Later rates, bits per second.
    pub(super) changes: Vec<(i64, u64)>,
}

/// What limits the rate.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Shaper {
    /// Netem's words: rate and queue in one, each packet as long on the line as its bytes take.
    Netem(String),
    /// HTB's class: rate and burst.
    Htb(u64, u64),
    /// TBF's words.
    Tbf(String),
}

/// Lanes side by side.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Lanes {
    /// Whether lanes take turns; otherwise each packet takes a random one.
    pub(super) in_turn: bool,
    /// What is on each, one behind the other: at most two disciplines.
    pub lanes: Vec<Vec<Hop>>,
}
