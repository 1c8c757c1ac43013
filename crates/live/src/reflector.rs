//! A stateful STAMP reflector (RFC 8762 section 4.3) without sockets: bytes and times in, bytes out.

use std::collections::HashMap;
use std::net::SocketAddr;

use crate::stamp::{
    BASE_BYTES, ErrorEstimate, ReflectedPacket, SenderPacket, Timestamp, answer_extensions,
};

/// Limits of a [`Reflector`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Sessions at the same time; packets of further ones are not answered.
    pub sessions: usize,
    /// Answers per second, over all sessions.
    pub packets_per_s: u32,
    /// A session is forgotten after this time without packets, nanoseconds.
    pub idle_ns: i64,
}

impl Default for Limits {
    /// 1,024 sessions, 10,000 answers per second, and the 900 s of REFWAIT (RFC 5357 section 4.2).
    fn default() -> Self {
        Limits {
            sessions: 1_024,
            packets_per_s: 10_000,
            idle_ns: 900_000_000_000,
        }
    }
}

/// What a reflector did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Reflected {
    /// Packets answered.
    pub answered: u64,
    /// Packets too short to be of the protocol.
    pub malformed: u64,
    /// Packets not answered because of the limit of the rate.
    pub over_rate: u64,
    /// Packets not answered because of the number of sessions.
    pub over_sessions: u64,
    /// Sessions seen.
    pub sessions: u64,
}

struct Session {
    next_seq: u32,
    last_ns: i64,
}

/// Where and how a packet was received.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// Address of the sender.
    pub from: SocketAddr,
    /// Time to live or hop limit; 0 if unknown.
    pub ttl: u8,
    /// When, nanoseconds since the Unix epoch.
    pub unix_ns: i64,
    /// When, on a clock that never runs backwards, nanoseconds.
    pub now_ns: i64,
}

/// Counts the packets of each session, so that its sender can distinguish the directions.
pub struct Reflector {
    limits: Limits,
    sessions: HashMap<(SocketAddr, u16), Session>,
    /// Answers that may be sent now, in billionths of an answer, and when this was computed.
    tokens: u64,
    filled_ns: i64,
    done: Reflected,
}

/// One answer in the unit of `tokens`.
const TOKEN: u64 = 1_000_000_000;

impl Reflector {
    /// No sessions yet.
    pub fn new(limits: Limits) -> Self {
        Reflector {
            limits,
            sessions: HashMap::new(),
            tokens: 0,
            filled_ns: i64::MIN,
            done: Reflected::default(),
        }
    }

    /// Turns the packet in `bytes` into its answer, of the same size, to be sent to where it came from. Returns false
    /// if it is not answered. [`set_timestamp`] must write the time of sending.
    pub fn reflect(&mut self, bytes: &mut [u8], arrived: &Arrived, error: ErrorEstimate) -> bool {
        let Some(sent) = SenderPacket::read(bytes) else {
            self.done.malformed += 1;
            return false;
        };
        if !self.may_answer(arrived.now_ns) {
            self.done.over_rate += 1;
            return false;
        }
        let Some(seq) = self.next_seq((arrived.from, sent.ssid), arrived.now_ns) else {
            self.done.over_sessions += 1;
            return false;
        };
        self.tokens -= TOKEN;
        self.done.answered += 1;
        let received = Timestamp::from_unix_ns(arrived.unix_ns);
        let answer = ReflectedPacket {
            seq,
            timestamp: received,
            error,
            ssid: sent.ssid,
            received,
            sender_seq: sent.seq,
            sender_timestamp: sent.timestamp,
            sender_error: sent.error,
            sender_ttl: arrived.ttl,
        };
        answer.write(bytes);
        answer_extensions(bytes.get_mut(BASE_BYTES..).unwrap_or_default());
        true
    }

    /// What was done so far.
    pub fn done(&self) -> Reflected {
        self.done
    }

    /// A token bucket that holds a tenth of a second.
    fn may_answer(&mut self, now_ns: i64) -> bool {
        let rate = u64::from(self.limits.packets_per_s);
        let most = (rate * TOKEN / 10).max(TOKEN);
        let passed_ns = now_ns.saturating_sub(self.filled_ns).max(0).cast_unsigned();
        self.tokens = passed_ns
            .saturating_mul(rate)
            .saturating_add(self.tokens)
            .min(most);
        self.filled_ns = self.filled_ns.max(now_ns);
        self.tokens >= TOKEN
    }

    fn next_seq(&mut self, key: (SocketAddr, u16), now_ns: i64) -> Option<u32> {
        if !self.sessions.contains_key(&key) {
            if self.sessions.len() >= self.limits.sessions {
                let idle_ns = self.limits.idle_ns;
                self.sessions
                    .retain(|_, session| now_ns.saturating_sub(session.last_ns) < idle_ns);
            }
            if self.sessions.len() >= self.limits.sessions {
                return None;
            }
            self.done.sessions += 1;
        }
        let new = Session {
            next_seq: 0,
            last_ns: now_ns,
        };
        let session = self.sessions.entry(key).or_insert(new);
        if now_ns.saturating_sub(session.last_ns) >= self.limits.idle_ns {
            session.next_seq = 0;
        }
        session.last_ns = now_ns;
        let seq = session.next_seq;
        session.next_seq = seq.wrapping_add(1);
        Some(seq)
    }
}

/// Writes the time of sending into an answer.
pub fn set_timestamp(bytes: &mut [u8], unix_ns: i64) {
    if let Some(place) = bytes.get_mut(4..12) {
        place.copy_from_slice(&Timestamp::from_unix_ns(unix_ns).0.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrived(port: u16, now_ns: i64) -> Arrived {
        Arrived {
            from: SocketAddr::from(([192, 0, 2, 1], port)),
            ttl: 63,
            unix_ns: 1_000_000_000 + now_ns,
            now_ns,
        }
    }

    fn packet(seq: u32) -> Vec<u8> {
        let mut bytes = vec![0; 60];
        SenderPacket {
            seq,
            ssid: 9,
            ..SenderPacket::default()
        }
        .write(&mut bytes);
        bytes
    }

    fn send(reflector: &mut Reflector, seq: u32, at: &Arrived) -> Option<ReflectedPacket> {
        let mut bytes = packet(seq);
        let answered = reflector.reflect(&mut bytes, at, ErrorEstimate::default());
        answered.then(|| ReflectedPacket::read(&bytes).unwrap())
    }

    #[test]
    fn every_session_is_numbered_in_the_order_of_arrival() {
        let mut reflector = Reflector::new(Limits::default());
        let mut seqs = |port, sent: &[u32]| -> Vec<(u32, u32)> {
            let answers = sent
                .iter()
                .map(|&seq| send(&mut reflector, seq, &arrived(port, 0)).unwrap());
            answers
                .map(|answer| (answer.sender_seq, answer.seq))
                .collect()
        };
        assert_eq!(seqs(1, &[0, 2, 1]), [(0, 0), (2, 1), (1, 2)]);
        assert_eq!(seqs(2, &[5]), [(5, 0)]);
        assert_eq!(seqs(1, &[3]), [(3, 3)]);
    }

    #[test]
    fn the_answer_repeats_what_was_received() {
        let mut reflector = Reflector::new(Limits::default());
        let answer = send(&mut reflector, 3, &arrived(1, 5)).unwrap();
        assert_eq!(
            (answer.sender_seq, answer.sender_ttl, answer.ssid),
            (3, 63, 9)
        );
        assert_eq!(answer.received.unix_ns(), 1_000_000_005);
    }

    #[test]
    fn a_flood_is_answered_at_the_limit() {
        let limits = Limits {
            packets_per_s: 100,
            ..Limits::default()
        };
        let mut reflector = Reflector::new(limits);
        let flood = (0..100_000u32).map(|n| (n, i64::from(n) * 10_000)); // 100,000 in a second
        let answered = flood
            .filter(|&(n, at)| send(&mut reflector, n, &arrived(1, at)).is_some())
            .count();
        assert!((100..=111).contains(&answered), "{answered}");
        assert_eq!(reflector.done().over_rate, 100_000 - answered as u64);
    }

    #[test]
    fn sessions_are_limited_and_forgotten() {
        let limits = Limits {
            sessions: 2,
            idle_ns: 1_000,
            ..Limits::default()
        };
        let mut reflector = Reflector::new(limits);
        let mut answered = |port, now_ns| send(&mut reflector, 0, &arrived(port, now_ns)).is_some();
        assert!(answered(1, 0) && answered(2, 0) && !answered(3, 0));
        assert!(answered(3, 2_000));
    }

    #[test]
    fn short_packets_are_counted() {
        let mut reflector = Reflector::new(Limits::default());
        assert!(!reflector.reflect(&mut [0; 43], &arrived(1, 0), ErrorEstimate::default()));
        assert_eq!(reflector.done().malformed, 1);
    }
}
