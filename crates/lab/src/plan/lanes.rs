//! The stage `spray`: filters that send each packet to one of several devices.
//!
//! Packets leave the place through a device that never sends any, whose filters redirect them. A filter takes one packet in as
//! many as there are lanes left (the action `gact`, by chance or by counting), so that each lane has the same share.

use inorder_scenario::config::{Policy, Spray};

use super::hop::{Hop, Lanes};
use super::refusal::Refusal;

/// Most lanes of a path: two networks each, whose numbers must fit into a byte of an address, with those of the way back.
const MAX_LANES: usize = 60;

impl Lanes {
    /// The lanes of the stage with this name, whose disciplines were made before.
    pub(super) fn new(key: &str, spray: &Spray, lanes: Vec<Vec<Hop>>) -> Result<Self, Refusal> {
        let in_turn = match spray.policy {
            Policy::Random => false,
            Policy::RoundRobin => true,
            Policy::Flow | Policy::Flowlet => {
                let what = "the lab's filters choose a lane for each packet";
                let expected = "\"random\" or \"round-robin\"";
                return Err(Refusal::new(format!("{key}.policy"), what, expected));
            }
        };
        Ok(Lanes { in_turn, lanes })
    }

    /// Checks that the addresses suffice for the lanes of a path.
    pub(super) fn check(path: &str, hops: &[Hop]) -> Result<(), Refusal> {
        let lanes = hops.iter().map(|hop| match hop {
            Hop::Lanes(lanes) => lanes.lanes.len(),
            _ => 0,
        });
        if lanes.sum::<usize>() > MAX_LANES {
            let expected = format!("at most {MAX_LANES} lanes on the whole path");
            return Err(Refusal::new(
                path,
                "the lab has no addresses for that many lanes",
                expected,
            ));
        }
        Ok(())
    }

    /// Lines for `tc` that distribute what leaves through `device` over the devices of the lanes.
    pub(super) fn lines(&self, device: &str, lane_device: impl Fn(usize) -> String) -> Vec<String> {
        let mut lines = vec![format!("qdisc add dev {device} clsact")];
        let kind = if self.in_turn { "determ" } else { "netrand" };
        let count = self.lanes.len();
        for filter in 0..count {
            // A filter that counts takes the last packet of its number: the first packet passes all filters but the last one.
            let lane = count - 1 - filter;
            let redirect = format!("action mirred egress redirect dev {}", lane_device(lane));
            let take = match count - filter {
                1 => String::new(),
                left => format!("action gact continue random {kind} pipe {left} "),
            };
            lines.push(format!(
                "filter add dev {device} egress pref {} matchall {take}{redirect}",
                filter + 1
            ));
        }
        lines
    }
}
