//! Nets of plain tokens, whose transitions race.

use inorder_petri::race::{Memory, Race};
use inorder_petri::text;

use crate::Case;

type Failed = Box<dyn std::error::Error>;

/// M/M/1 at a load of 0.9.
pub(crate) fn queue() -> Result<Case, Failed> {
    let net = "place q\ntransition arrive exponential rate 0.9\n out q\n\
        transition serve exponential rate 1\n in q\n";
    case("queue", net, 4e3)
}

/// 10,000 customers who think and are served, each by a server of its own.
pub(crate) fn crowd() -> Result<Case, Failed> {
    let net = "place think 10000\nplace served\n\
        transition ask exponential rate 1 servers infinite\n in think\n out served\n\
        transition answer exponential rate 1 servers infinite\n in served\n out think\n";
    case("crowd", net, 0.4)
}

/// A switch with 64 inputs: each packet goes to one of 64 outputs at random, over a bus, into limited room.
pub(crate) fn switch() -> Result<Case, Failed> {
    const PORTS: usize = 64;
    let mut net = "place bus 1\nplace arrived\n".to_owned();
    for port in 0..PORTS {
        net.push_str(&format!("place queue{port} 0 capacity 20\n"));
    }
    for port in 0..PORTS {
        net.push_str(&format!(
            "transition arrive{port} exponential rate 0.01\n in bus\n out arrived\n\
             transition sort{port} immediate priority 2 weight {}\n in arrived\n out queue{port}\n out bus\n\
             transition send{port} exponential rate 0.02\n in queue{port}\n",
            port + 1
        ));
    }
    net.push_str("transition drop immediate priority 1\n in arrived\n out bus\n");
    case("switch", &net, 2e3)
}

fn case(name: &'static str, net: &str, round: f64) -> Result<Case, Failed> {
    let net = text::read(name, net)?;
    let race = Race::new(&net, Memory::Enabling, 1)?;
    Ok(Case {
        name,
        round_ticks: (round * race.ticks_per_unit()) as u64,
        net: Box::new(race),
    })
}
