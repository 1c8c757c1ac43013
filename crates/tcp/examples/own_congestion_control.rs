//! A custom congestion control: Scalable TCP (Kelly, ACM CCR 33(2), 2003), which this crate does not contain,
//! compared with Reno, which it does.
//!
//! A congestion control implements one trait, and the crate needs no change. Every function that takes a `Box<dyn
//! CongestionControl>` accepts it.
//!
//! ```text
//! cargo run -p inorder-tcp --example own_congestion_control
//! ```

use inorder_tcp::config::{MS, SECOND};
use inorder_tcp::congestion::{AckEvent, CongestionControl, Event, LossEvent, Reno, Start, Window};
use inorder_tcp::{Endpoint, Pair, loss, profiles};

/// `cwnd += 0.01` per segment acknowledged, `cwnd -= cwnd / 8` at a loss: recovery takes the same number of round
/// trips at any window.
#[derive(Debug)]
struct Scalable {
    /// Window below which it is Reno.
    low_window: u32,
    losses: u32,
}

impl CongestionControl for Scalable {
    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        let left = if window.in_slow_start() {
            window.slow_start(ack.acked)
        } else {
            ack.acked
        };
        window.additive_increase(window.cwnd.min(100), left);
    }

    fn ssthresh(&mut self, window: &Window, _loss: &LossEvent) -> u32 {
        self.losses += 1;
        let cut = if window.cwnd < self.low_window { 2 } else { 8 };
        (window.cwnd - window.cwnd / cut).max(2)
    }

    fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("losses", f64::from(self.losses));
    }
}

/// Round trips until the window has its size before the loss again.
fn recovery(cc: &mut dyn CongestionControl, lost_at: u32) -> u32 {
    let mut window = Window::new(lost_at);
    cc.start(&mut window, &Start::default());
    let loss = LossEvent {
        now: 0,
        in_flight: lost_at,
        timeout: false,
    };
    window.ssthresh = window.threshold_after(cc, &loss);
    window.cwnd = window.ssthresh;
    cc.event(&mut window, Event::RecoveryStart, 0);
    cc.event(&mut window, Event::RecoveryEnd, 0);

    let mut round_trips = 0;
    while window.cwnd < lost_at {
        for _ in 0..window.cwnd {
            let ack = AckEvent {
                acked: 1,
                cwnd_limited: true,
                ..AckEvent::default()
            };
            cc.grow(&mut window, &ack);
        }
        round_trips += 1;
    }
    round_trips
}

/// Seconds that 100 MB take over 100 ms, with each 10,000th data segment lost, for a sender like Linux's.
fn transfer(cc: Box<dyn CongestionControl>) -> f64 {
    const BYTES: u64 = 100_000_000;
    let config = profiles::linux_6();
    let detection = || Box::new(loss::Static::new(3));
    let client = Endpoint::new(&config, cc, detection());
    let server = Endpoint::new(&config, Box::new(Reno::default()), detection());
    let mut pair = Pair::new(client, server, 50 * MS).with_fate(|departure, copies| {
        if departure.segment.payload == 0 || departure.data_index % 10_000 != 9_999 {
            copies.push(0);
        }
    });
    let received = pair.transfer(BYTES, 1000 * SECOND);
    assert_eq!(received, BYTES, "not everything arrived");
    pair.now as f64 * 1e-9
}

fn main() {
    println!("{:>8} {:>10} {:>10}", "lost at", "reno", "scalable");
    for lost_at in [50, 500, 5_000, 50_000] {
        let mut own: Box<dyn CongestionControl> = Box::new(Scalable {
            low_window: 16,
            losses: 0,
        });
        let reno = recovery(&mut Reno::default(), lost_at);
        println!(
            "{lost_at:>8} {reno:>10} {:>10}",
            recovery(own.as_mut(), lost_at)
        );
    }

    let own = Scalable {
        low_window: 16,
        losses: 0,
    };
    println!();
    println!(
        "100 MB, reno:     {:>6.2} s",
        transfer(Box::new(Reno::default()))
    );
    println!("100 MB, scalable: {:>6.2} s", transfer(Box::new(own)));
}
