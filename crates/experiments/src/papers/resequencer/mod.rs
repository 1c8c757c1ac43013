//! The project's own experiment: does the resequencer gain wherever something can be gained, and never lose?
//!
//! A condition is a path with a sender; it is run once for each sorter, with the same seeds, so that what two sorters
//! share cancels in their ratio. Conditions are given in the paper's file ([`grid`]) or drawn at random ([`unseen`]).

mod compare;
mod grid;
mod unseen;

use super::Named;

pub(super) const REDUCTIONS: &[Named] = &[
    ("resequencer-grid", grid::grid),
    ("resequencer-unseen", unseen::unseen),
];
