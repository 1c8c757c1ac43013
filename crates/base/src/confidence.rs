//! How sure a finding is.

use crate::named;

named! {
    /// How far a finding can be trusted.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum Confidence {
        /// The evidence admits no other reading, extent included.
        Certain = "certain",
        /// That it happened is sure or nearly so; the extent may be off.
        Likely = "likely",
        /// Another reading is as good.
        Ambiguous = "ambiguous",
    }
}
