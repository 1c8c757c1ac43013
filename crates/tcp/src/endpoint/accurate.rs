//! Accurate ECN (RFC 9768): negotiation in the handshake, and what is counted here for the peer. The sender's half, which
//! reads the peer's counters, is `sender/accurate.rs`.

use std::sync::Arc;

use super::{Endpoint, State};
use crate::Nanos;
use crate::accurate_ecn::{
    ByMark, EcnOption, FIRST_CE_PACKETS, counters_for, fit, handshake_ace, possible, reported_mark,
};
use crate::config::{AccurateEcn, EcnOptionUse, EcnUse};
use crate::segment::{Ecn, Flags, Segment};
use crate::sender::{Agreement, Feedback};
use crate::seq::{Seq, ts_before};
use crate::time::elapsed;

/// AE, CWR and ECE in a SYN that requests it (section 3.1.1).
pub(super) const REQUEST: u8 = 0b111;
/// The same three bits of a classic request and of its answer.
const CLASSIC_REQUEST: u8 = 0b011;
const CLASSIC_ANSWER: u8 = 0b001;
/// How often a SYN, or a SYN-ACK, is sent before ECN is given up (section 3.1.4).
const TRANSMISSIONS_WITH_ECN: u8 = 2;
/// Marks that are reported at once (section 3.2.2.5.1), together with data and without.
const MARKS_WITH_DATA: u32 = 2;
const MARKS_WITHOUT_DATA: u32 = 3;
/// Maximum number of bytes between two options, also if they are sent on demand, so that the counters do not wrap unseen.
const BYTES_PER_OPTION: u32 = 1 << 22;
/// Length of the option with all counters and its padding, bytes.
const OPTION_ROOM: u32 = 12;
/// Length of timestamps with their padding.
const TIMESTAMPS: u32 = 12;

/// What the receiving half of an endpoint counts for accurate ECN.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    /// Packets that arrived with a congestion mark.
    ce_packets: u32,
    /// Those of them that no segment of ours has reported.
    unreported: u32,
    /// Bytes of payload that arrived, by mark.
    bytes: ByMark,
    /// The mark of the segment that arrived last.
    last: Ecn,
    /// The mark with which the peer's SYN or SYN-ACK arrived, and whether the next acknowledgement reports it.
    handshake: Ecn,
    answers_handshake: bool,
    /// Counters of the option that have changed since it was last sent.
    needed: usize,
    /// Segments that must still carry the option.
    demanded: u8,
    option_at: Nanos,
    /// Start of the duplicate that was reported together with the option. If it comes again, the path may drop segments
    /// with the option, and it is no longer sent (section 3.2.3.2.2).
    duplicate: Option<Seq>,
    option_dropped: bool,
    /// The path changes marks as no router may: nothing is sent ECN-capable, but marks are counted for the peer.
    mangled: bool,
    /// Payload of full segments without the option.
    full_mss: u32,
}

/// What a SYN-ACK with these bits agrees to (section 3.1.1).
fn answered(ace: u8, how: EcnUse) -> Agreement {
    match ace {
        _ if !how.requests() => Agreement::None,
        // No ECN, or a broken peer that repeats what it gets.
        0 | REQUEST => Agreement::None,
        CLASSIC_ANSWER => Agreement::Classic,
        _ if how == EcnUse::Accurate => Agreement::Accurate,
        // The third bit has no meaning in RFC 3168.
        _ if ace & CLASSIC_REQUEST == CLASSIC_ANSWER => Agreement::Classic,
        _ => Agreement::None,
    }
}

/// What a SYN with these bits is answered with. If both sides open the connection at once, both must have requested it.
fn requested(ace: u8, how: EcnUse, listening: bool) -> Agreement {
    let (accurate, classic) = match listening {
        true => (how.accepts_accurate(), how != EcnUse::Off),
        false => (how == EcnUse::Accurate, how.requests()),
    };
    match ace {
        0 => Agreement::None,
        // Combinations without a meaning yet ask for accurate feedback, too (section 3.1.3).
        _ if accurate && ace != CLASSIC_REQUEST => Agreement::Accurate,
        _ if classic && ace & CLASSIC_REQUEST == CLASSIC_REQUEST => Agreement::Classic,
        _ => Agreement::None,
    }
}

impl Counted {
    pub(super) fn ce_packets(&self) -> u32 {
        self.ce_packets
    }
}

impl Endpoint {
    /// The peer's SYN, or its answer to ours: which feedback is used.
    pub(super) fn negotiate(&mut self, syn: &Segment, how: EcnUse) -> Agreement {
        let ace = syn.flags.ace();
        let answers = self.state != State::Listen && syn.flags.has(Flags::ACK);
        let agreed = match answers {
            true => answered(ace, how),
            false => requested(ace, how, self.state == State::Listen),
        };
        if agreed == Agreement::Accurate {
            self.counted.handshake = syn.ecn;
            self.counted.last = syn.ecn;
            if answers {
                self.take_answer(syn);
            }
        }
        agreed
    }

    /// The SYN-ACK of a peer that uses accurate feedback.
    fn take_answer(&mut self, answer: &Segment) {
        self.counted.answers_handshake = true;
        self.counted.demanded = 2;
        self.check_mark(answer.flags.ace());
        if answer.ecn == Ecn::Congestion && !self.counted.mangled {
            self.count_packet();
        }
        let reported = &mut self.sender.ecn.reported;
        reported.see_option(answer.ecn_option.as_ref());
    }

    /// Section 3.2.2.3: whether the mark of our SYN or SYN-ACK arrived as it was sent, or as a router may have changed it.
    fn check_mark(&mut self, ace: u8) {
        let sent = self.always_capable(true);
        let arrived = reported_mark(ace);
        if self.config.ecn.fallback && arrived.is_some_and(|arrived| !possible(sent, arrived)) {
            self.counted.mangled = true;
        }
    }

    /// The segment that completes a passive open (sections 3.2.2.1 and 3.2.2.4).
    pub(super) fn take_third(&mut self, segment: &Segment) {
        if !self.sender.ecn.accurate() {
            return;
        }
        let ace = segment.flags.ace();
        let first = segment.sack.is_empty();
        if ace == 0 && first {
            // The path clears the field.
            self.counted.mangled = true;
            self.sender.ecn.reported.ignore_option();
        } else if first && segment.payload == 0 {
            self.check_mark(ace);
            if reported_mark(ace) == Some(Ecn::Congestion) && !self.counted.mangled {
                self.sender.ecn.reported.ce_packets = 1;
            }
        }
        self.counted.demanded = 1;
        let reported = &mut self.sender.ecn.reported;
        reported.see_option(segment.ecn_option.as_ref());
    }

    /// The peer's SYN or SYN-ACK again, which is answered with the mark of this one.
    pub(super) fn take_repeated_syn(&mut self, syn: &Segment) {
        if !self.sender.ecn.accurate() {
            return;
        }
        self.counted.handshake = syn.ecn;
        match self.state {
            // The next SYN-ACK tells the mark.
            State::SynReceived => self.counted.mangled |= syn.flags.ace() == 0,
            _ => self.counted.answers_handshake = true,
        }
    }

    /// The bits of our SYN-ACK, and its option: a lost one is repeated without the option first, then without ECN.
    pub(super) fn accurate_answer(&self) -> (Flags, Option<EcnOption>) {
        let sent = self.sender.board.front().map_or(1, |syn| syn.transmissions);
        let ace = match sent > TRANSMISSIONS_WITH_ECN {
            true => 0,
            false => handshake_ace(self.counted.handshake),
        };
        let option = sent == 1 && self.config.ecn.accurate.option != EcnOptionUse::Never;
        let option = option.then(|| EcnOption::of(&ByMark::default(), 3));
        (Flags::NONE.with_ace(ace), option)
    }

    /// The bits of our SYN when it is sent for the `sent`-th time.
    pub(super) fn accurate_request(&self, sent: u8) -> Flags {
        let given_up = self.config.ecn.fallback && sent > TRANSMISSIONS_WITH_ECN;
        Flags::NONE.with_ace(if given_up { 0 } else { REQUEST })
    }

    fn count_packet(&mut self) {
        self.counted.ce_packets = self.counted.ce_packets.wrapping_add(1);
        self.counted.unreported += 1;
    }

    /// A segment of a connection with accurate feedback has arrived: counts its mark, and lets changes be acknowledged at once (section
    /// 3.2.2.5.1; Linux does so for every change, the RFC demands it for the first congestion mark).
    pub(super) fn count_mark(&mut self, segment: &Segment, start: Seq) {
        let (mark, bytes) = (segment.ecn, segment.payload);
        let changed = std::mem::replace(&mut self.counted.last, mark) != mark;
        if mark == Ecn::Congestion {
            self.count_packet();
        }
        if bytes > 0 && mark != Ecn::NotCapable {
            let before = self.counted.bytes.get(mark);
            self.counted.bytes.add(mark, bytes);
            self.counted.needed = self.counted.needed.max(counters_for(mark));
            if self.counted.bytes.get(mark) / BYTES_PER_OPTION != before / BYTES_PER_OPTION {
                self.counted.demanded = self.counted.demanded.max(1);
            }
        }
        if changed || mark == Ecn::Congestion {
            self.counted.demanded = 2;
        }
        let many = match bytes > 0 || self.receiver.waits_to_acknowledge() {
            true => MARKS_WITH_DATA,
            false => MARKS_WITHOUT_DATA,
        };
        if (changed && bytes > 0) || self.counted.unreported >= many {
            self.receiver.ack_now();
        }
        let old = start + u64::from(bytes) <= self.receiver.rcv_nxt;
        if bytes > 0 && old && self.counted.duplicate == Some(start) {
            self.counted.option_dropped = true;
            self.fit_segments();
        }
    }

    /// What a segment reports to our sender.
    pub(super) fn feedback(&self, segment: &Segment, start: Seq) -> Option<Feedback> {
        if !self.sender.ecn.accurate() || segment.flags.has(Flags::SYN) {
            return None;
        }
        // Before a server sends, what comes may still answer its SYN-ACK.
        let opening = self.passive && self.sender.stream.nxt == self.sender.stream.iss + 1;
        let later = segment
            .timestamps
            .is_some_and(|ts| ts_before(self.ts_recent, ts.val));
        let further = segment.sequence_length() > 0 && start >= self.receiver.rcv_nxt;
        Some(Feedback {
            ace: segment.flags.ace(),
            option: segment.ecn_option,
            newest: !opening && (later || further),
        })
    }

    /// The ACE field of a segment being sent: the counter, or in the acknowledgement of a SYN-ACK its mark. TIME-WAIT has no
    /// counters (Linux).
    pub(super) fn ace(&mut self, pure: bool) -> Flags {
        let answers = std::mem::take(&mut self.counted.answers_handshake) && pure;
        let ace = if self.state == State::TimeWait {
            0
        } else if answers {
            handshake_ace(self.counted.handshake)
        } else {
            self.counted.unreported = 0;
            (self.counted.ce_packets.wrapping_add(FIRST_CE_PACKETS) & 7) as u8
        };
        Flags::NONE.with_ace(ace)
    }

    /// The ECN field of every segment but SYN and SYN-ACK.
    pub(super) fn accurate_field(&self) -> Ecn {
        match self.counted.mangled {
            true => Ecn::NotCapable,
            false => self.capable(),
        }
    }

    /// The option of a segment that could carry `blocks` SACK blocks, and how many it carries.
    pub(super) fn ecn_option(&mut self, now: Nanos, blocks: usize) -> (Option<EcnOption>, usize) {
        if !self.sends_option() || !self.option_due(now) {
            self.counted.duplicate = None;
            return (None, blocks);
        }
        let others = match self.sender.agreed.timestamps {
            true => TIMESTAMPS,
            false => 0,
        };
        let (counters, blocks) = fit(self.counted.needed, others, blocks);
        let option = counters.map(|count| EcnOption::of(&self.counted.bytes, count));
        if option.is_some() {
            self.counted.needed = 0;
            self.counted.option_at = now;
            self.counted.demanded = self.counted.demanded.saturating_sub(1);
        }
        self.counted.duplicate = option.and(self.receiver.duplicate());
        (option, blocks)
    }

    /// The option is in use in this direction.
    fn sends_option(&self) -> bool {
        let how = self.config.ecn.accurate.option;
        self.sender.ecn.accurate()
            && self.sender.ecn.reported.option_seen
            && how != EcnOptionUse::Never
            && (how == EcnOptionUse::Persist || !self.counted.option_dropped)
    }

    fn option_due(&self, now: Nanos) -> bool {
        let AccurateEcn { option, beacon } = self.config.ecn.accurate;
        if option != EcnOptionUse::Demand || self.counted.demanded > 0 {
            return true;
        }
        let waited = elapsed(now, self.counted.option_at);
        beacon > 0 && waited.saturating_mul(beacon.into()) >= self.sender.time.rtt.srtt
    }

    /// Full segments have room for the option if it is in use.
    pub(super) fn fit_segments(&mut self) {
        if !self.sender.ecn.accurate() || !self.state.is_synchronized() {
            return;
        }
        let room = match self.sends_option() {
            true => OPTION_ROOM,
            false => 0,
        };
        self.sender.agreed.mss = self.counted.full_mss.saturating_sub(room).max(1);
    }

    /// The payload of full segments without this option.
    pub(super) fn set_full_mss(&mut self, mss: u32) {
        self.counted.full_mss = mss;
    }

    /// Changes when the option of accurate ECN is sent from now on (Linux `tcp_ecn_option` while connections exist).
    pub fn set_ecn_option(&mut self, option: EcnOptionUse) {
        Arc::make_mut(&mut self.config).ecn.accurate.option = option;
        self.fit_segments();
    }
}
