//! Where a capture was made.

use crate::named;

named! {
    /// Where on the path the capture was taken, seen from the data's direction.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum Vantage {
        /// At or next to the data's sender.
        Sender = "sender",
        /// At or next to the data's receiver.
        Receiver = "receiver",
        /// In between.
        Middle = "middle",
    }
}
