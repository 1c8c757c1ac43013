//! Coloured timed Petri nets: simulation, exact solutions, invariants, PNML.

pub mod coloured;
pub mod draw;
pub mod invariants;
pub mod lower;
pub mod markov;
pub mod net;
pub mod pnml;
pub mod race;
pub mod reachability;
pub mod statistics;
pub mod text;
