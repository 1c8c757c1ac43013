//! What is said of what limited a transfer: plain data.

use inorder_base::cause::Cause;
use inorder_base::confidence::Confidence;
use inorder_base::limit::Limit;

use crate::LimitSet;

/// What limited one direction of a connection over its life.
///
/// Empty for a flow that carried no data, and until its end.
#[derive(Clone, PartialEq, Default, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// When the life begins: the first SYN, or the first packet captured. Nanoseconds since the epoch.
    pub begun_ns: i64,
    /// When it ends: the last packet, or the reset of the sender.
    pub ended_ns: i64,
    /// Of the application's time, what passed behind the last new data, nanoseconds: the sender had nothing more to send.
    pub at_end_ns: i64,
    /// Of the application's time before, what ended after data of the other end had come, nanoseconds: it waited for that.
    pub awaited_ns: i64,
    /// What waited for the acknowledgement of all before it, because it was less than a full segment.
    pub held_short: HeldShort,
    /// How long each limit held it, the longest first; together they are the life.
    pub shares: Vec<Share>,
    /// The life in order and without gaps: at most [`MAX_STRETCHES`] stretches, each named by what held it longest.
    pub stretches: Vec<Stretch>,
    /// Of the time lost by unnecessary reductions, recoveries and timers, how much goes back to which cause.
    pub unnecessary: Vec<(Cause, i64)>,
    /// Delay that stands in the queue while the transfer runs: the usual round trip above the shortest, nanoseconds.
    pub queueing_ns: Option<i64>,
    /// Rate of the line as payload, bits per second, where the transfer shows it.
    pub line_bps: Option<u64>,
    /// Rate at which a policer lets data pass and drops the rest, as payload, bits per second; where losses show one.
    pub policed_bps: Option<u64>,
    /// The receiver's window against what the path needs.
    pub window: Option<Window>,
    /// Most bytes in flight where the sender's buffer seems to be the limit.
    pub send_buffer_bytes: Option<u64>,
}

/// The ends of messages that waited until all before them was acknowledged (Nagle's algorithm, RFC 896): longer than a round trip
/// where the receiver delays its acknowledgements (RFC 9293 section 3.8.6.3).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct HeldShort {
    /// How many.
    pub times: u64,
    /// Nanoseconds altogether.
    pub ns: i64,
}

/// How long one limit held a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// The limit, or those among which the capture cannot tell.
    pub limits: LimitSet,
    /// Nanoseconds altogether.
    pub ns: i64,
    /// How sure it is.
    pub confidence: Confidence,
}

/// A stretch of time with one limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Nanoseconds since the epoch.
    pub start_ns: i64,
    /// Start of the next stretch, or the end of the life.
    pub end_ns: i64,
    /// What held it longest.
    pub limits: LimitSet,
}

/// A receiver's window against what the path needs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Window {
    /// The largest window advertised, bytes.
    pub largest_bytes: u64,
    /// The line's rate times the shortest round trip, bytes; where both are known.
    pub needed_bytes: Option<u64>,
    /// The SYN offered no window scale (RFC 7323 section 2), so no window is above 65,535 bytes.
    pub unscaled: bool,
    /// Time during which it was closed, nanoseconds.
    pub closed_ns: i64,
    /// Time during which it held the sender and was the largest so far, nanoseconds: nothing that the application has not read yet
    /// took room from it.
    pub largest_ns: i64,
}

/// Stretches kept of one direction.
pub const MAX_STRETCHES: usize = 128;

impl Limits {
    /// From begin to end, nanoseconds.
    pub fn life_ns(&self) -> i64 {
        self.ended_ns.saturating_sub(self.begun_ns).max(0)
    }

    /// Share of the life that exactly these limits held, 0 to 1.
    pub fn share_of(&self, limits: LimitSet) -> f64 {
        self.share_where(|set| set == limits)
    }

    /// Share of the life held by sets of which `chosen` is true, 0 to 1.
    pub fn share_where(&self, chosen: impl Fn(LimitSet) -> bool) -> f64 {
        let held: i64 = self
            .shares
            .iter()
            .filter(|share| chosen(share.limits))
            .map(|share| share.ns)
            .sum();
        match self.life_ns() {
            0 => 0.0,
            life => held as f64 / life as f64,
        }
    }

    /// What held it longest, if anything is known. That an application has nothing to send at the end limits nothing.
    pub fn main(&self) -> Option<&Share> {
        let application = LimitSet::of(&[Limit::Application]);
        let weight = |share: &&Share| match share.limits == application {
            true => share.ns.saturating_sub(self.at_end_ns),
            false => share.ns,
        };
        self.shares.iter().max_by_key(weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_life() {
        let share = |limits, ns| Share {
            limits,
            ns,
            confidence: Confidence::Likely,
        };
        let receiver = LimitSet::of(&[Limit::ReceiverWindow]);
        let either = LimitSet::of(&[Limit::Application, Limit::SendBuffer]);
        let limits = Limits {
            begun_ns: 100,
            ended_ns: 200,
            at_end_ns: 30,
            shares: vec![
                share(Limit::Application.into(), 40),
                share(receiver, 35),
                share(either, 25),
            ],
            ..Limits::default()
        };
        assert_eq!(limits.main().map(|share| share.limits), Some(receiver));
        let application = limits.share_where(|set| set.contains(Limit::Application));
        assert_eq!((limits.share_of(receiver), application), (0.35, 0.65));
        assert_eq!(Limits::default().share_of(receiver), 0.0);
    }
}
