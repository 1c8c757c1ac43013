//! Small segments at the end of what was written: which of them wait, besides Nagle's rule, and where the application
//! separates segments.
//!
//! Source: tcp(7) of Linux (`TCP_CORK`, `TCP_NODELAY`), send(2) (`MSG_MORE`, `MSG_EOR`), `tcp_push`, `tcp_nagle_test`.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Sender;
use crate::config::Nagle;
use crate::seq::Seq;

/// What the application says of more data to come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hold {
    /// `TCP_CORK`: small segments wait until it ends, or the persist timer expires.
    corked: bool,
    /// `MSG_MORE` with the last write: they wait until the next one, or the next acknowledgement.
    more: bool,
    /// They are sent at once, up to the next write: `TCP_NODELAY` was just set.
    push: bool,
    /// `MSG_EOR`: no segment reaches over these positions, in ascending order.
    ends: VecDeque<Seq>,
}

impl Hold {
    /// True if a small segment waits or goes whatever Nagle's rule says.
    pub(super) fn decides(&self) -> Option<bool> {
        match self {
            Self { push: true, .. } => Some(false),
            Self { corked: true, .. } | Self { more: true, .. } => Some(true),
            _ => None,
        }
    }

    /// An acknowledgement has arrived: `MSG_MORE` holds nothing back any longer.
    pub(super) fn acknowledged(&mut self) {
        self.more = false;
    }

    /// How many of the next `bytes` bytes from `start` on one segment may carry.
    pub(super) fn up_to_end(&mut self, start: Seq, bytes: u64) -> u64 {
        while self.ends.front().is_some_and(|&end| end <= start) {
            self.ends.pop_front();
        }
        self.ends
            .front()
            .map_or(bytes, |&end| bytes.min(end - start))
    }
}

impl Sender {
    /// The application has written; `more`: it will write again soon, `end`: what follows belongs to another segment.
    pub(crate) fn note_write(&mut self, more: bool, end: bool) {
        self.hold.push = false;
        self.hold.more = more;
        if end {
            self.hold.ends.push_back(self.stream.write_end);
        }
    }

    /// `TCP_CORK`. Without it what waited is sent, if Nagle's rule allows.
    pub(crate) fn set_cork(&mut self, on: bool) {
        self.hold.corked = on;
        self.hold.push |= !on && self.config.send.nagle == Nagle::Off;
        self.hold.more &= on;
    }

    /// `TCP_NODELAY` was set or reset.
    pub(crate) fn set_nagle(&mut self, nagle: Nagle) {
        Arc::make_mut(&mut self.config).send.nagle = nagle;
        self.hold.push |= nagle == Nagle::Off;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cork_holds_until_it_ends_and_more_until_an_acknowledgement() {
        let mut hold = Hold {
            more: true,
            ..Hold::default()
        };
        assert_eq!(hold.decides(), Some(true));
        hold.acknowledged();
        assert_eq!(hold.decides(), None);
        hold.corked = true;
        hold.acknowledged();
        assert_eq!(hold.decides(), Some(true));
        hold.push = true;
        assert_eq!(hold.decides(), Some(false));
    }

    #[test]
    fn no_segment_reaches_over_the_end_of_a_record() {
        let mut hold = Hold {
            ends: [100, 150].into(),
            ..Hold::default()
        };
        assert_eq!(hold.up_to_end(40, 1000), 60);
        assert_eq!(hold.up_to_end(40, 10), 10);
        assert_eq!(hold.up_to_end(100, 1000), 50);
        assert_eq!(hold.up_to_end(150, 1000), 1000);
    }
}
