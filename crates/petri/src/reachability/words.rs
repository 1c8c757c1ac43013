//! Places, transitions and ways to a marking, in words.

use super::boundedness::Growth;
use crate::net::{Net, PlaceId, TransitionId};

/// The names of transitions as a list.
pub(crate) fn transition_names(net: &Net, transitions: &[TransitionId]) -> Vec<String> {
    let name = |t: &TransitionId| net.transitions.get(t.0).map(|t| t.name.clone());
    transitions.iter().filter_map(name).collect()
}

/// The names of places.
pub(crate) fn place_names(net: &Net, places: &[PlaceId]) -> Vec<String> {
    let name = |p: &PlaceId| net.places.get(p.0).map(|p| p.name.clone());
    places.iter().filter_map(name).collect()
}

/// Words with commas between them.
pub(crate) fn list(words: &[String]) -> String {
    if words.is_empty() {
        "none".to_owned()
    } else {
        words.join(", ")
    }
}

/// Firings one after the other, in words; repetitions are counted.
pub(crate) fn after(path: &[String]) -> String {
    let repeated = |names: &[String]| match names {
        [name] => name.clone(),
        names => format!("{} {} times", names[0], names.len()),
    };
    match path {
        [] => "at the start".to_owned(),
        path => {
            let parts: Vec<String> = path.chunk_by(|a, b| a == b).map(repeated).collect();
            format!("after {}", parts.join(", "))
        }
    }
}

impl Growth {
    /// How tokens become more without end.
    pub(crate) fn words(&self, net: &Net) -> String {
        format!(
            "{}, repeating {} adds tokens to {}",
            after(&transition_names(net, &self.prefix)),
            list(&transition_names(net, &self.pump)),
            list(&place_names(net, &self.places))
        )
    }
}
