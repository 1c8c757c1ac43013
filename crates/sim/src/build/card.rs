//! Network cards.

use inorder_path::{Coalesce, MergeConfig, Nic, NicConfig, Path};
use inorder_scenario::config as plain;
use inorder_sort::{SorterConfig, srpic};

use crate::error::Error;
use crate::packet::Packet;

/// A path that consists only of a card.
pub fn card(card: &plain::Card) -> Result<Path<Packet>, Error> {
    let ring = clamp(card.ring_packets);
    let mut sorter: SorterConfig = card.sorter.parse().map_err(|error| Error::sorter(&error))?;
    if card.sorter == srpic::ENTRY.name {
        // These settings are keys of the card, separate from the sorter's settings.
        sorter = sorter
            .with(&srpic::BLOCK_SIZE, card.block_packets)
            .with(&srpic::LITERAL, u64::from(card.literal));
    }
    let merge = card.merge.then(|| MergeConfig {
        max_bytes: card.merge_bytes,
        max_frames: card.merge_packets,
        ..MergeConfig::default()
    });
    let config = NicConfig {
        ring_packets: ring,
        coalesce: Coalesce {
            delay_ns: card.coalesce_ns,
            frames: card.coalesce_packets.map(clamp),
            gap_ns: card.coalesce_gap_ns,
        },
        service_ns: card.packet_ns,
        sort_ns: card.sorter_ns,
        sorter,
        merge,
    };
    let nic = Nic::new(&config).map_err(|error| Error::sorter(&error))?;
    Ok(Path::new(vec![nic.into()]))
}

fn clamp(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
