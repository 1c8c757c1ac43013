//! What carried out the runs of a cell: this simulator, or real Linux.

use std::sync::{Arc, LazyLock};

use inorder_report::{Element, columns};

/// What carried out the runs of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Engine {
    /// `simulation`, or how the kernel ran: `uml` (User Mode Linux).
    pub name: String,
    /// Version of the kernel, as `6.1.192`; empty for a simulation.
    pub kernel: String,
    /// What the times are of: `virtual` or `real`.
    pub clock: String,
    /// Identifies the configuration of the kernel; empty for a simulation.
    pub config: String,
    /// The commands that made the network and the settings of its hosts; empty for a simulation.
    pub commands: Vec<String>,
}

columns! {
    /// The columns of an engine in every output.
    pub(crate) ENGINE: Engine, |e|
    "engine": Text, "What carried out the run: simulation, or how the kernel ran (uml is User Mode Linux)."
        => &e.name;
    "kernel": Text, "Version of the Linux kernel; empty for a simulation." => &e.kernel;
    "clock": Text, "What the times are of: virtual, or real (then a busy machine changes the results)." => &e.clock;
}

columns! {
    /// The further columns of an engine, only in JSON.
    pub(crate) MADE_BY: Engine, |e|
    "config": Text, "Identifies the configuration of the kernel; empty for a simulation." => &e.config;
    "commands": List(Element::Text), "The commands that made the network and the settings of its hosts; empty for a simulation."
        => e.commands.iter().collect::<Vec<_>>();
}

impl Engine {
    /// The simulator.
    pub fn simulation() -> Arc<Self> {
        static SIMULATION: LazyLock<Arc<Engine>> = LazyLock::new(|| {
            Arc::new(Engine {
                name: "simulation".to_owned(),
                kernel: String::new(),
                clock: "virtual".to_owned(),
                config: String::new(),
                commands: Vec::new(),
            })
        });
        Arc::clone(&SIMULATION)
    }

    /// True for the simulator.
    pub(crate) fn is_simulation(&self) -> bool {
        self.kernel.is_empty()
    }

    /// In words, for tables: `Linux 6.1.192 (uml, virtual time)`.
    pub fn words(&self) -> String {
        match self.is_simulation() {
            true => self.name.clone(),
            false => format!("Linux {} ({}, {} time)", self.kernel, self.name, self.clock),
        }
    }
}
