//! What the senders of a `[[flow]]` keep of its connections for later ones, if `destination_metrics` says so.

use inorder_scenario::config::{self as plain, DestinationMetrics};
use inorder_tcp::{Destination, State};

use crate::flow::Flow;

/// The destinations of all `[[flow]]`s.
#[derive(Debug, Default)]
pub(crate) struct Destinations {
    groups: Vec<Option<Kept>>,
}

/// One destination, and its connections that have been opened and not been learned of.
#[derive(Debug)]
struct Kept {
    known: Destination,
    open: Vec<u32>,
}

impl Destinations {
    /// Nothing is known of any.
    pub(crate) fn new(flows: &[plain::Flow]) -> Self {
        let kept = |flow: &plain::Flow| {
            let keeps_ssthresh = match flow.destination_metrics {
                DestinationMetrics::Off => return None,
                DestinationMetrics::Linux => false,
                DestinationMetrics::LinuxSsthresh => true,
            };
            Some(Kept {
                known: Destination::new(keeps_ssthresh),
                open: Vec::new(),
            })
        };
        Destinations {
            groups: flows.iter().map(kept).collect(),
        }
    }

    /// The connection number `index` opens: it starts with what is known, to which all that have ended well are added
    /// first, in the order in which their data was complete.
    pub(crate) fn open(&mut self, index: u32, flows: &mut [Flow]) {
        let group = flows
            .get(index as usize)
            .map_or(usize::MAX, |flow| flow.group);
        let Some(Some(kept)) = self.groups.get_mut(group) else {
            return;
        };
        let over = |index: &u32| flows.get(*index as usize).is_some_and(has_ended);
        let (mut ended, open): (Vec<u32>, Vec<u32>) = kept.open.iter().partition(|i| over(i));
        let completed = |index: &u32| flows.get(*index as usize)?.notes.completed_ns;
        ended.sort_by_key(|index| (completed(index), *index));
        for flow in ended.iter().filter_map(|index| flows.get(*index as usize)) {
            let sender = &flow.sides[0].endpoint;
            if sender.error().is_none() {
                kept.known.learn(&sender.info());
            }
        }
        kept.open = open;
        kept.open.push(index);
        if let Some(flow) = flows.get_mut(index as usize) {
            flow.sides[0].endpoint.set_destination(kept.known);
        }
    }
}

/// The sender has sent everything, and its FIN has been acknowledged, or the connection is broken.
fn has_ended(flow: &Flow) -> bool {
    let state = flow.sides[0].endpoint.state();
    matches!(state, State::FinWait2 | State::TimeWait | State::Closed)
}
