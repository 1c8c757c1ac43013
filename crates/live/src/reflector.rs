//! A stateful STAMP reflector (RFC 8762 section 4.3) without sockets: bytes and times in, bytes out.

use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use crate::stamp::{
    BASE_BYTES, DEFAULT_PORT, ErrorEstimate, ReflectedPacket, SenderPacket, Timestamp,
    answer_extensions,
};

/// Limits of a [`Reflector`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Sessions at the same time; a further one takes the place of the one that has been silent for longest.
    pub sessions: usize,
    /// Answers per second, over all sessions.
    pub packets_per_s: u32,
    /// A session is forgotten after this time without packets, nanoseconds.
    pub idle_ns: i64,
}

impl Limits {
    /// Sessions of one address (of IPv6, of one network of 64 bits): a host alone does not take the places of all others.
    fn sessions_of_address(&self) -> usize {
        (self.sessions / 16).max(1)
    }

    /// Answers per second to one address, likewise.
    fn packets_per_s_of_address(&self) -> u32 {
        (self.packets_per_s / 2).max(1)
    }
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
    /// Packets not answered because they come from a reflector: two that answered each other would never end.
    pub from_reflectors: u64,
    /// Packets not answered because of the limit of the rate.
    pub over_rate: u64,
    /// Sessions forgotten because others took their places.
    pub displaced: u64,
    /// Sessions seen.
    pub sessions: u64,
}

/// The address and the port of a sender, and the identifier that it gave.
type Key = (SocketAddr, u16);

struct Session {
    next_seq: u32,
    last_ns: i64,
}

/// The sessions of an address, and the answers that it may get.
struct Sender {
    sessions: BTreeSet<(i64, Key)>,
    bucket: Bucket,
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
    port: u16,
    sessions: HashMap<Key, Session>,
    /// The sessions, ordered by the time of their last packets.
    by_age: BTreeSet<(i64, Key)>,
    /// The senders by address. Each has a session, so that the limit of sessions limits them, too.
    senders: HashMap<IpAddr, Sender>,
    bucket: Bucket,
    done: Reflected,
}

/// One answer in the unit of [`Bucket::tokens`].
const TOKEN: u64 = 1_000_000_000;

/// A token bucket that holds a tenth of a second.
struct Bucket {
    per_s: u32,
    /// Answers that may be sent now, in billionths of an answer, and when this was computed.
    tokens: u64,
    filled_ns: i64,
}

impl Bucket {
    /// A full one.
    fn new(per_s: u32) -> Self {
        Bucket {
            per_s,
            tokens: 0,
            filled_ns: i64::MIN,
        }
    }

    fn has_one(&mut self, now_ns: i64) -> bool {
        let rate = u64::from(self.per_s);
        let most = (rate * TOKEN / 10).max(TOKEN);
        let passed_ns = now_ns.saturating_sub(self.filled_ns).max(0).cast_unsigned();
        self.tokens = passed_ns
            .saturating_mul(rate)
            .saturating_add(self.tokens)
            .min(most);
        self.filled_ns = self.filled_ns.max(now_ns);
        self.tokens >= TOKEN
    }

    fn take(&mut self) {
        self.tokens = self.tokens.saturating_sub(TOKEN);
    }
}

/// What counts as one address: IPv6 gives every network 64 bits, all of which one host may use.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let upper = v6.to_bits() >> 64 << 64;
            IpAddr::V6(Ipv6Addr::from_bits(upper))
        }
        v4 => v4,
    }
}

impl Reflector {
    /// No sessions yet; `port` is its own.
    pub fn new(limits: Limits, port: u16) -> Self {
        Reflector {
            limits,
            port,
            sessions: HashMap::new(),
            by_age: BTreeSet::new(),
            senders: HashMap::new(),
            bucket: Bucket::new(limits.packets_per_s),
            done: Reflected::default(),
        }
    }

    /// Turns the packet in `bytes` into its answer, of the same size, to be sent to where it came from. Returns false
    /// if it is not answered. `set_timestamp` must write the time of sending.
    pub fn reflect(&mut self, bytes: &mut [u8], arrived: &Arrived, error: ErrorEstimate) -> bool {
        let Some(sent) = SenderPacket::read(bytes) else {
            self.done.malformed += 1;
            return false;
        };
        // A reflector answers from its own port, and what it sends holds the time at which it received.
        let is_port = [DEFAULT_PORT, self.port].contains(&arrived.from.port());
        if is_port || ReflectedPacket::read(bytes).is_some_and(|packet| packet.was_reflected()) {
            self.done.from_reflectors += 1;
            return false;
        }
        if !self.may_answer(network(arrived.from.ip()), arrived.now_ns) {
            self.done.over_rate += 1;
            return false;
        }
        let seq = self.next_seq((arrived.from, sent.ssid), arrived.now_ns);
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

    fn may_answer(&mut self, address: IpAddr, now_ns: i64) -> bool {
        let known = self.senders.get_mut(&address);
        let may = known.is_none_or(|sender| sender.bucket.has_one(now_ns));
        may && self.bucket.has_one(now_ns)
    }

    /// The number of the session's next answer.
    fn next_seq(&mut self, key: Key, now_ns: i64) -> u32 {
        if !self.sessions.contains_key(&key) {
            self.make_room(network(key.0.ip()));
            self.done.sessions += 1;
        }
        let new = Session {
            next_seq: 0,
            last_ns: now_ns,
        };
        let session = self.sessions.entry(key).or_insert(new);
        let before_ns = std::mem::replace(&mut session.last_ns, now_ns);
        if now_ns.saturating_sub(before_ns) >= self.limits.idle_ns {
            session.next_seq = 0;
        }
        let seq = session.next_seq;
        session.next_seq = seq.wrapping_add(1);
        self.by_age.remove(&(before_ns, key));
        self.by_age.insert((now_ns, key));
        let per_s = self.limits.packets_per_s_of_address();
        let new = || Sender {
            sessions: BTreeSet::new(),
            bucket: Bucket::new(per_s),
        };
        let sender = self.senders.entry(network(key.0.ip())).or_insert_with(new);
        sender.sessions.remove(&(before_ns, key));
        sender.sessions.insert((now_ns, key));
        sender.bucket.has_one(now_ns);
        sender.bucket.take();
        self.bucket.take();
        seq
    }

    /// Makes room for a session of this address: of its own sessions the oldest one goes if it has its share, otherwise the
    /// oldest one of all if there are too many.
    fn make_room(&mut self, address: IpAddr) {
        let own = self.senders.get(&address).map(|sender| &sender.sessions);
        let own = own.filter(|sessions| sessions.len() >= self.limits.sessions_of_address());
        let oldest = match own {
            Some(sessions) => sessions.first(),
            None if self.sessions.len() >= self.limits.sessions.max(1) => self.by_age.first(),
            None => None,
        };
        if let Some(&(last_ns, key)) = oldest {
            self.forget(last_ns, key);
            self.done.displaced += 1;
        }
    }

    fn forget(&mut self, last_ns: i64, key: Key) {
        self.sessions.remove(&key);
        self.by_age.remove(&(last_ns, key));
        let address = network(key.0.ip());
        if let Some(sender) = self.senders.get_mut(&address) {
            sender.sessions.remove(&(last_ns, key));
            if sender.sessions.is_empty() {
                self.senders.remove(&address);
            }
        }
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
        let mut reflector = Reflector::new(Limits::default(), 862);
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
        let mut reflector = Reflector::new(Limits::default(), 862);
        let answer = send(&mut reflector, 3, &arrived(1, 5)).unwrap();
        assert_eq!(
            (answer.sender_seq, answer.sender_ttl, answer.ssid),
            (3, 63, 9)
        );
        assert_eq!(answer.received.unix_ns(), 1_000_000_005);
    }

    #[test]
    fn a_flood_is_answered_at_the_limit_of_an_address() {
        let limits = Limits {
            packets_per_s: 100,
            ..Limits::default()
        };
        let mut reflector = Reflector::new(limits, 862);
        let flood = (0..100_000u32).map(|n| (n, i64::from(n) * 10_000)); // 100,000 in a second
        let answered = flood
            .filter(|&(n, at)| send(&mut reflector, n, &arrived(1, at)).is_some())
            .count();
        assert!((50..=56).contains(&answered), "{answered}");
        assert_eq!(reflector.done().over_rate, 100_000 - answered as u64);
        // Another address is answered meanwhile.
        let other = Arrived {
            from: SocketAddr::from(([192, 0, 2, 2], 1)),
            ..arrived(1, 1_000_000_000)
        };
        assert!(send(&mut reflector, 0, &other).is_some());
    }

    /// A socket that opens one session after another has its share of the places. Those who are active keep theirs.
    #[test]
    fn one_socket_does_not_lock_others_out() {
        let mut reflector = Reflector::new(Limits::default(), 862);
        let of = |last: u8, now_ns| Arrived {
            from: SocketAddr::from(([198, 51, 100, last], 40_000)),
            ..arrived(1, now_ns)
        };
        let mut now_ns = 0;
        for ssid in 0..5_000 {
            now_ns += 1_000_000;
            let mut bytes = vec![0; 60];
            SenderPacket {
                ssid,
                ..SenderPacket::default()
            }
            .write(&mut bytes);
            reflector.reflect(&mut bytes, &of(1, now_ns), ErrorEstimate::default());
            if ssid % 100 == 0 {
                let answer = send(&mut reflector, u32::from(ssid), &of(2, now_ns));
                assert_eq!(answer.map(|answer| answer.seq), Some(u32::from(ssid) / 100));
            }
        }
        assert_eq!(reflector.sessions.len(), 64 + 1);
        let counted: usize = reflector.senders.values().map(|s| s.sessions.len()).sum();
        assert_eq!((counted, reflector.by_age.len()), (65, 65));
    }

    #[test]
    fn the_session_silent_for_longest_gives_way() {
        let limits = Limits {
            sessions: 32,
            ..Limits::default()
        };
        let mut reflector = Reflector::new(limits, 862);
        let of = |n: u32, now_ns| Arrived {
            from: SocketAddr::from(((0x0a00_0000 + n).to_be_bytes(), 40_000)),
            ..arrived(1, now_ns)
        };
        for n in 0..40 {
            send(&mut reflector, 0, &of(n, i64::from(n) * 1_000_000));
        }
        // The first eight were displaced; the last ones go on.
        let seq = |reflector: &mut Reflector, n| {
            send(reflector, 1, &of(n, 1_000_000_000)).map(|answer| answer.seq)
        };
        assert_eq!(reflector.done().displaced, 8);
        assert_eq!(seq(&mut reflector, 39), Some(1));
        assert_eq!(seq(&mut reflector, 0), Some(0));
    }

    #[test]
    fn a_silent_session_begins_anew() {
        let limits = Limits {
            idle_ns: 1_000,
            ..Limits::default()
        };
        let mut reflector = Reflector::new(limits, 862);
        let mut seq = |at| send(&mut reflector, 0, &arrived(1, at)).map(|answer| answer.seq);
        assert_eq!((seq(0), seq(999), seq(2_000)), (Some(0), Some(1), Some(0)));
    }

    /// What one reflector sends no other one answers, whatever the ports are: otherwise one packet would go to and fro for
    /// ever.
    #[test]
    fn reflectors_do_not_answer_each_other() {
        let mut one = Reflector::new(Limits::default(), 8_620);
        let mut other = Reflector::new(Limits::default(), 8_621);
        let mut bytes = packet(0);
        assert!(one.reflect(&mut bytes, &arrived(8_621, 5), ErrorEstimate::default()));
        set_timestamp(&mut bytes, 1_000_300_000);
        assert!(!other.reflect(&mut bytes, &arrived(8_620, 9), ErrorEstimate::default()));
        // From the port of reflectors nothing is answered at all.
        assert!(!other.reflect(&mut packet(0), &arrived(862, 9), ErrorEstimate::default()));
        assert_eq!(other.done().from_reflectors, 2);
        // Other bytes behind the sender's fields, as older senders put there, are no reflection.
        let mut padded = packet(0);
        padded[16..44].fill(0xa5);
        assert!(other.reflect(&mut padded, &arrived(40_000, 9), ErrorEstimate::default()));
    }

    #[test]
    fn short_packets_are_counted() {
        let mut reflector = Reflector::new(Limits::default(), 862);
        assert!(!reflector.reflect(&mut [0; 43], &arrived(1, 0), ErrorEstimate::default()));
        assert_eq!(reflector.done().malformed, 1);
    }
}
