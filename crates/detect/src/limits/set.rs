//! The limits by name, and sets of those that a capture cannot tell apart.

use std::fmt;

/// What one direction of a connection waits for at an instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[non_exhaustive]
pub enum Limit {
    /// The connection is being opened.
    Handshake,
    /// The congestion window still grows from its start (slow start without a loss before).
    Start,
    /// The application had nothing to send.
    Application,
    /// The sender's socket buffer was full.
    SendBuffer,
    /// The receiver's window was full or closed.
    ReceiverWindow,
    /// The bottleneck was busy: a queue stands, or packets leave at its rate.
    Line,
    /// The congestion window after a reduction that a loss made necessary.
    WindowNeeded,
    /// The congestion window after a reduction that nothing lost had caused.
    WindowUnneeded,
    /// Recovery from a loss.
    RecoveryNeeded,
    /// Recovery although nothing was lost.
    RecoveryUnneeded,
    /// A retransmission timer, which a loss made necessary.
    TimerNeeded,
    /// A retransmission timer although everything had arrived.
    TimerUnneeded,
    /// The path or the other host did not answer: several time-outs in a row.
    PathDead,
    /// Nothing that was captured tells.
    #[default]
    Unknown,
}

impl Limit {
    /// Every limit, in the order of the declaration.
    pub const ALL: [Limit; 14] = [
        Limit::Handshake,
        Limit::Start,
        Limit::Application,
        Limit::SendBuffer,
        Limit::ReceiverWindow,
        Limit::Line,
        Limit::WindowNeeded,
        Limit::WindowUnneeded,
        Limit::RecoveryNeeded,
        Limit::RecoveryUnneeded,
        Limit::TimerNeeded,
        Limit::TimerUnneeded,
        Limit::PathDead,
        Limit::Unknown,
    ];

    /// The name in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Handshake => "handshake",
            Limit::Start => "start",
            Limit::Application => "application",
            Limit::SendBuffer => "send-buffer",
            Limit::ReceiverWindow => "receiver-window",
            Limit::Line => "line",
            Limit::WindowNeeded => "window-needed",
            Limit::WindowUnneeded => "window-unneeded",
            Limit::RecoveryNeeded => "recovery-needed",
            Limit::RecoveryUnneeded => "recovery-unneeded",
            Limit::TimerNeeded => "timer-needed",
            Limit::TimerUnneeded => "timer-unneeded",
            Limit::PathDead => "path-dead",
            Limit::Unknown => "unknown",
        }
    }

    /// True if the time would not have been lost had nothing been taken for lost that was not.
    pub fn is_unneeded(self) -> bool {
        matches!(
            self,
            Limit::WindowUnneeded | Limit::RecoveryUnneeded | Limit::TimerUnneeded
        )
    }
}

/// A limit, or several among which the capture cannot tell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct LimitSet(u16);

impl LimitSet {
    /// The set of these.
    pub const fn of(limits: &[Limit]) -> Self {
        let (mut bits, mut i) = (0, 0);
        while i < limits.len() {
            bits |= 1 << limits[i] as u16;
            i += 1;
        }
        LimitSet(bits)
    }

    /// These, or `limit`.
    pub(crate) const fn with(self, limit: Limit) -> LimitSet {
        LimitSet(self.0 | 1 << limit as u16)
    }

    /// True if it may be this one.
    pub fn contains(self, limit: Limit) -> bool {
        self.0 & 1 << limit as u16 != 0
    }

    /// All of its members are in `other`.
    pub(crate) const fn is_within(self, other: LimitSet) -> bool {
        self.0 & !other.0 == 0
    }

    /// Its members, in the order of [`Limit::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Limit> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let lowest = Limit::ALL.get(left.trailing_zeros() as usize).copied();
            left &= left.wrapping_sub(1);
            lowest
        })
    }

    /// The limit, if it is known which.
    pub fn only(self) -> Option<Limit> {
        self.iter().next().filter(|_| self.0.is_power_of_two())
    }
}

impl From<Limit> for LimitSet {
    fn from(limit: Limit) -> Self {
        LimitSet::of(&[limit])
    }
}

/// The names, joined by `+`: `application+send-buffer`.
impl fmt::Display for LimitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, limit) in self.iter().enumerate() {
            let plus = if i > 0 { "+" } else { "" };
            write!(f, "{plus}{}", limit.name())?;
        }
        Ok(())
    }
}

impl fmt::Debug for LimitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LimitSet({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_names_its_members() {
        let either = LimitSet::of(&[Limit::SendBuffer, Limit::Application]);
        assert_eq!(either.to_string(), "application+send-buffer");
        assert_eq!(
            (either.only(), LimitSet::from(Limit::Line).only()),
            (None, Some(Limit::Line))
        );
        assert!(either.contains(Limit::SendBuffer) && !either.contains(Limit::Unknown));
        assert!(LimitSet::of(&Limit::ALL).iter().eq(Limit::ALL));
        assert_eq!(LimitSet::of(&[]).iter().next(), None);
        assert!(LimitSet::from(Limit::SendBuffer).is_within(either));
        assert!(!either.is_within(Limit::SendBuffer.into()));
    }
}
