//! Coloured timed Petri nets: simulation, exact solutions, invariants, PNML.

pub mod markov;
pub mod coloured;
pub mod net;
pub mod reachability;
pub mod text;
