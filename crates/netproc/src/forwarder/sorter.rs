//! A sorter in the receiver's driver.

use inorder_sort::{AnySorter, FourTuple, Meta, Sorter, Surroundings};

use super::{ForwarderConfig, Order, Packet, TICKS_PER_NS};

/// A sorter with what it has handed up.
pub(super) struct Sorting {
    sorter: AnySorter<FourTuple, Packet>,
    bytes: u32,
}

/// Gets the packets that the sorter hands up, each with the time in ticks.
type Stack<'a> = dyn FnMut(u64, Packet) + 'a;

impl Sorting {
    /// `None` if the order of the configuration is none of a sorter, or it cannot be created, which the check of the
    /// settings excludes.
    pub(super) fn new(config: &ForwarderConfig) -> Option<Self> {
        let Order::Receiver(sorter) = config.order else {
            return None;
        };
        // A batch never exceeds the budget, so the ring is never full.
        let around = Surroundings::ring(config.budget as usize + 1);
        Some(Self {
            sorter: sorter.build(&around).ok()?,
            bytes: config.bytes.into(),
        })
    }

    /// Lets the deadlines until `now` pass, in ticks.
    pub(super) fn run_until(&mut self, now: u64, stack: &mut Stack<'_>) {
        let now_ns = nanoseconds(now);
        while let Some(due_ns) = self.sorter.next_deadline_ns().filter(|due| *due <= now_ns) {
            let due = u64::try_from(due_ns)
                .unwrap_or(0)
                .saturating_mul(TICKS_PER_NS);
            self.sorter
                .on_deadline(due_ns, &mut |packet| stack(due, packet));
        }
    }

    /// The driver has taken a packet from the ring.
    pub(super) fn push(&mut self, now: u64, packet: Packet, stack: &mut Stack<'_>) {
        let meta = self.meta(&packet);
        self.sorter
            .push(&meta, packet, nanoseconds(now), &mut |packet| {
                stack(now, packet);
            });
    }

    /// The driver has ended a batch.
    pub(super) fn end_of_batch(&mut self, now: u64, stack: &mut Stack<'_>) {
        self.sorter
            .end_of_batch(nanoseconds(now), &mut |packet| stack(now, packet));
    }

    fn meta(&self, packet: &Packet) -> Meta<FourTuple> {
        let port = packet.flow.wrapping_add(1);
        let flow = FourTuple::v4([192, 0, 2, 1], port, [198, 51, 100, 1], 80);
        Meta::data(flow, packet.seq.wrapping_mul(self.bytes), self.bytes)
    }
}

/// The sorter's time. A deadline is a whole number of nanoseconds, so rounding down does not miss it.
fn nanoseconds(ticks: u64) -> i64 {
    (ticks / TICKS_PER_NS).cast_signed()
}
