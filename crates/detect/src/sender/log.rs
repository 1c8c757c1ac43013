//! The arrivals at the receiver as its ACKs tell them, in order, some waiting for a verdict.
//!
//! RFC 4737 section 4.2 counts positions, so a segment whose arrival is doubtful (original or retransmission)
//! holds back all that came after it until a later ACK, or the lack of one, decides.

use std::collections::VecDeque;

use crate::collect::{Basis, Collector, Place};
use crate::result::{Bound, Confidence, Evidence, Reason};
use inorder_metrics::by_bytes::{Arrived, Order};

/// Entries that may wait at once; beyond, the oldest is decided as if its time were up.
const MAX_ARRIVALS_WAITING: usize = 65_536;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Status {
    /// An original arrived here.
    Original(Basis),
    /// An original arrived here and was refused.
    Refused(Basis),
    /// Original or retransmission: a DSACK before the deadline tells.
    Doubtful {
        /// Nanoseconds.
        deadline: i64,
    },
    /// An unexplained ACK: perhaps the answer to an old original that PAWS discarded (RFC 7323 section 5.3).
    Unexplained {
        /// Nanoseconds.
        deadline: i64,
        /// If it is not known by then which, something may have arrived here all the same.
        hides: bool,
    },
    /// The end of the data arrived here: it takes a number (RFC 9293 section 3.4), and no packet is counted for it.
    End,
    /// Not an arrival of an original after all.
    Nothing,
}

/// One reported arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) place: Place,
    pub(crate) status: Status,
    /// Why its place among its neighbours is a guess.
    pub(crate) unsure: Option<Reason>,
    /// It arrived last of the segments that its ACK reports, as the order of the blocks shows.
    pub(crate) told: bool,
    /// When it came does not show: in its turn, most likely.
    pub(crate) in_turn: bool,
    /// It is taken for the last arrival that its ACK reports: it came no later.
    pub(crate) came_last: bool,
}

impl Entry {
    /// What came at `place`, when its ACK says.
    #[inline]
    pub(crate) fn new(place: Place, status: Status) -> Self {
        Entry {
            place,
            status,
            unsure: None,
            told: false,
            in_turn: false,
            came_last: false,
        }
    }
}

/// An arrival that may be missing, or one too many.
#[derive(Clone, Copy, Debug)]
struct Hidden {
    /// How many originals had arrived before.
    at: u64,
    /// What extents across it are then.
    bound: Bound,
}

/// The log and the order it feeds.
#[derive(Debug)]
pub(crate) struct ArrivalLog {
    entries: VecDeque<Entry>,
    first: u64,
    order: Order<u64>,
    /// Where an original may have arrived that is not known, or not for certain.
    hidden: Option<Hidden>,
    /// Where the highest arrival begins that is known to have come and is not in the log.
    hidden_start: i64,
}

heap!(ArrivalLog: entries, order);

impl ArrivalLog {
    pub(crate) fn new() -> Self {
        ArrivalLog {
            entries: VecDeque::new(),
            first: 0,
            order: Order::new(0),
            hidden: None,
            hidden_start: i64::MIN,
        }
    }

    /// Appends; the id serves [`ArrivalLog::decide`].
    #[inline]
    pub(crate) fn push(&mut self, entry: Entry, out: &mut Collector) -> u64 {
        if self.entries.is_empty()
            && let Status::Original(basis) = entry.status
        {
            // Nothing waits: the common case never touches the queue.
            self.hidden = record(
                &mut self.order,
                self.hidden,
                self.hidden_start,
                &entry,
                basis,
                out,
            );
            self.first += 1;
            return self.first - 1;
        }
        self.entries.push_back(entry);
        self.first + self.entries.len() as u64 - 1
    }

    /// Something may have arrived here that is not in the log.
    fn missing_here(&self) -> Hidden {
        Hidden {
            at: self.order.arrivals(),
            bound: Bound::AtLeast,
        }
    }

    /// Something arrived here that is not in the log: extents across it are one short, and so are those of all that begins below
    /// `start`, where it begins, and comes later; the least number if that is not known.
    pub(crate) fn hide(&mut self, start: i64) {
        self.hidden_start = self.hidden_start.max(start);
        if self.entries.is_empty() {
            self.hidden = Some(self.missing_here());
            return;
        }
        let status = Status::Unexplained {
            deadline: i64::MIN,
            hides: true,
        };
        self.entries.push_back(Entry::new(Place::default(), status));
    }

    /// The end of the data arrived here, at `place`, above what has not come: from now on that is late.
    pub(crate) fn end(&mut self, place: Place) {
        if self.entries.is_empty() {
            return arrive_end(&mut self.order, place);
        }
        self.entries.push_back(Entry::new(place, Status::End));
    }

    /// Sets the status of entry `id`, if it still waits.
    pub(crate) fn decide(&mut self, id: u64, status: Status) -> bool {
        let Some(entry) = self.waiting_mut(id) else {
            return false;
        };
        entry.status = status;
        true
    }

    /// Makes the unexplained entry `id` the arrival of an original: `status`, taken or refused.
    pub(crate) fn adopt(&mut self, id: u64, place: Place, status: Status) {
        if let Some(entry) = self.waiting_mut(id) {
            let proof = entry.place;
            entry.place = Place {
                at_ns: proof.at_ns,
                proof_frame: proof.proof_frame,
                ..place
            };
            entry.status = status;
        }
    }

    fn waiting_mut(&mut self, id: u64) -> Option<&mut Entry> {
        let i = usize::try_from(id.checked_sub(self.first)?).ok()?;
        self.entries.get_mut(i)
    }

    /// Passes on what is decided, up to the first entry that still waits at `now`. Returns a doubtful one whose time has run out, for the
    /// owner to decide: its id, and the first byte.
    #[inline]
    pub(crate) fn settle(&mut self, now: i64, out: &mut Collector) -> Option<(u64, i64)> {
        while let Some(front) = self.entries.front() {
            let full = self.entries.len() > MAX_ARRIVALS_WAITING;
            match front.status {
                Status::Original(basis) => {
                    let (hidden, start) = (self.hidden, self.hidden_start);
                    self.hidden = record(&mut self.order, hidden, start, front, basis, out);
                }
                Status::Refused(basis) => {
                    if basis.confidence != Confidence::Certain {
                        self.hidden = Some(self.missing_here());
                    }
                    refuse(&mut self.order, front, basis, out);
                }
                Status::End => arrive_end(&mut self.order, front.place),
                Status::Nothing => {}
                Status::Doubtful { deadline } if now >= deadline || full => {
                    return Some((self.first, front.place.start));
                }
                Status::Unexplained { deadline, hides } if now >= deadline || full => {
                    if hides {
                        self.hidden = Some(self.missing_here());
                    }
                }
                _ => return None,
            }
            self.entries.pop_front();
            self.first += 1;
        }
        None
    }

    /// Some of what was missing at once has been forgotten.
    pub(crate) fn forgot(&self) -> bool {
        self.order.forgotten_to() > i64::MIN
    }

    /// True when nothing waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The end of the data has its place in the order, and is none of the packets received.
fn arrive_end(order: &mut Order<u64>, place: Place) {
    order.end_arrives(place.start, place.at_ns, place.proof_frame);
}

/// What was refused arrived: it has its place in the order, and is not among those received.
fn refuse(order: &mut Order<u64>, entry: &Entry, basis: Basis, out: &mut Collector) {
    let place = entry.place;
    let arrived = order.arrive(place.start, place.len, place.at_ns, true, place.proof_frame);
    let late = match arrived {
        Arrived::Late(late) => Some(late),
        Arrived::InOrder(_) | Arrived::Known => None,
    };
    out.refused(place, late, basis);
}

/// The ACK that reported what opened the hole that `start` lies in.
fn opened_by(order: &Order<u64>, start: i64) -> Option<u64> {
    let hole = order.holes().beyond(start)?;
    (hole.start <= start).then_some(hole.note)
}

/// Records an arrival, and returns how many there were before the last one that is not certain. What is known to have come, and is not
/// in the order, begins at `hidden_start` at most.
#[inline]
fn record(
    order: &mut Order<u64>,
    hidden: Option<Hidden>,
    hidden_start: i64,
    entry: &Entry,
    basis: Basis,
    out: &mut Collector,
) -> Option<Hidden> {
    let place = entry.place;
    let position = order.arrivals();
    let unsure = entry.unsure.is_some();
    let same_ack = unsure && opened_by(order, place.start) == Some(place.proof_frame);
    match order.arrive(
        place.start,
        place.len,
        place.at_ns,
        unsure,
        place.proof_frame,
    ) {
        Arrived::InOrder(label) => out.in_order(label),
        Arrived::Late(late) if entry.in_turn => out.in_order(late.label),
        Arrived::Late(late) => {
            // One more may have come between its opener and it.
            let hidden = hidden.filter(|h| position < h.at + u64::from(late.extent));
            let hidden_above = place.start < hidden_start;
            let bound = match entry.unsure {
                Some(Reason::AckCompression) if entry.came_last && hidden.is_none() => {
                    Bound::AtMost
                }
                None if hidden_above => Bound::AtLeast,
                None => hidden.map_or(Bound::About, |h| h.bound),
                _ => Bound::About,
            };
            let basis = match entry.unsure {
                // It may have come in order: the ACKs had no room for the block that would have reported it then.
                Some(Reason::BlockLimit)
                    if matches!(basis.evidence, Evidence::Sack | Evidence::Timing) =>
                {
                    Basis::ambiguous(basis.evidence, Reason::BlockLimit)
                }
                Some(reason) if same_ack && !entry.told => Basis::ambiguous(basis.evidence, reason),
                Some(reason) => basis.weaker(reason),
                None if hidden.is_some() => basis.weaker(Reason::AcksMissing),
                None => basis,
            };
            out.late_within(place, late, late.label, basis, bound);
        }
        Arrived::Known => {}
    }
    // Which of its copies came is a guess: perhaps it did not come here.
    let doubtful = basis.confidence != Confidence::Certain;
    let perhaps = Hidden {
        at: position,
        bound: Bound::About,
    };
    if doubtful { Some(perhaps) } else { hidden }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Half;

    fn entry(start: i64, status: Status) -> Entry {
        let place = Place {
            start,
            len: 100,
            at_ns: start,
            ..Place::default()
        };
        Entry::new(place, status)
    }

    #[test]
    fn a_doubtful_arrival_holds_back_the_positions_behind_it() {
        let sure = Status::Original(Basis::certain(Evidence::Sack));
        let mut out = Box::new(Collector::new(Half::EndToEnd, true));
        let mut log = ArrivalLog::new();
        log.push(entry(0, sure), &mut out);
        log.push(entry(300, sure), &mut out);
        let id = log.push(entry(100, Status::Doubtful { deadline: 1_000 }), &mut out);
        log.push(entry(200, sure), &mut out);
        log.settle(500, &mut out);
        assert!(!log.is_empty());
        assert!(log.decide(id, Status::Nothing));
        log.settle(500, &mut out);
        let told = out.finish();
        let (order, events) = (&told.reordering, &told.events);
        assert_eq!((order.received, order.reordered), (3, 1));
        assert_eq!((events[0].seq_offset, events[0].extent), (200, Some(1)));
    }

    #[test]
    fn what_came_above_and_is_not_in_the_log_bounds_the_extents_of_all_below_it() {
        let sure = Status::Original(Basis::certain(Evidence::Sack));
        let mut out = Box::new(Collector::new(Half::EndToEnd, true));
        let mut log = ArrivalLog::new();
        log.push(entry(0, sure), &mut out);
        log.hide(200);
        for start in [300, 100, 500, 400] {
            log.push(entry(start, sure), &mut out);
        }
        let events = out.finish().events;
        let said = events
            .iter()
            .map(|e| (e.seq_offset, e.confidence, e.extent_is()));
        let certain = Confidence::Certain;
        assert_eq!(
            said.collect::<Vec<_>>(),
            [
                (100, certain, Some(Bound::AtLeast)),
                (400, certain, Some(Bound::Exact))
            ]
        );
    }

    /// Of five segments the third comes late behind the second, of which this says how it came: how sure the extent of the third is, and
    /// what it is a bound of.
    fn behind(second: impl FnOnce(&mut ArrivalLog, &mut Collector)) -> (Confidence, Bound) {
        let sure = Status::Original(Basis::certain(Evidence::Sack));
        let mut out = Box::new(Collector::new(Half::EndToEnd, true));
        let mut log = ArrivalLog::new();
        log.push(entry(0, sure), &mut out);
        log.push(entry(300, sure), &mut out);
        second(&mut log, &mut out);
        log.push(entry(200, sure), &mut out);
        log.settle(i64::MAX, &mut out);
        let events = out.finish().events;
        let third = events.iter().find(|e| e.seq_offset == 200);
        third.map(|e| (e.confidence, e.bound)).expect("it is late")
    }

    #[test]
    fn an_extent_across_what_may_not_have_come_is_no_bound_and_one_across_what_is_missing_is() {
        let came = |basis| {
            let second = entry(100, Status::Original(basis));
            behind(|log, out| _ = log.push(second, out))
        };
        let sure = Basis::certain(Evidence::Sack);
        assert_eq!(came(sure), (Confidence::Certain, Bound::About));
        let either = sure.weaker(Reason::WhichCopy);
        assert_eq!(came(either), (Confidence::Likely, Bound::About));
        let missing = behind(|log, _| log.hide(i64::MIN));
        assert_eq!(missing, (Confidence::Likely, Bound::AtLeast));
    }
}
