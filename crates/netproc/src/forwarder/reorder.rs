//! A reorder buffer: a core that releases packets by number, with a window and a time-out.
//!
//! The packet with the next number leaves at once. If it is missing, later ones wait until the window is full or one
//! of them has waited for the time-out. Then the gap is given up, and the smallest number held is the next. A packet
//! that arrives after it was given up leaves at once, late.
//!
//! The release rule is that of the sorter `window` of `inorder-sort`, which [`Order::Receiver`](super::Order) can use
//! by name. Here it is a net for two reasons. The core that runs it is one of the forwarder's servers and orders by
//! the network card's numbers over all flows, whereas a sorter uses the TCP numbers of each flow. And a full window
//! stops the core from taking the next packet, which then waits in its ring and may be dropped there, whereas a
//! sorter takes every packet. The places and transitions can be drawn and counted like all others.

use inorder_petri::coloured::{CounterSpec, Delay, Model, Queue, QueueSpec};

use super::{Packet, ticks};

/// Returns the place where packets leave.
pub(super) fn build(
    net: &mut Model<Packet>,
    from: Queue,
    window: u32,
    timeout_ns: i64,
    work_ns: i64,
) -> Queue {
    let out = net.queue("in-order", QueueSpec::fifo());
    let held = net.queue(
        "reorder-buffer",
        QueueSpec::least(|p: &Packet| u64::from(p.order)),
    );
    let room = net.counter("window", CounterSpec::new(window));
    let next = net.queue("next-number", QueueSpec::fifo().tokens([Packet::default()]));
    let timers = net.queue("timers", QueueSpec::fifo());
    let expired = net.queue("expired", QueueSpec::fifo());
    // Numbers below the one of this token have waited for the time-out.
    let deadline = net.queue("deadline", QueueSpec::fifo().tokens([Packet::default()]));

    net.transition("insert")
        .take(from)
        .spend(room, 1)
        .servers(1)
        .delay(Delay::Deterministic(ticks(work_ns as f64)))
        .pass(held, 0)
        .pass(timers, 0);
    net.transition("release")
        .priority(4)
        .take(held)
        .take(next)
        .guard(|b| b[0].order <= b[1].order)
        .give(room, 1)
        .pass(out, 0)
        .put(next, |b| Packet {
            order: b[1].order.max(b[0].order.wrapping_add(1)),
            ..b[1]
        });
    net.transition("overflow")
        .priority(3)
        .take(held)
        .take(next)
        .read(from)
        .inhibit(room, 1)
        .give(room, 1)
        .pass(out, 0)
        .put(next, |b| after(&b[0]));
    net.transition("timer")
        .take(timers)
        .delay(Delay::Deterministic(ticks(timeout_ns as f64)))
        .pass(expired, 0);
    net.transition("expire")
        .priority(5)
        .take(expired)
        .take(deadline)
        .put(deadline, |b| Packet {
            order: b[1].order.max(b[0].order.wrapping_add(1)),
            ..b[1]
        });
    net.transition("give-up")
        .priority(3)
        .take(held)
        .take(next)
        .read(deadline)
        .guard(|b| b[0].order < b[2].order)
        .give(room, 1)
        .pass(out, 0)
        .put(next, |b| after(&b[0]));
    out
}

/// The token that waits for the packet after this one.
fn after(packet: &Packet) -> Packet {
    Packet {
        order: packet.order.wrapping_add(1),
        ..Packet::default()
    }
}
