//! Network cards.

use inorder_path::nic::Card;
use inorder_path::{AnyStage, Coalesce, MergeConfig, Nic, NicConfig, Path};
use inorder_scenario::config as plain;
use inorder_sort::{SorterConfig, srpic};

use crate::error::Error;
use crate::oracle::{self, Knowledge, Oracle};
use crate::own::Own;
use crate::packet::Packet;

/// A path through a card alone; `knowledge` is for an oracle.
pub(crate) fn card(
    card: &plain::Card,
    knowledge: Option<&Knowledge>,
    own: &Own,
) -> Result<Path<Box<Packet>>, Error> {
    let mut config = settings(card);
    let stage: AnyStage<Box<Packet>> = match (own.sorter(&card.sorter), knowledge) {
        (Some(sorter), _) => AnyStage::Custom(Box::new(Card::with_sorter(&config, sorter))),
        (None, Some(knowledge)) if card.sorter == oracle::NAME => {
            let card = Card::with_sorter(&config, Oracle::new(knowledge.clone()));
            AnyStage::Custom(Box::new(card))
        }
        (None, _) => {
            config.sorter = sorter_of(card)?;
            let nic = Nic::new(&config).map_err(|error| Error::sorter(&error))?;
            nic.into()
        }
    };
    Ok(Path::new(vec![stage]))
}

/// All but the sorter.
fn settings(card: &plain::Card) -> NicConfig {
    let merge = card.merge.then(|| MergeConfig {
        max_bytes: card.merge_bytes,
        max_frames: card.merge_packets,
        restarts: card.merge_restarts,
        ..MergeConfig::default()
    });
    NicConfig {
        ring_packets: clamp(card.ring_packets),
        coalesce: Coalesce {
            delay_ns: card.coalesce_ns,
            frames: card.coalesce_packets.map(clamp),
            gap_ns: card.coalesce_gap_ns,
        },
        service_ns: card.packet_ns,
        sort_ns: card.sorter_ns,
        sorter: SorterConfig::default(),
        tunnel: card.tunnel,
        merge,
    }
}

/// The sorter of a card, with the settings that are keys of the card.
///
/// # Errors
/// If the text of its sorter cannot be read.
pub fn sorter_of(card: &plain::Card) -> Result<SorterConfig, Error> {
    let mut sorter: SorterConfig = card.sorter.parse().map_err(|error| Error::sorter(&error))?;
    if card.sorter == srpic::ENTRY.name {
        // These have keys of their own beside the sorter's.
        sorter = sorter
            .with(&srpic::BLOCK_SIZE, card.block_packets)
            .with(&srpic::LITERAL, u64::from(card.literal));
    }
    Ok(sorter)
}

fn clamp(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
