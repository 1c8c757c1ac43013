//! Sets of limits that a capture cannot tell apart.

use std::fmt;

use inorder_base::limit::Limit;

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
    pub const fn is_within(self, other: LimitSet) -> bool {
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
