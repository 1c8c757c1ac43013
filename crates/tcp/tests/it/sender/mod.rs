//! The sender, with acknowledgements chosen by the tests. Segments are numbered from 0.

mod peer;

mod adaptive;
mod buffer;
mod extended;
mod governing;
mod habits;
mod limits;
mod pacing;
mod pr;
mod rack;
mod recovery;
mod rfc9002;
mod timeout;
mod undo;
mod without_sack;
