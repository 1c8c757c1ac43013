//! The next segment to go out: a reset or challenge, data, or an acknowledgement.

use super::{Endpoint, State};
use crate::Nanos;
use crate::segment::{Flags, Segment, Timestamps};
use crate::sender::Outgoing;

impl Endpoint {
    /// The next segment to send to the other side; `None` if there is nothing to send now.
    #[inline]
    pub fn poll_transmit(&mut self, now: Nanos) -> Option<Segment> {
        if self.rests() {
            return None;
        }
        self.poll(now)
    }

    /// The common case at the side that only receives: nothing is outstanding, and there is nothing to send or to acknowledge.
    #[inline]
    pub(super) fn rests(&self) -> bool {
        let stream = &self.sender.stream;
        !self.receiver.ack_due()
            && self.sender.board.is_empty()
            && !stream.has_new()
            && !stream.opening()
            && self.control.is_none()
            && !self.buffer.may_grow()
    }

    /// The next segment to be sent, found without the shortcut.
    pub(super) fn poll(&mut self, now: Nanos) -> Option<Segment> {
        // Checked first: taking a segment out moves it as a whole, even if there is none.
        if self.control.is_some() {
            return self.take_control(now);
        }
        if matches!(self.state, State::Closed | State::Listen) {
            return None;
        }
        if self.state != State::TimeWait {
            if let Some(outgoing) = self.sender.poll(now) {
                return Some(self.with_stream(now, &outgoing));
            }
            self.sender.idle(now);
            self.stuck = !self.buffer.grows() && self.sender.waits_for_window();
            if self.buffer.may_grow() {
                self.buffer.grow(self.sender.buffer_demand());
            }
        }
        if !self.receiver.ack_due() || self.state == State::SynSent {
            return None;
        }
        self.sender.counters.sent.out_segs += 1;
        self.sender.counters.acks.acks_out += 1;
        Some(self.acknowledgement(now, true))
    }

    fn take_control(&mut self, now: Nanos) -> Option<Segment> {
        let mut segment = self.control.take()?;
        if let Some(timestamps) = &mut segment.timestamps {
            timestamps.val = self.sender.tsval(now);
        }
        Some(*segment)
    }

    /// A segment of the stream, with an acknowledgement.
    fn with_stream(&mut self, now: Nanos, outgoing: &Outgoing) -> Segment {
        let mut segment = if outgoing.syn {
            self.syn(now)
        } else {
            self.acknowledgement(now, outgoing.payload == 0)
        };
        segment.seq = outgoing.start as u32;
        segment.payload = outgoing.payload;
        if outgoing.fin {
            segment.flags = segment.flags.with(Flags::FIN);
        }
        if outgoing.push && outgoing.payload > 0 {
            segment.flags = segment.flags.with(Flags::PSH);
        }
        if outgoing.markable {
            segment.ecn = self.capable();
        }
        if outgoing.cwr {
            segment.flags = segment.flags.with(Flags::CWR);
        }
        segment
    }

    /// An acknowledgement of everything received, with window and options; its sequence number is `snd_nxt`. `pure`: no
    /// payload is added.
    pub(super) fn acknowledgement(&mut self, now: Nanos, pure: bool) -> Segment {
        let timestamps = self.timestamps(now);
        let mut room = match timestamps {
            _ if !self.receiver.sack() || self.receiver.sack_blocks() == 0 => 0,
            Some(_) => 3,
            None => 4,
        };
        let mut ecn_option = None;
        if self.sender.ecn.accurate() {
            let blocks = self.receiver.sack_blocks().min(room);
            (ecn_option, room) = self.ecn_option(now, blocks);
        }
        let sack = match room {
            0 => Default::default(),
            _ => self.receiver.sack_option(room),
        };
        let window = self.receiver.advertise(self.scaling().is_some());
        let echo = self.echo(pure);
        self.receiver.acknowledged(&mut self.sender.counters);
        Segment {
            seq: self.sender.stream.nxt as u32,
            ack: self.receiver.rcv_nxt as u32,
            window,
            flags: Flags::ACK.with(echo),
            timestamps,
            sack,
            ecn_option,
            ecn: self.acknowledgement_field(),
            ..Segment::default()
        }
    }

    fn timestamps(&mut self, now: Nanos) -> Option<Timestamps> {
        self.sender.agreed.timestamps.then(|| Timestamps {
            val: self.sender.tsval(now),
            ecr: self.ts_recent,
        })
    }

    /// SYN or SYN-ACK: options that the peer did not offer are not included (RFC 2018 section 2, RFC 7323 sections 2.2 and
    /// 3.2).
    fn syn(&mut self, now: Nanos) -> Segment {
        let answers = self.state == State::SynReceived;
        let scale = match answers {
            true => self.scaling().and(self.config.options.window_scale),
            false => self.config.options.window_scale,
        };
        let timestamps = if answers {
            self.timestamps(now)
        } else {
            self.config.options.timestamps.then(|| Timestamps {
                val: self.sender.tsval(now),
                ecr: 0,
            })
        };
        let window = if answers {
            let window = self.receiver.advertise(false);
            self.receiver.acknowledged(&mut self.sender.counters);
            window
        } else {
            let offer = self.receiver.round_offer(self.config.mss);
            offer.min(u64::from(u16::MAX)) as u16
        };
        let (ecn, ecn_option) = match answers {
            true => self.ecn_answer(),
            false => (self.ecn_request(), None),
        };
        Segment {
            seq: self.sender.stream.iss as u32,
            ack: if answers {
                self.receiver.rcv_nxt as u32
            } else {
                0
            },
            window,
            flags: match answers {
                true => Flags::SYN.with(Flags::ACK).with(ecn),
                false => Flags::SYN.with(ecn),
            },
            window_scale: scale.map(|scale| scale.min(14)),
            mss: Some(self.config.mss.min(u32::from(u16::MAX)) as u16),
            sack_permitted: if answers {
                self.sender.agreed.sack
            } else {
                self.config.options.sack
            },
            timestamps,
            ecn_option,
            // So that a queue in which all other packets are marked does not drop it.
            ecn: self.always_capable(true),
            ..Segment::default()
        }
    }

    /// Our reset, with the sequence number that the peer expects and with timestamps (RFC 7323 section 3.2) of the
    /// time at which it is sent.
    pub(super) fn reset_segment(&mut self) -> Segment {
        let window = self.receiver.advertise(self.scaling().is_some());
        Segment {
            seq: self.sender.stream.nxt as u32,
            ack: self.receiver.rcv_nxt as u32,
            window,
            flags: Flags::RST.with(Flags::ACK),
            timestamps: self.sender.agreed.timestamps.then_some(Timestamps {
                val: 0,
                ecr: self.ts_recent,
            }),
            ..Segment::default()
        }
    }

    /// Answers a segment that belongs to no connection (RFC 9293 section 3.5.2).
    pub(super) fn refuse(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        let reset = if segment.flags.has(Flags::ACK) {
            Segment {
                seq: segment.ack,
                flags: Flags::RST,
                ..Segment::default()
            }
        } else {
            Segment {
                ack: segment.seq.wrapping_add(segment.sequence_length()),
                flags: Flags::RST.with(Flags::ACK),
                ..Segment::default()
            }
        };
        self.control = Some(Box::new(reset));
    }
}
