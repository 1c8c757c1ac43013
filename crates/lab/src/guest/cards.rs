//! Sets the parameters of cards.

use std::io;

use super::sys;
use crate::plan::Card;

/// Where the devices of a card's namespace appear.
const DEVICES: &str = "/run/devices";

/// Sets all parameters of a card.
pub(super) fn set(card: &Card) -> io::Result<()> {
    let Card {
        namespace,
        name,
        settings,
    } = card;
    sys::enter(namespace)?;
    sys::set_coalescing(name, settings.rx_usecs, settings.rx_frames)?;
    sys::set_ring(name, settings.ring)?;
    // A mount of sysfs shows the devices of the namespace in which it was made.
    sys::mount("sysfs", DEVICES, "")?;
    let write = |key: &str, value: &str| {
        std::fs::write(format!("{DEVICES}/class/net/{name}/inorder/{key}"), value)
    };
    let written = write("gap_usecs", &settings.gap_usecs.to_string())
        .and_then(|()| write("sorter", &settings.sorter));
    sys::unmount(DEVICES)?;
    written
}
