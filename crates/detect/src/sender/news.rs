//! When the sender heard from the receiver.

/// ACKs on their way to the sender that are remembered, evenly spread over that time.
const MAX_UNDER_WAY: usize = 8;

/// ACKs as they pass. At the sender it has heard of them at once; what it sends because of one that passes elsewhere comes by no
/// sooner than a round trip between there and the sender later.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    /// The round trip between here and the sender, nanoseconds.
    pub(super) away_ns: i64,
    /// Everything below has been acknowledged, by ACKs in the order of capture.
    pub(super) una: i64,
    last_ns: i64,
    /// When the last one passed that can make the sender repeat something, nanoseconds.
    prompt_ns: i64,
    /// Times of some of the latest such, ascending.
    passed: [i64; MAX_UNDER_WAY],
}

impl Default for News {
    fn default() -> Self {
        News {
            away_ns: 0,
            una: 0,
            last_ns: i64::MIN,
            prompt_ns: i64::MIN,
            passed: [i64::MIN; MAX_UNDER_WAY],
        }
    }
}

impl News {
    /// An ACK passes at `now`. Only if it `prompts` can it be why something is sent again: the receiver's own data that acknowledges nothing
    /// new is no duplicate acknowledgement (RFC 5681 section 2).
    #[inline]
    pub(super) fn heard(&mut self, now: i64, prompts: bool) {
        self.last_ns = now;
        if !prompts {
            return;
        }
        self.prompt_ns = now;
        let [.., latest] = self.passed;
        if self.away_ns > 0
            && now.saturating_sub(latest) >= self.away_ns / (MAX_UNDER_WAY as i64 - 1)
        {
            let [_, later @ ..] = self.passed;
            let [earlier @ .., latest] = &mut self.passed;
            (*earlier, *latest) = (later, now);
        }
    }

    /// When the last one passed here; the least number if there was none.
    pub(super) fn last_ns(&self) -> i64 {
        self.last_ns
    }

    /// When the last one passed here that can have made the sender repeat what passes at `now`, and that it had heard of when it sent that.
    pub(super) fn by(&self, now: i64) -> Option<i64> {
        let until = now.saturating_sub(self.away_ns);
        let latest = [self.prompt_ns].into_iter();
        let mut latest = latest.chain(self.passed.into_iter().rev());
        latest.find(|&at| at <= until).filter(|&at| at != i64::MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_now_was_sent_before_the_sender_heard_of_the_last_acks() {
        let mut news = News {
            away_ns: 70,
            ..News::default()
        };
        assert_eq!(news.by(50), None);
        (0..100).for_each(|now| news.heard(now, true));
        assert_eq!(news.by(100), Some(30));
        assert_eq!(news.by(200), Some(99));
    }

    #[test]
    fn at_the_sender_it_has_heard_of_all() {
        let mut news = News::default();
        news.heard(5, true);
        news.heard(6, true);
        news.heard(7, false);
        assert_eq!((news.by(8), news.last_ns()), (Some(6), 7));
    }
}
