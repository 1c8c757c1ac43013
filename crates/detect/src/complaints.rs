//! What ICMP says of segments that did not arrive.
//!
//! A router that cannot pass a packet on, or a host that does not take it, tells the sender so and quotes the packet. As a
//! message quotes a segment that was sent here, and that only a retransmission brought, it proves that this transmission
//! did not arrive, and says why. A message that quotes anything else proves nothing: anybody can send one (RFC 5927).

use inorder_base::sequence::Offsets;
use inorder_wire::{Complaint, ComplaintKind};

use crate::result::{Cause, Icmp};

/// Messages remembered of a connection; routers send few (RFC 1812 section 4.3.2.8).
pub(crate) const MAX_COMPLAINTS: usize = 1_024;

/// A message about a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Complained {
    /// A byte of the segment.
    at: i64,
    at_ns: i64,
    frame: u64,
    cause: Cause,
    mtu: Option<u32>,
}

/// A message of whose segment the number is not there as a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cut {
    /// Where the byte is whose number is there.
    about: Complained,
    told: Complaint,
    /// A segment was found for it: a router sends one for each.
    used: bool,
}

impl Cut {
    /// The number of the byte `start` agrees with what is left of the number.
    fn may_quote(&self, start: i64) -> bool {
        let from = start.wrapping_sub(self.about.at) as u32;
        self.told.may_quote(self.told.seq.wrapping_add(from))
    }
}

/// A segment that did not arrive, as ICMP says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Proven {
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// The frame of the message.
    pub(crate) frame: u64,
    pub(crate) cause: Cause,
    mtu: Option<u32>,
}

/// The messages about the data of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Complaints {
    /// Ascending.
    all: Vec<Complained>,
    /// Those that the snap length has cut, by time: of each it is known which connection it is about, and of the number of its segment the
    /// upper bits.
    cut: Vec<Cut>,
    proven: Vec<Proven>,
}

heap!(Complaints: all, cut, proven);

/// Why the segment was not delivered.
fn cause(complaint: &Complaint) -> Cause {
    match (complaint.kind, complaint.code) {
        (ComplaintKind::TooLarge, _) => Cause::TooLarge,
        (ComplaintKind::Unreachable, _) => Cause::Unreachable,
        // Code 1 is about fragments that did not all arrive (RFC 792).
        (ComplaintKind::TimeExceeded, 0) => Cause::TimeExceeded,
        (ComplaintKind::TimeExceeded | ComplaintKind::ParameterProblem, _) => Cause::Loss,
    }
}

impl Complaints {
    /// The messages `about` the data whose bytes `unwrap` counts.
    pub(crate) fn new(about: &[Complaint], unwrap: &Offsets) -> Self {
        let one = |complaint: &Complaint| Complained {
            at: unwrap.offset(complaint.seq),
            at_ns: complaint.ts_ns,
            frame: complaint.frame,
            cause: cause(complaint),
            mtu: complaint.mtu,
        };
        let (cut, whole): (Vec<&Complaint>, _) = about.iter().partition(|c| c.is_cut());
        let mut all: Vec<Complained> = whole.into_iter().map(one).collect();
        all.sort_by_key(|c| (c.at, c.at_ns));
        let cut = cut.into_iter().map(|told| Cut {
            about: one(told),
            told: *told,
            used: false,
        });
        let mut cut: Vec<Cut> = cut.collect();
        cut.sort_by_key(|cut| cut.about.at_ns);
        let proven = Vec::new();
        Complaints { all, cut, proven }
    }

    /// Was there a message about the segment of the bytes `[start, end)` between the time it was sent and `until_ns`?
    pub(crate) fn prove(
        &mut self,
        (start, end): (i64, i64),
        (sent_ns, until_ns): (i64, i64),
    ) -> Option<Proven> {
        let first = self.all.partition_point(|c| c.at < start);
        let mut within = self.all.iter().skip(first).take_while(|c| c.at < end);
        let timely = |c: &Complained| (sent_ns..=until_ns).contains(&c.at_ns);
        let found = match within.find(|c| timely(c)) {
            Some(found) => *found,
            None => {
                let mut cut = self.cut.iter_mut();
                let cut = cut.find(|c| !c.used && timely(&c.about) && c.may_quote(start))?;
                cut.used = true;
                cut.about
            }
        };
        let proven = Proven {
            start,
            end,
            frame: found.frame,
            cause: found.cause,
            mtu: found.mtu,
        };
        self.proven.push(proven);
        Some(proven)
    }

    /// The segment that begins there is proven not to have arrived.
    pub(crate) fn has_proven(&self, start: i64) -> bool {
        self.proven.iter().any(|p| p.start == start)
    }

    /// What was proven, ascending.
    pub(crate) fn into_proven(mut self) -> Vec<Proven> {
        self.proven.sort_by_key(|p| p.start);
        self.proven
    }
}

/// The cause of what lies in `[from, to]`, if all of `losses` there are `proven`.
pub(crate) fn cause_of(proven: &[Proven], losses: impl Iterator<Item = i64>) -> Option<Cause> {
    let mut cause = None;
    for at in losses {
        let next = proven.partition_point(|p| p.end <= at);
        let told = proven.get(next).filter(|p| p.start <= at)?;
        cause.get_or_insert(told.cause);
    }
    cause
}

/// The sums.
pub(crate) fn sum(proven: &[Proven]) -> Icmp {
    let of = |cause: Cause| proven.iter().filter(|p| p.cause == cause).count() as u64;
    Icmp {
        too_large: of(Cause::TooLarge),
        unreachable: of(Cause::Unreachable),
        time_exceeded: of(Cause::TimeExceeded),
        mtu: proven.iter().filter_map(|p| p.mtu).min(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(seq: u32, at_ns: i64, kind: ComplaintKind) -> Complaint {
        Complaint {
            ts_ns: at_ns,
            frame: 7,
            kind,
            code: 0,
            mtu: (kind == ComplaintKind::TooLarge).then_some(1_400),
            seq,
            seq_known: u32::MAX,
            ip_id: None,
            tcp_len: None,
        }
    }

    #[test]
    fn a_message_that_is_cut_stands_for_one_segment_of_its_numbers() {
        let unwrap = Offsets::new(0x0001_0000);
        let cut = |seq, at_ns| Complaint {
            seq_known: 0xffff_0000,
            ..about(seq, at_ns, ComplaintKind::TooLarge)
        };
        let all = [cut(0x0001_0000, 50), cut(0x0001_0000, 51)];
        let mut complaints = Complaints::new(&all, &unwrap);
        let far = (0x1_0000, 0x1_0000 + 1_000);
        assert_eq!(complaints.prove(far, (20, 60)), None, "other upper bits");
        assert!(complaints.prove((0, 1_000), (20, 60)).is_some());
        assert!(complaints.prove((1_000, 2_000), (20, 60)).is_some());
        assert_eq!(complaints.prove((2_000, 3_000), (20, 60)), None, "no third");
    }

    #[test]
    fn a_message_is_evidence_of_a_segment_that_was_sent_before_it_and_again_after_it() {
        let unwrap = Offsets::new(1_000);
        let all = [
            about(1_000, 50, ComplaintKind::TooLarge),
            about(1_500, 10, ComplaintKind::Unreachable),
            about(9_000, 50, ComplaintKind::TimeExceeded),
        ];
        let mut complaints = Complaints::new(&all, &unwrap);
        assert_eq!(
            complaints.prove((0, 500), (20, 40)),
            None,
            "sent again before"
        );
        let told = complaints.prove((0, 500), (20, 60)).map(|p| p.cause);
        assert_eq!(told, Some(Cause::TooLarge));
        assert_eq!(
            complaints.prove((500, 1_000), (20, 60)),
            None,
            "not sent yet"
        );
        let proven = complaints.into_proven();
        let sums = sum(&proven);
        assert_eq!(
            (sums.too_large, sums.unreachable, sums.mtu),
            (1, 0, Some(1_400))
        );
        assert_eq!(
            cause_of(&proven, [100, 400].into_iter()),
            Some(Cause::TooLarge)
        );
        assert_eq!(cause_of(&proven, [100, 600].into_iter()), None);
    }
}
