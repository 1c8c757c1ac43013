//! Coloured timed Petri nets: simulation, exact solutions, invariants, PNML.

pub mod coloured;
pub mod invariants;
pub mod markov;
pub mod net;
pub mod pnml;
pub mod reachability;
pub mod text;
