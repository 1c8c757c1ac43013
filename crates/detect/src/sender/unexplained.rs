//! Unexplained ACKs: no visible segment triggered them.

use super::again::Again;

/// What else than an unseen arrival may have made the receiver send an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trigger {
    /// Nothing: it repeats the ACK before.
    Nothing,
    /// Something that had been received already, in the range that it lists first ([`super::again`]).
    Again,
    /// It acknowledged one segment that was to wait for another ([`super::owed`]).
    Owed,
    /// It moved the window and did nothing else.
    Window,
    /// It flushed held-back SACKs before their time.
    EarlyFlush,
    /// Maybe the reader, who made room again that there was before: enough to match what is known of lateness
    /// otherwise, and not to say how late is usual.
    Reader,
    /// The timer of SACK compression, or a block too many.
    Timer,
    /// Unknown: the ACK itself was lost on the way, only its identification is missing.
    Lost,
}

impl Trigger {
    /// How many there are.
    pub(super) const ALL: usize = 8;
}

/// An ACK that an unseen arrival may have caused, or a gap where one was lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnexplainedAck {
    /// Its entry in the log of arrivals.
    pub(super) id: u64,
    pub(super) at_ns: i64,
    /// It may have been sent as early as this: `at_ns` unless it was lost.
    pub(super) since_ns: i64,
    /// Until when the log waits for its hole.
    pub(super) deadline_ns: i64,
    /// The receiver's TS.Recent.
    pub(super) recent: u32,
    /// It answers nothing that was filled before and lies below: the left edge then, unless duplicates are
    /// not reported or the report is what was lost.
    pub(super) una: i64,
    pub(super) trigger: Trigger,
    /// Where what it answers lies if that had been received before; `None` if duplicates are reported, as far as is known.
    pub(super) again: Option<Again>,
}
