//! What is known of one host of a connection: how soon it answers, and what of its data the capture lacks.

use inorder_wire::{Has, Segment};

use crate::MIN_TIMEOUT_NS;

/// Maximum of the fastest answer of a host that is next to the capture point, nanoseconds: an interrupt and the way through its stack
/// take some 10 microseconds, on a virtual machine up to 100.
pub(crate) const MAX_OWN_DELAY_NS: i64 = 150_000;
/// Minimum number of answers: of fewer, even the fastest may have waited in its host.
pub(crate) const MIN_ANSWERS: u32 = 4;
/// Number of times that data of a host must follow an acknowledgement no sooner than the host answered the handshake; then that
/// answer was not slow by chance.
pub(crate) const MIN_NEVER_SOONER: u8 = 16;
/// Data comes sooner if it takes less than this number of fifths of that time.
pub(crate) const FIFTHS_OF_ANSWER: i64 = 4;
/// Minimum time until a SYN or its answer is repeated (RFC 6298 section 2 step (2.1): one second), nanoseconds.
pub const MIN_SYN_TIMEOUT_NS: i64 = 150_000_000;

/// Holes that one host reported and that the capture point saw from the wrong side: more than an accident of the capture. One that the number
/// of its own segment shows counts as this number of them.
pub(crate) const MIN_MISPLACED: u32 = 2;

/// Something sent towards a host whose answer is awaited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// Sequence number the answer must acknowledge, or TSval it must echo.
    pub(crate) number: u32,
    pub(crate) at_ns: i64,
    /// It was a SYN or its answer.
    pub(crate) hello: bool,
}

impl Probe {
    /// A SACK block of `seg` holds the byte before the number: behind a hole, only that answers.
    pub(crate) fn sacked(&self, seg: &Segment) -> bool {
        let mut blocks = seg.sack_blocks().iter();
        blocks.any(|&(left, right)| {
            reaches(right, self.number) && reaches(self.number.wrapping_sub(1), left)
        })
    }

    /// Is `seg` the same SYN once more? None is repeated so soon.
    pub(crate) fn captured_twice(&self, seg: &Segment) -> bool {
        self.hello && seg.ts_ns - self.at_ns < MIN_SYN_TIMEOUT_NS
    }
}

/// Data that higher data of its host passed: the bytes from `start` to before `end`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hole {
    start: u32,
    end: u32,
    /// Some of it came by later.
    filled: bool,
    /// All of it has been acknowledged.
    closed: bool,
    /// Behind the last data within it that came by.
    last: u32,
}

impl Hole {
    pub(crate) fn contains(&self, number: u32) -> bool {
        reaches(number, self.start) && !reaches(number, self.end)
    }

    /// It contains the number, and no other data that came by lies there.
    pub(crate) fn surely_contains(&self, number: u32) -> bool {
        self.contains(number) && reaches(number, self.last)
    }
}

/// A segment without data whose number lies above what has come by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Announced {
    number: u32,
    tsval: u32,
    at_ns: i64,
}

/// How soon a host answers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// Smallest time from a packet towards the host to its answer.
    pub(crate) answer_ns: Option<i64>,
    /// Answers by which that is known.
    pub(crate) timed: u32,
    /// When the last acknowledgement passed towards it, if it has sent nothing new since, nanoseconds.
    pub(crate) told_ns: Option<i64>,
    /// Its data behind such an acknowledgement: never sooner than its fastest answer, or sooner.
    pub(crate) never_sooner: u8,
    pub(crate) sooner: u8,
}

/// What was sent towards a host and waits for its answer, to be timed by it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) sequence: Option<Probe>,
    pub(crate) timestamp: Option<Probe>,
}

/// What the other host has answered and has not been captured.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unseen {
    /// It has acknowledged up to here.
    pub(crate) acknowledged: Option<u32>,
    /// When that passed, nanoseconds.
    pub(crate) answered_ns: i64,
    /// It has echoed this.
    pub(crate) echoed: Option<u32>,
}

/// What is missing of a host's data, and on which side of the capture point that went missing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gaps {
    /// Data of this host that was overtaken or lost before the capture point, until it is acknowledged.
    pub(crate) hole: Option<Hole>,
    /// Holes that were acknowledged and of which nothing came by: the capture lacks frames of this host.
    pub(crate) lacking: u32,
    /// The last byte of this host's data that the other one said to lack.
    pub(crate) lacked: Option<u32>,
    /// Holes that came about between this host and the capture point.
    pub(crate) holes_between: u32,
    /// Its first segment without data whose number lies above all data that has come by.
    pub(crate) announced: Option<Announced>,
}

/// One host of a connection as the capture point sees it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Host {
    pub(crate) pace: Pace,
    pub(crate) asked: Asked,
    pub(crate) unseen: Unseen,
    pub(crate) gaps: Gaps,
    pub(crate) last_tsval: Option<u32>,
    /// Its timestamps have been seen to count.
    pub(crate) ticks: bool,
    pub(crate) highest: Option<u32>,
    /// The first byte of its data that was captured.
    pub(crate) first: u32,
    /// The identification of its last packet; 0 if that had none.
    pub(crate) last_id: u16,
    /// The last acknowledgement and echo of this host.
    pub(crate) answered: (u32, u32),
    pub(crate) ttl: Option<u8>,
    /// Its answers that were captured before what they answer.
    pub(crate) early: u32,
}

/// No answer takes longer, nanoseconds: a segment lives for two minutes at most (RFC 9293 section 3.4.2), there and back. What comes
/// later was sent for another reason, as keep-alives are.
pub const MAX_ANSWER_NS: i64 = 240_000_000_000;

pub(crate) fn reaches(number: u32, target: u32) -> bool {
    (number.wrapping_sub(target) as i32) >= 0
}

impl Host {
    /// The packet before, once more.
    pub(crate) fn captured_twice(&mut self, seg: &Segment) -> bool {
        let id = if seg.has(Has::IP_ID) { seg.ip_id } else { 0 };
        let last = std::mem::replace(&mut self.last_id, id);
        id != 0 && id == last
    }

    /// Does `seg` of this host acknowledge or echo something else than its packet before?
    pub(crate) fn says_more(&mut self, seg: &Segment) -> bool {
        let answered = (seg.ack, seg.tsecr);
        std::mem::replace(&mut self.answered, answered) != answered
    }

    /// Data up to `end` passes that begins at the highest byte so far or behind it. Until data that was captured is acknowledged, what lies
    /// between may have been sent before the capture began.
    pub(crate) fn passed(&mut self, from: u32, end: u32, acknowledged: u32) {
        let unanswered = acknowledged == 0 || reaches(self.first, acknowledged);
        match self.highest.replace(end) {
            None => self.first = from,
            Some(highest) if highest != from && unanswered => {
                self.first = from;
            }
            Some(highest) if highest != from => {
                let open = self
                    .gaps
                    .hole
                    .filter(|hole| !reaches(acknowledged, hole.end));
                self.gaps.hole = Some(Hole {
                    start: open.map_or(highest, |hole| hole.start),
                    end: from,
                    last: highest,
                    ..open.unwrap_or_default()
                });
            }
            Some(_) => {}
        }
    }

    /// It sends `seg`, an acknowledgement without data, whose number is that of what it sends next (RFC 9293 section 3.10.7.4).
    pub(crate) fn announces(&mut self, seg: &Segment) {
        let Some(highest) = self.highest else {
            return;
        };
        self.gaps
            .announced
            .take_if(|known| reaches(highest, known.number));
        if seg.seq != highest && reaches(seg.seq, highest) {
            self.gaps.announced.get_or_insert(Announced {
                number: seg.seq,
                tsval: seg.tsval,
                at_ns: seg.ts_ns,
            });
        }
    }

    /// The highest data so far comes by `seg`. If its number was announced before, and it was sent later, as its timestamp or the time of a timer
    /// shows, it is sent again, and was lost between the host and the capture point.
    pub(crate) fn came_after_its_number(&mut self, seg: &Segment) {
        let known = self
            .gaps
            .announced
            .take_if(|known| !reaches(seg.seq, known.number));
        let again = |known: Announced| match seg.has(Has::TIMESTAMPS) && known.tsval != 0 {
            true => seg.tsval != known.tsval && reaches(seg.tsval, known.tsval),
            false => seg.ts_ns.saturating_sub(known.at_ns) >= MIN_TIMEOUT_NS,
        };
        if known.is_some_and(again) {
            self.gaps.holes_between += MIN_MISPLACED;
        }
    }

    /// Data from the byte `from` on comes by that is not the highest.
    pub(crate) fn came_below(&mut self, from: u32) {
        if let Some(hole) = &mut self.gaps.hole {
            hole.filled |= hole.contains(from);
        }
    }

    /// The other host acknowledges all before the byte `ack`.
    #[inline]
    pub(crate) fn acknowledged(&mut self, ack: u32) {
        if let Some(hole) = self
            .gaps
            .hole
            .as_mut()
            .filter(|hole| reaches(ack, hole.end))
            && !std::mem::replace(&mut hole.closed, true)
        {
            self.gaps.lacking += u32::from(!hole.filled);
        }
    }

    /// It sends something new at `now`.
    pub(crate) fn follows(&mut self, now: i64) {
        let (Some(told_ns), Some(answer_ns)) = (self.pace.told_ns.take(), self.pace.answer_ns)
        else {
            return;
        };
        let sooner = now.saturating_sub(told_ns).saturating_mul(5)
            < answer_ns.saturating_mul(FIFTHS_OF_ANSWER);
        let times = if sooner {
            &mut self.pace.sooner
        } else {
            &mut self.pace.never_sooner
        };
        *times = times.saturating_add(1);
    }

    /// The fastest of its answers is not by chance so slow.
    pub(crate) fn is_far(&self) -> bool {
        let often = self.pace.timed >= MIN_ANSWERS
            || self.pace.sooner == 0 && self.pace.never_sooner >= MIN_NEVER_SOONER;
        often && self.pace.answer_ns.is_some_and(|ns| ns > MAX_OWN_DELAY_NS)
    }

    /// A router has counted its TTL down; no host begins with another than these.
    pub(crate) fn is_routed(&self) -> bool {
        !matches!(self.ttl, None | Some(0 | 32 | 64 | 128 | 255))
    }

    #[inline]
    pub(crate) fn sample(&mut self, ns: i64) {
        if (0..=MAX_ANSWER_NS).contains(&ns) {
            self.pace.timed = self.pace.timed.saturating_add(1);
            self.pace.answer_ns = Some(self.pace.answer_ns.map_or(ns, |a| a.min(ns)));
        }
    }
}
