//! A custom loss detection without changes to the crate: it waits for a time proportional to the round-trip time. A
//! segment SACKed above a hole starts a timer; the hole counts as lost after half a round trip.
//!
//! `cargo run -p inorder-tcp --example own_loss_detection`

use inorder_tcp::config::{MS, SECOND};
use inorder_tcp::loss::{AckNews, Context, LossDetection, Verdict};
use inorder_tcp::{Config, Endpoint, Nanos, Pair, congestion};

/// Waits half a smoothed round trip after the first SACK above a hole.
#[derive(Debug, Default)]
struct HalfRoundTrip {
    deadline: Option<Nanos>,
}

impl LossDetection for HalfRoundTrip {
    fn dupthresh(&self) -> u32 {
        0
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        if cx.board.sacked_out() == 0 {
            self.deadline = None;
        } else if self.deadline.is_none() || ack.advances() {
            self.deadline = Some(cx.now + cx.srtt / 2);
        }
        Verdict::default()
    }

    fn next_timer(&self) -> Option<Nanos> {
        self.deadline
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) -> Verdict {
        self.deadline = None;
        // Everything below the highest SACK that has not arrived by now is lost.
        cx.board.mark_by_threshold(1);
        Verdict {
            recover: cx.board.lost_out() > 0,
            ..Verdict::default()
        }
    }

    fn on_timeout(&mut self, _cx: &mut Context<'_>) {
        self.deadline = None;
    }
}

fn main() {
    let config = Config::default();
    let end = || {
        let control = congestion::Reno::default();
        Endpoint::new(
            &config,
            Box::new(control),
            Box::new(HalfRoundTrip::default()),
        )
    };
    // Every fiftieth segment is 5 ms late, every two-hundredth is lost.
    let mut pair = Pair::new(end(), end(), 20 * MS).with_fate(|departure, copies| {
        let data = departure.segment.payload > 0;
        match departure.data_index {
            index if data && index % 200 == 199 => {}
            index if data && index % 50 == 20 => copies.push(5 * MS),
            _ => copies.push(0),
        }
    });
    let arrived = pair.transfer(3_000_000, 600 * SECOND);
    let sender = pair.client.counters();
    println!(
        "{arrived} bytes in {} ms: {} retransmitted, {} of them spurious, {} recoveries, {} timeouts",
        pair.now / MS,
        sender.sent.retrans_segs,
        pair.server.counters().received.duplicate_segs_in,
        sender.recoveries.fast_recoveries,
        sender.recoveries.tcp_timeouts
    );
    assert_eq!(arrived, 3_000_000);
}
