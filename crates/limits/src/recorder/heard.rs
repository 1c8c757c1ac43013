//! Acknowledgements: what they tell of arrivals, and what the sender hears by them, at once or later.

use inorder_base::vantage::Vantage;

use super::{MIN_PACKETS_OF_FLIGHTS, Recorder};
use crate::lag::Told;

/// What one acknowledgement says, in offsets.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// When it came by, nanoseconds.
    pub now: i64,
    /// Everything below is acknowledged.
    pub una: i64,
    /// Bytes acknowledged or SACKed so far.
    pub delivered: i64,
    /// Bytes that it reports to have arrived once more (DSACK, RFC 2883 section 4).
    pub repeated: i64,
    /// One past what the receiver's window allows to be sent; the greatest number if its scale is not known.
    pub edge: i64,
    /// The usual round trip, if known.
    pub rtt_ns: Option<i64>,
    /// It came with data.
    pub carries: bool,
    /// It has SACK blocks.
    pub sacks: bool,
    /// Its timestamp, 0 if it has none.
    pub stamp: u32,
}

/// One that says nothing: no byte is acknowledged, and the window is not known.
impl Default for Answer {
    fn default() -> Self {
        Answer {
            now: 0,
            una: 0,
            delivered: 0,
            repeated: 0,
            edge: i64::MAX,
            rtt_ns: None,
            carries: false,
            sacks: false,
            stamp: 0,
        }
    }
}

impl Recorder {
    /// The sender has heard by `now` what came by soon enough before.
    #[inline]
    pub(super) fn catch_up(&mut self, now: i64) {
        let Some(mut lag) = self.lag.take() else {
            return;
        };
        while let Some(told) = lag.next(now) {
            self.hear(&told);
        }
        self.lag = Some(lag);
    }

    /// The sender hears of an acknowledgement.
    #[inline(always)]
    fn hear(&mut self, told: &Told) {
        let opened = told.edge > self.told.edge;
        let window = told.edge.saturating_sub(told.una);
        if told.edge < i64::MAX && window > self.rounds.largest_window {
            self.rounds.largest_window = window;
        }
        let advances = opened || told.una > self.told.una || told.sacks;
        if advances {
            let room = told.edge.saturating_sub(self.highest);
            self.rounds.released(told.now, room, told.carries);
            if told.sacks {
                self.rounds.reported_hole();
            }
        } else if !told.carries && (told.una, told.edge) == (self.told.una, self.told.edge) {
            self.rounds.repeated(told.now);
        }
        if told.carries {
            self.rounds.asked(told.now);
        }
        self.rounds
            .news(told.now, advances || !told.carries, told.una);
        let edge = match self.told.edge {
            i64::MAX => {
                // No window moves back (RFC 9293 section 3.8.6): the last data left no more room than this. What tells that it did is no
                // packet of the receiver.
                let room = told.edge.saturating_sub(self.highest);
                if room >= 0 {
                    self.rounds.left_at_most(room);
                }
                told.edge
            }
            before => before.max(told.edge),
        };
        let una = self.told.una.max(told.una);
        self.told = Told { una, edge, ..*told };
    }

    /// An ACK came by at the receiver.
    #[inline]
    pub fn acknowledged_at_receiver(&mut self, answer: &Answer) {
        let una = answer.una.min(self.highest);
        if self.episodes.is_open() && una > self.una {
            // What was missing has arrived.
            self.last_news_ns = answer.now;
        }
        self.una = una;
        self.note_answer(answer);
        self.mend(answer.now);
    }

    /// What the sender hears by an ACK, at once or later.
    #[inline(always)]
    fn note_answer(&mut self, answer: &Answer) {
        let told = Told {
            now: answer.now,
            una: answer.una.min(self.highest),
            edge: answer.edge,
            carries: answer.carries,
            sacks: answer.sacks,
            stamp: answer.stamp,
        };
        match &mut self.lag {
            None => self.hear(&told),
            Some(lag) => lag.push(&told),
        }
    }

    /// A recovery may have ended.
    #[inline(always)]
    fn mend(&mut self, now: i64) {
        if self.episodes.is_open() && self.episodes.acknowledged(now, self.una, self.rtt_ns) {
            self.rounds.mended(now);
        }
    }

    /// An ACK came by, elsewhere.
    #[inline(always)]
    pub fn acknowledged(&mut self, answer: &Answer) {
        let now = answer.now;
        self.una = answer.una.min(self.highest);
        if let Some(rtt_ns) = answer.rtt_ns {
            self.rtt_ns = rtt_ns;
        }
        self.edge = answer.edge;
        self.note_answer(answer);
        self.arrived(answer);
        if let Some(flights) = &mut self.flights {
            let flight = self.highest - self.delivered;
            flights.acknowledged(now, self.una, flight, self.highest);
        } else if self.vantage != Vantage::Receiver && self.segments.all >= MIN_PACKETS_OF_FLIGHTS {
            self.flights = Some(Box::default());
        }
        self.episodes.note_flight(self.highest - self.delivered);
        self.mend(now);
    }

    /// What an ACK says of arrivals.
    #[inline(always)]
    fn arrived(&mut self, answer: &Answer) {
        let delivered = answer.delivered.min(self.highest);
        let fresh = (delivered - self.delivered).max(0);
        if fresh + answer.repeated == 0 {
            return;
        }
        let bin = self.series.at(answer.now);
        bin.delivered += fresh as u64;
        bin.repeated += answer.repeated as u64;
        self.delivered += fresh;
        self.last_news_ns = answer.now;
        self.dispersion.arrived(answer.now, self.delivered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Life;

    const MS: i64 = 1_000_000;

    /// Full segments come to the receiver, ten at a time, each time two seconds after the last were acknowledged: how much of the time nothing but the
    /// application held the sender.
    fn idle(in_turn: bool) -> f64 {
        let mut recorder = Recorder::new(Vantage::Receiver, Some(20 * MS), 1_000);
        let mut end = 0;
        for round in 0..10 {
            for nth in 0..10 {
                let now = round * 2_000 * MS + nth * MS / 10;
                end += 1_000;
                recorder.sent(now, end, 1_000, (0, in_turn));
                recorder.acknowledged_at_receiver(&Answer {
                    now,
                    una: end,
                    delivered: end,
                    ..Answer::default()
                });
            }
        }
        let last_ns = 18_001 * MS;
        let life = Life {
            last_ns,
            over_ns: last_ns,
            mss: 1_000,
            rtt_ns: Some(20 * MS),
            answered: true,
            ..Life::default()
        };
        let (_, limits) = recorder.finish(&life);
        limits.share_where(|set| set.only() == Some(crate::Limit::Application))
    }

    #[test]
    fn no_timer_expired_between_packets_that_were_sent_one_behind_the_other() {
        assert!(idle(true) > 0.9, "{}", idle(true));
        assert!(idle(false) < 0.1, "{}", idle(false));
    }

    /// A segment of 1,000 bytes each millisecond arrives at the receiver: 100 of 200 at first, with a hole behind each, then what was lost of them.
    #[test]
    fn what_was_lost_arrives_when_it_comes_again() {
        let mut recorder = Recorder::new(Vantage::Receiver, Some(20 * MS), 1_000);
        for nth in 0..100 {
            recorder.sent(nth * MS, (2 * nth + 2) * 1_000, 1_000, (0, false));
        }
        for nth in 0..100 {
            let now = (100 + nth) * MS;
            recorder.sent_again(now, 1_000);
            recorder.acknowledged_at_receiver(&Answer {
                now,
                una: (2 * nth + 2) * 1_000,
                delivered: (2 * nth + 2) * 1_000,
                ..Answer::default()
            });
        }
        let (last_ns, mss) = (200 * MS, 1_000);
        let life = Life {
            last_ns,
            over_ns: last_ns,
            mss,
            ..Life::default()
        };
        let (cost, _) = recorder.finish(&life);
        let mbit = cost.goodput_bps.map(|bps| bps as f64 / 1e6);
        assert!(
            mbit.is_some_and(|mbit| (7.9..8.1).contains(&mbit)),
            "{mbit:?}"
        );
    }
}
