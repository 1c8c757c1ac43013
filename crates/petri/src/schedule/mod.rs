//! What coloured nets and nets of plain tokens run on: the queue of events, the agenda of transitions to check, and the
//! sums over a run. The cost of a firing depends on what it changes, and not on the number of tokens.

pub(crate) mod agenda;
pub(crate) mod events;
pub(crate) mod patience;
pub(crate) mod tally;
