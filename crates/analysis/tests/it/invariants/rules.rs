//! What must be true of every report on a direction, whatever the capture: each rule has a name, by which `known` lists
//! where it fails.

use std::collections::{BTreeMap, BTreeSet};

use inorder_detect::{Confidence, Event, FlowReport, Kind, Retransmission, Vantage, Verdict};
use inorder_limits::Limit;

use inorder_wire::Endpoint;

use super::reader::{Data, Reader, Way};

/// Rules that fail, each with its first example.
pub(crate) type Failures = BTreeMap<&'static str, String>;

/// One report beside what the capture shows of its direction.
pub(crate) struct Case<'a> {
    pub flow: &'a FlowReport,
    pub way: &'a Way,
    pub reader: &'a Reader,
    pub failures: &'a mut Failures,
}

impl Case<'_> {
    fn demand(&mut self, rule: &'static str, holds: bool, example: impl Fn() -> String) {
        if !holds {
            let flow = self.flow.flow;
            let text = || format!("{flow}: {}", example());
            self.failures.entry(rule).or_insert_with(text);
        }
    }

    pub(crate) fn check(mut self) {
        for again in &self.flow.records.retransmissions {
            self.retransmission(again);
        }
        for event in &self.flow.records.events {
            if event.confidence != Confidence::Ambiguous {
                self.event(event);
            }
        }
        self.sums();
        self.bounds();
        self.limits();
    }

    /// Each instant of the life has one limit, in the sums and in the stretches.
    fn limits(&mut self) {
        let limits = &self.flow.limits;
        let sum: i64 = limits.shares.iter().map(|share| share.ns).sum();
        let what = || format!("{sum} for {} ns", limits.life_ns());
        self.demand(
            "the shares of the limits are the life",
            sum == limits.life_ns(),
            what,
        );
        let stretches = &limits.stretches;
        let ends = stretches.iter().map(|stretch| stretch.end_ns);
        let starts = stretches.iter().map(|stretch| stretch.start_ns);
        let begun = (limits.life_ns() > 0).then_some(limits.begun_ns);
        let joined = starts.eq(begun.into_iter().chain(ends).take(stretches.len()));
        let whole = stretches
            .last()
            .is_none_or(|last| last.end_ns == limits.ended_ns);
        let what = || {
            format!(
                "{stretches:?} of {} to {}",
                limits.begun_ns, limits.ended_ns
            )
        };
        self.demand(
            "the stretches are the life, without gaps",
            joined && whole,
            what,
        );
        let unneeded: i64 = limits.unnecessary.iter().map(|(_, ns)| ns).sum();
        let told = limits.share_where(|set| set.only().is_some_and(Limit::is_unneeded));
        let told = (told * limits.life_ns() as f64).round() as i64;
        let what = || format!("{unneeded} for {told} ns");
        let same = (unneeded - told).abs() <= told / 1_000_000 + 1;
        self.demand("time lost without need has causes", same, what);
    }

    fn retransmission(&mut self, again: &Retransmission) {
        let Some(&data) = self.way.frame(again.frame) else {
            let what = || format!("frame {} carries no data", again.frame);
            return self.demand("a retransmission is a packet with data", false, what);
        };
        let what = || format!("{again:?} of {data:?}");
        self.demand(
            "a byte that appears once and in order was not sent again",
            self.was_perhaps_sent_before(&data),
            what,
        );
        self.demand(
            "a frame captured twice was not sent again",
            !data.twin,
            what,
        );
        if again.verdict != Verdict::Spurious {
            return;
        }
        self.demand(
            "what was spurious had arrived: it is acknowledged",
            self.reported(&data) || self.is_likely_unheard(again),
            what,
        );
        if self.flow.vantage.vantage == Vantage::Receiver {
            let mut before = self.way.others(&data).filter(|d| d.frame < data.frame);
            let any = before.next();
            let refused = any.is_some_and(|d| self.way.beyond_the_window(d))
                && before.all(|d| self.way.beyond_the_window(d));
            self.demand(
                "what lies beyond the window was not accepted",
                !refused,
                what,
            );
        }
    }

    fn event(&mut self, event: &Event) {
        // Its frame is 0 where it is not known which one it was.
        let Some(&data) = self.way.frame(event.frame) else {
            return;
        };
        let what = || format!("{event:?} of {data:?}");
        let receiver = self.flow.vantage.vantage == Vantage::Receiver;
        match event.kind {
            Kind::Reordered => {
                self.demand(
                    "what was late had arrived: it is acknowledged",
                    self.reported(&data) || !self.way.goes_on_behind(&data),
                    what,
                );
                self.demand(
                    "a late packet comes below a higher one",
                    !receiver || data.below,
                    what,
                );
            }
            Kind::Lost => {
                let again = self.way.others(&data).any(|d| d.frame > data.frame);
                self.demand(
                    "what was lost and is known to be filled was sent again",
                    again,
                    what,
                );
            }
            _ => {}
        }
    }

    fn was_perhaps_sent_before(&self, data: &Data) -> bool {
        let host = Endpoint::from(self.flow.flow.src).addr();
        // Away from the sender a retransmission may overtake its original.
        let overtakes = self.flow.vantage.vantage != Vantage::Sender;
        let twice = data.seen_before > 0 || overtakes && self.way.others(data).next().is_some();
        twice || data.below || self.reader.may_be_tail(host, data)
    }

    /// The receiver has acknowledged the packet; of one that stands for several, a part of it.
    fn reported(&self, data: &Data) -> bool {
        let one = data.to - data.from <= i64::from(self.flow.endpoints.mss.max(1));
        let reported = self.way.reported.common(data.from, data.to);
        reported == data.to - data.from || !one && reported > 0
    }

    /// Nothing of the receiver was captured, and no more than likely is said.
    fn is_likely_unheard(&self, again: &Retransmission) -> bool {
        self.way.reported.span().is_none() && again.confidence != Confidence::Certain
    }

    /// The sum of the parts is the whole, and counts and lists say the same.
    fn sums(&mut self) {
        let flow = self.flow;
        let (again, recoveries) = (flow.retransmissions, &flow.recoveries);
        let causes = &recoveries.by_cause;
        let sum =
            |count: fn(&inorder_detect::CauseCount) -> u64| causes.iter().map(count).sum::<u64>();
        let list = &flow.records.retransmissions;
        let verdicts = |v| list.iter().filter(|r| r.verdict == v).count() as u64;
        let events = |kind| {
            let told = |e: &&Event| e.kind == kind && e.confidence != Confidence::Ambiguous;
            flow.records.events.iter().filter(told).count() as u64
        };
        let equal = [
            (
                "verdicts",
                again.needed + again.spurious + again.ambiguous,
                again.total,
            ),
            ("retransmissions", list.len() as u64, again.total),
            ("needed", verdicts(Verdict::Needed), again.needed),
            ("spurious", verdicts(Verdict::Spurious), again.spurious),
            ("recoveries", sum(|c| c.recoveries), recoveries.total),
            ("lost", events(Kind::Lost), flow.originals.lost),
            ("late", events(Kind::Reordered), flow.reordering.reordered),
        ];
        for (name, parts, whole) in equal {
            let what = || format!("{name}: {parts} for {whole}");
            self.demand("the sum of the parts is the whole", parts == whole, what);
        }
        let within = [
            (
                "recoveries",
                recoveries.spurious + recoveries.ambiguous,
                recoveries.total,
            ),
            ("timeouts", sum(|c| c.timeouts), recoveries.total),
            ("expiries", sum(|c| c.expiries), again.total),
            (
                "retransmissions by cause",
                sum(|c| c.retransmissions),
                again.total,
            ),
            ("refused", events(Kind::Refused), flow.originals.refused),
        ];
        for (name, parts, whole) in within {
            let what = || format!("{name}: {parts} of {whole}");
            self.demand("a part is no more than the whole", parts <= whole, what);
        }
    }

    fn bounds(&mut self) {
        let (flow, way) = (self.flow, self.way);
        let order = &flow.reordering;
        let gone = flow.originals.lost + flow.originals.refused + order.reordered;
        let what = || format!("{gone} lost, refused or late of {}", flow.originals.packets);
        self.demand(
            "more cannot be lost than was sent",
            gone <= flow.originals.packets,
            what,
        );
        let lost = flow
            .records
            .events
            .iter()
            .filter(|e| e.kind != Kind::Reordered && e.confidence != Confidence::Ambiguous);
        let mut places = BTreeSet::new();
        let once = lost
            .map(|e| (e.kind as u8, e.seq_offset))
            .all(|place| places.insert(place));
        self.demand("more cannot be lost than was sent", once, || {
            "one original is lost twice".to_owned()
        });

        let late_ns = order.late_ns.max().unwrap_or(0);
        let lasted = flow
            .last_ns
            .saturating_sub(flow.first_ns)
            .max(0)
            .cast_unsigned();
        let what = || format!("late by {late_ns} ns in {lasted} ns");
        self.demand(
            "nothing is late by more than the flow lasted",
            late_ns <= lasted,
            what,
        );
        let extent = order.extents.max().unwrap_or(0);
        let what = || format!("extent {extent} of {} packets", flow.originals.packets);
        // The others, and the end of the data (FIN), which has a number of its own.
        self.demand(
            "a packet is overtaken by no more than there are",
            extent <= flow.originals.packets,
            what,
        );

        let seen = way.seen.bytes().max(0).cast_unsigned();
        let (low, high) = way.seen.span().unwrap_or_default();
        let reported = way
            .reported
            .span()
            .map_or(high, |(_, right)| right.max(high));
        let span = (reported - low).max(0).cast_unsigned().max(seen);
        // Of what is lost before the capture point only the retransmission is seen.
        let list = flow.records.retransmissions.iter();
        let again: u64 = list.map(|again| u64::from(again.len)).sum();
        let bytes = flow.originals.bytes;
        let what = || format!("{bytes} bytes and {again} again, {seen} were seen in {span}");
        self.demand(
            "every byte that was seen counts once",
            bytes <= span && seen <= bytes + again,
            what,
        );

        let packets = |d: &Data| {
            (d.to - d.from)
                .cast_unsigned()
                .div_ceil(u64::from(flow.endpoints.mss.max(1)))
        };
        let again = way.data.iter().filter(|d| self.was_perhaps_sent_before(d));
        let most: u64 = again.map(packets).sum();
        let what = || {
            format!(
                "{:?}, at most {most} packets carry old bytes or fill a hole",
                flow.retransmissions
            )
        };
        self.demand(
            "a byte that appears once and in order was not sent again",
            flow.retransmissions.total <= most,
            what,
        );
    }
}
