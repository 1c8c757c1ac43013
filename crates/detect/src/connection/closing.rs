//! How the hosts end their data: a FIN each, which is sent again like data until it is acknowledged (RFC 9293 section 3.6), or a reset.

use inorder_wire::{Dir, Segment, TcpFlags};

use super::foreign::MIN_HOPS_APART;
use crate::result::{Closing, Host};

/// A FIN that comes again sooner than this is a duplicate, of the network or of the capture, nanoseconds: no sender repeats one sooner
/// (Linux's `TCP_RTO_MIN` is 200 ms; RFC 6298 section 2 step (2.4) says 1 s).
const MIN_TIMEOUT_NS: i64 = 100_000_000;

/// The FIN of one direction.
#[derive(Clone, Copy, Debug)]
struct Fin {
    number: u32,
    first_ns: i64,
    last_ns: i64,
    again: u32,
    acknowledged: bool,
}

/// Data behind a reset.
#[derive(Clone, Copy, Debug)]
struct Behind {
    /// Packets, each once.
    packets: u32,
    /// Packets that repeat what came by before.
    again: u32,
    /// The end of the highest one.
    end: u32,
}

/// How a connection is closed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct End {
    fins: [Option<Fin>; 2],
    /// For each direction, who reset the connection before a FIN went that way.
    reset_by: [Option<Host>; 2],
    /// When that was, nanoseconds.
    reset_ns: [i64; 2],
    /// For each direction, when its receiver reset the connection first, whether or not a FIN went that way before, nanoseconds.
    refused_ns: [Option<i64>; 2],
    /// For each direction, the data that came by behind the reset of its receiver.
    behind: [Option<Behind>; 2],
    /// For each direction, that its receiver said more behind its reset, which ended nothing: it was the answer to an old segment.
    went_on: [bool; 2],
    /// For each direction, that this was its receiver, and had sent a FIN.
    closed_before: [bool; 2],
    /// For each direction, the times to live of that reset and of its host's SYN, if they are far apart.
    reset_ttls: [Option<(u8, u8)>; 2],
}

impl End {
    /// A segment with a FIN goes `dir`. With data it is sent again for that.
    pub(super) fn sent(&mut self, dir: Dir, seg: &Segment) {
        let number = seg.seq.wrapping_add(seg.payload_len);
        let Some(fin) = &mut self.fins[dir.index()] else {
            self.fins[dir.index()] = Some(Fin {
                number,
                first_ns: seg.ts_ns,
                last_ns: seg.ts_ns,
                again: 0,
                acknowledged: false,
            });
            return;
        };
        let waited = seg.ts_ns.saturating_sub(fin.last_ns) >= MIN_TIMEOUT_NS;
        if waited && number == fin.number && seg.payload_len == 0 {
            fin.again = fin.again.saturating_add(1);
            fin.last_ns = seg.ts_ns;
        }
    }

    /// The receiver of the data that goes `dir` has reset the connection, and has said nothing since: what comes again is of no connection.
    pub(super) fn is_over(&self, dir: Dir) -> bool {
        self.refused_ns[dir.index()].is_some() && !self.went_on[dir.index()]
    }

    /// Data goes `dir`, perhaps behind the reset of its receiver, and perhaps `again`.
    pub(super) fn data(&mut self, dir: Dir, seg: &Segment, again: bool) {
        if self.refused_ns[dir.index()].is_none() {
            return;
        }
        let end = seg.seq.wrapping_add(seg.payload_len);
        let behind = self.behind[dir.index()].get_or_insert(Behind {
            packets: 0,
            again: 0,
            end: seg.seq,
        });
        if again {
            behind.again = behind.again.saturating_add(1);
        } else if (end.wrapping_sub(behind.end) as i32) > 0 {
            behind.packets = behind.packets.saturating_add(1);
            behind.end = end;
        }
    }

    /// A segment goes `dir`: it may acknowledge the FIN that went the other way.
    pub(super) fn answered(&mut self, dir: Dir, seg: &Segment) {
        let way = dir.reverse().index();
        let was_reset = self.refused_ns[way].is_some();
        self.went_on[way] |= was_reset && !seg.flags.any(TcpFlags::RST);
        if let Some(fin) = &mut self.fins[dir.reverse().index()] {
            let ahead = seg.ack.wrapping_sub(fin.number.wrapping_add(1)) as i32;
            let acknowledges = seg.flags.any(TcpFlags::ACK) && !seg.flags.any(TcpFlags::RST);
            fin.acknowledged |= acknowledges && ahead >= 0;
        }
    }

    /// The host whose data goes `dir`, whose SYN had the time to live `syn_ttl` (0 if that is not known), resets the connection.
    pub(super) fn reset(&mut self, dir: Dir, seg: &Segment, syn_ttl: u8) {
        let now = seg.ts_ns;
        let known = syn_ttl != 0 && seg.ttl != 0;
        let ttls = Some((seg.ttl, syn_ttl))
            .filter(|_| known && seg.ttl.abs_diff(syn_ttl) >= MIN_HOPS_APART);
        self.refused_ns[dir.reverse().index()].get_or_insert(now);
        for (way, host) in [(dir, Host::Sender), (dir.reverse(), Host::Receiver)] {
            if self.fins[way.index()].is_none() && self.reset_by[way.index()].is_none() {
                self.reset_by[way.index()] = Some(host);
                self.reset_ns[way.index()] = now;
                self.reset_ttls[way.index()] = ttls;
                self.closed_before[way.index()] = self.fins[way.reverse().index()].is_some();
            }
        }
    }

    /// Packets of the data that goes `dir` that came by behind the reset of their receiver.
    fn behind_reset(&self, dir: Dir) -> Option<Behind> {
        self.behind[dir.index()].filter(|_| !self.went_on[dir.index()])
    }

    /// When the receiver of the data that goes `dir` ended the connection, though more of them came by, nanoseconds.
    pub(super) fn refused_ns(&self, dir: Dir) -> Option<i64> {
        self.refused_ns[dir.index()].filter(|_| self.behind_reset(dir).is_some())
    }

    /// When the host whose data goes `dir` reset the connection, nanoseconds.
    pub(super) fn given_up_ns(&self, dir: Dir) -> Option<i64> {
        let own = self.reset_by[dir.index()] == Some(Host::Sender);
        own.then_some(self.reset_ns[dir.index()])
    }

    /// The host that receives the data which goes `dir` repeated its FIN, and nothing acknowledged it.
    pub(super) fn is_unheard(&self, dir: Dir) -> bool {
        let fin = self.fins[dir.reverse().index()];
        fin.is_some_and(|fin| fin.again > 0 && !fin.acknowledged)
    }

    /// What is out of the ordinary about how `dir` was closed.
    pub(super) fn of(&self, dir: Dir) -> Closing {
        let reset_by = self.reset_by[dir.index()];
        let closed_before = self.closed_before[dir.index()];
        let behind_reset = self.behind_reset(dir);
        let fin = self.fins[dir.index()];
        Closing {
            fins_again: fin.map_or(0, |fin| fin.again.into()),
            waited_ns: fin.map_or(0, |fin| fin.last_ns.saturating_sub(fin.first_ns)),
            acknowledged: fin.is_some_and(|fin| fin.acknowledged),
            reset_by,
            behind_reset: behind_reset.map_or(0, |behind| behind.packets.into()),
            again_behind_reset: behind_reset.map_or(0, |behind| behind.again.into()),
            closed_before,
            reset_ttls: self.reset_ttls[dir.index()],
            silence: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// FINs behind the byte 999, by milliseconds and payload.
    fn closing(fins: &[(i64, u32)], acknowledged_by: Option<u32>) -> Closing {
        let dir = Dir::LowToHigh;
        let mut all = End::default();
        for &(at_ms, payload_len) in fins {
            let fin = segment!(
                ts_ns: at_ms * MS, seq: 1_000 - payload_len, payload_len,
                flags: TcpFlags(TcpFlags::FIN | TcpFlags::ACK)
            );
            all.sent(dir, &fin);
        }
        if let Some(ack) = acknowledged_by {
            let ack = segment!(ack, flags: TcpFlags(TcpFlags::ACK));
            all.answered(dir.reverse(), &ack);
        }
        all.of(dir)
    }

    #[test]
    fn a_fin_is_sent_again_until_it_is_acknowledged() {
        let twice = closing(&[(0, 0), (240, 0), (720, 0)], Some(1_001));
        let expected = Closing {
            fins_again: 2,
            waited_ns: 720 * MS,
            acknowledged: true,
            ..Closing::default()
        };
        assert_eq!(twice, expected);
        assert!(!closing(&[(0, 0), (240, 0)], Some(1_000)).acknowledged);
        assert!(!closing(&[(0, 0), (240, 0)], None).acknowledged);
    }

    #[test]
    fn a_reset_closes_what_no_fin_has_closed() {
        let mut end = End::default();
        end.sent(Dir::LowToHigh, &Segment::default());
        end.reset(Dir::HighToLow, &Segment::default(), 0);
        end.reset(Dir::LowToHigh, &Segment::default(), 0);
        assert_eq!(end.of(Dir::LowToHigh).reset_by, None);
        assert_eq!(
            end.of(Dir::HighToLow).reset_by,
            Some(Host::Sender),
            "the first"
        );
    }

    #[test]
    fn a_reset_with_another_time_to_live_came_from_elsewhere() {
        let ttls = |ttl: u8, of_syn: u8| {
            let mut end = End::default();
            end.reset(Dir::HighToLow, &segment!(ttl), of_syn);
            end.of(Dir::LowToHigh).reset_ttls
        };
        assert_eq!(ttls(64, 50), Some((64, 50)));
        let near = [(50, 50), (49, 50), (64, 0)].map(|(ttl, of_syn)| ttls(ttl, of_syn));
        assert_eq!(
            near, [None; 3],
            "a path that changes does so by few routers"
        );
    }

    #[test]
    fn a_host_that_resets_what_comes_behind_its_fin_had_closed_before() {
        let closed_before = |fin: bool| {
            let mut end = End::default();
            if fin {
                end.sent(Dir::HighToLow, &Segment::default());
            }
            end.reset(Dir::HighToLow, &Segment::default(), 0);
            let closing = end.of(Dir::LowToHigh);
            assert_eq!(closing.reset_by, Some(Host::Receiver));
            closing.closed_before
        };
        assert!(closed_before(true) && !closed_before(false));
    }

    #[test]
    fn data_behind_the_reset_of_its_receiver_is_counted_once() {
        let dir = Dir::LowToHigh;
        let data = |nth: u32| {
            segment!(
                seq: nth.wrapping_mul(100).wrapping_sub(150), payload_len: 100
            )
        };
        let mut end = End::default();
        end.data(dir, &data(0), false);
        end.reset(dir.reverse(), &segment!(ts_ns: MS), 0);
        for nth in [1, 2, 3, 1, 3] {
            end.data(dir, &data(nth), false);
        }
        end.data(dir, &data(0), true);
        end.data(dir.reverse(), &data(9), false);
        let closing = end.of(dir);
        assert_eq!((closing.behind_reset, closing.again_behind_reset), (3, 1));
        assert!(end.is_over(dir));
        assert_eq!(end.refused_ns(dir), Some(MS));
        assert_eq!(end.of(dir.reverse()).behind_reset, 0);
        // The receiver goes on: it had refused an old segment.
        end.answered(dir.reverse(), &Segment::default());
        assert_eq!(end.of(dir).behind_reset, 0);
        assert!(!end.is_over(dir));
    }

    #[test]
    fn a_duplicate_and_a_segment_of_data_are_no_fin_sent_again() {
        assert_eq!(closing(&[(0, 0), (1, 0)], None).fins_again, 0);
        assert_eq!(closing(&[(0, 300), (240, 300)], None).fins_again, 0);
        assert_eq!(
            closing(&[(0, 300), (240, 0)], None).fins_again,
            1,
            "its data had arrived"
        );
    }
}
