//! Stream data that was sent again although no packet with it had been declared lost since: by probes (RFC 9002 section
//! 6.2.4), or on a new path.

use std::collections::BTreeMap;

use inorder_base::heap::Heap;
use serde_json::Value;

use crate::value::whole;

/// Longest payload of a UDP datagram: a longer frame is none.
const MAX_FRAME: u64 = 65_535;

/// Packets with the same bytes that are remembered: each repetition is compared with all of them. A time-out lets two packets out at most (RFC
/// 9002 section 6.2.4) and then doubles, so that 32 take 65,536 times as long as the first time-out.
const MAX_REPETITIONS: usize = 32;

/// Parts with which a frame is compared. Where it spans more, what was known of its bytes is forgotten: a datagram of 1,500 bytes would have to repeat
/// frames of 23 bytes on average.
const MAX_PARTS: usize = 64;

/// What was sent of all streams, and in which packets.
#[derive(Clone, Default, Debug)]
pub(crate) struct Streams {
    /// Ranges of bytes by stream and first byte; none overlaps another.
    parts: BTreeMap<(u64, u64), Part>,
    /// Numbers of packets in all lists of parts and of what was sent again.
    listed: usize,
    /// What was sent again without a loss, in the order of sending.
    pub(crate) again: Vec<Again>,
}

/// Bytes of a stream that were sent together whenever they were sent.
#[derive(Clone, Debug)]
struct Part {
    /// One behind the last byte.
    end: u64,
    /// The packet that had them first.
    first: u64,
    /// Packets that had them later.
    later: Vec<u64>,
    /// How many declared losses of these packets they were sent again for.
    answered: usize,
}

/// Bytes that were sent again without a loss.
#[derive(Clone, Debug)]
pub(crate) struct Again {
    pub(crate) number: u64,
    pub(crate) bytes: u64,
    /// The packets that had them before.
    pub(crate) earlier: Vec<u64>,
}

impl Heap for Streams {
    fn heap_bytes(&self) -> usize {
        // A list has room for four at first, then for twice as many.
        let numbers = 2 * self.listed + 4 * self.again.len();
        self.parts.heap_bytes() + self.again.heap_bytes() + numbers * size_of::<u64>()
    }
}

impl Part {
    /// Packet `number` repeats it; `is_lost` knows which packets were declared lost so far.
    fn repeated(&mut self, number: u64, is_lost: impl Fn(u64) -> bool) {
        self.later.push(number);
        if self.later.len() >= MAX_REPETITIONS {
            let forgotten = std::mem::replace(&mut self.first, self.later.remove(0));
            self.answered -= usize::from(is_lost(forgotten)).min(self.answered);
        }
    }

    fn packets(&self) -> impl Iterator<Item = u64> {
        std::iter::once(self.first).chain(self.later.iter().copied())
    }
}

impl Streams {
    /// Packet `number` goes out with these frames; `is_lost` knows which packets were declared lost so far.
    pub(crate) fn sent(&mut self, number: u64, data: &Value, is_lost: impl Fn(u64) -> bool) {
        for (stream, from, end) in ranges(data) {
            self.carried(number, stream, from, end, &is_lost);
        }
    }

    fn carried(
        &mut self,
        number: u64,
        stream: u64,
        from: u64,
        end: u64,
        is_lost: impl Fn(u64) -> bool,
    ) {
        self.cut(stream, from);
        self.cut(stream, end);
        self.forget_many(stream, from, end);
        let new = |end| Part {
            end,
            first: number,
            later: Vec::new(),
            answered: 0,
        };
        let (mut at, mut gaps) = (from, Vec::new());
        for (&(_, start), part) in self.parts.range_mut((stream, from)..(stream, end)) {
            if start > at {
                gaps.push((at, start));
            }
            at = part.end;
            // The same packet may have a byte twice.
            if part.later.last().unwrap_or(&part.first) == &number {
                continue;
            }
            let losses = part.packets().filter(|packet| is_lost(*packet)).count();
            if losses > part.answered {
                part.answered += 1;
            } else {
                self.listed += part.packets().count();
                self.again.push(Again {
                    number,
                    bytes: part.end - start,
                    earlier: part.packets().collect(),
                });
            }
            let before = part.later.len();
            part.repeated(number, &is_lost);
            self.listed += part.later.len() - before;
        }
        if at < end {
            gaps.push((at, end));
        }
        for (start, end) in gaps {
            self.parts.insert((stream, start), new(end));
        }
    }

    /// Forgets the parts between these bytes if they are too many to be looked at.
    fn forget_many(&mut self, stream: u64, from: u64, end: u64) {
        let range = || (stream, from)..(stream, end);
        if self.parts.range(range()).nth(MAX_PARTS).is_none() {
            return;
        }
        while let Some((&key, _)) = self.parts.range(range()).next() {
            let forgotten = self.parts.remove(&key);
            self.listed -= forgotten.map_or(0, |part| part.later.len());
        }
    }

    /// Makes a part begin at this byte if one contains it.
    fn cut(&mut self, stream: u64, at: u64) {
        let before = self.parts.range_mut((stream, 0)..(stream, at)).next_back();
        if let Some((_, part)) = before
            && part.end > at
        {
            let rest = part.clone();
            self.listed += rest.later.len();
            part.end = at;
            self.parts.insert((stream, at), rest);
        }
    }
}

/// Stream, first byte and one behind the last of each frame with stream data. Programs write the length beside the offset or
/// into `raw`, and picoquic calls the stream `id`.
fn ranges(data: &Value) -> impl Iterator<Item = (u64, u64, u64)> {
    let frames = data.get("frames").and_then(Value::as_array);
    frames.into_iter().flatten().filter_map(|frame| {
        let kind = frame.get("frame_type")?.as_str()?;
        if !kind.eq_ignore_ascii_case("stream") {
            return None;
        }
        let field = |name: &str| frame.get(name).and_then(whole);
        let raw = |name: &str| frame.get("raw")?.get(name).and_then(whole);
        let stream = field("stream_id").or_else(|| field("id"))?;
        let from = field("offset")?;
        let len = field("length")
            .or_else(|| raw("payload_length"))
            .or_else(|| raw("length"))?;
        let is_sane = (1..=MAX_FRAME).contains(&len);
        Some((stream, from, from.checked_add(len)?)).filter(|_| is_sane)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets with the bytes that they carry; those in `lost` were declared lost before the last one. What was sent
    /// again without a loss: packet, bytes, earlier packets.
    fn again(packets: &[(u64, u64, u64)], lost: &[u64]) -> Vec<(u64, u64, Vec<u64>)> {
        let mut streams = Streams::default();
        for &(number, from, end) in packets {
            streams.carried(number, 4, from, end, |packet| lost.contains(&packet));
        }
        let again = streams.again.iter();
        again
            .map(|a| (a.number, a.bytes, a.earlier.clone()))
            .collect()
    }

    #[test]
    fn one_loss_explains_one_retransmission() {
        let sent = [(0, 0, 100), (1, 100, 200), (2, 0, 100), (3, 0, 100)];
        assert_eq!(again(&sent[..3], &[0]), []);
        assert_eq!(again(&sent[..3], &[1]), [(2, 100, vec![0])]);
        // Packet 0 was lost, packet 2 repeats it, and nothing explains packet 3.
        assert_eq!(again(&sent, &[0]), [(3, 100, vec![0, 2])]);
        assert_eq!(again(&sent, &[0, 2]), []);
    }

    #[test]
    fn bytes_that_are_sent_very_often_are_compared_with_the_last_packets_that_had_them() {
        let sent: Vec<_> = (0..100).map(|number| (number, 0, 100)).collect();
        let last = again(&sent, &[]).pop().unwrap();
        assert_eq!(last, (99, 100, (67..99).collect()));
        // Each loss explains one retransmission, however long ago.
        let lost: Vec<_> = (0..99).collect();
        assert_eq!(again(&sent, &lost), []);
        assert_eq!(again(&sent, &lost[1..]).len(), 1);
    }

    /// Each frame of 60,000 bytes begins a byte behind the one before: all bytes but one are repeated, in as many parts as there were frames.
    #[test]
    fn a_frame_is_compared_with_a_bounded_number_of_parts() {
        let mut streams = Streams::default();
        let mut before = 0;
        for number in 0..10_000 {
            streams.carried(number, 4, number, number + 60_000, |_| false);
            assert!(streams.again.len() - before <= MAX_PARTS);
            before = streams.again.len();
        }
        let listed = streams.parts.values().map(|part| part.later.len());
        let earlier = streams.again.iter().map(|again| again.earlier.len());
        assert_eq!(streams.listed, listed.chain(earlier).sum::<usize>());
        assert!(streams.parts.len() < 10_100, "{}", streams.parts.len());
    }

    #[test]
    fn only_the_bytes_that_overlap_were_sent_again() {
        let sent = [(0, 0, 100), (1, 200, 300), (2, 50, 250), (3, 60, 70)];
        assert_eq!(
            again(&sent, &[]),
            [(2, 50, vec![0]), (2, 50, vec![1]), (3, 10, vec![0, 2])]
        );
    }

    #[test]
    fn frames_in_every_spelling() {
        let data = serde_json::json!({"frames": [
            {"frame_type": "stream", "stream_id": 0, "offset": 10, "length": 5},
            {"frame_type": "STREAM", "id": "4", "offset": "0", "raw": {"payload_length": 7, "length": 9}},
            {"frame_type": "stream", "stream_id": 8, "offset": 0, "length": 0, "fin": true},
            {"frame_type": "stream", "stream_id": 8, "offset": u64::MAX, "length": 2},
            {"frame_type": "crypto", "offset": 0, "length": 5},
        ]});
        let found: Vec<_> = ranges(&data).collect();
        assert_eq!(found, [(0, 10, 15), (4, 0, 7)]);
    }
}
