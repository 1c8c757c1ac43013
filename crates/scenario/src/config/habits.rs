//! What stacks do differently where the standards leave the choice, or where nobody enforces what they ask for.

use crate::declare::{choices, keys};
use crate::kind::{Count32, Dialect, Duration, Flag, Share, Size32};

keys! {
    /// What stacks do differently. All keys are of `[flow.sender]` and `[flow.receiver]`.
    pub struct Habits in "flow.sender" {
        /// A stack by name: it sets everything that a profile sets, with the stack's habits.
        dialect: Dialect, unset "none: the profile";
        /// How the packets' IPv4 identifications are chosen, in captures.
        identification: Identification, unset "of the dialect";
        /// Tick of the timestamps clock.
        timestamp_tick_ns as "timestamp_tick": Duration, unset "of the dialect", in "1 us"..="1 s";
        /// The timestamps of each connection begin at a random number.
        random_timestamps: Flag, unset "of the dialect";
        /// What a tail loss probe repeats.
        probe_part: ProbePart, unset "of the dialect";
        /// The tail loss probe is sent after this time, whatever the round trip is, and also without SACK.
        probe_after_ns as "probe_after": Duration, unset "of the dialect", above "0 s";
        /// How what is sent again is cut.
        repeats: Repeats, unset "of the dialect";
        /// Largest piece of what is sent again.
        repeats_size: Size32, default "1000 B", from "64 B", with repeats = "cut";
        /// What is sent again after a time-out.
        after_timeout: AfterTimeout, unset "of the dialect";
        /// What is sent again when a fast retransmission begins.
        at_duplicates: AtDuplicates, unset "of the dialect";
        /// Acknowledgements wait for this time after the first segment of a batch, also of those out of order, and one answers them all.
        ack_batch_ns as "ack_batch": Duration, unset "of the dialect", above "0 s";
        /// When data that fills a hole is acknowledged.
        ack_of_fill: AckOfFill, unset "of the dialect";
        /// When a segment is answered of which nothing is new.
        answer_duplicates: AnswerDuplicates, unset "of the dialect";
        /// How a segment is answered that is too old by its timestamp.
        paws_answer: PawsAnswer, unset "of the dialect";
        /// In which order a SACK option lists its blocks.
        sack_order: SackOrder, unset "of the dialect";
        /// Largest number of blocks in a SACK option.
        sack_blocks: Count32, unset "of the dialect", in "1"..="4";
        /// Which timestamp is echoed.
        echo: Echo, unset "of the dialect";
        /// Probability that a segment out of order makes the receiver discard all that it holds out of order (RFC 2018 section 8).
        reneging: Share, unset "of the dialect";
        /// Which bytes reduce the advertised window.
        window_account: WindowAccount, unset "of the dialect";
        /// When a receiver tells that reading has made room, if there is nothing to acknowledge.
        window_update: WindowUpdate, unset "of the dialect";
        /// What becomes of a segment that begins within the window and ends beyond it.
        beyond_window: BeyondWindow, unset "of the dialect";
    }
}

choices! {
    /// How IPv4 identifications are chosen.
    pub type Identification = inorder_tcp::habits::Identification {
        /// One counter for the connection, from 0.
        Plain = "plain",
        /// One counter for the connection, from a random number; 0 on SYN-ACKs and resets (Linux).
        Own = "own",
        /// One counter for all connections of the host.
        Host = "host",
        /// The same, by 256 (a little-endian counter).
        HostSwapped = "host-swapped",
        /// Always 0.
        Zero = "zero",
        /// Each one random.
        Random = "random",
        /// One counter for the connection; what is sent again keeps its number.
        Kept = "kept",
    }
}

choices! {
    /// What a tail loss probe repeats.
    pub type ProbePart = inorder_tcp::habits::ProbePart {
        /// The last segment as it was sent.
        LastSegment = "last-segment",
        /// The last bytes that fill a segment, wherever it begins.
        LastBytes = "last-bytes",
    }
}

choices! {
    /// How what is sent again is cut.
    pub enum Repeats {
        /// As it was sent.
        AsCut = "as-cut",
        /// Joined with what follows, up to a full segment.
        Joined = "joined",
        /// In pieces of at most `repeats_size`.
        Cut = "cut",
    }
}

choices! {
    /// What is sent again after a time-out.
    pub type AfterTimeout = inorder_tcp::habits::AfterTimeout {
        /// What no acknowledgement reports.
        Missing = "missing",
        /// All that is outstanding (RFC 2018 section 8).
        Outstanding = "outstanding",
    }
}

choices! {
    /// What is sent again when a fast retransmission begins.
    pub type AtDuplicates = inorder_tcp::habits::AtDuplicates {
        /// What counts as lost.
        Lost = "lost",
        /// All that is outstanding.
        Window = "window",
    }
}

choices! {
    /// When data that fills a hole is acknowledged.
    pub type AckOfFill = inorder_tcp::habits::AckOfFill {
        /// At once (RFC 5681 section 4.2).
        AtOnce = "at-once",
        /// As other data in order, counted in segments.
        Delayed = "delayed",
    }
}

choices! {
    /// When a segment is answered of which nothing is new.
    pub type AnswerDuplicates = inorder_tcp::habits::AnswerDuplicates {
        /// At once (RFC 9293 section 3.10.7.4).
        AtOnce = "at-once",
        /// Once in half a second at most.
        Seldom = "seldom",
    }
}

choices! {
    /// How a segment is answered that is too old by its timestamp (RFC 7323 section 5.3).
    pub type PawsAnswer = inorder_tcp::habits::PawsAnswer {
        /// With a DSACK of bytes that had arrived before.
        Dsack = "dsack",
        /// With an acknowledgement that says nothing new.
        Ack = "ack",
    }
}

choices! {
    /// In which order a SACK option lists its blocks.
    pub type SackOrder = inorder_tcp::habits::SackOrder {
        /// The block that grew last comes first (RFC 2018 section 4).
        Newest = "newest",
        /// The lowest comes first.
        Ascending = "ascending",
        /// Any order.
        Random = "random",
    }
}

choices! {
    /// Which timestamp is echoed.
    pub type Echo = inorder_tcp::habits::Echo {
        /// That of the segment for which the last acknowledgement waited (RFC 7323 section 4.3).
        Rfc7323 = "rfc7323",
        /// The newest that was seen; a receiver that also has PAWS then refuses all that comes late.
        Newest = "newest",
        /// That of the last segment.
        Last = "last",
    }
}

choices! {
    /// Which bytes reduce the advertised window.
    pub type WindowAccount = inorder_tcp::config::WindowAccount {
        /// Bytes that the application has not read.
        Unread = "unread",
        /// All bytes held, also those out of order, except one segment (Linux).
        Memory = "memory",
        /// As unread, and every acknowledgement offers all the room there is (FreeBSD).
        Room = "room",
    }
}

choices! {
    /// When a receiver tells that reading has made room.
    pub type WindowUpdate = inorder_tcp::config::WindowUpdate {
        /// When the window can grow by two segments or half of its greatest size (RFC 9293 section 3.8.6.2.2).
        TwoSegments = "two-segments",
        /// When the window is half of its greatest size or less and can be doubled (Linux).
        Doubled = "doubled",
    }
}

choices! {
    /// What becomes of a segment that ends beyond the window.
    pub type BeyondWindow = inorder_tcp::config::BeyondWindow {
        /// Its part within the window is taken (RFC 9293 section 3.10.7.4).
        Cut = "cut",
        /// It is taken as a whole (Linux until 6.17).
        Take = "take",
        /// It is taken as a whole if all that arrived before has been read (Linux since 6.17).
        TakeIfEmpty = "take-if-empty",
    }
}
