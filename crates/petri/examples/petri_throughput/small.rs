//! Two small nets.

use inorder_petri::coloured::{CounterSpec, Delay, Engine, Model, ModelError, QueueSpec};

use crate::Case;

const STATIONS: usize = 8;
const CUSTOMERS: u64 = 64;

/// Customers circulate through stations with unlimited servers, except the last one, which has one server.
pub(crate) fn ring() -> Result<Case, ModelError> {
    let mut net = Model::new();
    let places: Vec<_> = (0..STATIONS)
        .map(|i| {
            let customers = if i == 0 { 0..CUSTOMERS } else { 0..0 };
            net.queue(format!("place{i}"), QueueSpec::fifo().tokens(customers))
        })
        .collect();
    let resource = net.counter("resource", CounterSpec::new(1));
    for (i, &place) in places.iter().enumerate() {
        let next = places[(i + 1) % STATIONS];
        let transition = net
            .transition(format!("move{i}"))
            .take(place)
            .delay(Delay::exponential(1e6))
            .pass(next, 0);
        if i == 0 {
            transition
                .delay(Delay::exponential(1e4))
                .spend(resource, 1)
                .give(resource, 1);
        }
    }
    Ok(Case {
        name: "ring",
        net: Box::new(Engine::new(net, 1)?),
        round_ticks: 20_000_000,
    })
}

/// Arrivals at rate 3.6, four servers of rate 1, room for 32.
pub(crate) fn mmck() -> Result<Case, ModelError> {
    let mut net = Model::new();
    let waiting = net.queue("waiting", QueueSpec::fifo());
    let room = net.counter("room", CounterSpec::new(32));
    let server = net.counter("server", CounterSpec::new(4));
    let mut number = 0;
    net.transition("arrive")
        .spend(room, 1)
        .servers(1)
        .delay(Delay::exponential(1e6 / 3.6))
        .put(waiting, move |_| {
            number += 1;
            number
        });
    net.transition("serve")
        .take(waiting)
        .spend(server, 1)
        .delay(Delay::exponential(1e6))
        .give(server, 1)
        .give(room, 1);
    Ok(Case {
        name: "mmck",
        net: Box::new(Engine::new(net, 1)?),
        round_ticks: 500_000_000,
    })
}
