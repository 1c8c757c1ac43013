//! How a direction ended.

/// Which host of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Host {
    /// The sender of its data.
    Sender,
    /// Their receiver.
    Receiver,
}

/// How a direction was closed, as far as that was out of the ordinary.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Closing {
    /// How often its FIN was sent again, without data.
    pub fins_again: u64,
    /// From the first FIN to the last, nanoseconds.
    pub waited_ns: i64,
    /// The other host has acknowledged the FIN.
    pub acknowledged: bool,
    /// Which host reset the connection (RFC 9293 section 3.10.7) before the data's sender had sent a FIN.
    pub reset_by: Option<Host>,
    /// Packets that the data's sender had not sent before came by behind the receiver's reset. The receiver takes them no more.
    pub behind_reset: u64,
    /// That host had closed its own direction before: it asks for no more, and its reset answers what came all the same.
    pub closed_before: bool,
}
