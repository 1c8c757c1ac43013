//! Errors of a simulation.

use inorder_nets::NetError;
use thiserror::Error;

use crate::config::ConfigError;
use crate::scheme::SCHEMES;

/// Why a simulation has no result.
#[derive(Debug, Error)]
pub enum NetprocError {
    /// A setting out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The scheme does not exist.
    #[error("scheme: unknown name {name}, expected one of {}{}", names(), did_you_mean(*nearest))]
    Scheme {
        /// The name as given.
        name: String,
        /// The nearest existing name, if one is near.
        nearest: Option<&'static str>,
    },
    /// The net is invalid or its run failed: a setting or a constant out of range, or an error in this crate.
    #[error("net: {0}")]
    Net(#[from] NetError),
    /// The net is blocked, although not all packets have left.
    #[error("the net stands still after {packets} packets")]
    Deadlock {
        /// Number of packets that had left.
        packets: u64,
    },
}

/// The names of all schemes.
fn names() -> String {
    let names: Vec<&str> = SCHEMES.iter().map(|scheme| scheme.name).collect();
    names.join(", ")
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}
