//! Where the runs of a campaign take place, and whether its cells can be run there.

use std::path::PathBuf;

use inorder_scenario::{Cell, Error, Scenario};
use inorder_sim::Engine;

use crate::host;
use crate::kernel::{DEFAULT, Kernel, Kind, Package, cache};
use crate::plan::{Plan, Ways, plan};

/// What a user asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// User Mode Linux in virtual time, with the lab's own kernels.
    Uml,
    /// User Mode Linux of the distribution's package, in real time.
    Package,
    /// Namespaces of this system's own kernel, in real time.
    Host,
}

/// Every name of [`Wanted`], for options and arguments.
pub const ENGINES: [(&str, Wanted); 3] = [
    ("uml", Wanted::Uml),
    ("uml-package", Wanted::Package),
    ("netns", Wanted::Host),
];

/// Where the runs of a campaign take place.
pub enum Place {
    /// User Mode Linux in virtual time, with the kernel of each cell.
    Uml(Vec<Kernel>),
    /// User Mode Linux of the distribution's package, in real time.
    Package(Package),
    /// Namespaces of this system's own kernel, in real time.
    Host(Ways),
}

impl Wanted {
    /// What stands for the stages of paths; a kernel without netem has them emulated.
    ///
    /// # Errors
    /// What is missing for runs on this system's own kernel.
    pub fn ways(self) -> Result<Ways, String> {
        match self {
            Wanted::Uml | Wanted::Package => Ok(Ways::Disciplines),
            Wanted::Host => {
                host::check()?;
                Ok(match host::has_netem() {
                    true => Ways::Disciplines,
                    false => Ways::Emulated,
                })
            }
        }
    }

    /// Checks that every cell can be run, before anything is.
    ///
    /// # Errors
    /// The first key that real Linux cannot carry out, with its place in the file.
    pub fn check(self, scenario: &Scenario, cells: &[Cell], ways: Ways) -> Result<(), Error> {
        let other = match self {
            Wanted::Uml => None,
            Wanted::Package => Some("built for the package's kernel"),
            Wanted::Host => Some("loaded into the kernel of this system"),
        };
        for (number, cell) in cells.iter().enumerate() {
            let plan = plan(scenario, number, cell, cell.config.run.seed, ways)?;
            if let (Some(other), Some(module)) = (other, plan.modules.first()) {
                let what = format!("this needs the module {module}, which is not {other}");
                return Err(scenario.refuse(number, "lab", &what, "--engine uml"));
            }
        }
        Ok(())
    }

    /// The place for these cells.
    ///
    /// # Errors
    /// If a kernel is not there: how it is had.
    pub fn place(self, cells: &[Cell], ways: Ways) -> Result<Place, String> {
        match self {
            Wanted::Uml => kernels(cells).map(Place::Uml),
            Wanted::Package => package(cells).map(Place::Package),
            Wanted::Host => Ok(Place::Host(ways)),
        }
    }
}

impl Place {
    /// What stands for the stages of paths.
    pub fn ways(&self) -> Ways {
        match self {
            Place::Uml(_) | Place::Package(_) => Ways::Disciplines,
            Place::Host(ways) => *ways,
        }
    }

    /// Whether each run is a machine of its own.
    pub(crate) fn boots(&self) -> bool {
        !matches!(self, Place::Host(_))
    }

    /// Adds the modules that this kernel needs for a plan and the lab's own kernel has built in.
    pub(crate) fn add_modules(&self, plan: &mut Plan) {
        if let Place::Package(package) = self {
            plan.modules = package.modules(plan);
        }
    }

    /// The file of a module for the kernel of a cell, whether it is there or not.
    pub(crate) fn module(&self, cell: usize, name: &str) -> PathBuf {
        let file = match self {
            Place::Uml(kernels) => kernels.get(cell).map(|kernel| kernel.module(name)),
            Place::Package(package) => package.file(name).map(Into::into),
            Place::Host(_) => None,
        };
        file.unwrap_or_else(|| format!("{name}.ko").into())
    }

    /// The engine as results name it; what a run tells of it is added.
    pub(crate) fn engine(&self) -> Engine {
        let (name, clock) = match self {
            Place::Uml(_) => ("uml", "virtual"),
            Place::Package(_) => ("uml-package", "real"),
            Place::Host(Ways::Disciplines) => ("netns", "real"),
            Place::Host(Ways::Emulated) => ("netns, paths by inorder emulate", "real"),
        };
        Engine {
            name: name.to_owned(),
            clock: clock.to_owned(),
            ..(*Engine::simulation()).clone()
        }
    }
}

/// The kernel of each cell, from the user's cache.
fn kernels(cells: &[Cell]) -> Result<Vec<Kernel>, String> {
    let cache = cache().ok_or("no folder for caches: neither XDG_CACHE_HOME nor HOME is set")?;
    let of_cell = |cell: &Cell| {
        let version = cell.config.lab.kernel.as_deref().unwrap_or(DEFAULT);
        Kernel::cached(&cache, version, Kind::Usual).ok_or_else(|| {
            format!("there is no kernel {version} for the lab yet; expected it after `inorder lab kernel --version {version}`, which builds it once, or --engine uml-package (Debian's package user-mode-linux, in real time)")
        })
    };
    cells.iter().map(of_cell).collect()
}

/// The package's kernel, if it has the version of every cell.
fn package(cells: &[Cell]) -> Result<Package, String> {
    let package = Package::find()?;
    let mut asked = cells
        .iter()
        .filter_map(|cell| cell.config.lab.kernel.as_deref());
    let other = asked.find(|version| !package.version.starts_with(version));
    match other {
        None => Ok(package),
        Some(version) => Err(format!(
            "--engine uml-package: the package has kernel {}, not {version}; expected --engine uml",
            package.version
        )),
    }
}
