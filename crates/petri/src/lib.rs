//! Coloured timed Petri nets: simulation, exact solutions, invariants, PNML.
