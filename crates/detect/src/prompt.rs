//! What can have made a sender repeat data, by the time at which it did.

/// What made a sender send something again.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) enum Prompt {
    /// An acknowledgement, as far as is known.
    #[default]
    News,
    /// Its retransmission timer (RFC 6298 section 5): nothing else can have.
    Timer,
    /// The timer of a tail loss probe (RFC 8985 section 7).
    Probe,
    /// Nothing: neither an acknowledgement nor a timer comes so soon.
    Nothing,
}

pub(crate) use inorder_vantage::MIN_TIMEOUT_NS;

/// The minimum of RFC 6298 section 2 step (2.4), where no round trip is known.
const MIN_TIMEOUT_WITHOUT_RTT_NS: i64 = 1_000_000_000;
/// Time by which a tail loss probe waits longer for a delayed acknowledgement, where a single segment is in flight (RFC 8985
/// section 7.2; Linux: 200 ms), with a reserve for the lateness of timers, nanoseconds.
const MAX_ACK_DELAY_NS: i64 = 250_000_000;
/// Without a round trip it waits for a second (RFC 8985 section 7.2), nanoseconds.
const PROBE_WITHOUT_RTT_NS: i64 = 1_000_000_000;

/// A probe waits for two round trips (RFC 8985 section 7.2), of which the shortest may be somewhat shorter yet.
pub(crate) fn soonest_probe(shortest_ns: i64) -> i64 {
    shortest_ns.saturating_mul(2) - shortest_ns / 4
}

/// How long a sender had waited when it repeated something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waited {
    /// Since the receiver was last heard, or since this data was last sent if that is later, nanoseconds.
    pub(crate) quiet_ns: i64,
    /// Since this data was last sent, nanoseconds; `None` if that is not known.
    pub(crate) since_sent_ns: Option<i64>,
    /// Shortest and usual round trip, nanoseconds.
    pub(crate) rtt_ns: Option<(i64, i64)>,
    /// It is the last that was sent.
    pub(crate) last: bool,
    /// The connection has SACK.
    pub(crate) sack: bool,
}

impl Waited {
    /// What made the sender repeat it.
    pub(crate) fn prompt(&self) -> Prompt {
        let shortest = self.rtt_ns.map(|(shortest, _)| shortest);
        let unheard = self.since_sent_ns == Some(self.quiet_ns);
        if let (Some(since), Some(rtt)) = (self.since_sent_ns, shortest) {
            // If nothing was heard since, no acknowledgement asked for it: a timer did, however short it is (hosts may be set to minimum
            // time-outs of a few milliseconds). A probe, which comes first, repeats the last segment only (RFC 8985 section 7.3).
            if unheard && !self.last && since >= rtt {
                return Prompt::Timer;
            }
            if since < rtt - rtt / 4 || unheard && since < soonest_probe(rtt) {
                return Prompt::Nothing;
            }
        }
        if self.may_be_probe() {
            return Prompt::Probe;
        }
        let patience = match (shortest, unheard) {
            (Some(_), true) => 0,
            (None, true) => MIN_TIMEOUT_NS,
            (Some(rtt), false) => rtt.saturating_mul(2).max(MIN_TIMEOUT_NS),
            (None, false) => MIN_TIMEOUT_WITHOUT_RTT_NS,
        };
        if self.quiet_ns >= patience {
            Prompt::Timer
        } else {
            Prompt::News
        }
    }

    /// A probe repeats the last that was sent, two round trips after it and no later than a time-out (RFC 8985 section
    /// 7.2), and needs SACK (section 7.1).
    fn may_be_probe(&self) -> bool {
        let (soonest, latest) = match self.rtt_ns {
            Some((shortest, usual)) => (
                soonest_probe(shortest),
                usual.saturating_mul(3).saturating_add(MAX_ACK_DELAY_NS),
            ),
            None => (
                PROBE_WITHOUT_RTT_NS - MAX_ACK_DELAY_NS,
                PROBE_WITHOUT_RTT_NS + MAX_ACK_DELAY_NS,
            ),
        };
        self.sack && self.last && (soonest..=latest).contains(&self.quiet_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// A wait of `ms` milliseconds, in which nothing was heard, at a round trip of 40 ms.
    fn waited(ms: i64, last: bool, sack: bool) -> Waited {
        Waited {
            quiet_ns: ms * MS,
            since_sent_ns: Some(ms * MS),
            rtt_ns: Some((40 * MS, 45 * MS)),
            last,
            sack,
        }
    }

    fn after(ms: i64, last: bool, sack: bool) -> Prompt {
        waited(ms, last, sack).prompt()
    }

    #[test]
    fn time_tells_a_probe_from_a_time_out_and_from_a_copy_in_advance() {
        assert_eq!(after(10, true, true), Prompt::Nothing);
        assert_eq!(after(45, true, true), Prompt::Nothing, "nothing was heard");
        assert_eq!(after(85, true, true), Prompt::Probe);
        assert_eq!(after(45, false, true), Prompt::Timer, "not the last");
        assert_eq!(after(85, false, true), Prompt::Timer, "not the last");
        let not_last = Waited {
            quiet_ns: MS,
            ..waited(85, false, true)
        };
        assert_eq!(not_last.prompt(), Prompt::News);
        let heard = Waited {
            quiet_ns: MS,
            ..waited(45, true, true)
        };
        assert_eq!(heard.prompt(), Prompt::News);
        assert_eq!(after(290, true, true), Prompt::Probe);
        assert_eq!(after(290, true, false), Prompt::Timer, "without SACK");
        assert_eq!(after(9_100, true, true), Prompt::Timer);
    }

    #[test]
    fn without_a_round_trip_what_nothing_asked_for_was_sent_again_by_a_timer() {
        let unknown = |ms, quiet: i64| Waited {
            quiet_ns: quiet * MS,
            rtt_ns: None,
            ..waited(ms, true, false)
        };
        assert_eq!(unknown(202, 202).prompt(), Prompt::Timer);
        assert_eq!(unknown(90, 90).prompt(), Prompt::News, "too soon for one");
        assert_eq!(
            unknown(202, 100).prompt(),
            Prompt::News,
            "something was heard"
        );
    }
}
