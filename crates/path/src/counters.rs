//! Counters and fates of packets, stage by stage.

/// Why a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Reason {
    /// A loss model decided so.
    Loss,
    /// The queue of a link, shaper or delay was full.
    QueueFull,
    /// The receiver's ring was full.
    RingFull,
    /// Damaged, and the packet or the setting of the stage does not allow it to continue.
    Corrupted,
    /// Larger than the token bucket.
    TooLarge,
    /// The link has no rate now and in the future, or the packet would leave after the largest time.
    NoService,
    /// Not delivered after the last retransmission of a radio link.
    RadioFailure,
    /// It waited too long, and a queue that limits the delay dropped it.
    QueueDelay,
    /// A queue that informs senders early dropped it before there was no room.
    Early,
}

impl Reason {
    /// Every reason, in the order of their numbers.
    pub const ALL: [Reason; 9] = [
        Reason::Loss,
        Reason::QueueFull,
        Reason::RingFull,
        Reason::Corrupted,
        Reason::TooLarge,
        Reason::NoService,
        Reason::RadioFailure,
        Reason::QueueDelay,
        Reason::Early,
    ];
}

/// What happened to a packet, for those who record the truth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It was dropped.
    Dropped(Reason),
    /// A copy of it was made.
    Duplicated,
    /// It continues damaged.
    Corrupted,
    /// A queue marked congestion on it (CE of RFC 3168).
    Marked,
    /// It was delayed on purpose, so that others overtake it; by how many nanoseconds, if known.
    HeldBack(Option<i64>),
    /// It leaves before a packet that arrived earlier.
    Overtook,
}

/// Packets of one stage.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Counters {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that left, including copies; a merged packet counts as one.
    pub sent: u64,
    /// Copies created.
    pub duplicated: u64,
    /// Packets that continued damaged.
    pub corrupted: u64,
    /// Packets on which a queue marked congestion (CE of RFC 3168).
    pub marked: u64,
    /// Packets delayed on purpose, so that others overtake them.
    pub held_back: u64,
    /// Packets that left before a packet sent earlier.
    pub overtook: u64,
    dropped: [u64; Reason::ALL.len()],
}

impl Counters {
    /// The counters of a stage elsewhere of which only the numbers of drops and marks are known.
    pub fn of_queue(drops: u64, marks: u64) -> Self {
        let mut counters = Counters {
            marked: marks,
            ..Counters::default()
        };
        if let Some(count) = counters.dropped.get_mut(Reason::QueueFull as usize) {
            *count = drops;
        }
        counters
    }

    /// The packets since `earlier`, an earlier state of the same stage.
    #[must_use]
    pub fn since(&self, earlier: &Counters) -> Counters {
        let mut dropped = self.dropped;
        for (count, before) in dropped.iter_mut().zip(earlier.dropped) {
            *count = count.saturating_sub(before);
        }
        Counters {
            arrived: self.arrived.saturating_sub(earlier.arrived),
            sent: self.sent.saturating_sub(earlier.sent),
            duplicated: self.duplicated.saturating_sub(earlier.duplicated),
            corrupted: self.corrupted.saturating_sub(earlier.corrupted),
            marked: self.marked.saturating_sub(earlier.marked),
            held_back: self.held_back.saturating_sub(earlier.held_back),
            overtook: self.overtook.saturating_sub(earlier.overtook),
            dropped,
        }
    }

    /// Dropped for `reason`.
    pub fn dropped_for(&self, reason: Reason) -> u64 {
        self.dropped.get(reason as usize).copied().unwrap_or(0)
    }

    /// Dropped for any reason.
    pub fn dropped(&self) -> u64 {
        self.dropped.iter().sum()
    }

    #[inline]
    pub(crate) fn count_drop(&mut self, reason: Reason) {
        if let Some(count) = self.dropped.get_mut(reason as usize) {
            *count += 1;
        }
    }

    #[inline]
    pub(crate) fn count(&mut self, fate: Fate) {
        match fate {
            Fate::Dropped(reason) => self.count_drop(reason),
            Fate::Duplicated => self.duplicated += 1,
            Fate::Corrupted => self.corrupted += 1,
            Fate::Marked => self.marked += 1,
            Fate::HeldBack(_) => self.held_back += 1,
            Fate::Overtook => self.overtook += 1,
        }
    }
}
