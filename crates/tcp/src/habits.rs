//! What stacks do differently where the standards leave the choice, or where nobody enforces what they ask for.
//!
//! The default of each habit is what all profiles did before there were any. Which stack has which is in
//! [`dialects`](crate::dialects).

use crate::Nanos;

/// The number in the IPv4 header that tells the fragments of one packet from those of another (RFC 791; RFC 6864 leaves it open
/// for packets that must not be fragmented). The endpoint does not use it; whoever writes its packets does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Identification {
    /// One counter for the connection, from 0.
    #[default]
    Plain,
    /// One counter for the connection, from a random number, and 0 on the SYN-ACK and on resets, which no socket sends.
    Own,
    /// One counter for all connections of the host.
    Host,
    /// One counter for all connections of the host, in the other byte order: by 256 on the wire.
    HostSwapped,
    /// Always 0.
    Zero,
    /// Each one random.
    Random,
    /// One counter for the connection, and a packet that is sent again keeps its number.
    Kept,
}

/// What a tail loss probe repeats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProbePart {
    /// The last segment as it was sent (Linux).
    #[default]
    LastSegment,
    /// The last bytes that fill a segment, wherever it begins (RFC 8985 section 7.3 asks for the highest-sequence segment; stacks
    /// that keep bytes and not segments cut it anew).
    LastBytes,
}

/// How what is sent again is cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Repeats {
    /// As it was sent.
    #[default]
    AsCut,
    /// Joined with what follows, up to a full segment (RFC 9293 section 3.8.6.1 allows it).
    Joined,
    /// Cut into pieces of this number of bytes, as after a smaller MTU was reported (RFC 1191).
    Cut(u32),
}

/// What is sent again after a time-out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AfterTimeout {
    /// What no acknowledgement reports.
    #[default]
    Missing,
    /// All that is outstanding: what SACKs report may have been discarded (RFC 2018 section 8).
    Outstanding,
}

/// What begins with a fast retransmission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AtDuplicates {
    /// What counts as lost is sent again.
    #[default]
    Lost,
    /// All that is outstanding is sent again.
    Window,
}

/// When data that fills a hole is acknowledged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AckOfFill {
    /// At once (RFC 5681 section 4.2).
    #[default]
    AtOnce,
    /// As other data in order, counted in segments.
    Delayed,
}

/// When a segment is answered of which nothing is new.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnswerDuplicates {
    /// At once (RFC 9293 section 3.10.7.4).
    #[default]
    AtOnce,
    /// Seldom: once in half a second at most.
    Seldom,
}

/// How a segment is answered that is too old by its timestamp.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PawsAnswer {
    /// With a DSACK of its bytes, if those had arrived before (Linux `tcp_send_dupack`).
    #[default]
    Dsack,
    /// With an acknowledgement that says nothing new, which is all that RFC 7323 section 5.3 asks for.
    Ack,
}

/// In which order a SACK option lists its blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SackOrder {
    /// The block that grew last comes first (RFC 2018 section 4).
    #[default]
    Newest,
    /// The lowest comes first.
    Ascending,
    /// Any order.
    Random,
}

/// Which timestamp is echoed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Echo {
    /// The timestamp of the segment for which the last acknowledgement waited (RFC 7323 section 4.3).
    #[default]
    Rfc7323,
    /// The newest that was seen.
    Newest,
    /// The timestamp of the last segment.
    Last,
}

/// The habits of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Habits {
    /// IPv4 identifications.
    pub identification: Identification,
    /// Timestamps begin at a random number, another one for each connection (RFC 7323 section 5.4 advises it).
    pub random_timestamps: bool,
    /// What a tail loss probe repeats.
    pub probe_part: ProbePart,
    /// The tail loss probe is sent after this time, whatever the round trip is, and also without SACK, ns.
    pub probe_after: Option<Nanos>,
    /// How retransmissions are cut.
    pub repeats: Repeats,
    /// What a time-out repeats.
    pub after_timeout: AfterTimeout,
    /// What a fast retransmission repeats.
    pub at_duplicates: AtDuplicates,
    /// Acknowledgements wait for this time after the first segment of a batch, and one answers all of it, ns.
    pub ack_batch: Option<Nanos>,
    /// When data that fills a hole is acknowledged.
    pub ack_of_fill: AckOfFill,
    /// When duplicates are answered.
    pub answer_duplicates: AnswerDuplicates,
    /// How segments that are too old are answered.
    pub paws_answer: PawsAnswer,
    /// The order of SACK blocks.
    pub sack_order: SackOrder,
    /// Largest number of blocks, the duplicate included; the option has room for 4, beside timestamps for 3.
    pub sack_blocks: u32,
    /// Which timestamp is echoed.
    pub echo: Echo,
    /// Probability that a segment out of order makes the receiver discard everything it holds out of order (RFC 2018 section 8).
    pub reneging: f64,
}

impl Habits {
    /// Every segment of which nothing is new is answered by an acknowledgement of its own.
    pub(crate) fn answers_at_once(&self) -> bool {
        self.ack_batch.is_none() && self.answer_duplicates == AnswerDuplicates::AtOnce
    }
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            identification: Identification::default(),
            random_timestamps: false,
            probe_part: ProbePart::default(),
            probe_after: None,
            repeats: Repeats::default(),
            after_timeout: AfterTimeout::default(),
            at_duplicates: AtDuplicates::default(),
            ack_batch: None,
            ack_of_fill: AckOfFill::default(),
            answer_duplicates: AnswerDuplicates::default(),
            paws_answer: PawsAnswer::default(),
            sack_order: SackOrder::default(),
            sack_blocks: 4,
            echo: Echo::default(),
            reneging: 0.0,
        }
    }
}
