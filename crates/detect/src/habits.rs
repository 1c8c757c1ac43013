//! What an endpoint does that others do otherwise, as far as its packets show.
//!
//! RFCs leave much open, and stacks differ: whether a receiver reports duplicates (DSACK, RFC 2883 section 4, is not negotiated), takes data with
//! an old timestamp, counts its identifications for each connection or for the host. A rule that rests on such a habit
//! asks here; where the habit is unknown, what the rule says is likely at best, and where it is refuted the rule is silent.

use inorder_base::named;
use std::fmt;
use std::str::FromStr;

named! {
    /// How a host numbers its IPv4 packets (RFC 6864 leaves it open where nothing is fragmented).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Identification {
        /// Too few packets, or IPv6.
        #[default]
        Unknown = "unknown",
        /// A counter of this connection's.
        Own = "own",
        /// A counter that others share: numbers are missing where nothing else is.
        Host = "host",
        /// Always 0.
        Zero = "zero",
        /// No order.
        Random = "random",
        /// What is sent again keeps the number that it had.
        Kept = "kept",
    }
}

named! {
    /// Which identification a packet bears that is sent again.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Repeats {
        /// Nothing depends on it.
        #[default]
        Unknown = "unknown",
        /// Data has come that was late, or sent again with its old one.
        InDoubt = "in-doubt",
        /// A new one.
        Renewed = "renewed",
        /// Its old one.
        Kept = "kept",
    }
}

named! {
    /// What a receiver says of data that it has already.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Duplicates {
        /// It has said nothing yet.
        #[default]
        Unknown = "unknown",
        /// A DSACK names it (RFC 2883 section 4).
        Reported = "reported",
        /// It repeats its last acknowledgement.
        Unreported = "unreported",
    }
}

named! {
    /// What a receiver does with data whose timestamp is too old (PAWS, RFC 7323 section 5).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum TooOld {
        /// It has not shown it.
        #[default]
        Unknown = "unknown",
        /// It discards it, and a DSACK names it where it has the bytes.
        Reported = "reported",
        /// It takes it.
        Taken = "taken",
    }
}

named! {
    /// Which timestamp a receiver echoes for data above a hole.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Echo {
        /// It has not shown it.
        #[default]
        Unknown = "unknown",
        /// That of what filled the left edge last (RFC 7323 section 4.3).
        LeftEdge = "left-edge",
        /// That of the data that came last.
        Newest = "newest",
    }
}

named! {
    /// What a sender repeats after a time-out.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum AfterTimeout {
        /// It has not shown it.
        #[default]
        Unknown = "unknown",
        /// What has been reported, too (RFC 2018 section 8).
        Everything = "everything",
    }
}

/// The habits of the two hosts of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Habits {
    /// How the sender of the data numbers its packets.
    pub sender_identification: Identification,
    /// What it has shown of the numbers of what it sends again.
    pub sender_repeats: Repeats,
    /// Its timestamp clock ticks no sooner than this, nanoseconds; `None` without timestamps.
    pub sender_tick_ns: Option<i64>,
    /// What it repeats after a time-out.
    pub after_timeout: AfterTimeout,
    /// How the receiver of the data numbers its packets.
    pub receiver_identification: Identification,
    /// Whether it reports duplicates.
    pub duplicates: Duplicates,
    /// What it does with data that is too old.
    pub too_old: TooOld,
    /// What it echoes.
    pub echo: Echo,
    /// It has discarded data that it had reported (RFC 2018 section 8).
    pub reneges: bool,
}

/// Habits that the user knows; what is `Unknown` is learnt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assumed {
    /// See [`Habits::sender_identification`].
    pub sender_identification: Identification,
    /// See [`Habits::duplicates`].
    pub duplicates: Duplicates,
    /// See [`Habits::too_old`].
    pub too_old: TooOld,
    /// See [`Habits::echo`].
    pub echo: Echo,
}

/// What can be assumed: as it is written, what it means, and how it is noted.
type Assumption = (&'static str, &'static str, fn(&mut Assumed));

/// All of them.
const ASSUMPTIONS: &[Assumption] = &[
    (
        "receiver.dsack=reported",
        "the receiver reports duplicates (RFC 2883)",
        |a| a.duplicates = Duplicates::Reported,
    ),
    (
        "receiver.dsack=none",
        "it repeats its last acknowledgement instead",
        |a| a.duplicates = Duplicates::Unreported,
    ),
    (
        "receiver.paws=reported",
        "it discards data with an old timestamp and reports it as a duplicate",
        |a| a.too_old = TooOld::Reported,
    ),
    (
        "receiver.paws=none",
        "it takes data with an old timestamp",
        |a| a.too_old = TooOld::Taken,
    ),
    (
        "receiver.echo=left-edge",
        "it echoes timestamps as RFC 7323 section 4.3 says",
        |a| a.echo = Echo::LeftEdge,
    ),
    (
        "receiver.echo=newest",
        "it echoes the newest timestamp that it has seen",
        |a| a.echo = Echo::Newest,
    ),
    (
        "sender.identification=kept",
        "what the sender repeats keeps its IPv4 identification",
        |a| a.sender_identification = Identification::Kept,
    ),
    (
        "sender.identification=host",
        "the sender counts its IPv4 identifications for all of its connections together",
        |a| a.sender_identification = Identification::Host,
    ),
];

impl Assumed {
    /// Everything that can be assumed, with what it means.
    pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
        ASSUMPTIONS
            .iter()
            .map(|(name, meaning, _)| (*name, *meaning))
    }

    /// The same, and what `other` assumes.
    #[must_use]
    pub fn and(mut self, other: &OneAssumption) -> Self {
        (other.0.2)(&mut self);
        self
    }
}

/// One habit that the user knows.
#[derive(Clone, Copy)]
pub struct OneAssumption(&'static Assumption);

impl fmt::Debug for OneAssumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.0)
    }
}

impl FromStr for OneAssumption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = ASSUMPTIONS.iter().find(|a| a.0 == text);
        found.map(OneAssumption).ok_or_else(|| {
            let names: Vec<&str> = ASSUMPTIONS.iter().map(|a| a.0).collect();
            format!("expected one of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_assumption_is_known_by_its_name_and_changes_something() {
        for (name, _) in Assumed::all() {
            let one: OneAssumption = name.parse().expect("a name of the list");
            assert_ne!(Assumed::default().and(&one), Assumed::default(), "{name}");
        }
        let error = "receiver.dsack=maybe".parse::<OneAssumption>();
        assert!(error.is_err_and(|e| e.contains("receiver.dsack=none")));
    }
}
