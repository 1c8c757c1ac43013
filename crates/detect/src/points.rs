//! Points for a time-sequence diagram: of the whole flow, thinned evenly when there are too many, and every single one
//! of the stretch with the most trouble.

use std::collections::VecDeque;

use crate::result::{Point, PointKind};

/// Points of one kind kept at most of the whole flow.
const MAX_POINTS: usize = 2_048;
/// Points of the stretch that is kept in full: about as many as a diagram can show apart.
const STRETCH: usize = 768;

/// One kind of points.
#[derive(Debug)]
struct Thinned {
    stride: u32,
    skip: u32,
    points: Vec<Point>,
}

heap!(Thinned: points);

impl Thinned {
    fn push(&mut self, point: Point) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        self.skip = self.stride - 1;
        self.points.push(point);
        if self.points.len() >= MAX_POINTS {
            let mut i = 0;
            self.points.retain(|_| {
                i += 1;
                i % 2 == 1
            });
            self.stride *= 2;
        }
    }
}

/// The last points, and a copy of those among which most were troubled.
#[derive(Debug, Default)]
struct Worst {
    last: VecDeque<(Point, bool)>,
    troubled: usize,
    kept: Vec<Point>,
    /// How many of `kept` are troubled.
    most: usize,
}

heap!(Worst: last, kept);

impl Worst {
    fn push(&mut self, point: Point, troubled: bool) {
        self.troubled += usize::from(troubled);
        self.last.push_back((point, troubled));
        if self.last.len() <= STRETCH {
            return;
        }
        // A copy only when the count is about to fall, and only of more trouble than any copy before.
        if self.last.front().is_some_and(|(_, troubled)| *troubled) {
            self.keep();
        }
        if let Some((_, true)) = self.last.pop_front() {
            self.troubled -= 1;
        }
    }

    fn keep(&mut self) {
        if self.troubled > self.most {
            self.most = self.troubled;
            self.kept.clear();
            self.kept.extend(self.last.iter().map(|(point, _)| *point));
        }
    }
}

/// The points of one flow.
#[derive(Debug)]
pub(crate) struct Points {
    kinds: [Thinned; 3],
    /// The greatest offset of each kind.
    highest: [u64; 3],
    worst: Worst,
}

heap!(Points: kinds, worst);

impl Points {
    pub(crate) fn new() -> Self {
        let empty = || Thinned {
            stride: 1,
            skip: 0,
            points: Vec::new(),
        };
        Points {
            kinds: [empty(), empty(), empty()],
            highest: [0; 3],
            worst: Worst::default(),
        }
    }

    pub(crate) fn push(&mut self, at_ns: i64, offset: i64, kind: PointKind) {
        let point = Point {
            at_ns,
            seq_offset: offset.max(0) as u64,
            kind,
        };
        self.kinds[kind as usize].push(point);
        // Retransmissions, data below what was seen before, and duplicate ACKs are the signs of trouble that need no
        // further analysis.
        let highest = &mut self.highest[kind as usize];
        let troubled = match kind {
            PointKind::Data => point.seq_offset < *highest,
            PointKind::Retransmission => true,
            PointKind::Ack => point.seq_offset <= *highest,
        };
        *highest = point.seq_offset.max(*highest);
        self.worst.push(point, troubled);
    }

    /// The points, and the time from the first to the last of those that are kept in full; `None` without trouble.
    pub(crate) fn finish(mut self) -> (Vec<Point>, Option<(i64, i64)>) {
        self.worst.keep();
        let ends = (self.worst.kept.first(), self.worst.kept.last());
        let stretch = ends.0.zip(ends.1).map(|(a, b)| (a.at_ns, b.at_ns));
        let mut all: Vec<Point> = self.kinds.into_iter().flat_map(|k| k.points).collect();
        all.extend(self.worst.kept);
        all.sort_by_key(|p| (p.at_ns, p.seq_offset, p.kind));
        all.dedup();
        (all, stretch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100,000 segments, each acknowledged, and 40 retransmissions from segment 70,000 on.
    #[test]
    fn the_worst_stretch_is_kept_in_full() {
        let mut points = Points::new();
        for n in 0..100_000i64 {
            points.push(n * 1_000, n * 1_448, PointKind::Data);
            points.push(n * 1_000 + 500, n * 1_448, PointKind::Ack);
            if (70_000..70_040).contains(&n) {
                points.push(n * 1_000 + 700, (n - 20) * 1_448, PointKind::Retransmission);
            }
        }
        let (all, stretch) = points.finish();
        let (from, until) = stretch.unwrap();
        assert!(
            from <= 70_000_700 && until >= 70_039_700,
            "{from} to {until}"
        );
        assert!(all.len() < 3 * MAX_POINTS + STRETCH, "{}", all.len());
        // From the first retransmission on: 40 of them, and 39 segments with their ACKs.
        let inside = |p: &&Point| (70_000_700..70_040_000).contains(&p.at_ns);
        assert_eq!(all.iter().filter(inside).count(), 118);
        assert!(all.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
    }
}
