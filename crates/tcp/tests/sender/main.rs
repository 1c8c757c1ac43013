//! The sender, told by hand what has arrived. Segments are numbered from 0.

mod peer;

mod adaptive;
mod extended;
mod governing;
mod limits;
mod pacing;
mod pr;
mod rack;
mod recovery;
mod timeout;
mod undo;
