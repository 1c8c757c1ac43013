//! The points of the time-sequence diagram.

use inorder_detect::{FlowReport, Point, PointKind};
use serde::Serialize;

/// Points in the order of time, each as the difference to the one before: that needs half of the bytes.
#[derive(Serialize, Default)]
pub(crate) struct Points {
    /// Microseconds.
    t: Vec<i64>,
    /// Bytes.
    seq: Vec<i64>,
    /// 0 data, 1 retransmission, 2 ACK, as one text of digits.
    kind: String,
}

impl Points {
    /// True without points.
    pub(super) fn is_empty(&self) -> bool {
        self.t.is_empty()
    }

    fn of(flow: &FlowReport, drawn: &[&Point]) -> Points {
        let mut points = Points::default();
        let (mut t, mut seq) = (0, 0);
        for point in drawn {
            let at = (point.at_ns - flow.first_ns) / 1_000;
            let offset = i64::try_from(point.seq_offset).unwrap_or(i64::MAX);
            points.t.push(at - t);
            points.seq.push(offset - seq);
            points.kind.push(match point.kind {
                PointKind::Data => '0',
                PointKind::Retransmission => '1',
                PointKind::Ack => '2',
            });
            (t, seq) = (at, offset);
        }
        points
    }
}

/// About `room` points, half of them of the worst burst. Retransmissions that are known one by one are marks instead.
pub(crate) fn of(flow: &FlowReport, burst: Option<(i64, i64)>, room: usize) -> Points {
    let listed = !flow.records.retransmissions.is_empty();
    let is_mark = |point: &Point| listed && point.kind == PointKind::Retransmission;
    let all: Vec<&Point> = flow.records.points.iter().filter(|p| !is_mark(p)).collect();
    if all.len() <= room {
        return Points::of(flow, &all);
    }
    let (from, until) = burst.unwrap_or((0, 0));
    let inside = |point: &&Point| (from..=until).contains(&point.at_ns);
    let (near, far): (Vec<&Point>, Vec<&Point>) = all.into_iter().partition(inside);
    let mut drawn = evenly(&near, room / 2);
    drawn.extend(evenly(&far, room / 2));
    drawn.sort_by_key(|p| (p.at_ns, p.seq_offset));
    Points::of(flow, &drawn)
}

/// At most about `room` points; retransmissions, which are few, are thinned apart from the others.
fn evenly<'p>(points: &[&'p Point], room: usize) -> Vec<&'p Point> {
    let of_kind = |again: bool| -> Vec<&'p Point> {
        let kind = |p: &&&Point| (p.kind == PointKind::Retransmission) == again;
        points.iter().filter(kind).copied().collect()
    };
    let mut drawn = Vec::new();
    for (again, share) in [(true, room / 4), (false, room - room / 4)] {
        let all = of_kind(again);
        let step = all.len().div_ceil(share.max(1)).max(1);
        drawn.extend(all.into_iter().step_by(step));
    }
    drawn
}
