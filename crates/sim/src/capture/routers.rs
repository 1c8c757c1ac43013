//! How many routers packets have passed, which their time to live tells.

use inorder_scenario::Config;
use inorder_scenario::config::Flow;

use crate::packet::Packet;

/// The time to live with which hosts send: that of Linux and of the BSDs.
const INITIAL: u8 = 64;

/// The routers of each route.
#[derive(Default)]
pub(super) struct Routers {
    /// By channel: how many a packet has passed with each line of its route, the first one's in front.
    passed: Vec<Vec<u8>>,
}

impl Routers {
    /// Of a run of `config`.
    pub(super) fn of_run(config: &Config) -> Self {
        let over = |route: Option<&[String]>| {
            let mut sum: u8 = 0;
            let names = route.unwrap_or_default().iter();
            let lines = names.map(|name| config.lines.iter().find(|line| line.name == *name));
            let each = lines.map(|line| {
                let routers = line.map_or(0, |line| line.routers.min(INITIAL.into()) as u8);
                sum = sum.saturating_add(routers);
                sum
            });
            each.collect::<Vec<u8>>()
        };
        let of_flow = |flow: &Flow| {
            let both = [
                over(flow.route.as_deref()),
                over(flow.return_route.as_deref()),
            ];
            std::iter::repeat_n(both, flow.count as usize).flatten()
        };
        let flows = config.flows.iter().flat_map(of_flow);
        let probes = config
            .probes
            .iter()
            .map(|probe| over(probe.route.as_deref()));
        Routers {
            passed: flows.chain(probes).collect(),
        }
    }

    /// The time to live of a packet where it is; none passes more routers than it allows.
    pub(super) fn time_to_live(&self, packet: &Packet) -> u8 {
        let passed = self.passed.get(packet.channel.0 as usize);
        // Behind the last line is the card.
        let lines = passed.map(|passed| passed.get(..usize::from(packet.passed)).unwrap_or(passed));
        let routers = lines.and_then(|lines| lines.last()).copied();
        INITIAL.saturating_sub(routers.unwrap_or(0)).max(1)
    }
}
