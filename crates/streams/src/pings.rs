//! Echo requests and replies, whose numbers mean more beside each other than alone.

use std::collections::{HashMap, HashSet};

use inorder_wire::{Asker, StreamKey};

use crate::stream::Stream;
use crate::{MAX_STREAMS, StreamReport};

/// Echo requests from which on it is no accident that none was answered; `ping` of Windows sends four.
const MIN_REQUESTS: u64 = 3;

/// What is known of pings beside the reports of their streams.
#[derive(Default, Debug)]
pub(crate) struct Pings {
    /// Echoes of streams that are over and had no other packet.
    lone: u64,
    /// Who had a reply that is in no report.
    answered: HashSet<Asker>,
    /// Who traces a route: the hop limit of their requests was used up on the way.
    tracing: HashSet<Asker>,
}

impl Pings {
    pub(crate) fn lone(&self) -> u64 {
        self.lone
    }

    /// Of an echo that had no other packet nothing is reported.
    pub(crate) fn ended(&mut self, key: &StreamKey, stream: &Stream) {
        if stream.is_lone_echo(key) {
            self.lone += 1;
            self.was_answered(key);
        }
    }

    /// A packet that will be in no report: if it is a reply, its requests were answered nonetheless.
    pub(crate) fn was_answered(&mut self, key: &StreamKey) {
        if key.is_reply() && self.answered.len() < MAX_STREAMS {
            self.answered.extend(key.asker());
        }
    }

    /// The hop limit of a `request` was used up.
    pub(crate) fn expired(&mut self, request: &StreamKey) {
        if self.tracing.len() < MAX_STREAMS {
            self.tracing.extend(request.asker());
        }
    }

    /// Completes the reports of the streams of pings, each beside the others.
    pub(crate) fn finish(&mut self, reports: &mut [(u64, StreamReport)]) {
        share_numbers(reports);
        self.expect_no_replies(reports);
        self.find_unanswered(reports);
    }

    /// Requests that were not to arrive are answered by routers: replies that are missing are no evidence of loss.
    fn expect_no_replies(&self, reports: &mut [(u64, StreamReport)]) {
        for (_, report) in reports {
            let asker = report.key.asker().filter(|_| report.key.is_reply());
            if asker.is_some_and(|asker| self.tracing.contains(&asker)) {
                report.skipped.trace_a_route();
            }
        }
    }

    /// Echo requests to which no reply was seen, from whatever host: requests to several hosts are answered by others than they
    /// went to.
    fn find_unanswered(&mut self, reports: &mut [(u64, StreamReport)]) {
        let replies = reports.iter().filter(|(_, r)| r.key.is_reply());
        self.answered
            .extend(replies.filter_map(|(_, r)| r.key.asker()));
        for (_, report) in reports {
            let some = report.order.received >= MIN_REQUESTS && !report.key.is_reply();
            let expects = |asker| !self.answered.contains(asker) && !self.tracing.contains(asker);
            if some && report.key.asker().as_ref().is_some_and(expects) {
                report.unanswered = report.order.received;
            }
        }
    }
}

/// Windows numbers all echo requests of a host with one counter, under one identifier: what a stream lacks has gone to the hosts of the
/// others, where these have as many.
fn share_numbers(reports: &mut [(u64, StreamReport)]) {
    // Answers repeat the number of what they answer.
    let counter = |r: &StreamReport| Some((r.key.asker()?, r.key.is_reply()));
    let mut received: HashMap<_, u64> = HashMap::new();
    for (counter, report) in reports.iter().filter_map(|(_, r)| Some((counter(r)?, r))) {
        *received.entry(counter).or_default() += report.order.received;
    }
    for (_, report) in reports {
        let all = counter(report).and_then(|counter| received.get(&counter).copied());
        let elsewhere = all.map_or(0, |all| all.saturating_sub(report.order.received));
        report.skipped.missing = report.skipped.missing.saturating_sub(elsewhere);
    }
}
