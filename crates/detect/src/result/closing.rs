//! How a direction ended.
use inorder_base::named;

named! {
    /// Which host of a flow.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    #[non_exhaustive]
    pub enum Host {
        /// The sender of its data.
        Sender = "sender",
        /// Their receiver.
        Receiver = "receiver",
    }
}

/// Keep-alives of one host (RFC 9293 section 3.8.4), two or more, behind which nothing came of the other one: of the sender of the data or, where
/// data went only one way, of either host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Silence {
    /// Which host sent them.
    pub by: Host,
    /// Keep-alives.
    pub keep_alives: u64,
    /// From the first to the last, nanoseconds.
    pub ns: i64,
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
    /// Packets that repeat what had been sent came by behind the receiver's reset, and are not among the retransmissions.
    pub again_behind_reset: u64,
    /// Its last keep-alives, if nothing answered them.
    pub silence: Option<Silence>,
    /// That host had closed its own direction before: it asks for no more, and its reset answers what came all the same.
    pub closed_before: bool,
    /// The reset came another way than the SYN of that host, as their times to live show, which are these: something on the way sent it.
    pub reset_ttls: Option<(u8, u8)>,
}
