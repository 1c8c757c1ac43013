//! What is under way, as the world notes it and the oracle reads it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::packet::{Channel, Packet};

/// The originals that were sent and have neither arrived nor been dropped, by channel and place in the stream: where
/// each begins, and where it ends.
type Originals = BTreeMap<Channel, BTreeMap<u64, u64>>;

/// Shared by the world, which writes it, and the oracle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Knowledge(Arc<Mutex<Originals>>);

impl Knowledge {
    /// A packet is sent.
    pub(crate) fn sent(&self, packet: &Packet) {
        if packet.original > 0 {
            let end = packet.offset + u64::from(packet.payload());
            self.with(|all| {
                all.entry(packet.channel)
                    .or_default()
                    .insert(packet.offset, end)
            });
        }
    }

    /// It will not arrive.
    pub(crate) fn dropped(&self, packet: &Packet) {
        self.forget(packet);
    }

    /// It has arrived.
    pub(crate) fn arrives(&self, packet: &Packet) {
        self.forget(packet);
    }

    fn forget(&self, packet: &Packet) {
        if packet.original > 0 {
            self.with(|all| all.get_mut(&packet.channel)?.remove(&packet.offset));
        }
    }

    /// Is original data of the stream's bytes `from` to `to` under way?
    pub(crate) fn is_coming(&self, channel: Channel, from: u64, to: u64) -> bool {
        from < to
            && self.with(|all| {
                let before = all.get(&channel).map(|of| of.range(..to));
                let last = before.and_then(|mut before| before.next_back());
                last.is_some_and(|(_, &end)| end > from)
            })
    }

    fn with<R>(&self, use_it: impl FnOnce(&mut Originals) -> R) -> R {
        // Nobody panics while holding it; if somebody did, what is noted is still whole.
        use_it(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
