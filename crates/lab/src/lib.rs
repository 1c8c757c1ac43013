//! Runs scenario files on a real Linux kernel, with the results of the simulator.
//!
//! Pure parts: [`plan`](plan::plan) makes what a guest does out of a cell of a scenario, or says in one line why real
//! Linux cannot do it; [`results`] makes a run's result out of captures and a report. Edges: [`kernel`] builds User
//! Mode Linux, [`root`] packs what the guest sees, [`uml`] runs a machine, [`guest`] is what runs in it, and
//! [`campaign`] does all of it for the cells and repetitions of a scenario.

// Files that need it say so at their head.
#![deny(unsafe_code)]

pub mod agreement;
pub mod beside;
pub mod campaign;
#[cfg(target_os = "linux")]
pub mod guest;
pub mod host;
pub mod keeper;
pub mod kernel;
mod leftovers;
pub mod place;
pub mod plan;
pub mod program;
pub mod report;
pub mod results;
pub mod root;
pub mod uml;
