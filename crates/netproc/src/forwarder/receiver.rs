//! The receiver: a ring, an interrupt that waits for more, a driver that takes the ring packet by packet, and SRPIC
//! over what one interrupt delivers.

use std::cell::RefCell;
use std::rc::Rc;

use inorder_petri::coloured::{CounterSpec, Delay, Model, Queue, QueueSpec};
use inorder_sort::srpic::{Config, Srpic};
use inorder_sort::{FourTuple, Meta};

use super::{ForwarderConfig, Order, Packet, ticks};

type Sorter = Rc<RefCell<Srpic<FourTuple, Packet>>>;

pub(super) fn build(net: &mut Model<Packet>, config: &ForwarderConfig, ring: Queue, stack: Queue) {
    let idle = net.queue(
        "receiver-idle",
        QueueSpec::fifo().tokens([Packet::default()]),
    );
    let polling = net.queue("receiver-polling", QueueSpec::fifo());
    let budget = net.counter("budget", CounterSpec::new(config.budget));
    let sorter = sorter(config);

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
        Some(sorter) => {
            let sorter = Rc::clone(sorter);
            let bytes = u32::from(config.bytes);
            receive.put_many(stack, move |b, out| push(&sorter, &b[1], bytes, out))
        }
    };
    // The ring is empty: the interrupt is armed again. The budget is spent: the batch ends, and the next begins.
    let spent = config.budget;
    for (name, to) in [("complete", idle), ("exhausted", polling)] {
        let end = net.transition(name).priority(2).take(polling);
        let end = match name {
            "complete" => end.inhibit(ring, 1),
            _ => end.inhibit(budget, 1).read(ring),
        };
        let end = end.reset(budget).give(budget, spent).pass(to, 0);
        if let Some(sorter) = &sorter {
            let sorter = Rc::clone(sorter);
            end.put_many(stack, move |_, out| {
                sorter
                    .borrow_mut()
                    .end_of_batch(&mut |packet| out.push(packet));
            });
        }
    }
}

fn sorter(config: &ForwarderConfig) -> Option<Sorter> {
    let Order::Srpic { block } = config.order else {
        return None;
    };
    // A batch never exceeds the budget, so the ring is never the limit. The settings were checked.
    let sorter = Srpic::new(&Config::new(block as usize, config.budget as usize + 1));
    sorter.ok().map(|sorter| Rc::new(RefCell::new(sorter)))
}

fn push(sorter: &Sorter, packet: &Packet, bytes: u32, out: &mut Vec<Packet>) {
    let port = packet.flow.wrapping_add(1);
    let flow = FourTuple::v4([192, 0, 2, 1], port, [198, 51, 100, 1], 80);
    let meta = Meta::data(flow, packet.seq.wrapping_mul(bytes), bytes);
    sorter
        .borrow_mut()
        .push(&meta, *packet, &mut |packet| out.push(packet));
}
