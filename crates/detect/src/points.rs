//! Points for a time-sequence diagram, thinned evenly when there are too many.

use crate::result::{Point, PointKind};

/// Points of one kind kept at most.
const MAX_POINTS: usize = 2_048;

/// One kind of points.
#[derive(Debug)]
struct Thinned {
    stride: u32,
    skip: u32,
    points: Vec<Point>,
}

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

/// The points of one flow.
#[derive(Debug)]
pub(crate) struct Points {
    kinds: [Thinned; 3],
}

impl Points {
    pub(crate) fn new() -> Self {
        let empty = || Thinned {
            stride: 1,
            skip: 0,
            points: Vec::new(),
        };
        Points {
            kinds: [empty(), empty(), empty()],
        }
    }

    pub(crate) fn push(&mut self, at_ns: i64, offset: i64, kind: PointKind) {
        let point = Point {
            at_ns,
            seq_offset: offset.max(0) as u64,
            kind,
        };
        self.kinds[kind as usize].push(point);
    }

    pub(crate) fn finish(self) -> Vec<Point> {
        let mut all: Vec<Point> = self.kinds.into_iter().flat_map(|k| k.points).collect();
        all.sort_by_key(|p| (p.at_ns, p.seq_offset));
        all
    }
}
