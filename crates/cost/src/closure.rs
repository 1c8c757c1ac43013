//! How long the receiver's window was closed: it advertised no room at all, and nothing could be sent but probes (RFC 9293 section
//! 3.8.6.1).

/// The times at which the window was closed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Closures {
    /// The last time, nanoseconds; as far as it is known.
    since_ns: i64,
    until_ns: i64,
    /// It is closed now.
    closed: bool,
    /// All times together, nanoseconds.
    total_ns: i64,
}

impl Closures {
    /// An acknowledgement at `now` says whether the window is closed.
    pub fn told(&mut self, now: i64, closed: bool) {
        if self.closed {
            let more = now.saturating_sub(self.until_ns).max(0);
            self.total_ns = self.total_ns.saturating_add(more);
            self.until_ns = self.until_ns.max(now);
        } else if closed {
            (self.since_ns, self.until_ns) = (now, now);
        }
        self.closed = closed;
    }

    /// How long it was closed altogether, nanoseconds.
    pub fn total_ns(&self) -> i64 {
        self.total_ns
    }

    /// How long it was closed since `from_ns`, if it was not more than once, nanoseconds.
    pub fn since(&self, from_ns: i64) -> i64 {
        self.until_ns
            .saturating_sub(self.since_ns.max(from_ns))
            .max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_between_a_closed_and_an_open_window_add_up() {
        let mut closures = Closures::default();
        for (now, closed) in [(5, false), (10, true), (14, true), (20, false), (30, false)] {
            closures.told(now, closed);
        }
        assert_eq!((closures.total_ns(), closures.since(0)), (10, 10));
        assert_eq!((closures.since(16), closures.since(25)), (4, 0));
        closures.told(40, true);
        closures.told(43, true);
        assert_eq!((closures.total_ns(), closures.since(20)), (13, 3));
    }
}
