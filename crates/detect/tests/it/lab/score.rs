//! One capture's analysis held against the truth from both ends.
//!
//! Events are matched by flow and first byte, retransmissions by frame. What cannot be seen from
//! the side of the capture, by the rules in `testdata/lab/ends/sight.py`, is counted apart: it is
//! neither missed nor, if told, true or false. An ambiguous event asserts nothing. An original
//! that the receiver refused did arrive late, so "reordered" is no false statement about it, but
//! no hit either.

use std::collections::{BTreeMap, HashMap};
use std::io;

use inorder_detect::{
    Bound, Cause, Confidence, Config, Event, FlowReport, Kind, Recovery, Vantage, VantageBasis,
    Verdict,
};

use super::count::{About, Counts, Found, Sure};
use super::recording::{Recording, analyse};
use super::truth::{self, Copy, Fate, Flow, View};

/// Is this the cause that the truth names? Where one of the two says that data was lost, but not
/// where, the other may say where.
fn agrees(told: Cause, truth: &str) -> bool {
    match truth {
        "queue-loss" => matches!(told, Cause::QueueLoss | Cause::Loss),
        "random-loss" => matches!(told, Cause::RandomLoss | Cause::Loss),
        "loss" | "before-tap" => told.is_loss(),
        "refused" => told == Cause::Refused,
        "window" => told == Cause::Refused,
        "reordering" => told == Cause::Reordering,
        "ack-reordering" => told == Cause::AckReordering,
        // The truth calls so whatever is sent again of the end before anything asks for it.
        "tail-probe" => matches!(told, Cause::TailProbe | Cause::InAdvance),
        // Of acknowledgements that were lost the sender knows as little as of those that are late.
        "delay-jump" | "ack-loss" => told == Cause::DelayJump,
        _ => false,
    }
}

/// Where a capture was made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Side {
    Sender,
    Receiver,
    Middle,
}

/// Both sides of a recording, and in words every false statement and everything that was not reported.
#[derive(Clone, Default, Debug)]
pub(crate) struct Scored {
    pub sender: Counts,
    pub receiver: Counts,
    pub middle: Counts,
    pub wrong: Vec<String>,
    pub missed: Vec<String>,
    /// Sender's side, receiver's and the path by trait: a habit of an endpoint, a defect of the capture.
    pub traits: BTreeMap<String, [Counts; 3]>,
}

/// Analyses both captures and scores them.
pub(crate) fn score(recording: &Recording, config: &Config) -> io::Result<Scored> {
    let truth = truth::read(&recording.truth)?;
    let mut out = Scored::default();
    for (path, is_snd) in recording.captures() {
        let told = analyse(path, config, recording.kept)?;
        out.judge(&recording.name, &truth, &told, is_snd);
    }
    for counts in [&mut out.sender, &mut out.receiver, &mut out.middle] {
        counts.recordings = u64::from(counts.flows > 0);
    }
    Ok(out)
}

impl Scored {
    /// Holds what is `told` of one capture of the recording `name` against the truth.
    pub(crate) fn judge(
        &mut self,
        name: &str,
        truth: &HashMap<String, Flow>,
        told: &[FlowReport],
        is_snd: bool,
    ) {
        let mut names: HashMap<String, u64> = HashMap::new();
        let mut named = |f: &FlowReport| {
            let plain = f.flow.to_string();
            let n = names.entry(plain.clone()).or_default();
            let name = truth::numbered(&plain, *n);
            *n += 1;
            name
        };
        let told: HashMap<String, &FlowReport> = told.iter().map(|f| (named(f), f)).collect();
        for (flow_name, flow) in truth {
            let side = match flow.view {
                Some(View::Sender) => Side::Sender,
                Some(View::Receiver) => Side::Receiver,
                Some(View::Middle) => Side::Middle,
                None if flow.sender_is_snd == is_snd => Side::Sender,
                None => Side::Receiver,
            };
            let mut counts = Counts::default();
            let told = told.get(flow_name).copied();
            let counted = flow.beginning_at(base(flow, told));
            let mut judge = Judge {
                flow: &counted,
                side,
                counts: &mut counts,
                wrong: &mut self.wrong,
                missed: &mut self.missed,
                context: format!("{name} {side:?} {flow_name}"),
            };
            judge.flow(told);
            match side {
                Side::Sender => self.sender += &counts,
                Side::Receiver => self.receiver += &counts,
                Side::Middle => self.middle += &counts,
            }
            for word in &flow.traits {
                self.traits.entry(word.clone()).or_default()[side as usize] += &counts;
            }
        }
    }
}

/// The byte from which the analysis counts: of a capture that begins late what it takes for the first one, as most of its events
/// show whose frames the truth knows.
fn base(flow: &Flow, told: Option<&FlowReport>) -> u64 {
    if flow.base == 0 {
        return 0;
    }
    let offsets = flow.events.iter();
    let by_frame: HashMap<u64, u64> = offsets
        .filter_map(|(&at, event)| Some((event.frame?, at)))
        .collect();
    let mut votes: BTreeMap<u64, u64> = BTreeMap::new();
    for event in told.iter().flat_map(|told| &told.records.events) {
        let at = by_frame.get(&event.frame);
        if let Some(base) = at.and_then(|at| at.checked_sub(event.seq_offset)) {
            *votes.entry(base).or_default() += 1;
        }
    }
    let most = votes.into_iter().max_by_key(|&(_, votes)| votes);
    most.map_or(flow.base, |(base, _)| base)
}

/// What a rule is called where it speaks of a retransmission.
fn copy_rule(rule: &str) -> String {
    format!("copy {rule}")
}

/// How many originals the analysis says the receiver refused.
fn refused_told(told: &FlowReport) -> u64 {
    told.originals.refused
}

struct Judge<'a> {
    flow: &'a Flow,
    side: Side,
    counts: &'a mut Counts,
    wrong: &'a mut Vec<String>,
    missed: &'a mut Vec<String>,
    context: String,
}

impl<'a> Judge<'a> {
    fn flow(&mut self, told: Option<&FlowReport>) {
        self.counts.flows += 1;
        self.counts.packets += self.flow.data_packets;
        self.truth();
        let Some(told) = told else {
            return;
        };
        self.vantage(told);
        for event in &told.records.events {
            self.event(event);
        }
        self.refused(told);
        for r in &told.records.retransmissions {
            self.retransmission(r);
        }
        if self.side != Side::Receiver {
            self.recoveries(told);
        }
        self.missed(told);
    }

    /// Whether the capture was said to be where it was made.
    fn vantage(&mut self, told: &FlowReport) {
        let truth = match self.side {
            Side::Sender => Vantage::Sender,
            Side::Receiver => Vantage::Receiver,
            Side::Middle => Vantage::Middle,
        };
        let told = told.vantage;
        if told.basis != VantageBasis::Unknown {
            self.counts.vantage.told += 1;
            self.counts.vantage.right += u64::from(told.vantage == truth);
            if told.vantage != truth {
                let (vantage, basis) = (told.vantage, told.basis);
                self.wrong.push(format!(
                    "{}: told the vantage {vantage:?} {basis:?}",
                    self.context
                ));
            }
        }
    }

    /// Lists the events and spurious retransmissions that can be seen from here and are not asserted.
    fn missed(&mut self, told: &FlowReport) {
        let asserted = |offset: u64, kind: Kind| {
            let of_it = told.records.events.iter().find(|e| e.seq_offset == offset);
            let right =
                of_it.is_some_and(|e| e.kind == kind && Sure::of(e.confidence) != Sure::Ambiguous);
            let instead = of_it.map(|e| (e.kind, e.confidence, e.evidence, e.reason));
            (right, instead)
        };
        let mut lines = Vec::new();
        for (&offset, event) in &self.flow.events {
            let kind = match event.fate {
                Fate::Reordered => Kind::Reordered,
                Fate::Lost => Kind::Lost,
                Fate::Refused | Fate::Undecided => continue,
            };
            let (right, instead) = asserted(offset, kind);
            if !right && self.apart(event).is_none() {
                lines.push((offset, format!("{kind:?}, told {instead:?}")));
            }
        }
        let told_spurious = |frame: u64| {
            let list = &told.records.retransmissions;
            list.iter()
                .any(|r| r.frame == frame && r.verdict == Verdict::Spurious)
        };
        for (&frame, copies) in self.copies() {
            for copy in copies.iter().filter(|c| c.kind == Copy::Spurious) {
                let seen = self.side == Side::Receiver || copy.unseen.is_none();
                if seen && !told_spurious(frame) {
                    lines.push((copy.start, format!("spurious, frame {frame}")));
                }
            }
        }
        lines.sort();
        let context = &self.context;
        let lines = lines.into_iter();
        self.missed
            .extend(lines.map(|(offset, text)| format!("{context} byte {offset}: missed {text}")));
    }

    /// How many were refused, whichever.
    fn refused(&mut self, told: &FlowReport) {
        let fates = self.flow.events.values().map(|e| e.fate);
        let truth = fates.filter(|&f| f == Fate::Refused).count() as u64;
        let told = refused_told(told);
        self.counts.refused_number += Found {
            truth,
            told,
            hits: truth.min(told),
        };
    }

    /// Counts what there is to be found.
    fn truth(&mut self) {
        for event in self.flow.events.values() {
            match self.apart(event) {
                None => {
                    if let Some(found) = self.counts.found(event.fate) {
                        found.truth += 1;
                    }
                }
                Some(rule) => {
                    self.counts.apart_events += 1;
                    self.counts.apart.entry(rule).or_default().0 += 1;
                }
            }
        }
        for copy in self.copies().values().flatten() {
            if copy.kind != Copy::Spurious {
                continue;
            }
            match copy.unseen.as_ref().filter(|_| self.side != Side::Receiver) {
                None => self.counts.spurious.truth += 1,
                Some(rule) => self.counts.apart.entry(copy_rule(rule)).or_default().0 += 1,
            }
        }
    }

    /// Retransmissions by frame of this side's capture.
    fn copies(&self) -> &'a HashMap<u64, Vec<truth::Retransmission>> {
        match self.side {
            Side::Sender | Side::Middle => &self.flow.sent,
            Side::Receiver => &self.flow.arrived,
        }
    }

    /// The rule by which an event cannot be seen from here.
    fn apart(&self, event: &truth::Event) -> Option<String> {
        if event.fate == Fate::Undecided {
            return Some("undecided".to_owned());
        }
        match self.side {
            Side::Sender | Side::Middle => event.unseen.clone(),
            // Nothing shows a receiver that what now comes for the first time was sent before.
            Side::Receiver => {
                let no_gap = event.fate == Fate::Lost && !event.gap;
                let no_gap = no_gap.then(|| "no-gap".to_owned());
                event.hidden.clone().or(no_gap)
            }
        }
    }

    /// The rule by which a sender cannot see that the original at `offset` had arrived before it
    /// was sent again.
    fn hidden_copy(&self, offset: u64) -> Option<String> {
        let copies = self.flow.sent.values().flatten();
        let mut of_it = copies.filter(|c| c.start <= offset && offset < c.end);
        let hidden = of_it.find(|c| c.kind == Copy::Spurious && c.unseen.is_some())?;
        let seen_from_here = self.side == Side::Receiver;
        hidden
            .unseen
            .as_deref()
            .filter(|_| !seen_from_here)
            .map(copy_rule)
    }

    fn event(&mut self, told: &Event) {
        let fate = match told.kind {
            Kind::Reordered => Fate::Reordered,
            Kind::Lost => Fate::Lost,
            Kind::Refused => Fate::Refused,
            other => unreachable!("an event of a kind that the lab does not know: {other:?}"),
        };
        let sure = Sure::of(told.confidence);
        let truth = self.flow.events.get(&told.seq_offset);
        let right = truth.is_some_and(|t| t.fate == fate);
        let hidden = || {
            self.hidden_copy(told.seq_offset)
                .filter(|_| truth.is_none())
        };
        if let Some(rule) = truth.and_then(|t| self.apart(t)).or_else(hidden) {
            let apart = &mut self.counts.apart.entry(rule).or_default().1;
            apart.told += 1;
            apart.right += u64::from(right);
            if truth.is_some_and(|t| t.fate != Fate::Undecided) {
                // It need not be reported; a report all the same is true or false.
                self.trust(About::Event(fate), sure, right);
                if !right && sure != Sure::Ambiguous {
                    self.wrong(told, truth);
                }
            }
            return;
        }
        if fate == Fate::Reordered && truth.is_some_and(|t| t.fate == Fate::Refused) {
            return;
        }
        self.trust(About::Event(fate), sure, right);
        let reason = told.reason.map_or(String::new(), |r| format!(", {r:?}"));
        let grounds = format!("{fate:?}, {sure:?} | {:?}{reason}", told.evidence);
        let grounds = self.counts.grounds.entry(grounds).or_default();
        grounds.told += 1;
        grounds.right += u64::from(right);
        if sure == Sure::Ambiguous {
            return;
        }
        if let Some(found) = self.counts.found(fate) {
            found.told += 1;
            found.hits += u64::from(right);
        }
        if !right {
            self.wrong(told, truth);
        } else if fate == Fate::Reordered {
            self.extent(told, truth.and_then(|t| t.extent));
        }
    }

    fn wrong(&mut self, told: &Event, truth: Option<&truth::Event>) {
        let instead = truth.map_or("in order".to_owned(), |t| format!("{:?}", t.fate));
        self.wrong.push(format!(
            "{} byte {} frame {}: told {:?} {:?} {:?} {:?}, truth {instead}",
            self.context,
            told.seq_offset,
            told.frame,
            told.kind,
            told.confidence,
            told.evidence,
            told.reason
        ));
    }

    /// A statement about `about` was true or false.
    fn trust(&mut self, about: About, sure: Sure, right: bool) {
        let trust = self.counts.trust.entry((about, sure)).or_default();
        trust.told += 1;
        trust.right += u64::from(right);
    }

    fn extent(&mut self, told: &Event, truth: Option<u64>) {
        // A late packet that has no extent asserts nothing here.
        let Some(bound) = told.extent_is() else {
            return;
        };
        let both = told.extent.map(u64::from).zip(truth);
        let off = both.map(|(a, b)| a.abs_diff(b));
        let right = both.is_some_and(|(told, truth)| match bound {
            Bound::AtMost => truth <= told,
            Bound::AtLeast => truth >= told,
            _ => truth == told,
        });
        if told.confidence == Confidence::Certain && !right {
            self.wrong.push(format!(
                "{} byte {} frame {}: told an extent of {:?}, truth {truth:?}",
                self.context, told.seq_offset, told.frame, told.extent
            ));
        }
        self.counts.extents += 1;
        // An estimate asserts nothing.
        if bound != Bound::About {
            self.trust(About::Extent, Sure::of(told.confidence), right);
        }
        self.counts.exact += u64::from(off == Some(0));
        self.counts.within_one += u64::from(off.is_some_and(|o| o <= 1));
    }

    fn retransmission(&mut self, told: &inorder_detect::Retransmission) {
        if told.verdict != Verdict::Spurious {
            return;
        }
        let end = told.seq_offset + u64::from(told.len);
        let copies = self.copies().get(&told.frame).into_iter().flatten();
        let copy = { copies }.find(|c| c.start < end && c.end > told.seq_offset);
        let unseen = copy.and_then(|c| c.unseen.as_ref());
        let right = copy.is_some_and(|c| c.kind == Copy::Spurious);
        if copy.is_some_and(|c| c.kind == Copy::Refused) {
            return;
        }
        let sure = Sure::of(told.confidence);
        if let Some(rule) = unseen.filter(|_| self.side != Side::Receiver) {
            let apart = &mut self.counts.apart.entry(copy_rule(rule)).or_default().1;
            apart.told += 1;
            apart.right += u64::from(right);
            if copy.is_some_and(|c| c.kind != Copy::Undecided) {
                self.trust(About::Spurious, sure, right);
            }
            return;
        }
        self.trust(About::Spurious, sure, right);
        if sure == Sure::Ambiguous {
            return;
        }
        self.counts.spurious.told += 1;
        self.counts.spurious.hits += u64::from(right);
        if !right {
            let truth = copy.map_or("no retransmission".to_owned(), |c| {
                format!("{:?} {:?}", c.kind, c.causes)
            });
            self.wrong.push(format!(
                "{} byte {} frame {}: told a spurious retransmission {:?}, truth {truth}",
                self.context, told.seq_offset, told.frame, told.confidence
            ));
        }
    }

    /// A recovery is known by the frame that begins it: a capture's clock may have been set back, and some pass at one instant.
    fn recoveries(&mut self, told: &FlowReport) {
        let list = told.records.retransmissions.iter().rev();
        let frames: HashMap<(i64, u64), u64> =
            list.map(|r| ((r.at_ns, r.seq_offset), r.frame)).collect();
        let phases = || told.recoveries.list.iter();
        let frame = |r: &Recovery| frames.get(&(r.start_ns, r.seq_offset)).copied();
        let by_frame: HashMap<u64, &Recovery> =
            phases().filter_map(|r| Some((frame(r)?, r))).collect();
        let by_time: HashMap<i64, &Recovery> = phases().map(|r| (r.start_ns, r)).collect();
        for truth in self.flow.recoveries.iter().filter(|r| r.unseen.is_none()) {
            self.counts.recoveries += 1;
            let there = truth.frame.and_then(|frame| by_frame.get(&frame));
            let there = there.or_else(|| by_time.get(&truth.at_ns));
            let known = there.filter(|r| r.cause != Cause::Unknown);
            let Some(r) = known else {
                self.missed.push(format!(
                    "{} byte {}: missed the cause of a recovery, {:?}, verdict {:?}",
                    self.context,
                    truth.seq_offset,
                    truth.causes,
                    there.map(|r| (r.verdict, r.timeout, r.retransmissions))
                ));
                continue;
            };
            let right = truth.causes.iter().any(|c| agrees(r.cause, c));
            self.counts.causes_told += 1;
            self.counts.causes_right += u64::from(right);
            let placed =
                matches!(truth.causes[..], [ref c] if c == "queue-loss" || c == "random-loss");
            self.counts.losses_right += u64::from(right && placed);
            self.counts.places_told += u64::from(right && placed && r.cause != Cause::Loss);
            if !right {
                self.wrong.push(format!(
                    "{} byte {}: told a recovery by {:?}, truth {:?}",
                    self.context, r.seq_offset, r.cause, truth.causes
                ));
            }
        }
    }
}
