//! A path with its event queue, for live tools and tests.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::counters::Counters;
use crate::packet::Packet;
use crate::path::{Driver, Mark, Path, Place};

/// A path and the packets in transit in it.
///
/// ```
/// use inorder_path::config::Line;
/// use inorder_path::{Link, Path, Probe, Timeline};
///
/// let link = Line { delay_ns: 5_000_000, ..Line::new(1_000_000_000) };
/// let mut line = Timeline::new(Path::new(vec![Link::new(&link).into()]));
/// line.push(0, Probe::new(1, 1250 - 38)); // 38 bytes of Ethernet around it
/// assert_eq!(line.next_wake_ns(), Some(5_010_000));
/// assert_eq!(line.pop(5_009_999), None);
/// assert_eq!(line.pop(5_010_000), Some((5_010_000, Probe::new(1, 1212))));
/// ```
pub struct Timeline<P: Packet> {
    path: Path<P>,
    queue: Queue<P>,
}

/// Earliest first; events at the same time in the order in which they were added.
struct Queue<P> {
    heap: BinaryHeap<Reverse<(i64, u64, usize)>>,
    /// Packets by the index in the heap's entries, so that the heap moves only small values.
    packets: Vec<Option<(Place, P)>>,
    free: Vec<usize>,
    sequence: u64,
}

/// Passes the marks of the path to a function.
struct Watched<'a, P, F> {
    queue: &'a mut Queue<P>,
    watch: F,
}

impl<P: Packet> Timeline<P> {
    /// A path without packets.
    pub fn new(path: Path<P>) -> Self {
        Timeline {
            path,
            queue: Queue {
                heap: BinaryHeap::new(),
                packets: Vec::new(),
                free: Vec::new(),
                sequence: 0,
            },
        }
    }

    /// `packet` enters at `now_ns`, which is not before the previous push. Packets that are due earlier may be popped
    /// before or after this call, with the same result.
    pub fn push(&mut self, now_ns: i64, packet: P) {
        self.path.push(now_ns, packet, &mut self.queue);
    }

    /// As [`Timeline::push`]; `watch` is told what happens to packets.
    pub fn push_watched(&mut self, now_ns: i64, packet: P, watch: impl FnMut(Mark<P>)) {
        let queue = &mut self.queue;
        self.path
            .push(now_ns, packet, &mut Watched { queue, watch });
    }

    /// When the next call of [`Timeline::pop`] is useful. It may return nothing then, because only a stage inside the
    /// path had to be called.
    pub fn next_wake_ns(&self) -> Option<i64> {
        let transfer = self.queue.next_ns();
        let wake = self.path.next_wake_ns();
        transfer.into_iter().chain(wake).min()
    }

    /// The next packet delivered by `now_ns`, with its time of delivery.
    pub fn pop(&mut self, now_ns: i64) -> Option<(i64, P)> {
        self.pop_watched(now_ns, |_| {})
    }

    /// As [`Timeline::pop`]; `watch` is told what happens to packets.
    pub fn pop_watched(&mut self, now_ns: i64, mut watch: impl FnMut(Mark<P>)) -> Option<(i64, P)> {
        loop {
            let wake_ns = self.path.next_wake_ns().filter(|&t| t <= now_ns);
            // At equal times transfers come before wake calls.
            let popped = self.queue.pop(wake_ns.unwrap_or(now_ns));
            let queue = &mut self.queue;
            let watch = &mut watch;
            let driver = &mut Watched { queue, watch };
            match (popped, wake_ns) {
                (Some((time_ns, Place::END, packet)), _) => return Some((time_ns, packet)),
                (Some((time_ns, place, packet)), _) => {
                    self.path.resume(time_ns, place, packet, driver);
                }
                (None, Some(wake_ns)) => self.path.wake(wake_ns, driver),
                (None, None) => return None,
            }
        }
    }

    /// Number of packets in the queue; stages may hold more.
    pub fn in_flight(&self) -> usize {
        self.queue.heap.len()
    }

    /// The path.
    pub fn path(&self) -> &Path<P> {
        &self.path
    }

    /// The path, without the packets in transit.
    pub fn into_path(self) -> Path<P> {
        self.path
    }

    /// The counters, stage by stage.
    pub fn counters(&self) -> &[Counters] {
        self.path.counters()
    }
}

impl<P> Queue<P> {
    fn next_ns(&self) -> Option<i64> {
        self.heap.peek().map(|&Reverse((time_ns, ..))| time_ns)
    }

    fn pop(&mut self, now_ns: i64) -> Option<(i64, Place, P)> {
        self.next_ns().filter(|&t| t <= now_ns)?;
        let Reverse((time_ns, _, index)) = self.heap.pop()?;
        let (place, packet) = self.packets.get_mut(index)?.take()?;
        self.free.push(index);
        Some((time_ns, place, packet))
    }
}

impl<P> Driver<P> for Queue<P> {
    fn transfer(&mut self, time_ns: i64, place: Place, packet: P) {
        let entry = Some((place, packet));
        let index = match self.free.pop() {
            Some(index) => {
                if let Some(slot) = self.packets.get_mut(index) {
                    *slot = entry;
                }
                index
            }
            None => {
                self.packets.push(entry);
                self.packets.len() - 1
            }
        };
        self.heap.push(Reverse((time_ns, self.sequence, index)));
        self.sequence += 1;
    }
}

impl<P, F: FnMut(Mark<P>)> Driver<P> for Watched<'_, P, F> {
    const WATCHES: bool = true;

    fn transfer(&mut self, time_ns: i64, place: Place, packet: P) {
        self.queue.transfer(time_ns, place, packet);
    }

    fn watch(&mut self, mark: Mark<P>) {
        (self.watch)(mark);
    }
}
