//! Why there is no result.

use inorder_petri::coloured::{ModelError, RunError};
use thiserror::Error;

use crate::config::ConfigError;
use crate::scheme::SCHEMES;

/// Why there is no result.
#[derive(Debug, Error)]
pub enum NetprocError {
    /// A setting out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No such scheme.
    #[error("scheme: unknown name {name}, expected one of {}{}", names(), did_you_mean(*nearest))]
    Scheme {
        /// As asked for.
        name: String,
        /// The name that was probably meant, if one is near.
        nearest: Option<&'static str>,
    },
    /// The net was refused: a fault of this crate, or of a calibration.
    #[error("net: {0}")]
    Model(#[from] ModelError),
    /// The run went wrong, as above.
    #[error("net: {0}")]
    Run(#[from] RunError),
    /// Nothing moves any more, though packets are missing.
    #[error("the net stands still after {packets} packets")]
    Deadlock {
        /// Packets that had left.
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
