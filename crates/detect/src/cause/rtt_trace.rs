//! The round-trip times of a flow, in few bytes.

use inorder_base::packed::{Draft, Packed};

/// Samples remembered; beyond, every other one is forgotten.
const MAX_RTT_SAMPLES: usize = 1_024;

/// The round-trip time of data seen at its sender, thinned evenly.
#[derive(Clone, Debug)]
#[repr(C)] // First what every acknowledgement needs.
pub(crate) struct RttTrace {
    /// The acknowledgement that ends what is awaited, or what is mended: there is at most one of both. `i64::MAX` if
    /// there is none.
    until: i64,
    /// When a sample was taken and what it was, nanoseconds.
    samples: Samples,
    /// Samples are taken this far apart, nanoseconds.
    apart_ns: i64,
    /// The end of the data whose acknowledgement is awaited, and when it was sent.
    awaited: Option<(i64, i64)>,
    /// The end of the data sent so far.
    highest: i64,
    /// Data sent while a hole is mended is acknowledged when the hole is, however short its way was:
    /// no sample begins before everything below is acknowledged.
    mending_below: Option<i64>,
}

heap!(RttTrace: samples);

impl Default for RttTrace {
    fn default() -> Self {
        RttTrace {
            until: i64::MAX,
            samples: Samples::default(),
            apart_ns: 0,
            awaited: None,
            highest: 0,
            mending_below: None,
        }
    }
}

impl RttTrace {
    /// New data up to `end` was sent.
    #[inline]
    pub(crate) fn sent(&mut self, end: i64, now: i64) {
        self.highest = self.highest.max(end);
        if self.awaited.is_none() && self.mending_below.is_none() {
            self.awaited = Some((end, now));
            self.until = end;
        }
    }

    /// Something was sent again: what is awaited may be the answer to that (Karn's rule, RFC 6298
    /// section 3).
    pub(crate) fn sent_again(&mut self) {
        self.awaited = None;
        self.mending_below = Some(self.highest);
        self.until = self.highest;
    }

    /// Everything below `ack` is acknowledged.
    #[inline]
    pub(crate) fn acknowledged(&mut self, ack: i64, now: i64) {
        if ack >= self.until {
            self.reached(ack, now);
        }
    }

    #[inline(never)]
    fn reached(&mut self, ack: i64, now: i64) {
        // Nothing is awaited while something is mended.
        self.until = i64::MAX;
        if self.mending_below.is_some_and(|end| ack >= end) {
            self.mending_below = None;
        }
        if let Some((end, sent_ns)) = self.awaited
            && ack >= end
        {
            self.awaited = None;
            self.take(now, now.saturating_sub(sent_ns));
        }
    }

    /// When round trips ended and how long they took, nanoseconds, in their order.
    pub(crate) fn samples(&self) -> Vec<(i64, i64)> {
        self.all().collect()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (i64, i64)> {
        self.samples.all()
    }

    pub(super) fn len(&self) -> usize {
        self.samples.len
    }

    pub(super) fn take(&mut self, now: i64, rtt_ns: i64) {
        let last = match self.samples.len {
            0 => i64::MIN,
            _ => self.samples.last_ns,
        };
        if now.saturating_sub(last) < self.apart_ns {
            return;
        }
        if self.samples.len >= MAX_RTT_SAMPLES {
            let mut kept = Samples::default();
            let all = self.samples.all().step_by(2);
            all.for_each(|(at_ns, rtt_ns)| kept.push(at_ns, rtt_ns));
            self.samples = kept;
            let span = self.samples.last_ns - self.samples.first_ns;
            self.apart_ns = span / (MAX_RTT_SAMPLES as i64 / 2);
        }
        self.samples.push(now, rtt_ns);
    }
}

/// Samples in their order, in few bytes.
#[derive(Clone, Debug, Default)]
struct Samples {
    packed: Packed,
    len: usize,
    first_ns: i64,
    last_ns: i64,
    last_rtt_ns: i64,
}

heap!(Samples: packed);

impl Samples {
    fn push(&mut self, at_ns: i64, rtt_ns: i64) {
        let mut draft = Draft::<20>::default();
        draft.push(at_ns.wrapping_sub(self.last_ns));
        draft.push(rtt_ns.wrapping_sub(self.last_rtt_ns));
        self.packed.reserve(20);
        self.packed.push(&draft);
        if self.len == 0 {
            self.first_ns = at_ns;
        }
        (self.last_ns, self.last_rtt_ns) = (at_ns, rtt_ns);
        self.len += 1;
    }

    /// When they were taken, and what they were, nanoseconds.
    fn all(&self) -> impl Iterator<Item = (i64, i64)> {
        let (mut numbers, mut last) = (self.packed.numbers(), (0_i64, 0_i64));
        std::iter::from_fn(move || {
            let (at, rtt) = (numbers.next()?, numbers.next()?);
            last = (last.0.wrapping_add(at), last.1.wrapping_add(rtt));
            Some(last)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_sent_while_a_hole_is_mended_gives_no_sample() {
        let mut trace = RttTrace::default();
        trace.sent(1_000, 0);
        trace.sent_again();
        trace.sent(2_000, 10);
        trace.acknowledged(500, 20);
        trace.sent(3_000, 30);
        assert!(trace.awaited.is_none());
        trace.acknowledged(2_000, 40);
        trace.sent(4_000, 50);
        assert_eq!(trace.awaited, Some((4_000, 50)));
    }

    #[test]
    fn samples_are_thinned() {
        let mut trace = RttTrace::default();
        for i in 0..100_000i64 {
            trace.sent(i, i * 1_000);
            trace.acknowledged(i, i * 1_000 + 2_000_000 + i * 100);
        }
        assert!(
            trace.samples.len <= MAX_RTT_SAMPLES,
            "{}",
            trace.samples.len
        );
    }
}
