//! Names that scenarios refer to and do not define.

use crate::schema::Registry;

/// Names a scenario may refer to and that it does not define; whoever runs it knows them.
#[derive(Clone, Debug, Default)]
pub struct Registries {
    /// Congestion controls.
    pub congestion: Vec<String>,
    /// Loss detections.
    pub loss_detection: Vec<String>,
    /// Named configurations of endpoints.
    pub profiles: Vec<Profile>,
    /// Sorters of network cards.
    pub sorters: Vec<String>,
    /// Says what is wrong with a sorter's name and settings, as in `window:hold=300us`; without it a sorter
    /// has no settings beside the keys of its card.
    pub check_sorter: Option<SorterCheck>,
}

/// A named configuration of an endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// The loss detection that belongs to it.
    pub loss_detection: String,
}

/// Says what is wrong with a sorter's name and settings.
pub type SorterCheck = fn(&str) -> Result<(), String>;

impl Registries {
    pub(crate) fn of(&self, registry: Registry) -> Vec<&str> {
        let names = match registry {
            Registry::Congestion => &self.congestion,
            Registry::LossDetection => &self.loss_detection,
            Registry::Profile => return self.profiles.iter().map(|p| p.name.as_str()).collect(),
            Registry::Sorter => &self.sorters,
        };
        names.iter().map(String::as_str).collect()
    }

    /// The loss detection of a profile.
    pub(crate) fn loss_of(&self, profile: &str) -> Option<&str> {
        let found = self.profiles.iter().find(|p| p.name == profile);
        found.map(|profile| profile.loss_detection.as_str())
    }
}
