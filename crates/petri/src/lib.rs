//! Coloured timed Petri nets: simulation, exact solutions, invariants, PNML.

pub mod net;
