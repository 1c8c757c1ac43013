//! Frames that the capture holds a second time, as on a mirrored port or on several interfaces of a host.
//!
//! The network may deliver a packet twice as well, bit by bit alike. Microseconds apart, with an identification, it is the
//! same frame; without one, or milliseconds apart, if every packet comes so. Otherwise only that nearly all of many come twice
//! distinguishes the two. What comes with its time behind all others, beginning with the
//! first packet, is in the file twice: files were appended to each other.

use inorder_wire::Numbered;

/// Packets remembered: those that come between two captures of one.
const REMEMBERED: usize = 8;
/// Two captures of one frame on one host are at most this far apart, microseconds.
const MAX_SAME_US: u32 = 100;
/// Two captures at two places that are near each other, microseconds.
const MAX_BETWEEN_US: u32 = 10_000;
/// Minimum number of pairs, because fewer may be an accident.
const MIN_PAIRS: u64 = 4;
/// Number of pairs for each frame that was captured only once, beyond the first such frame: a mirrored port may lose some.
const PAIRS_PER_LONE_FRAME: u64 = 3;
/// Maximum number of times that one frame is found in a capture whose frames are captured several times.
const MAX_CAPTURES: u64 = 4;

/// The latest packets, and what came twice.
#[derive(Debug)]
pub(super) struct Captured {
    prints: [u32; REMEMBERED],
    times_us: [u32; REMEMBERED],
    next: u8,
    /// Packets that came twice with one identification, microseconds apart.
    same: u32,
    /// Others that came twice without one, microseconds apart.
    close: u32,
    /// Others that came twice, alike, milliseconds apart.
    alike: u32,
    /// Packets that bear a number again and are no copies: their identification or content is another one.
    others: u32,
    /// Of the first packet.
    first: u32,
    /// Packets that came again with their times, behind all others.
    replayed: u32,
    /// As long as this is the stream's last time, they do; nanoseconds.
    until_ns: i64,
}

impl Captured {
    pub(super) fn new(first: &Numbered) -> Self {
        let mut captured = Captured {
            prints: [0; REMEMBERED],
            times_us: [0; REMEMBERED],
            next: 0,
            same: 0,
            close: 0,
            alike: 0,
            others: 0,
            first: print(first),
            replayed: 0,
            until_ns: i64::MIN,
        };
        captured.remember(first);
        captured
    }

    /// Notes a packet that did not come before.
    #[inline]
    pub(super) fn remember(&mut self, packet: &Numbered) {
        let at = usize::from(self.next) % REMEMBERED;
        self.prints[at] = print(packet);
        self.times_us[at] = time_us(packet);
        self.next = self.next.wrapping_add(1);
    }

    /// Notes a packet whose number came before.
    pub(super) fn repeated(&mut self, packet: &Numbered) {
        let print = print(packet);
        let Some(at) = self.prints.iter().position(|p| *p == print) else {
            self.others = self.others.saturating_add(1);
            return;
        };
        let apart_us = time_us(packet).wrapping_sub(self.times_us[at]);
        let count = match apart_us {
            us if us > MAX_BETWEEN_US => return,
            us if us > MAX_SAME_US => &mut self.alike,
            _ if packet.ip_id != 0 => &mut self.same,
            _ => &mut self.close,
        };
        *count = count.saturating_add(1);
    }

    /// True if `packet`, which is no later than the last, is one of those from `first_ns` to `last_ns`, which come again.
    #[cold]
    pub(super) fn is_replayed(&mut self, packet: &Numbered, first_ns: i64, last_ns: i64) -> bool {
        let begins = packet.ts_ns == first_ns && first_ns < last_ns && print(packet) == self.first;
        if begins {
            self.until_ns = last_ns;
        }
        let replayed = self.until_ns == last_ns;
        self.replayed = self.replayed.saturating_add(replayed.into());
        replayed
    }

    /// Packets that came again with their times.
    pub(super) fn replayed(&self) -> u64 {
        self.replayed.into()
    }

    /// Second captures among `duplicates` of `received` packets.
    pub(super) fn finish(&self, received: u64, duplicates: u64) -> u64 {
        let same = u64::from(self.same);
        let pairs = same + u64::from(self.close) + u64::from(self.alike);
        let lone = received.saturating_sub(pairs);
        let nearly_all = pairs >= MIN_PAIRS
            && lone <= 1 + pairs / PAIRS_PER_LONE_FRAME
            && duplicates < MAX_CAPTURES * received;
        let each_twice = pairs == received && duplicates == received;
        if nearly_all || each_twice {
            pairs
        } else {
            same
        }
        .min(duplicates)
    }

    /// The sender uses its few numbers again and again: more packets bear each of `received` numbers than any capture holds one
    /// packet, and they are no copies. Only to match replies with requests are the numbers of echo requests there (RFC 792).
    pub(super) fn numbers_again(&self, received: u64) -> bool {
        u64::from(self.others) > MAX_CAPTURES.saturating_mul(received)
    }
}

/// What two captures of one packet share, mixed into 32 bits; odd constants with bits spread evenly.
#[inline]
fn print(packet: &Numbered) -> u32 {
    let content = u64::from(packet.stamp) << 32 | u64::from(packet.payload_len);
    let rest = u64::from(packet.ip_id) << 8 | u64::from(packet.kind);
    let mixed = packet.seq.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ content.wrapping_mul(0xa409_3822_299f_31d1)
        ^ rest.wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed >> 32) as u32
}

/// The time of capture; it wraps after more than an hour.
#[inline]
fn time_us(packet: &Numbered) -> u32 {
    packet.ts_ns.div_euclid(1_000) as u32
}
