//! Congestion controls compared with their equations, over a path that can be computed by hand.

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
