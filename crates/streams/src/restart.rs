//! RTP whose sender begins new numbers without a new SSRC (RFC 3550 appendix A.1): what looks like thousands of lost or
//! late packets is none.

use inorder_base::sequence::nearest;
use inorder_wire::Numbered;

use super::pauses::Pace;

/// Distance behind the highest number beyond which a packet begins new numbers, if the next one follows it (RFC 3550 A.1, `MAX_MISORDER`).
const MAX_MISORDER: u64 = 100;
/// Minimum jump ahead that can be a restart, because fewer numbers may have been lost in any time.
const MIN_JUMP: u64 = 256;
/// By how much more numbers than fit into the time are no loss.
const MAX_RATIO: u128 = 16;
/// Fewest numbers by which the sender's pace is known.
const MIN_BEFORE: u64 = 16;

/// True if a packet with number `seq` perhaps begins new numbers: it is far behind and its timestamp is not, or farther
/// ahead than time allows.
pub(super) fn is_suspect(seq: u64, packet: &Numbered, pace: &Pace) -> bool {
    let (first, first_ns, first_stamp) = pace.first;
    let (highest, before_ns, last_stamp) = pace.last;
    let numbers = highest.saturating_sub(first);
    if seq <= highest {
        // How far back in time the packet was made, if the clock tells: a late one as far as its number says.
        let back = u128::from(last_stamp.wrapping_sub(packet.stamp));
        let is_old = back < 1 << 31;
        let expected = u128::from(last_stamp.wrapping_sub(first_stamp)) * u128::from(highest - seq);
        let is_late = is_old && 2 * back * u128::from(numbers) >= expected && numbers > 0;
        return highest - seq > MAX_MISORDER && !is_late;
    }
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
