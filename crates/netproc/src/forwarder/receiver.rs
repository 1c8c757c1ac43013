//! The receiver: a ring, an interrupt with coalescing, a driver that takes packets from the ring one by one, and a
//! sorter for the packets of an interrupt.

use inorder_petri::coloured::{CounterSpec, Delay, Model, Queue, QueueSpec};
use inorder_sort::{FourTuple, Meta, Surroundings};

use super::sorter::Sorting;
use super::{ForwarderConfig, Order, Packet, ticks};

pub(super) fn build(net: &mut Model<Packet>, config: &ForwarderConfig, ring: Queue, stack: Queue) {
    let idle = net.queue(
        "receiver-idle",
        QueueSpec::fifo().tokens([Packet::default()]),
    );
    let polling = net.queue("receiver-polling", QueueSpec::fifo());
    let budget = net.counter("budget", CounterSpec::new(config.budget));
    let sorter = sorter(net, config, stack);

    net.transition("interrupt")
        .take(idle)
        .read(ring)
        .delay(Delay::Deterministic(ticks(config.coalesce_ns as f64)))
        .pass(polling, 0);
    let receive = net
        .transition("receive")
        .priority(3)
        .take(polling)
        .take(ring)
        .spend(budget, 1)
        .delay(Delay::Deterministic(ticks(config.receive_ns as f64)))
        .pass(polling, 0);
    match &sorter {
        None => receive.pass(stack, 1),
        Some((sorting, timers)) => {
            let (sorting, armed) = (sorting.clone(), sorting.clone());
            let bytes = u32::from(config.bytes);
            receive
                .put_many(stack, move |b, out| {
                    sorting.push(b, &meta(&b[1], bytes), b[1], out);
                })
                .put_many(*timers, move |_, timers| armed.arm(timers))
        }
    };
    // If the ring is empty, the interrupt is enabled again. If the budget is used up, the batch ends and the next one
    // begins.
    let spent = config.budget;
    for (name, to) in [("complete", idle), ("exhausted", polling)] {
        let end = net.transition(name).priority(2).take(polling);
        let end = match name {
            "complete" => end.inhibit(ring, 1),
            _ => end.inhibit(budget, 1).read(ring),
        };
        let end = end.reset(budget).give(budget, spent).pass(to, 0);
        if let Some((sorting, timers)) = &sorter {
            let (sorting, armed) = (sorting.clone(), sorting.clone());
            end.put_many(stack, move |b, out| sorting.end_of_batch(b, out))
                .put_many(*timers, move |_, timers| armed.arm(timers));
        }
    }
}

/// The configured sorter, and the place of the tokens that wait for its deadlines.
fn sorter(
    net: &mut Model<Packet>,
    config: &ForwarderConfig,
    stack: Queue,
) -> Option<(Sorting, Queue)> {
    let Order::Receiver(sorter) = config.order else {
        return None;
    };
    // A batch never exceeds the budget, so the ring is never full. The settings were checked before.
    let around = Surroundings::ring(config.budget as usize + 1);
    Sorting::build(net, &sorter, &around, ("sorter", stack))
}

fn meta(packet: &Packet, bytes: u32) -> Meta<FourTuple> {
    let port = packet.flow.wrapping_add(1);
    let flow = FourTuple::v4([192, 0, 2, 1], port, [198, 51, 100, 1], 80);
    Meta::data(flow, packet.seq.wrapping_mul(bytes), bytes)
}
