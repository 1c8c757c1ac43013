//! Senders that begin new numbers in the same stream: RTP without a new SSRC (RFC 3550 appendix A.1), and counters that start
//! over, because a device or a session was started again. What looks like thousands of lost, late or repeated packets is none.

use inorder_base::sequence::nearest;
use inorder_wire::{Numbered, Service};

use super::pauses::Pace;

/// Distance behind the highest number beyond which a packet begins new numbers, if the next one follows it (RFC 3550 A.1, `MAX_MISORDER`).
const MAX_MISORDER: u64 = 100;
/// Minimum jump ahead that can be a restart, because fewer numbers may have been lost in any time.
const MIN_JUMP: u64 = 256;
/// By how much more numbers than fit into the time are no loss.
const MAX_RATIO: u128 = 16;
/// Fewest numbers by which the sender's pace is known.
const MIN_BEFORE: u64 = 16;

/// Minimum distance behind the highest number at which a counter may start over; a packet nearer may be late or a copy.
const MIN_BEHIND: u64 = 16;
/// Least silence before a counter that starts over among numbers that came before, nanoseconds: nobody starts a session again
/// sooner, and the network keeps no copy for a second.
const MIN_SILENCE_NS: i64 = 1_000_000_000;
/// Largest number with which a counter begins.
const MAX_FIRST_NUMBER: u64 = 1;

/// True if the numbers of a service may start over while its stream goes on: for a new session of the same ends, or after a
/// restart (GRE begins with 0 by RFC 2890 section 2.2, STAMP by RFC 8762 section 4.2.1, redundancy tags after a reset by IEEE
/// 802.1CB section 7.4.1). Receivers of encrypted services refuse that.
pub(super) fn may_start_over(service: Service) -> bool {
    matches!(
        service,
        Service::Gre
            | Service::GtpU
            | Service::L2tpV3
            | Service::Stamp
            | Service::IcmpEcho
            | Service::Hsr
            | Service::Prp
            | Service::RTag
    )
}

/// True if a packet of such a service perhaps starts over: its own number is one of the first, and that is far behind the
/// highest number `seq` stands for and came long ago or was never there, or farther ahead than time allows.
pub(super) fn is_beginning(seq: u64, packet: &Numbered, pace: &Pace) -> bool {
    let (first, _, _) = pace.first;
    let (highest, before_ns, _) = pace.last;
    if packet.seq > MAX_FIRST_NUMBER {
        return false;
    }
    if seq > highest {
        return is_too_far(seq, packet, pace);
    }
    let is_silent = packet.ts_ns.saturating_sub(before_ns) >= MIN_SILENCE_NS;
    let was_never_there = first.saturating_sub(seq) > MIN_JUMP;
    highest - seq >= MIN_BEHIND && (is_silent || was_never_there)
}

/// True if a packet with number `seq` perhaps begins new numbers: it is far behind and its timestamp is not, or farther
/// ahead than time allows.
pub(super) fn is_suspect(seq: u64, packet: &Numbered, pace: &Pace) -> bool {
    let (first, _, first_stamp) = pace.first;
    let (highest, _, last_stamp) = pace.last;
    let numbers = highest.saturating_sub(first);
    if seq <= highest {
        // How far back in time the packet was made, if the clock tells: a late one as far as its number says.
        let back = u128::from(last_stamp.wrapping_sub(packet.stamp));
        let is_old = back < 1 << 31;
        let expected = u128::from(last_stamp.wrapping_sub(first_stamp)) * u128::from(highest - seq);
        let is_late = is_old && 2 * back * u128::from(numbers) >= expected && numbers > 0;
        return highest - seq > MAX_MISORDER && !is_late;
    }
    is_too_far(seq, packet, pace)
}

/// True if more numbers were skipped than fit into the time.
fn is_too_far(seq: u64, packet: &Numbered, pace: &Pace) -> bool {
    let (first, first_ns, _) = pace.first;
    let (highest, before_ns, _) = pace.last;
    let numbers = highest.saturating_sub(first);
    let skipped = seq - highest - 1;
    let elapsed = packet.ts_ns.saturating_sub(before_ns).unsigned_abs();
    let active = before_ns.saturating_sub(first_ns).unsigned_abs();
    let possible = u128::from(elapsed) * u128::from(numbers) + u128::from(active);
    skipped > MIN_JUMP
        && numbers >= MIN_BEFORE
        && u128::from(skipped) * u128::from(active) > MAX_RATIO.saturating_mul(possible)
}

/// True if `packet` has the number behind that of `suspect`.
pub(super) fn follows(suspect: &Numbered, packet: &Numbered, bits: u32) -> bool {
    nearest(suspect.seq, packet.seq, bits) == suspect.seq.wrapping_add(1)
}
