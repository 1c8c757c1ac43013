//! Names to which scenarios refer and which other crates define.

use crate::schema::Registry;

/// The names to which a scenario may refer; the program that runs it defines them.
#[derive(Clone, Debug, Default)]
pub struct Registries {
    /// Congestion controls.
    pub congestion: Vec<String>,
    /// Loss detections.
    pub loss_detection: Vec<String>,
    /// Profiles of endpoints.
    pub profiles: Vec<Profile>,
    /// Dialects of endpoints.
    pub dialects: Vec<Profile>,
    /// Sorters of network cards.
    pub sorters: Vec<String>,
    /// Checks a sorter's name and settings, as in `window:hold=300us`; without this function a sorter has only the
    /// settings of its card.
    pub check_sorter: Option<SorterCheck>,
    /// Reads the files that a scenario names; without this function it may not name any.
    pub read_file: Option<FileReader>,
}

/// Returns the text of a file, or what is wrong. The first argument is the scenario's own file as named in messages, the
/// second one the name in the scenario, which is relative to the folder of the first.
pub type FileReader = fn(&str, &str) -> Result<String, String>;

/// A profile or dialect of an endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Its loss detection.
    pub loss_detection: String,
}

/// Returns what is wrong with a sorter's name and settings.
pub type SorterCheck = fn(&str) -> Result<(), String>;

impl Registries {
    pub(crate) fn of(&self, registry: Registry) -> Vec<&str> {
        let names = match registry {
            Registry::Congestion => &self.congestion,
            Registry::LossDetection => &self.loss_detection,
            Registry::Profile => return self.profiles.iter().map(|p| p.name.as_str()).collect(),
            Registry::Dialect => return self.dialects.iter().map(|p| p.name.as_str()).collect(),
            Registry::Sorter => &self.sorters,
        };
        names.iter().map(String::as_str).collect()
    }

    /// The loss detection of a profile or dialect.
    pub(crate) fn loss_of(&self, name: &str) -> Option<&str> {
        let mut all = self.profiles.iter().chain(&self.dialects);
        let found = all.find(|p| p.name == name);
        found.map(|profile| profile.loss_detection.as_str())
    }
}
