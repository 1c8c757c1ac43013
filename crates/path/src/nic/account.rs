//! What receiving costs.
//!
//! The card counts events; what each costs is a table of its own, so that one run can be billed
//! for any machine.

use inorder_stats::Histogram;

/// Events counted by a card.
#[derive(Clone, PartialEq, Debug)]
pub struct Account {
    /// Interrupts, each of which begins a cycle of the softirq.
    pub interrupts: u64,
    /// Frames fetched from the ring in cycles that have ended.
    pub frames: u64,
    /// Packets put in by the sorter behind the one before of their flow.
    pub sorted_fast: u64,
    /// Packets for which it had to look for the place.
    pub sorted_slow: u64,
    /// Packets handed to the stack that it was waiting for.
    pub delivered_fast: u64,
    /// Packets handed to the stack out of order, or while an earlier one is missing.
    pub delivered_slow: u64,
    /// Frames that came to the stack merged into another.
    pub merged: u64,
    /// Packets of a cycle: the paper's block sizes.
    pub block_packets: Histogram,
    /// Time the softirq takes to empty the ring, microseconds rounded down (the paper's figure
    /// 6B). What merging and delivering cost is in it only as far as `service_ns` says.
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

    /// What was done after `earlier`, an account of the same card.
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

    /// The bill at these prices.
    pub fn bill(&self, costs: &Costs) -> Bill {
        let both = |(fast, fast_cost): (u64, u64), (slow, slow_cost): (u64, u64)| {
            let slow = slow.saturating_mul(slow_cost);
            fast.saturating_mul(fast_cost).saturating_add(slow)
        };
        Bill {
            interrupt: self.interrupts.saturating_mul(costs.interrupt),
            driver: self.frames.saturating_mul(costs.driver),
            sort: both(
                (self.sorted_fast, costs.sort_fast),
                (self.sorted_slow, costs.sort_slow),
            ),
            merge: self.merged.saturating_mul(costs.merge),
            stack: both(
                (self.delivered_fast, costs.stack_fast),
                (self.delivered_slow, costs.stack_slow),
            ),
        }
    }
}

/// Prices in CPU cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Costs {
    /// An interrupt and the softirq it starts.
    pub interrupt: u64,
    /// A frame fetched from the ring.
    pub driver: u64,
    /// A packet the sorter puts at the end of its list.
    pub sort_fast: u64,
    /// A packet it puts elsewhere.
    pub sort_slow: u64,
    /// A frame merged into another.
    pub merge: u64,
    /// A packet, merged or not, through the stack's fast path.
    pub stack_fast: u64,
    /// A packet through its slow path: queue of what is out of order, duplicate ACK, SACK blocks.
    pub stack_slow: u64,
}

impl Default for Costs {
    /// Assumed: round figures of the size published for servers of the paper's time, where the
    /// stack dominates. The paper shows samples of a profiler and no prices. Compare bills by
    /// them, do not quote them.
    fn default() -> Self {
        Costs {
            interrupt: 4000,
            driver: 600,
            sort_fast: 80,
            sort_slow: 200,
            merge: 300,
            stack_fast: 2500,
            stack_slow: 5000,
        }
    }
}

/// What receiving cost, CPU cycles.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Bill {
    /// Interrupts.
    pub interrupt: u64,
    /// Fetching frames.
    pub driver: u64,
    /// Sorting.
    pub sort: u64,
    /// Merging.
    pub merge: u64,
    /// The stack.
    pub stack: u64,
}

impl Bill {
    /// All of it.
    pub fn total(&self) -> u64 {
        let parts = [self.driver, self.sort, self.merge, self.stack];
        parts.into_iter().fold(self.interrupt, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_begins_anew() {
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
            account.cycle(9, 6_000);
        }
        assert_eq!(account.since(&before), later);
        assert_eq!(account.since(&Account::new()), account);
    }

    #[test]
    fn a_bill_adds_up() {
        let mut account = Account::new();
        account.interrupts = 1;
        account.sorted(true);
        account.sorted(false);
        account.delivered(true, 2);
        account.cycle(2, 1_999);
        let bill = account.bill(&Costs::default());
        assert_eq!(bill.total(), 4000 + 2 * 600 + 80 + 200 + 300 + 2500);
        assert_eq!(account.cycle_us.counts()[1], 1);
    }
}
