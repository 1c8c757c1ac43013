//! What a card counts of receiving, for those who know what each event costs.

use inorder_base::stats::Histogram;

/// Events counted by a card.
#[derive(Clone, PartialEq, Debug)]
pub struct Account {
    /// Interrupts, each of which starts a cycle of the softirq.
    pub interrupts: u64,
    /// Frames fetched from the ring in completed cycles.
    pub frames: u64,
    /// Packets that the sorter appended behind the previous one of their flow.
    pub sorted_fast: u64,
    /// Packets for which the sorter had to search the position.
    pub sorted_slow: u64,
    /// Packets passed to the stack that it expected next.
    pub delivered_fast: u64,
    /// Packets passed to the stack out of order, or while an earlier one is missing.
    pub delivered_slow: u64,
    /// Frames that reached the stack merged into another one.
    pub merged: u64,
    /// Number of packets per cycle: the paper's block sizes.
    pub block_packets: Histogram,
    /// Time in which the softirq empties the ring, microseconds rounded down (the paper's figure 6B). It includes the
    /// cost of merging and delivery only as far as `service_ns` contains it.
    pub cycle_us: Histogram,
}

impl Account {
    pub(crate) fn new() -> Self {
        Account {
            interrupts: 0,
            frames: 0,
            sorted_fast: 0,
            sorted_slow: 0,
            delivered_fast: 0,
            delivered_slow: 0,
            merged: 0,
            block_packets: Histogram::new(),
            cycle_us: Histogram::new(),
        }
    }

    #[inline]
    pub(crate) fn sorted(&mut self, follows: bool) {
        self.sorted_fast += u64::from(follows);
        self.sorted_slow += u64::from(!follows);
    }

    #[inline]
    pub(crate) fn delivered(&mut self, in_order: bool, frames: u32) {
        self.delivered_fast += u64::from(in_order);
        self.delivered_slow += u64::from(!in_order);
        self.merged += u64::from(frames.saturating_sub(1));
    }

    #[inline]
    pub(crate) fn cycle(&mut self, packets: u64, busy_ns: u64) {
        self.frames += packets;
        self.block_packets.add(packets);
        self.cycle_us.add(busy_ns / 1000);
    }

    /// The events since `earlier`, an earlier state of the same card.
    #[must_use]
    pub fn since(&self, earlier: &Account) -> Account {
        Account {
            interrupts: self.interrupts.saturating_sub(earlier.interrupts),
            frames: self.frames.saturating_sub(earlier.frames),
            sorted_fast: self.sorted_fast.saturating_sub(earlier.sorted_fast),
            sorted_slow: self.sorted_slow.saturating_sub(earlier.sorted_slow),
            delivered_fast: self.delivered_fast.saturating_sub(earlier.delivered_fast),
            delivered_slow: self.delivered_slow.saturating_sub(earlier.delivered_slow),
            merged: self.merged.saturating_sub(earlier.merged),
            block_packets: self.block_packets.since(&earlier.block_packets),
            cycle_us: self.cycle_us.since(&earlier.cycle_us),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_of_two_accounts() {
        let mut account = Account::new();
        account.interrupts = 3;
        account.sorted(false);
        account.cycle(7, 5_000);
        let before = account.clone();
        let mut later = Account::new();
        for account in [&mut account, &mut later] {
            account.interrupts += 2;
            account.sorted(true);
            account.delivered(false, 3);
            account.cycle(9, 6_999);
        }
        assert_eq!(account.since(&before), later);
        assert_eq!(account.since(&Account::new()), account);
        assert_eq!(later.cycle_us.counts()[6], 1);
    }
}
