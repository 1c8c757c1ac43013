//! The network of a scenario: its lines, and the routes of its flows and probes.

use inorder_path::{AnyStage, Path};
use inorder_scenario::Config;
use inorder_scenario::config::{self as plain, Direction, PathUse};

use crate::error::Error;
use crate::line::{Line, LineId};
use crate::network::{Network, Route};
use crate::packet::{End, Packet};

/// From A to B.
const FORWARD: LineId = LineId(0);
/// B's card.
const CARD_B: LineId = LineId(1);
/// From B to A.
const REVERSE: LineId = LineId(2);
/// A's card.
const CARD_A: LineId = LineId(3);

/// The lines every scenario has: one from A to B and one back, each with the card of the host behind it. A host
/// without a card has an empty line in its place, which no route passes.
pub fn network(config: &Config, seed: u64) -> Result<Network, Error> {
    let paths = [
        ("forward", super::path(&config.forward, "forward", seed)),
        ("receiver card", card(config.receiver_card.as_ref())?),
        ("reverse", super::path(&config.reverse, "reverse", seed)),
        ("sender card", card(config.sender_card.as_ref())?),
    ];
    let (names, paths): (Vec<&str>, Vec<_>) = paths.into_iter().unzip();
    let lines = (0..).zip(paths);
    let lines = lines.map(|(at, path)| Line::new(LineId(at), path));
    let names = names.into_iter().map(str::to_owned);
    Ok(Network::new(lines.collect(), names.collect()))
}

fn card(card: Option<&plain::Card>) -> Result<Path<Packet>, Error> {
    match card {
        Some(card) => super::card(card),
        None => Ok(Path::new(Vec::<AnyStage<Packet>>::new())),
    }
}

/// Gives each channel its route: two for each connection, those of its data and of its acknowledgements, then one
/// for each stream of probes.
pub fn routes(network: &mut Network, config: &Config) -> Result<(), Error> {
    for flow in &config.flows {
        let own = flow.path == PathUse::Own;
        let data = route(config, flow.direction, own);
        let back = route(config, opposite(flow.direction), own);
        for _ in 0..flow.count {
            network.add_channel(&data);
            network.add_channel(&back);
        }
    }
    for probe in &config.probes {
        network.add_channel(&route(config, probe.direction, false));
    }
    Ok(())
}

fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Forward => Direction::Reverse,
        Direction::Reverse => Direction::Forward,
    }
}

/// The route of a direction; packets with a path of their `own` pass the card alone.
fn route(config: &Config, direction: Direction, own: bool) -> Route {
    let (line, end) = match direction {
        Direction::Forward => (FORWARD, End::B),
        Direction::Reverse => (REVERSE, End::A),
    };
    let outside: &[LineId] = if own { &[] } else { &[line] };
    Route::new(outside, card_of(config, end), end)
}

/// The card of the host on this side.
fn card_of(config: &Config, end: End) -> Option<LineId> {
    match end {
        End::A => config.sender_card.as_ref().map(|_| CARD_A),
        End::B => config.receiver_card.as_ref().map(|_| CARD_B),
    }
}
