//! Congestion controls against their equations, over a path simple enough to be checked by hand.

mod bic;
mod compound;
mod cubic;
mod driver;
mod highspeed;
mod hystart;
mod properties;
mod reno;
mod tables;
mod undo;
mod westwood;
mod yeah;
