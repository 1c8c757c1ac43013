//! Builds paths, cards and endpoints from the plain data of a scenario.

mod card;
pub use card::sorter_of;
mod endpoint;
mod habits;
mod network;

pub(crate) use card::card;
pub(crate) use endpoint::{Recipe, endpoint};
pub(crate) use network::{network, outages, routes};

use crate::oracle;
use crate::own::Own;

/// Names of algorithms and profiles for [`inorder_scenario::Scenario::load`].
pub fn registries() -> inorder_scenario::Registries {
    registries_with(&Own::default())
}

/// The same with a program's own algorithms.
pub fn registries_with(own: &Own) -> inorder_scenario::Registries {
    let read_file = own.reader();
    let own = own.names();
    let congestion = inorder_tcp::congestion::REGISTRY
        .iter()
        .map(|entry| entry.name);
    let congestion = congestion.chain(own.congestion);
    let loss = inorder_tcp::loss::REGISTRY.iter().map(|entry| entry.name);
    let loss = loss.chain(own.loss);
    let profile = |name: &str, loss: &str| inorder_scenario::Profile {
        name: name.to_owned(),
        loss_detection: loss.to_owned(),
    };
    let profiles = inorder_tcp::profiles::PROFILES.iter();
    let dialects = inorder_tcp::dialects::DIALECTS.iter();
    let sorters = inorder_sort::SORTERS.iter().map(|entry| entry.name);
    let sorters = sorters.chain([oracle::NAME]).chain(own.sorters);
    inorder_scenario::Registries {
        congestion: congestion.map(str::to_owned).collect(),
        loss_detection: loss.map(str::to_owned).collect(),
        profiles: profiles
            .map(|entry| profile(entry.name, entry.loss))
            .collect(),
        dialects: dialects
            .map(|entry| profile(entry.name, entry.loss))
            .collect(),
        sorters: sorters.map(str::to_owned).collect(),
        check_sorter: Some(|text| match text.parse::<inorder_sort::SorterConfig>() {
            _ if text == oracle::NAME => Ok(()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }),
        read_file,
    }
}
