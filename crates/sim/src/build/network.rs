//! The network of a scenario: its lines, and the routes of its flows and probes.

use inorder_path::{AnyStage, Path};
use inorder_scenario::Config;
use inorder_scenario::config::{self as plain, Direction, PathUse};

use crate::error::Error;
use crate::limits::Time;
use crate::line::Line;
use crate::network::{Network, Route};
use crate::oracle::{self, Knowledge};
use crate::own::Own;
use crate::packet::{End, LineId, Packet};

/// From A to B.
const FORWARD: LineId = LineId(0);
/// B's card.
const CARD_B: LineId = LineId(1);
/// From B to A.
const REVERSE: LineId = LineId(2);
/// A's card.
const CARD_A: LineId = LineId(3);

/// Number of the first line that the scenario declares itself.
const FIRST_OF_ITS_OWN: u16 = 4;

/// The lines every scenario has, and then its own. Every scenario has a line from A to B and one back, each with the
/// card of the host behind it. A host without a card has an empty line in its place, which no route passes. If a card
/// has an oracle for its sorter, every line tells it what is dropped, and whoever sends must tell it what is sent.
pub(crate) fn network(
    config: &Config,
    seed: u64,
    own: &Own,
) -> Result<(Network, Option<Knowledge>), Error> {
    let cards = [&config.receiver_card, &config.sender_card];
    let knows = cards
        .into_iter()
        .flatten()
        .any(|card| card.sorter == oracle::NAME);
    let knowledge = knows.then(Knowledge::default);
    let card = |card: &Option<plain::Card>| match card {
        Some(card) => super::card(card, knowledge.as_ref(), own),
        None => Ok(Path::new(Vec::<AnyStage<Box<Packet>>>::new())),
    };
    let paths = [
        ("forward", Path::declared(&config.forward, "forward", seed)),
        ("receiver card", card(&config.receiver_card)?),
        ("reverse", Path::declared(&config.reverse, "reverse", seed)),
        ("sender card", card(&config.sender_card)?),
    ];
    let (names, paths): (Vec<&str>, Vec<_>) = paths.into_iter().unzip();
    let own = config.lines.iter().map(|line| {
        let name = format!("line/{}", line.name);
        Path::declared(&line.stages, &name, seed)
    });
    let lines = (0..).zip(paths.into_iter().chain(own));
    let lines = lines.map(|(at, path)| {
        let mut line = Line::new(LineId(at), path);
        knowledge.iter().for_each(|all| line.tell(all.clone()));
        line
    });
    let own = config.lines.iter().map(|line| line.name.as_str());
    let names = names.into_iter().chain(own).map(str::to_owned);
    Ok((Network::new(lines.collect(), names.collect()), knowledge))
}

/// The times at which a line lets nothing pass, as the scenario says.
pub(crate) fn outages(config: &Config) -> Vec<(LineId, Time)> {
    let own = (FIRST_OF_ITS_OWN..).zip(&config.lines);
    let own = own.map(|(id, line)| (LineId(id), &line.stages));
    let lines = [(FORWARD, &config.forward), (REVERSE, &config.reverse)];
    let mut out = Vec::new();
    for (id, stages) in lines.into_iter().chain(own) {
        for stage in stages {
            if let plain::StageKind::Outage(outage) = &stage.kind {
                let times = outage_times(outage, config.run.duration_ns);
                out.extend(times.map(|time| (id, time)));
            }
        }
    }
    out
}

fn outage_times(outage: &plain::Outage, run_ns: i64) -> impl Iterator<Item = Time> {
    let (length_ns, every_ns) = (outage.until_ns - outage.from_ns, outage.every_ns);
    let next = move |from_ns: &i64| from_ns.checked_add(every_ns?);
    let begins = std::iter::successors(Some(outage.from_ns), next);
    begins
        .take_while(move |from_ns| *from_ns < run_ns)
        .map(move |start_ns| Time {
            start_ns,
            end_ns: start_ns.saturating_add(length_ns),
        })
}

/// Assigns a route to each channel: two channels for each connection (data and acknowledgements), then one for each
/// stream of probes.
pub(crate) fn routes(network: &mut Network, config: &Config) -> Result<(), Error> {
    for flow in &config.flows {
        let own = (flow.path == PathUse::Own).then_some(&[][..]);
        let data = own.or(flow.route.as_deref());
        let data = route(config, flow.direction, data)?;
        let back = own.or(flow.return_route.as_deref());
        let back = route(config, opposite(flow.direction), back)?;
        for _ in 0..flow.count {
            network.add_channel(&data);
            network.add_channel(&back);
        }
    }
    for probe in &config.probes {
        let over = probe.route.as_deref();
        network.add_channel(&route(config, probe.direction, over)?);
    }
    Ok(())
}

fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Forward => Direction::Reverse,
        Direction::Reverse => Direction::Forward,
    }
}

/// The route over the lines with these names, or over the path of the direction.
fn route(config: &Config, direction: Direction, names: Option<&[String]>) -> Result<Route, Error> {
    let (line, end) = match direction {
        Direction::Forward => (FORWARD, End::B),
        Direction::Reverse => (REVERSE, End::A),
    };
    let outside: Vec<LineId> = match names {
        None => vec![line],
        Some(names) => {
            let ids = names.iter().map(|name| line_called(config, name));
            ids.collect::<Result<_, _>>()?
        }
    };
    Ok(Route::new(&outside, card_of(config, end), end))
}

fn line_called(config: &Config, name: &str) -> Result<LineId, Error> {
    match name {
        "forward" => return Ok(FORWARD),
        "reverse" => return Ok(REVERSE),
        _ => {}
    }
    let mut own = (FIRST_OF_ITS_OWN..).zip(&config.lines);
    let found = own.find(|(_, line)| line.name == name);
    found.map(|(at, _)| LineId(at)).ok_or(Error::Unknown {
        what: "line",
        name: name.to_owned(),
    })
}

/// The card of the host on this side.
fn card_of(config: &Config, end: End) -> Option<LineId> {
    match end {
        End::A => config.sender_card.as_ref().map(|_| CARD_A),
        End::B => config.receiver_card.as_ref().map(|_| CARD_B),
    }
}
