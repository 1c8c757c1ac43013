//! In which order a sender of echo requests writes the bytes of its numbers.
//!
//! RFC 792 and RFC 4443 section 4.1 leave identifier and sequence number to the sender, and an answer repeats them as they
//! are. Windows up to XP and the `ping6` of KAME count in the order of their processor: on the wire their numbers go 256,
//! 512, 768.

use inorder_wire::{Numbered, Service};

/// Different numbers after which the order of the bytes is decided.
const NUMBERS_COMPARED: usize = 3;
/// Packets after which it is decided in any case: the same one may have been captured several times.
const MAX_PACKETS_COMPARED: usize = 8;
/// Largest step of a counter from one captured packet to the next, if its bytes are read in the right order.
const MAX_STEP: u16 = 64;

/// The first packets of a stream of echoes, until the order of the bytes is known.
#[derive(Debug)]
pub(super) enum Bytes {
    /// Not known yet: the packets so far.
    Open(Vec<Numbered>),
    /// The bytes of its numbers are in the other order.
    Swapped,
}

impl Bytes {
    /// `None` for services whose standard says in which order the bytes are.
    pub(super) fn new(service: Service, first: &Numbered) -> Option<Box<Self>> {
        (service == Service::IcmpEcho).then(|| Box::new(Bytes::Open(vec![*first])))
    }

    /// Whether enough packets have come to decide.
    pub(super) fn is_due(packets: &[Numbered]) -> bool {
        let changes = packets.windows(2).filter(|w| w[0].seq != w[1].seq).count();
        changes + 1 >= NUMBERS_COMPARED || packets.len() >= MAX_PACKETS_COMPARED
    }

    /// Read in the other order the numbers go up by small steps, and as they are by none.
    pub(super) fn are_swapped(packets: &[Numbered]) -> bool {
        let step = |a: u64, b: u64| (b as u16).wrapping_sub(a as u16);
        let mut changes = packets
            .windows(2)
            .filter(|w| w[0].seq != w[1].seq)
            .peekable();
        changes.peek().is_some()
            && changes.all(|w| {
                let (a, b) = (w[0].seq, w[1].seq);
                let as_is = step(a, b);
                let near = as_is.min(as_is.wrapping_neg()) <= MAX_STEP;
                !near && (1..=MAX_STEP).contains(&step(swap(a), swap(b)))
            })
    }
}

/// The number whose bytes are in the other order.
pub(super) fn swap(seq: u64) -> u64 {
    u64::from((seq as u16).swap_bytes())
}
