//! What a host asks the other one for: by these a retransmission is distinguished from a frame that was captured twice.

use inorder_wire::Segment;

/// What a host last acknowledged, and what it last asked for: it repeated an acknowledgement, or reported data above a hole.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requests {
    ack: u32,
    ack_ns: i64,
    /// The first byte that it lacked when it last asked, and the number of bytes from there to the highest that it had, or one.
    from: u32,
    asked: u32,
    asked_ns: i64,
    /// When it last lacked something, as far as it said so: not what came twice alone (RFC 2883 section 4).
    lacked_ns: Option<i64>,
}

impl Requests {
    /// The next packet of this host.
    #[inline(always)]
    pub fn note(&mut self, seg: &Segment) {
        if seg.sack_len > 0 || seg.payload_len == 0 && seg.ack == self.ack {
            self.note_request(seg);
        }
        (self.ack, self.ack_ns) = (seg.ack, seg.ts_ns);
    }

    #[inline(never)]
    fn note_request(&mut self, seg: &Segment) {
        (self.from, self.asked_ns) = (seg.ack, seg.ts_ns);
        let above = |block: &(u32, u32)| block.1.wrapping_sub(seg.ack).cast_signed();
        let ends = seg.sack_blocks().iter().map(above);
        self.asked = ends.fold(1, i32::max).cast_unsigned();
        if seg.sack_len == 0 || self.asked > 1 {
            self.lacked_ns = Some(seg.ts_ns);
        }
    }

    /// Has it said in the `time_ns` before `now` that it lacks anything?
    pub fn lacked_within(&self, time_ns: i64, now: i64) -> bool {
        self.lacked_ns
            .is_some_and(|at_ns| now.saturating_sub(at_ns) < time_ns)
    }

    /// Has it said within the last `apart_ns` that it lacks the data of `seg`: that it waits for just that, or has what lies above?
    pub fn are_for(&self, seg: &Segment, apart_ns: i64) -> bool {
        let since = |at_ns: i64| seg.ts_ns.saturating_sub(at_ns) < apart_ns;
        let waits = self.ack == seg.seq && since(self.ack_ns);
        let within = seg.seq.wrapping_sub(self.from) < self.asked.max(1);
        let lacks = self.ack.wrapping_sub(seg.seq) as i32 <= 0;
        waits || within && lacks && since(self.asked_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_asks_for_what_it_waits_for_and_for_what_lies_below_what_it_has() {
        let ack = |ts_ns, ack, block: Option<(u32, u32)>| {
            segment!(
                ts_ns, ack, sack: [block.unwrap_or_default(); 4], sack_len: u8::from(block.is_some())
            )
        };
        let data = |ts_ns, seq| segment!(ts_ns, seq, payload_len: 100);
        let mut requests = Requests::default();
        requests.note(&ack(50, 100, None));
        assert!(requests.are_for(&data(60, 100), 20), "the next");
        assert!(
            !requests.are_for(&data(60, 100), 10),
            "said before the first copy"
        );
        assert!(!requests.are_for(&data(60, 200), 20), "not yet");
        requests.note(&ack(55, 100, Some((400, 500))));
        assert!(requests.are_for(&data(60, 200), 20));
        assert!(
            !requests.are_for(&data(60, 500), 20),
            "nothing above has come"
        );
        requests.note(&ack(58, 300, Some((400, 500))));
        assert!(!requests.are_for(&data(60, 200), 20), "it has come");
    }
}
