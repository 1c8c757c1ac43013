//! The resequencer: traces of ten packets, what it learns from them, and its dumb twin.

mod attack;
mod bursts;
mod driver;
mod holds;
mod learning;
